"""What retrieval is measured on: collections of files to import, and questions with the places that answer them.

Data that is not part of the repository is read from ``../shared/data`` beside the checkout.
"""

import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from bench.vaults import make_vault

from evals.locomo import Eval, sessions
from evals.vaults import unpack
from reme.index.tokens import Tokenizer
from reme.markdown import parse

__all__ = [
    "DATA",
    "Collection",
    "Evidence",
    "Question",
    "generated",
    "locomo",
    "locomo_notes",
    "memorybank",
    "paraphrases",
    "vaults",
]

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
LABELS = Path(__file__).with_name("retrieval_evidence.json")
PARAPHRASES = Path(__file__).with_name("paraphrases.jsonl")
ADVERSARIAL = 5
LANGUAGES = {"en": "en", "zh": "cn"}
CITED = re.compile(r"\[\[(session/dialog/[^\[\]#|]+)#L(\d+)\|")
WORD = re.compile(r"[A-Za-z]{4,}")
IN_LINKS = re.compile(r"https?://\S+|\[\[[^\]]*\]\]|\]\([^)]*\)")

Evidence = tuple[str, int]
"""A file, and a line of it; line 0 for the file as such."""


@dataclass(frozen=True)
class Question:
    """A question and where what answers it stands."""

    text: str
    evidence: frozenset[Evidence]


@dataclass(frozen=True)
class Collection:
    """Files to import, and questions to ask of them.

    Attributes:
        by_note: Whether notes are what is ranked, instead of their pieces.
        lost: Evidence of the questions that the files do not hold at all.
    """

    name: str
    files: Mapping[str, str]
    questions: tuple[Question, ...]
    by_note: bool = False
    lost: int = 0


