"""LoCoMo through the whole pipeline, offline: what survives, what is found, and whether every word can be traced.

Each dated session goes through ``auto_memory`` with the session's own time, and that night through ``auto_dream``
until nothing is left to do. The data (CC BY-NC 4.0, evaluation only) is read from ``../shared/data/locomo`` beside
the checkout.

    python -m evals.locomo [--conversations 5] [--keep DIR]

Prints one line a conversation. Exits with 1 if a check fails, 2 if the data is missing.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from evals.living import reasoner_of
from reme.actions import auto_dream, auto_memory
from reme.clock import Clock, zone_named
from reme.index import open_index, refresh
from reme.markdown import parse
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.search import SearchSettings, search
from reme.state import State
from reme.tools import Caller, Workspace
from reme.vault import Layout, Vault

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data" / "locomo" / "locomo5.json"
CITED_LINE = re.compile(r"\[\[(session/dialog/[^\[\]#|]+)#L(\d+)\|")
ADVERSARIAL = 5


@dataclass
class Tally:
    """What was measured of one conversation."""

    name: str
    turns: int = 0
    notes: int = 0
    nodes: int = 0
    statements: int = 0
    conflicts: int = 0
    evidence: int = 0
    in_daily: int = 0
    in_digest: int = 0
    turn_chars: int = 0
    daily_chars: int = 0
    digest_chars: int = 0
    questions: int = 0
    found: dict[str, float] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True)
class Turn:
    """One turn: its id in the data, and where it was kept."""

    id: str
    text: str
    dialogue: str
    line: int


class Eval:
    """One conversation in a vault of its own."""

    def __init__(self, root: Path, conversation: dict[str, Any]) -> None:
        self.conversation = conversation
        self.now = datetime(2023, 1, 1, tzinfo=UTC)
        clock = Clock(zone_named("UTC"), lambda: self.now)
        vault = Vault(root, layout=Layout(), clock=clock)
        vault.state_dir.mkdir(exist_ok=True)
        index = open_index(vault.state_dir / "index.db", vault.layout)
        state = State(vault.state_dir / "state.db")
        self.shared = Workspace(vault, index, state, clock, SearchSettings(), Caller("person", "eval", "eval"))
        self.reasoner = reasoner_of(state, clock)
        self.turns: dict[str, Turn] = {}
        self.seen: dict[str, bytes] = {}
        self.tally = Tally(str(conversation["sample_id"]))

    def workspace(self) -> Workspace:
        return replace(self.shared, caller=replace(self.shared.caller, run=self.shared.vault.new_id()))

    def close(self) -> None:
        self.shared.state.close()
        self.shared.index.close()
        self.shared.vault.close()

    def run(self) -> Tally:
        started = time.process_time()
        for name, at, turns in sessions(self.conversation["conversation"]):
            self.remember(name, at, turns)
            self.snapshot()
            self.dream()
        self.check_daily()
        self.check_digest()
        self.check_unchanged()
        self.ask()
        self.tally.seconds = time.process_time() - started
        return self.tally

    def remember(self, name: str, at: datetime, turns: list[dict[str, Any]]) -> None:
        """One session through auto_memory, at its own time."""
        session = f"{self.tally.name}-{name}"
        self.now = at + timedelta(hours=1)
        messages = [
            {
                "id": turn["dia_id"],
                "role": "user",
                "name": turn["speaker"],
                "content": turn["text"],
                "timestamp": at.isoformat(),
            }
            for turn in turns
        ]
        report = asyncio.run(auto_memory(self.workspace(), self.reasoner, messages, session))
        self.tally.wrong += [f"{session}: message {p.line}: {p.reason}" for p in report.problems]
        self.tally.wrong += [f"{session}: {reason}" for reason in report.refused]
        self.tally.turns += len(turns)
        lines = (self.shared.vault.root / report.dialogue).read_text("utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines]
        for number, turn in enumerate(turns, start=1):
            self.turns[turn["dia_id"]] = Turn(turn["dia_id"], texts[number - 1], report.dialogue, number)
            self.tally.turn_chars += len(turn["text"])

    def dream(self) -> None:
        """The night after a session: again and again, since one run takes so many units at most."""
        while (report := asyncio.run(auto_dream(self.workspace(), self.reasoner))).sources:
            self.tally.wrong += report.problems
            self.tally.outcomes.update(unit.outcome for unit in report.units)
            self.tally.wrong += [f"{unit.name}: {unit.reason}" for unit in report.units if unit.reason]
            if not report.units:
                break

    def snapshot(self) -> None:
        """Keep every version of the daily notes by revision: what the ledger's revisions refer to."""
        for stat in self.shared.vault.scan(VaultPath("daily")).files:
            data = self.shared.vault.read(stat.path).data
            self.seen[revision_of(data)] = data

    def check_daily(self) -> None:
        """Every statement of an event note stands word for word in the turn that it cites."""
        kept: set[tuple[str, int]] = set()
        by_place = {(turn.dialogue, turn.line): turn.text for turn in self.turns.values()}
        for path, line in self.items("daily"):
            match = CITED_LINE.search(line)
            words = statement(line)
            if match is None or words not in by_place.get((match[1], int(match[2])), ""):
                self.tally.wrong.append(f"{path}: not in its source: {line}")
                continue
            kept.add((match[1], int(match[2])))
            self.tally.daily_chars += len(words)
        self.tally.notes = len({path for path, _ in self.items("daily")})
        evidence = self.evidence()
        self.tally.evidence = len(evidence)
        self.tally.in_daily = sum((turn.dialogue, turn.line) in kept for turn in evidence)

    def check_digest(self) -> None:
        """Every statement of a node is recorded in the ledger and stands word for word in the recorded line."""
        taken: dict[tuple[str, str], list[tuple[str, str, int, str]]] = {}
        for raw in self.shared.vault.read(self.shared.vault.layout.ledger).data.splitlines():
            entry = json.loads(raw)
            if entry["kind"] == "derived":
                for said in entry["statements"]:
                    place = (entry["source"], entry["revision"], said["line"])
                    taken.setdefault((entry["node"], said.get("stated", said["text"])), []).append(
                        (*place, said["text"])
                    )
        lines: set[tuple[str, int]] = set()
        for path, line in self.items("digest"):
            words = statement(line)
            places = taken.get((path, words), [])
            if not any(text == words for *_, text in places):
                self.tally.wrong.append(f"{path}: not in the ledger: {line}")
            for source, revision, number, text in places:
                cited = self.seen[revision].decode().splitlines()[number - 1]
                if text not in cited or f"[[{source}]]" not in line:
                    self.tally.wrong.append(f"{path}: not in {source} line {number}: {line}")
                elif match := CITED_LINE.search(cited):
                    lines.add((match[1], int(match[2])))
            self.tally.statements += 1
            self.tally.conflicts += line.startswith("> [!conflict]")
            self.tally.digest_chars += len(words)
        self.tally.nodes = len({path for path, _ in self.items("digest")})
        self.tally.in_digest = sum((turn.dialogue, turn.line) in lines for turn in self.evidence())

    def check_unchanged(self) -> None:
        """A further dream does nothing."""
        before = {s.path: s.mtime_ns for s in self.shared.vault.scan().files}
        asyncio.run(auto_dream(self.workspace(), self.reasoner, scan_days=2000))
        if before != {s.path: s.mtime_ns for s in self.shared.vault.scan().files}:
            self.tally.wrong.append("a dream over unchanged days wrote something")

    def items(self, layer: str) -> Iterator[tuple[str, str]]:
        """Every statement line of a layer's notes."""
        for stat in self.shared.vault.scan(VaultPath(layer)).files:
            if stat.path.count("/") < 2 or not stat.path.endswith(".md"):
                continue
            note = parse(self.shared.vault.read(stat.path).data)
            for block in note.blocks:
                text = note.text(block.span)
                if block.kind in ("item", "quote"):
                    yield stat.path, text

    def questions(self) -> Iterator[tuple[str, list[Turn]]]:
        for entry in self.conversation["qa"]:
            ids = [part for raw in entry["evidence"] for part in re.findall(r"D\d+:\d+", raw)]
            turns = [self.turns[i] for i in ids if i in self.turns]
            if entry["category"] != ADVERSARIAL and turns:
                yield entry["question"], turns

    def evidence(self) -> list[Turn]:
        return list({turn.id: turn for _, turns in self.questions() for turn in turns}.values())

    def ask(self) -> None:
        """Recall of evidence in the first ten: as turns of dialogues, as dialogues, as notes and nodes that cite it."""
        refresh(self.shared.index, self.shared.vault)
        cited = self.citing()
        scores: dict[str, list[float]] = {"turn": [], "session": [], "daily": [], "digest": []}
        for question, turns in self.questions():
            found = self.find(question, ["session"])
            scores["turn"].append(
                share(turns, lambda t, f=found: any(p == t.dialogue and a <= t.line <= b for p, a, b in f))
            )
            scores["session"].append(share(turns, lambda t, f=found: any(p == t.dialogue for p, _, _ in f)))
            for layer in ("daily", "digest"):
                paths = {path for path, _, _ in self.find(question, [layer])}
                kept = [turn for turn in turns if cited[layer].get((turn.dialogue, turn.line))]
                scores[layer].append(
                    share(turns, lambda t, p=paths, c=cited[layer]: bool(p & c.get((t.dialogue, t.line), set())))
                )
                if kept:
                    scores.setdefault(f"{layer} kept", []).append(
                        share(kept, lambda t, p=paths, c=cited[layer]: bool(p & c.get((t.dialogue, t.line), set())))
                    )
            self.tally.questions += 1
        self.tally.found = {name: sum(values) / max(1, len(values)) for name, values in scores.items()}

    def find(self, question: str, layers: list[str]) -> list[tuple[str, int, int]]:
        result = search(self.shared.index, self.shared.clock, self.shared.search, question, limit=10, layers=layers)
        return [(hit.path, chunk.line, chunk.end_line) for hit in result.hits for chunk in hit.chunks][:10]

    def citing(self) -> dict[str, dict[tuple[str, int], set[str]]]:
        """By layer, which notes hold a statement of which turn."""
        found: dict[str, dict[tuple[str, int], set[str]]] = {"daily": {}, "digest": {}}
        origin: dict[str, set[tuple[str, int]]] = {}
        for path, line in self.items("daily"):
            if match := CITED_LINE.search(line):
                place = (match[1], int(match[2]))
                found["daily"].setdefault(place, set()).add(path)
                origin.setdefault(statement(line), set()).add(place)
        for path, line in self.items("digest"):
            for place in origin.get(statement(line), ()):
                found["digest"].setdefault(place, set()).add(path)
        return found


