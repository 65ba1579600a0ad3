"""Links and tags of real vaults as another implementation reads them, beside ours, file by file.

The other one is remark, with extensions for wikilinks, embeds and tags, driven by ``oracle.mjs``. It needs node and a
folder with the packages named there:

    python -m evals.oracle NODE_MODULES_FOLDER

Prints a line a vault, then every difference. Exits with 2 if the data or node is missing.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

from evals.vaults import DATA, unpack
from reme.markdown import is_wikilink, parse

SCRIPT = Path(__file__).with_suffix(".mjs")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:|//")
Found = tuple[str, str, str]


def ours(data: bytes) -> Counter[Found]:
    """Kind, target and anchor of each link, and each tag."""
    note = parse(data)
    found = Counter[Found]()
    for link in note.links:
        wiki = "wiki" if link.kind == "wiki" else "embed"
        kind = "property" if link.origin == "frontmatter" else wiki if is_wikilink(note, link) else "markdown"
        found[kind, link.target, link.anchor or ""] += 1
    found.update(("tag" if tag.origin == "body" else "tag property", tag.name, "") for tag in note.tags)
    return found


def theirs(rows: list[tuple[str, str, str, int]]) -> Counter[Found]:
    """The same of remark; Markdown links as far as they lead to files."""
    found = Counter[Found]()
    for kind, target, anchor, _ in rows:
        if kind != "markdown":
            found[kind, target, anchor] += 1
            continue
        path, _, rest = target.partition("#")
        if path.strip() and not _SCHEME.match(path.strip()):
            found[kind, unquote(path.strip()), unquote(rest.strip())] += 1
    return found


def main() -> int:
    """Compare all vaults."""
    parser = argparse.ArgumentParser(prog="evals.oracle", description="Compare links and tags with remark's.")
    parser.add_argument("modules", type=Path, help="the folder node_modules that has the packages")
    modules = parser.parse_args().modules.resolve()
    node = shutil.which("node")
    archives = sorted(DATA.glob("*.tar.xz"))
    if node is None or not archives or not modules.is_dir():
        print("node, its packages or the vaults are missing", file=sys.stderr)
        return 2
    print("| vault | notes | links and tags in both | only ours | only remark's |\n|---|---|---|---|---|")
    differences: list[str] = []
    for archive in archives:
        with tempfile.TemporaryDirectory() as folder:
            root = unpack(archive, Path(folder))
            files = sorted(path for path in root.rglob("*.md") if path.is_file())
            asked = "\n".join(map(str, files))
            environment = {**os.environ, "NODE_MODULES": str(modules)}
            done = subprocess.run(
                [node, str(SCRIPT)], input=asked, capture_output=True, text=True, check=True, env=environment
            )
            both = mine = other = 0
            for file, line in zip(files, done.stdout.splitlines(), strict=True):
                we, they = ours(file.read_bytes()), theirs(json.loads(line))
                both += (we & they).total()
                mine += (we - they).total()
                other += (they - we).total()
                place = f"{archive.name.removesuffix('.tar.xz')}: {file.relative_to(root)}"
                differences += [f"{place}: only ours: {count} x {found}" for found, count in (we - they).items()]
                differences += [f"{place}: only remark's: {count} x {found}" for found, count in (they - we).items()]
        print(f"| {archive.name.removesuffix('.tar.xz')} | {len(files)} | {both} | {mine} | {other} |")
    print("\n" + "\n".join(differences))
    return 0


if __name__ == "__main__":
    sys.exit(main())