def locomo() -> Iterator[Collection]:
    """LoCoMo's dialogues (CC BY-NC 4.0, evaluation only), one turn a line, each with its questions."""
    for sample in json.loads((DATA / "locomo" / "locomo5.json").read_bytes()):
        dialogue = sample["conversation"]
        files: dict[str, str] = {}
        places: dict[str, Evidence] = {}
        numbers = sorted(int(key[8:]) for key in dialogue if re.fullmatch(r"session_\d+", key))
        for number in numbers:
            when = datetime.strptime(dialogue[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
            path = f"session/dialog/s{number:02d}.jsonl"
            lines: list[str] = []
            for line, turn in enumerate(dialogue[f"session_{number}"], 1):
                caption = f" [photo: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
                said = {"speaker": turn["speaker"], "text": turn.get("text", "") + caption, "at": when.isoformat()}
                lines.append(json.dumps(said, ensure_ascii=False))
                places[turn["dia_id"]] = (path, line)
            files[path] = "\n".join(lines) + "\n"
        asked = [Question(text, found) for text, found in _asked(sample, places)]
        yield Collection(sample["sample_id"], files, tuple(asked))


def locomo_notes() -> Iterator[Collection]:
    """The event notes that ``auto_memory`` makes of the same dialogues, offline; each statement cites its turn."""
    for sample in json.loads((DATA / "locomo" / "locomo5.json").read_bytes()):
        with tempfile.TemporaryDirectory(prefix="reme-eval-") as folder:
            made = Eval(Path(folder), sample)
            for name, at, turns in sessions(sample["conversation"]):
                made.remember(name, at, turns)
            root = Path(folder)
            notes = sorted(path for path in root.glob("daily/*/**/*.md"))
            files = {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in notes}
            turns_by_place = {(turn.dialogue, turn.line): turn.id for turn in made.turns.values()}
            made.close()
        kept: dict[str, set[Evidence]] = {}
        for path, text in files.items():
            for number, line in enumerate(text.splitlines(), 1):
                for cited in CITED.finditer(line):
                    if (turn := turns_by_place.get((cited[1], int(cited[2])))) is not None:
                        kept.setdefault(turn, set()).add((path, number))
        places = {turn: min(found) for turn, found in kept.items()}
        asked = [Question(text, found) for text, found in _asked(sample, places)]
        said = {turn: (turn, 0) for turn in turns_by_place.values()}
        there = sum(len(found) for _, found in _asked(sample, said))
        kept_of_it = sum(len(found) for _, found in _asked(sample, {turn: (turn, 0) for turn in places}))
        yield Collection(sample["sample_id"], files, tuple(asked), lost=there - kept_of_it)


def _asked(sample: Mapping[str, Any], places: Mapping[str, Evidence]) -> Iterator[tuple[str, frozenset[Evidence]]]:
    """The questions of categories 1 to 4 with the places of their evidence, of that which has one."""
    for asked in sample["qa"]:
        named = re.findall(r"D(\d+):0*(\d+)", " ".join(map(str, asked.get("evidence") or [])))
        found = frozenset(places[turn] for a, b in named if (turn := f"D{a}:{b}") in places)
        if found and asked["category"] != ADVERSARIAL:
            yield asked["question"], found


def memorybank(language: str) -> Iterator[Collection]:
    """MemoryBank's histories (MIT) of people who talk to an assistant, one exchange a line, with our own labels."""
    histories = json.loads((DATA / "memorybank" / f"mb_{LANGUAGES[language]}.json").read_bytes())
    labels = json.loads(LABELS.read_bytes())[LANGUAGES[language]]
    for person, (name, history) in zip(labels, histories.items(), strict=False):
        asked = (
            Question(question["text"], frozenset((f"session/dialog/{day}.jsonl", line) for day, line in question["at"]))
            for question in person
        )
        yield Collection(name.strip(), _exchanges(history, ""), tuple(asked))


def _exchanges(history: Mapping[str, Any], prefix: str) -> dict[str, str]:
    return {
        f"session/dialog/{prefix}{day}.jsonl": "".join(
            json.dumps({"text": f"{x['query']}\n{x['response']}", "at": day}, ensure_ascii=False) + "\n"
            for x in exchanges
        )
        for day, exchanges in history["history"].items()
    }


def paraphrases(language: str) -> Iterator[Collection]:
    """Forty questions that share no word with the statement that answers them, among MemoryBank and real notes.

    They were written for this project and are never tuned on.
    """
    rows = [json.loads(line) for line in PARAPHRASES.read_text("utf-8").splitlines()]
    rows = [row for row in rows if row["language"] == language]
    files: dict[str, str] = {}
    histories = json.loads((DATA / "memorybank" / f"mb_{LANGUAGES[language]}.json").read_bytes())
    for person, history in enumerate(histories.values()):
        files |= _exchanges(history, f"{person:02}-")
    for name, text in _notes("kepano-obsidian").items():
        files[f"notes/{name}"] = text
    asked: list[Question] = []
    for number, row in enumerate(rows):
        path = f"daily/2023-06-{number % 28 + 1:02}/p{number:02}.md"
        files[path] = row["statement"] + "\n"
        asked.append(Question(row["question"], frozenset({(path, 1)})))
    yield Collection(f"paraphrases {language}", files, tuple(asked))


def vaults(seed: int = 7) -> Iterator[Collection]:
    """Real vaults (MIT): a word that one note alone has, and three words of a note drawn at random.

    Args:
        seed: With another one, other notes and other words are drawn.
    """
    for archive in sorted((DATA / "vaults").glob("*.tar.xz")):
        files = _notes(archive.name.removesuffix(".tar.xz"))
        yield from _known_items(archive.name.removesuffix(".tar.xz"), files, random.Random(seed))


def generated(notes: int) -> Iterator[Collection]:
    """The seeded vault of the benchmarks, asked the same way."""
    with tempfile.TemporaryDirectory(prefix="reme-eval-") as folder:
        made = make_vault(Path(folder) / "vault", notes)
        files = {path: (made.root / path).read_text("utf-8") for path in made.paths}
    yield from _known_items(f"{notes:,} generated notes", files, random.Random(7))


def _notes(name: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory(prefix="reme-eval-") as folder:
        root = unpack(DATA / "vaults" / f"{name}.tar.xz", Path(folder))
        files = {path.relative_to(root): path for path in sorted(root.rglob("*.md"))}
        return {
            relative.as_posix(): path.read_text("utf-8", "replace")
            for relative, path in files.items()
            if not any(part.startswith(".") for part in relative.parts)
        }


def _known_items(name: str, files: Mapping[str, str], rng: random.Random) -> Iterator[Collection]:
    said = {path: _plain(text) for path, text in files.items()}
    stems = cache(Tokenizer().query)
    spread: Counter[str] = Counter()
    for text in files.values():
        spread.update({stem for word in set(WORD.findall(text)) for stem in stems(word)})
    rare: list[Question] = []
    three: list[Question] = []
    chosen = [path for path in sorted(said) if len(set(said[path])) >= 10]
    for path in rng.sample(chosen, min(200, len(chosen))):
        alone = sorted(word for word in set(said[path]) if all(spread[stem] == 1 for stem in stems(word)))
        if alone:
            rare.append(Question(rng.choice(alone), frozenset({(path, 0)})))
        three.append(Question(" ".join(rng.sample(sorted(set(said[path])), 3)), frozenset({(path, 0)})))
    if rare:
        yield Collection(f"{name}: a word that it alone has", files, tuple(rare), by_note=True)
    yield Collection(f"{name}: three random words", files, tuple(three), by_note=True)


def _plain(text: str) -> list[str]:
    """The longer words of a note's body, without what is in links."""
    note = parse(text.encode())
    body = note.source[note.body.start :].decode("utf-8", "replace")
    return [word.lower() for word in WORD.findall(IN_LINKS.sub(" ", body))]