def share(turns: list[Turn], holds: Any) -> float:
    return sum(bool(holds(turn)) for turn in turns) / len(turns)


def statement(line: str) -> str:
    """The words of a statement line, without mark, speaker, date and citation."""
    bare = re.sub(r"^(?:- |> \[!\w+\] )", "", line)
    return re.sub(r" \([^()]*\d{4}-\d\d-\d\d[^()]*\)(?: \(until [\d-]+\))? — \[\[.*$", "", bare)


def sessions(conversation: dict[str, Any]) -> Iterator[tuple[str, datetime, list[dict[str, Any]]]]:
    names = sorted((k for k in conversation if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:]))
    for name in names:
        at = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        yield name.replace("session_", "s"), at, conversation[name]


COLUMNS = (
    ("conversation", lambda t: t.name),
    ("turns", lambda t: t.turns),
    ("notes", lambda t: t.notes),
    ("nodes", lambda t: t.nodes),
    ("updates", lambda t: sum(n for o, n in t.outcomes.items() if o != "created")),
    ("conflicts", lambda t: t.conflicts),
    ("kept daily", lambda t: f"{t.daily_chars / t.turn_chars:.2f}"),
    ("kept digest", lambda t: f"{t.digest_chars / t.turn_chars:.2f}"),
    ("evidence daily", lambda t: f"{t.in_daily / t.evidence:.3f}"),
    ("evidence digest", lambda t: f"{t.in_digest / t.evidence:.3f}"),
    ("R@10 turns", lambda t: f"{t.found['turn']:.3f}"),
    ("sessions", lambda t: f"{t.found['session']:.3f}"),
    ("daily", lambda t: f"{t.found['daily']:.3f}"),
    ("(if kept)", lambda t: f"{t.found['daily kept']:.3f}"),
    ("digest", lambda t: f"{t.found['digest']:.3f}"),
    ("(if kept)", lambda t: f"{t.found['digest kept']:.3f}"),
    ("wrong", lambda t: len(t.wrong)),
    ("CPU s", lambda t: f"{t.seconds:.0f}"),
)


