"""Vaults that other programs wrote open as they are: every note is found, not one byte changes, links lead right."""

import json
from collections import defaultdict
from pathlib import Path
from typing import TypedDict

import pytest
from evals.vaults import examine, unpack

from reme.app import open_vault
from reme.index import refresh
from reme.markdown import parse, resolve
from reme.paths import parse_path

ROOT = Path(__file__).parents[2]


class Judged(TypedDict):
    """A link, drawn at random, and where a reader of the vault found that Obsidian's rules lead it."""

    vault: str
    source: str
    line: int
    link: str
    target: str | None
    why: str


def judged() -> dict[str, list[Judged]]:
    """The links by vault."""
    found = defaultdict[str, list[Judged]](list)
    for line in (ROOT / "evals" / "resolved_by_hand.jsonl").read_text("utf-8").splitlines():
        row: Judged = json.loads(line)
        found[row["vault"]].append(row)
    return found


@pytest.mark.parametrize(
    ("name", "resolved"), [("foam-docs", 0.95), ("dataview", 0.9), ("kepano-obsidian", 0.65), ("logseq-docs", 0.3)]
)
def test_a_vault_of_another_program(shared: Path, tmp_path: Path, name: str, resolved: float) -> None:
    found = examine(unpack(shared / "data" / "vaults" / f"{name}.tar.xz", tmp_path))
    assert found.changed == ()
    assert found.indexed == found.notes > 40
    assert found.resolved / found.links >= resolved


def test_fifty_links_were_judged() -> None:
    assert sum(map(len, judged().values())) == 50


@pytest.mark.parametrize("vault", sorted(judged()))
def test_links_lead_where_a_reader_found_that_they_do(shared: Path, tmp_path: Path, vault: str) -> None:
    root = unpack(shared / "data" / "vaults" / f"{vault}.tar.xz", tmp_path)
    with open_vault(root) as app:
        refresh(app.index, app.vault)
        for row in judged()[vault]:
            note = parse((root / row["source"]).read_bytes())
            written = [link for link in note.links if link.line == row["line"] and note.text(link.span) == row["link"]]
            leading = {resolve(link.target, parse_path(row["source"]), app.index.names) for link in written}
            assert leading == {row["target"]}, row
