"""A dry run says what would be done and leaves every byte, on every operation that writes."""

from collections.abc import Callable
from typing import Any, Literal

import pytest

from reme.catalog import Catalog, add_tools, as_json
from reme.errors import Conflict, NotFound, ReMeError
from reme.revision import revision_of
from reme.tools import Workspace, edit, undo, write
from tests.tools.house import House

FILES: dict[str, str | bytes] = {
    "a.md": "---\nkind: x\n---\nsome [[b]] text\n",
    "b.md": "b\n",
    "daily/2026-05-15/tea.md": "---\nname: Tea\n---\n",
}
CALLS: dict[str, dict[str, Any]] = {
    "write": {"path": "new", "content": "x"},
    "append": {"path": "a", "content": "more"},
    "edit": {"path": "a", "find": "some", "replace": "any"},
    "move": {"source": "b", "target": "c/b"},
    "copy": {"source": "b", "target": "c/b"},
    "delete": {"path": "b"},
    "upload": {"data": "AAAA", "name": "x.bin"},
    "frontmatter_update": {"path": "a", "key": "kind", "value": "y"},
    "frontmatter_delete": {"path": "a", "key": "kind"},
    "daily_create": {"name": "New"},
    "daily_write": {"event": "tea", "content": "x", "material": "x.txt"},
    "daily_reindex": {},
    "lint": {"fix": True},
}
OTHERWISE = {"undo", "follow_renames"}
"""What needs something to have happened first, and is tested where that is."""
OPERATIONS = {
    operation.name: operation
    for operation in Catalog(add_tools)
    if operation.effects != "read" and operation.name not in OTHERWISE
}


def test_every_operation_that_writes_is_tried() -> None:
    assert set(CALLS) == set(OPERATIONS)


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_written(house: House, name: str) -> None:
    house.lay(FILES)
    before = house.tree()
    operation = OPERATIONS[name]
    call: Callable[..., Any] = operation.function
    result = call(house.ask(), **CALLS[name], dry_run=True)
    assert house.tree() == before
    assert (result.run, result.dry_run) == ("", True)
    assert "would" in operation.text(result) or name == "daily_reindex"
    assert as_json(result)["dry_run"] is True
    done = call(house.ask(), **CALLS[name])
    assert done.run
    assert house.tree() != before


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("write", {"path": "digest/wiki/new", "content": "x"}),
    ("write", {"path": "a", "content": "other"}),
    ("write", {"path": "a", "content": "other", "overwrite": True, "expected_revision": "0" * 32}),
    ("write", {"path": "resource/2026-05-15/r.txt", "content": "other", "overwrite": True, "force": True}),
    ("write", {"path": "reme.yaml", "content": "x: 1"}),
    ("write", {"path": "what?", "content": "x"}),
    ("write", {"path": "a.md/below", "content": "x"}),
    ("append", {"path": "digest/wiki/n", "content": "x"}),
    ("append", {"path": "session/dialog/s.jsonl", "content": "x"}),
    ("append", {"path": "resource/2026-05-15/r.txt", "content": "x"}),
    ("edit", {"path": "digest/wiki/n", "find": "n", "replace": "m"}),
    ("edit", {"path": "a", "find": "absent", "replace": "m"}),
    ("edit", {"path": "a", "find": "some", "replace": "m", "expected_revision": "0" * 32}),
    ("move", {"source": "b", "target": "a"}),
    ("move", {"source": "b", "target": "digest/wiki/b"}),
    ("move", {"source": "digest/wiki/n", "target": "n"}),
    ("move", {"source": "resource/2026-05-15/r.txt", "target": "resource/2026-05-16/r.txt"}),
    ("move", {"source": "b", "target": "b#c"}),
    ("move", {"source": "b", "target": "b?"}),
    ("copy", {"source": "b", "target": "a"}),
    ("copy", {"source": "b", "target": "digest/wiki/b"}),
    ("copy", {"source": "b", "target": "audit/b"}),
    ("delete", {"path": "digest/wiki/n"}),
    ("delete", {"path": "resource/2026-05-15/r.txt"}),
    ("delete", {"path": "a", "expected_revision": "0" * 32}),
    ("upload", {"data": "AAAA", "name": "r.txt"}),
    ("upload", {"data": "AAAA", "name": "new?.txt"}),
    ("upload", {"data": "AAAA", "name": "new.txt"}),
    ("frontmatter_update", {"path": "digest/wiki/n", "key": "k", "value": "v"}),
    ("frontmatter_delete", {"path": "digest/wiki/n", "key": "name"}),
    ("daily_create", {"name": "Tea"}),
    ("daily_create", {"name": "New"}),
    ("daily_write", {"event": "tea", "material": "x?.txt"}),
    ("daily_write", {"event": "tea", "content": "x"}),
    ("daily_reindex", {}),
    ("lint", {"fix": True}),
]


@pytest.mark.parametrize("role", ["agent", "curator", "person"])
@pytest.mark.parametrize(("name", "call"), REFUSED)
def test_it_is_refused_exactly_where_the_real_run_is(
    house: House, name: str, call: dict[str, Any], role: Literal["agent", "curator", "person"]
) -> None:
    house.lay(FILES)
    house.lay(
        {
            "digest/wiki/n.md": "---\nname: n\n---\n[[a]] n\n",
            "resource/2026-05-15/r.txt": "r",
            "session/dialog/s.jsonl": "{}\n",
        }
    )
    before = house.tree()
    foreseen = outcome(lambda: OPERATIONS[name].function(house.ask(role), **call, dry_run=True))
    assert house.tree() == before
    assert outcome(lambda: OPERATIONS[name].function(house.ask(role), **call)) == foreseen
    if foreseen:
        assert house.tree() == before


@pytest.mark.parametrize("role", ["agent", "curator", "person"])
def test_an_undo_is_refused_exactly_where_the_real_one_is(
    house: House, role: Literal["agent", "curator", "person"]
) -> None:
    house.lay(FILES)
    mine, agents = write(house.ask(), "mine", "x").run, write(house.ask("agent"), "its", "x").run
    overlapped = edit(house.ask(role), "a", "some", "any").run if role != "curator" else mine
    house.lay({"a.md": "---\nkind: x\n---\nquite another [[b]] text\n"})
    for run in (mine, agents, overlapped, "run-unknown"):
        before = house.tree()
        foreseen = outcome(lambda run=run: undo(house.ask(role), run, dry_run=True))
        assert house.tree() == before
        assert outcome(lambda run=run: undo(house.ask(role), run)) == foreseen


def outcome(call: Callable[[], object]) -> tuple[type, str] | None:
    """The error that a call ends in, or None."""
    try:
        call()
    except ReMeError as error:
        return type(error), error.message
    return None


def test_it_foresees_revisions_and_errors(house: House) -> None:
    house.lay(FILES)
    workspace: Workspace = house.ask()
    assert write(workspace, "new", "x\n", dry_run=True).revision == revision_of(b"x\n")
    assert write(workspace, "b", "b\n", dry_run=True).outcome == "unchanged"
    with pytest.raises(Conflict):
        write(workspace, "b", "other", dry_run=True)
    with pytest.raises(NotFound):
        edit(workspace, "b", "absent", "x", dry_run=True)