def overall(tallies: list[Tally]) -> str:
    """All conversations together: evidence by turn, recall by question."""
    evidence, asked = sum(t.evidence for t in tallies), sum(t.questions for t in tallies)
    kept = f"evidence kept {sum(t.in_daily for t in tallies) / evidence:.3f} daily, "
    kept += f"{sum(t.in_digest for t in tallies) / evidence:.3f} digest"
    size = f"text kept {sum(t.daily_chars for t in tallies) / sum(t.turn_chars for t in tallies):.2f}"
    recall = ", ".join(
        f"{name} {sum(t.found[name] * t.questions for t in tallies) / asked:.3f}"
        for name in ("turn", "session", "daily", "digest")
    )
    return f"{asked} questions: {kept} ({size}); R@10 {recall}; {sum(t.statements for t in tallies)} digest statements"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--conversations", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="keep the vaults in this folder")
    given = parser.parse_args()
    if not DATA.is_file():
        print(f"there is no {DATA}", file=sys.stderr)
        return 2
    tallies: list[Tally] = []
    with tempfile.TemporaryDirectory() as temporary:
        for conversation in json.loads(DATA.read_text("utf-8"))[: given.conversations]:
            root = (given.keep or Path(temporary)) / str(conversation["sample_id"])
            root.mkdir(parents=True)
            evaluation = Eval(root, conversation)
            tallies.append(evaluation.run())
            evaluation.close()
            print("·", tallies[-1].name, f"{tallies[-1].seconds:.0f} s", file=sys.stderr)
    widths = [max(len(head), *(len(str(cell(t))) for t in tallies)) for head, cell in COLUMNS]
    print("  ".join(head.rjust(width) for (head, _), width in zip(COLUMNS, widths, strict=True)))
    for tally in tallies:
        print("  ".join(str(cell(tally)).rjust(width) for (_, cell), width in zip(COLUMNS, widths, strict=True)))
    print(overall(tallies))
    wrong = [f"{tally.name}: {problem}" for tally in tallies for problem in tally.wrong]
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
