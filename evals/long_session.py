"""What one very long session costs: remembered in one delivery, then dreamt of, offline, each in a process of its own.

The session is made up, in English and Chinese, with subjects that come back, statements that change and small talk.
It is delivered as a person's and an assistant's turns over so many days.

    python -m evals.long_session [--turns 20000] [--days 10]

Prints CPU seconds and the largest resident size of each process, beside those of a process that only opens the vault.
"""

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from reme.actions import auto_dream, auto_memory
from reme.clock import Clock, zone_named
from reme.index import open_index
from reme.reason import OfflineReasoner
from reme.search import SearchSettings
from reme.state import State
from reme.tools import Caller, Workspace
from reme.vault import Layout, Vault

THINGS = ("gateway", "ledger", "harvester", "kiln", "orchard", "printer", "library", "ferry", "tramway", "observatory")
PLACES = ("Lisbon", "Ghent", "Porto", "Utrecht", "Bergen", "Turin", "Lyon", "Cork", "Graz", "Malmö")
PEOPLE = ("Ana", "Bo", "Chidi", "Dana", "Emre", "Farah", "Goran", "Hana", "Ivo", "Jun")
WARES = ("水泵", "账本", "窑炉", "果园", "打印机", "图书馆", "渡轮", "天文台")
TOWNS = ("杭州", "成都", "青岛", "昆明", "西安")
TALK = (
    "Thanks, that is great!",
    "How are you today?",
    "好的，谢谢！",
    "Sounds good.",
    "今天天气怎么样？",
    "Haha, nice.",
)


def said(chance: random.Random, n: int) -> str:
    """One turn."""
    thing, place, who = chance.choice(THINGS), chance.choice(PLACES), chance.choice(PEOPLE)
    number = chance.randrange(2, 400)
    return chance.choice(
        (
            f"The {thing} number {n % 97} in {place} needs {number} liters of oil every month.",
            f"We decided to move the {thing} from {place} to {chance.choice(PLACES)} on {1 + n % 28} May.",
            f"I prefer the {thing} that {who} built in {place} because it uses {number} watts.",
            f"{who} joined the {thing} team in {place} last week and will lead it until {2027 + n % 9}.",
            f"{chance.choice(TOWNS)}的{chance.choice(WARES)}每月需要{number}升机油，由{who}负责。",
            f"我们决定把第{n % 89}号{chance.choice(WARES)}搬到{chance.choice(TOWNS)}，预算是{number}万元。",
            chance.choice(TALK),
            chance.choice(TALK),
        )
    )


def delivery(turns: int, days: int) -> Iterator[str]:
    """The session as JSONL."""
    chance, first = random.Random(0), datetime(2026, 5, 1, 6, tzinfo=UTC)
    for n in range(turns):
        at = first + timedelta(days=n * days // turns, seconds=n % max(1, turns // days))
        yield json.dumps(
            {"role": ("user", "assistant")[n % 7 == 6], "content": said(chance, n), "timestamp": at.isoformat()},
            ensure_ascii=False,
        )


def act(root: Path, what: str) -> None:
    """One of the steps, in this process."""
    now = datetime(2026, 5, 31, 12, tzinfo=UTC)
    clock = Clock(zone_named("Europe/Berlin"), lambda: now)
    vault = Vault(root / "vault", layout=Layout(), clock=clock)
    vault.state_dir.mkdir(exist_ok=True)
    index, state = open_index(root / "index.db", vault.layout), State(root / "state.db")
    workspace = Workspace(vault, index, state, clock, SearchSettings(), Caller("person", "eval", vault.new_id()))
    if what == "remember":
        text = (root / "session.jsonl").read_text("utf-8")
        report = asyncio.run(auto_memory(workspace, OfflineReasoner(), text, "long"))
        statements = sum(note.statements for note in report.notes)
        print(f"{report.learnt} learnt from, {statements} statements in {len(report.notes)} notes")
    elif what == "dream":
        night = asyncio.run(auto_dream(workspace, OfflineReasoner(), scan_days=40, max_units=1000))
        statements = sum(unit.statements for unit in night.units)
        print(f"{len(night.sources)} notes, {len(night.units)} units, {statements} statements")
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"{used.ru_utime + used.ru_stime:.1f} CPU s, {used.ru_maxrss / 1024:.0f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=20_000)
    parser.add_argument("--days", type=int, default=10)
    parser.add_argument("--act", help=argparse.SUPPRESS)
    parser.add_argument("--root", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.act:
        act(given.root, given.act)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        root = given.root or Path(folder)
        (root / "vault").mkdir(parents=True, exist_ok=True)
        with (root / "session.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in delivery(given.turns, given.days))
        print(f"{given.turns} turns over {given.days} days, {(root / 'session.jsonl').stat().st_size / 1e6:.1f} MB")
        for what in ("open", "remember", "dream"):
            command = [sys.executable, __file__, "--act", what, "--root", str(root)]
            told = subprocess.run(command, capture_output=True, text=True, check=False)
            print(f"{what}: {'; '.join(told.stdout.splitlines())}{told.stderr[-2000:]}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
