"""Appending: one blank line between blocks, what is there kept, simultaneous appends all kept."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.markdown import parse
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.tools import append, write
from reme.tools.append import appended
from tests.tools.house import House


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "new\n"),
        ("a", "a\n\nnew\n"),
        ("a\n", "a\n\nnew\n"),
        ("a\n\n", "a\n\nnew\n"),
        ("a\n  \n", "a\n  \nnew\n"),
        ("a\r\nb", "a\r\nb\r\n\r\nnew\r\n"),
        ("a\r\nb\r\n\r\n", "a\r\nb\r\n\r\nnew\r\n"),
        ("a\r\nb\n", "a\r\nb\n\nnew\n"),
        ("---\na: 1\n---", "---\na: 1\n---\n\nnew\n"),
        ("---\na: 1\n---\n", "---\na: 1\n---\n\nnew\n"),
        ("- 一\n- 二", "- 一\n- 二\n\nnew\n"),
    ],
)
def test_blocks_are_one_blank_line_apart(house: House, before: str, after: str) -> None:
    house.lay({"a.md": before})
    append(house.ask(), "a", "\nnew\n\n")
    assert house.data("a.md") == after.encode()


@pytest.mark.parametrize("rule", ["---", "===", "=", "--- \nmore"])
def test_last_paragraph_does_not_become_a_heading(house: House, rule: str) -> None:
    for before in ("last words", "last words\n", "last words\r\n", "\ufefflast words"):
        house.lay({"a.md": before})
        append(house.ask(), "a", rule)
        assert parse(house.data("a.md")).headings == ()


def texts(*pieces: str) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(pieces)).map("".join)


@example(before="---\nk: v", content="---")
@example(before="---\n#", content="新\n---")
@example(before="", content="---\n新\n---")
@example(before="\ufeff", content="---\n---")
@given(
    before=texts("词", "a", "\n", "\r\n", "---", " ", "- x", "```", "#", "\ufeff", "k: v"),
    content=texts("新", "b", "\n", "\r\n", "---", "===", " ", "> q"),
)
def test_what_is_there_is_kept(before: str, content: str) -> None:
    if not content.strip():
        return
    data = before.encode()
    try:
        result = appended(VaultPath("a.md"), data, content)
    except InvalidInput:
        assert before.lstrip("\ufeff").startswith("---")
        assert "---" in content
        assert not parse(data).frontmatter
        return
    assert result.startswith(data)
    assert result.endswith(b"\n")
    old, new = parse(data), parse(result)
    if before.strip("\ufeff \r\n"):
        assert new.properties == old.properties
        assert [h.text for h in new.headings][: len(old.headings)] == [h.text for h in old.headings]


def test_errors(house: House) -> None:
    house.lay({"a.md": "x", "latin.md": "caf\xe9".encode("latin-1")})
    with pytest.raises(NotFound):
        append(house.ask(), "nope", "x")
    with pytest.raises(InvalidInput):
        append(house.ask(), "a", " \n")
    with pytest.raises(Refused):
        append(house.ask(), "latin", "x")
    with pytest.raises(Conflict):
        append(house.ask(), "a", "y", expected_revision=revision_of(b"z"))
    assert append(house.ask(), "a", "y", expected_revision=revision_of(b"x")).outcome == "changed"
    assert house.tree() == {"a.md": b"x\n\ny\n", "latin.md": "caf\xe9".encode("latin-1")}


APPENDER = """
import sys
from pathlib import Path
from reme.tools import append
from tests.tools.house import House
house = House(Path(sys.argv[1]))
for n in range(50):
    append(house.ask("agent"), "daily/2026-05-15", f"- {sys.argv[2]}{n}。")
"""


def test_b51_simultaneous_appends_all_land(house: House) -> None:
    mine = "# 今天\r\n\r\n手写的内容。\r\n"
    house.lay({"daily/2026-05-15.md": mine})
    with pytest.raises(Conflict):
        write(house.ask("agent"), "daily/2026-05-15.md", "only new")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", APPENDER, str(house.root)]
    env = {"PYTHONPATH": f"{root / 'src'}:{root}"}
    started = [subprocess.Popen([*command, name], cwd=root, env=env) for name in "AB"]
    assert [process.wait(120) for process in started] == [0, 0]
    text = house.data("daily/2026-05-15.md").decode()
    assert text.startswith(mine)
    assert all(text.count(f"- {name}{n}。\r\n") == 1 for name in "AB" for n in range(50))
    assert [p for p in house.tree() if p != "daily/2026-05-15.md"] == []
