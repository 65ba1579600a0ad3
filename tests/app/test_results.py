"""Every operation, called once: its result has words, and a JSON form that is as its schema says."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from reme.app import App, open_vault
from reme.catalog import as_json, output_schema

NOW = datetime(2026, 5, 15, 9, 30, tzinfo=UTC)
MESSAGES = [
    {"role": "user", "content": "I decided to move the team lunch to Thursday, since Ana is away on Wednesdays."},
    {"role": "assistant", "content": "Noted: team lunch is on Thursday."},
    {"role": "user", "content": "我更喜欢绿茶，不喜欢咖啡。"},
]
NOTE = "---\nname: 茶\nscore: .nan\ndue: 2026-05-20\n1: one\n---\n\n# Tea\n\n[[other]] and [[nowhere]] #drink\n"

CALLS = [
    ("search", {"query": "tea"}),
    ("traverse", {"seeds": "tea.md", "unresolved": True}),
    ("list", {}),
    ("tags", {}),
    ("read", {"path": "tea"}),
    ("stat", {"path": "tea"}),
    ("frontmatter_read", {"path": "tea"}),
    ("write", {"path": "new", "content": "12345"}),
    ("append", {"path": "tea", "content": "more"}),
    ("edit", {"path": "tea", "find": "# Tea", "replace": "# Green tea"}),
    ("frontmatter_update", {"path": "tea", "key": "kind", "value": ["a", {"b": 1}]}),
    ("frontmatter_delete", {"path": "tea", "key": "due"}),
    ("copy", {"source": "tea", "target": "tea-2"}),
    ("move", {"source": "other", "target": "elsewhere/other"}),
    ("delete", {"path": "tea-2"}),
    ("auto_memory", {"messages": MESSAGES, "session_id": "chat-1"}),
    ("auto_dream", {}),
    ("upload", {"data": "iVBORw0KGgo=", "name": "dot.png"}),
    ("download", {"path": "tea"}),
    ("read_image", {"path": "resource/2026-05-15/dot.png"}),
    ("daily_create", {"name": "团队午餐", "content": "Thursday.", "date": "2026-05-15"}),
    ("daily_write", {"event": "团队午餐", "content": "Bring the list.", "date": "2026-05-15"}),
    ("daily_read", {"event": "团队午餐", "date": "2026-05-15"}),
    ("daily_list", {}),
    ("daily_status", {}),
    ("daily_reindex", {"date": "2026-05-15"}),
    ("lint", {}),
    ("status", {}),
    ("cost", {}),
    ("wait", {"timeout": 5}),
    ("follow_renames", {}),
    ("reindex", {}),
    ("log", {}),
]


def check(app: App, name: str, arguments: dict[str, object]) -> dict[str, object]:
    operation = app.catalog[name]
    result = app.call(name, arguments, role="person", actor="test")
    assert operation.text(result).strip(), name
    document = as_json(result)
    Draft202012Validator(output_schema(operation)).validate(document)
    return document


def check_decisions(app: App) -> set[str]:
    """Dreams that only propose, and what is decided of them."""
    for name, decision in (("a", "accept"), ("b", "reject")):
        path = f"daily/2026-05-15/{name}.md"
        check(app, "write", {"path": path, "content": f"- I prefer tool {name} for all of my work. (Bo, 2026-05-15)"})
        proposal = check(app, "dream", {"path": path, "propose": True})["run"]
        check(app, "proposals", {})
        check(app, decision, {"proposal": proposal})
    check(app, "proactive", {"date": "2026-05-15"})
    check(app, "stale", {})
    check(app, "conflicts", {})
    return {"dream", "proposals", "accept", "reject", "proactive", "stale", "conflicts"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "tea.md").write_text(NOTE, encoding="utf-8")
    (tmp_path / "other.md").write_text("# Other\n\n[[tea]]\n", encoding="utf-8")
    return tmp_path


def test_every_result_is_as_its_schema_says(root: Path) -> None:
    with open_vault(root, instant=lambda: NOW) as app:
        documents = {name: check(app, name, arguments) for name, arguments in CALLS}
        run = documents["edit"]["run"]
        check(app, "recall", {"query": "tea"})
        check(app, "show", {"run": run})
        check(app, "undo", {"run": run})
        decided = check_decisions(app)
        assert {operation.name for operation in app.catalog} == {*documents, "recall", "show", "undo", *decided}
    assert (root / "new.md").read_text("utf-8") == "12345"
