"""A dry run says what would be done and leaves every byte, on every operation that writes."""

from collections.abc import Callable
from typing import Any

import pytest

from reme.catalog import Catalog, add_tools, as_json
from reme.errors import Conflict, NotFound
from reme.revision import revision_of
from reme.tools import Workspace, edit, write
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
OPERATIONS = {
    operation.name: operation
    for operation in Catalog(add_tools)
    if operation.effects != "read" and operation.name != "undo"
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


def test_it_foresees_revisions_and_errors(house: House) -> None:
    house.lay(FILES)
    workspace: Workspace = house.ask()
    assert write(workspace, "new", "x\n", dry_run=True).revision == revision_of(b"x\n")
    assert write(workspace, "b", "b\n", dry_run=True).outcome == "unchanged"
    with pytest.raises(Conflict):
        write(workspace, "b", "other", dry_run=True)
    with pytest.raises(NotFound):
        edit(workspace, "b", "absent", "x", dry_run=True)
