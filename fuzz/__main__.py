"""Looks for bytes that break a law of notes, led by what code they reach: ``python -m fuzz [--minutes 10]``.

Starts from the notes in ``../shared/data/vaults`` beside the checkout, where they are, and keeps what it learns in
``.fuzz/notes``, so that the next run goes on from there. An input that breaks a law, or takes longer than ten seconds,
is written to ``.fuzz``, named and printed; made small by hand, it belongs in ``tests/markdown/test_fuzzed.py``.
"""

import argparse
import hashlib
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VAULTS = ROOT.parent / "shared" / "data" / "vaults"
CORPUS = ROOT / ".fuzz" / "notes"
LONGEST = 1_024
SECONDS_AN_INPUT = 10


def main() -> int:
    """Fuzz until the time is over; libFuzzer ends the process itself, with 77 if it found something."""
    parser = argparse.ArgumentParser(prog="fuzz", description="Look for notes that break a law.")
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    try:
        import atheris
    except ImportError:
        print("fuzzing needs the package atheris, which has wheels for Linux and macOS", file=sys.stderr)
        return 2
    with atheris.instrument_imports(include=["reme.markdown"]):
        from tests.markdown.laws import check_note
    CORPUS.mkdir(parents=True, exist_ok=True)
    for data in _seeds():
        (CORPUS / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)
    arguments = [f"-max_total_time={int(options.minutes * 60)}", f"-max_len={LONGEST}", f"-timeout={SECONDS_AN_INPUT}"]
    arguments += [f"-artifact_prefix={CORPUS.parent}/", f"-dict={Path(__file__).parent / 'notes.dict'}"]
    atheris.Setup([sys.argv[0], *arguments, str(CORPUS)], check_note)
    atheris.Fuzz()
    return 0


def _seeds() -> list[bytes]:
    """Short notes that people wrote."""
    found: list[bytes] = []
    for archive in sorted(VAULTS.glob("*.tar.xz")):
        with tarfile.open(archive) as packed:
            for member in packed:
                if member.isfile() and member.name.endswith(".md") and 0 < member.size <= LONGEST:
                    content = packed.extractfile(member)
                    assert content
                    found.append(content.read())
    return found


if __name__ == "__main__":
    sys.exit(main())
