"""Lint: each rule finds its kind of fault and nothing else; the one fix changes targets alone."""

import json
import time
from pathlib import Path

import pytest

from reme.errors import InvalidInput, NotFound, Refused
from reme.markdown import parse
from reme.revision import revision_of
from reme.tools import Finding, Preset, Rule, SchemaSettings, has_findings, lint, lint_text, undo
from tests.tools.house import House

NAMED = "---\nname: {0}\ndescription: about {0}\n---\n"


def found(house: House, rule: Rule, *paths: str, schema: SchemaSettings | None = None) -> list[Finding]:
    report = lint(house.ask(schema=schema), list(paths) or None, [rule])
    assert {finding.rule for finding in report.findings} <= {rule}
    assert report.total == len(report.findings)
    return list(report.findings)


def test_a_clean_vault(house: House) -> None:
    house.lay({"a.md": "[[b]]\n", "b.md": "---\nname: B\n---\n"})
    before = house.tree()
    report = lint(house.ask())
    assert (report.findings, report.total, report.checked, has_findings(report)) == ((), 0, 2, False)
    assert lint_text(report) == "0 findings in 2 files"
    assert house.tree() == before


def test_dangling_links_and_what_may_be_meant(house: House) -> None:
    house.lay(
        {
            "trips/lake house.md": "x\n",
            "旅行/北京大学.md": "x\n",
            "n.md": "[[a]]\n\n[[lake-hous]] [[zzz]]\n![[gone.png]]\n[[北京大]]\n[x](nowhere.md)\n[[n]]\n",
            "x/a.md": "",
            "y/a.md": "",
            "gone too.md": "",
            "p/gnoe.png": b"",
        }
    )
    findings = found(house, "dangling")
    assert [(f.path, f.line, f.target, f.candidates) for f in findings] == [
        ("n.md", 1, "a", ("x/a.md", "y/a.md")),
        ("n.md", 3, "lake-hous", ("trips/lake house.md",)),
        ("n.md", 3, "zzz", ()),
        ("n.md", 4, "gone.png", ("p/gnoe.png",)),
        ("n.md", 5, "北京大", ("旅行/北京大学.md",)),
        ("n.md", 6, "nowhere.md", ()),
    ]
    assert "'a' may mean 2 files" in findings[0].message
    assert "perhaps trips/lake house.md" in lint_text(lint(house.ask()))


def test_b27_a_heading_that_was_renamed_leaves_its_links_as_they_are_and_told(house: House) -> None:
    links = "[[#Early start]] [[Note#Early start|x]] [[Note#Top#Early start]] [[Note#early start]]\n"
    house.lay({"Note.md": f"# Top\n\n## Late: start 2\n\n{links}", "n.md": links})
    assert len(found(house, "dangling", "n.md")) == 4
    assert [(f.line, f.target) for f in found(house, "dangling", "Note")] == [
        (5, "#Early start"),
        (5, "Note#Early start"),
        (5, "Note#Top#Early start"),
        (5, "Note#early start"),
    ]
    assert house.text("n.md") == links
    good = "[[Note#Late start 2]] [[Note#Top#late: start 2]] [x](Note.md#late-start-2) [[Note#L3]] [[Note#Top]]\n"
    house.lay(
        {"n.md": good, "Note.md": "# Top\n\n## Late: start 2\n\ntext ^p1\n", "m.md": "[[Note#^p1]] [[Note#^p2]]\n"}
    )
    assert [(f.path, f.target) for f in found(house, "dangling")] == [("m.md", "Note#^p2")]


def test_orphans(house: House) -> None:
    house.lay(
        {
            "alone.md": "words, [site](https://example.org)\n",
            "self.md": "[[self]]\n",
            "props.md": '---\nrelated: ["[[Plan A]]"]\n---\n',
            "Plan A.md": "x\n",
            "daily/2026-05-15.md": "index\n",
            "audit/2026-05-15/report.md": "report\n",
            "resource/2026-05-15/raw.md": "raw\n",
        }
    )
    assert [f.path for f in found(house, "orphans")] == ["alone.md", "self.md"]


def test_collisions(house: House) -> None:
    house.lay(
        {
            "a/Tea.md": "",
            "b/tea.md": "",
            "c/茶.md": "",
            "C/茶.md": "",
            "daily/2026-05-14/standup.md": "",
            "daily/2026-05-15/standup.md": "",
        }
    )
    (house.root / "caf\u00e9.md").write_text("composed", "utf-8")
    (house.root / "cafe\u0301.md").write_text("decomposed", "utf-8")
    findings = found(house, "collisions")
    if len(list((house.root / "c").iterdir())) + len(list((house.root / "C").iterdir())) > 2:
        pytest.skip("this disk does not tell letter cases apart")
    assert [(f.path, f.candidates) for f in findings] == [
        ("C/茶.md", ("c/茶.md",)),
        ("a/Tea.md", ("b/tea.md",)),
        ("caf\u00e9.md", ()),
    ]


def test_schema_core_and_axes(house: House) -> None:
    axes = "lifecycle: evolving\nscope: class\nsource: curated\nrole: claim\n"
    house.lay(
        {
            "digest/wiki/good.md": f"---\nname: 好\ndescription: d\n{axes}confidence: high\n---\n",
            "digest/wiki/claim.md": f"---\nname: n\ndescription: d\n{axes}---\n",
            "digest/wiki/bad.md": "---\nname: n\ndescription:\nlifecycle: eternal\n---\n",
            "daily/2026-05-15/event.md": "no frontmatter\n",
            "other.md": "anything\n",
        }
    )
    assert [(f.path, f.message) for f in found(house, "schema")] == [
        ("daily/2026-05-15/event.md", "description is missing (preset core)"),
        ("daily/2026-05-15/event.md", "name is missing (preset core)"),
        ("digest/wiki/bad.md", "description is missing (preset core)"),
    ]
    findings = found(house, "schema", "digest", schema=SchemaSettings("axes"))
    assert [(f.path, f.line) for f in findings if "claim" in f.path] == [("digest/wiki/claim.md", 1)]
    bad = [(f.line, f.message.partition(" (")[0]) for f in findings if "bad" in f.path]
    assert bad == [
        (1, "role is missing"),
        (1, "scope is missing"),
        (1, "source is missing"),
        (3, "description is missing"),
        (4, "lifecycle is 'eternal', not one of streaming, evolving, frozen"),
    ]
    assert not found(house, "schema", schema=SchemaSettings("off"))


def test_schema_of_the_vaults_own(house: House) -> None:
    recipe = Preset(layers=("digest",), buckets=("recipe",), required=("servings",), enums={"tags": ("soup", "cake")})
    house.lay(
        {
            "digest/recipe/a.md": "---\nservings: 0\ntags: [soup, stew]\n---\n",
            "digest/recipe/b.md": "---\nservings:\n---\n",
            "digest/wiki/c.md": "x\n",
        }
    )
    findings = found(house, "schema", schema=SchemaSettings("off", {"recipe": recipe}))
    assert [(f.path, f.line, f.message.partition(" (")[0]) for f in findings] == [
        ("digest/recipe/a.md", 3, "tags is 'stew', not one of soup, cake"),
        ("digest/recipe/b.md", 2, "servings is missing"),
    ]
    with pytest.raises(ValueError, match="no condition"):
        Preset(when={"role": ("confidence",)})


def test_frontmatter(house: House) -> None:
    house.lay({"a.md": "---\nx: [1\n---\nbody\n", "b.md": "---\nx: 1\n---\n"})
    assert [(f.path, f.line) for f in found(house, "frontmatter")] == [("a.md", 3)]


def test_provenance(house: House) -> None:
    source = "---\nname: e\n---\n- Green tea keeps me awake.\n- 我更喜欢绿茶。\n"
    node = "[[daily/2026-05-14/e.md]] [[daily/2026-05-14/gone.md]] [[nowhere]]\n- 我更喜欢绿茶。\n"
    statements = [{"line": 4, "text": "Green tea keeps me awake."}, {"line": 5, "text": "我更喜欢绿茶。"}]
    line = {"kind": "derived", "node": "digest/wiki/n.md", "source": "daily/2026-05-14/e.md"}
    line |= {"revision": revision_of(source.encode()), "statements": statements}
    house.lay(
        {
            "daily/2026-05-14/e.md": source,
            "digest/wiki/n.md": node,
            "audit/ledger.jsonl": f"{{broken\n{json.dumps(line)}\n" + '{"kind": "derived", "node": 1}\n',
        }
    )
    gone = ("digest/wiki/n.md", 1, "its source daily/2026-05-14/gone.md is gone")
    assert [(f.path, f.line, f.message) for f in found(house, "provenance")] == [gone]
    house.lay({"daily/2026-05-14/e.md": source + "- one more\n"})
    assert len(found(house, "provenance")) == 1
    house.lay({"daily/2026-05-14/e.md": source.replace("绿茶", "咖啡")})
    messages = [f.message for f in found(house, "provenance")]
    changed = "its source daily/2026-05-14/e.md has changed and no longer says '我更喜欢绿茶。'"
    assert messages[0] == f"{changed}; if it no longer holds, take it out or quote it as > [!superseded]"
    again = line | {"revision": revision_of(source.replace("绿茶", "咖啡").encode()), "statements": []}
    ledger = house.text("audit/ledger.jsonl")
    house.lay({"audit/ledger.jsonl": f"{ledger}{json.dumps(again)}\n"})
    assert [f.message for f in found(house, "provenance")] == messages
    house.lay({"digest/wiki/n.md": node.replace("- 我", "\n> [!superseded] 我")})
    assert [f.message for f in found(house, "provenance")] == messages[1:]
    house.lay({"digest/wiki/n.md": node})
    both = lint(house.ask(), rules=["dangling", "provenance"])
    assert sorted(f.rule for f in both.findings) == ["dangling", "provenance", "provenance"]


def test_resources(house: House) -> None:
    house.lay(
        {
            "resource/loose.txt": "loose\n",
            "resource/2026-05-15/a.txt": "same\n",
            "resource/2026-05-15/b.txt": "same\n",
            "resource/2026-05-15/gone.txt.meta.yaml": "- revision: x\n",
            "n.md": "[[resource/2026-05-15/a.txt]] [[resource/2026-05-15/b.txt]]\n",
        }
    )
    assert [(f.path, f.message) for f in found(house, "resources")] == [
        ("resource/2026-05-15/b.txt", "it has the same content as resource/2026-05-15/a.txt"),
        ("resource/2026-05-15/gone.txt.meta.yaml", "the resource that it describes is gone"),
        ("resource/loose.txt", "it is not filed under a day"),
        ("resource/loose.txt", "no note links to it"),
    ]


LINKS = (
    '---\nrelated: ["[[tea|T]]"]\nplain: see [[tea]]\n---\n'
    "[[tea]] ![[tea#Top|x]] [[x/tea.md]] [[tea.md]] k:: [[tea]] [m](x/tea.md) `[[tea]]` [[gone]] [[#Top]] [[odd]]\r\n"
)
FIXED = (
    '---\nrelated: ["[[x/tea.md|T]]"]\nplain: see [[x/tea.md]]\n---\n'
    "[[x/tea.md]] ![[x/tea.md#Top|x]] [[x/tea.md]] [[x/tea.md]] k:: [[x/tea.md]] [m](x/tea.md) `[[tea]]` [[gone]] "
    "[[#Top]] [[odd]]\r\n"
)


def test_links_and_their_fix(house: House) -> None:
    house.lay(
        {
            "x/tea.md": "# Top\n",
            "n.md": LINKS,
            "x/a#b.md": "---\naliases: [odd]\n---\n",
            "session/dialog/s.md": "[[tea]]\n",
            "digest/wiki/d.md": "[[tea]]\n",
        }
    )
    before = house.tree()
    assert not [f for f in lint(house.ask()).findings if f.rule == "links"]
    findings = found(house, "links")
    assert [(f.path, f.line, f.target, f.fix) for f in findings] == [
        ("digest/wiki/d.md", 1, "tea", "spell it x/tea.md"),
        ("n.md", 2, "tea", "spell it x/tea.md"),
        ("n.md", 3, "tea", "spell it x/tea.md"),
        ("n.md", 5, "odd", ""),
        *[("n.md", 5, target, "spell it x/tea.md") for target in ("tea", "tea", "tea", "tea.md")],
    ]
    plan = lint(house.ask(), rules=["links"], fix=True, dry_run=True)
    assert ([(n.path, n.links) for n in plan.fixed], plan.run) == ([("digest/wiki/d.md", 1), ("n.md", 6)], "")
    assert house.tree() == before
    report = lint(house.ask("agent"), rules=["links"], fix=True)
    assert house.text("n.md") == FIXED
    assert house.text("digest/wiki/d.md") == "[[x/tea.md]]\n"
    assert house.text("session/dialog/s.md") == "[[tea]]\n"
    assert [f.target for f in report.findings] == ["odd"]
    assert "spelled 7 links literally (run " in lint_text(report)
    undo(house.ask(), report.run)
    assert house.tree() == before


def test_scope_limit_and_refusals(house: House) -> None:
    house.lay({f"d/{n}.md": "[[gone]]\n" for n in range(5)} | {"e.md": "[[gone]]\n"})
    report = lint(house.ask(), ["d"], limit=2)
    assert (report.total, len(report.findings), report.truncated, report.checked) == (5, 2, True, 5)
    assert "3 more" in lint_text(report)
    assert lint(house.ask(), ["e"]).total == lint(house.ask(), ["e*"]).total == 1
    with pytest.raises(InvalidInput, match="mechanically"):
        lint(house.ask(), rules=["orphans"], fix=True)
    with pytest.raises(NotFound):
        lint(house.ask(), ["nowhere"])
    with pytest.raises(Refused):
        lint(house.ask(), ["../x"])


@pytest.mark.parametrize("name", ["a", "北", "-", "x" * 300])
def test_odd_names_are_looked_for_in_bounded_time(house: House, name: str) -> None:
    house.lay({f"n{number}.md": "" for number in range(300)} | {"m.md": f"[[{name}]]\n" * 50})
    start = time.process_time()
    assert lint(house.ask(), rules=["dangling"]).total == 50
    assert time.process_time() - start < 5


def test_a_note_that_vanishes_midway(house: House, tmp_path: Path) -> None:
    house.lay({"a.md": "[[b#X]]\n", "b.md": "# X\n"})
    workspace = house.ask()
    assert parse(house.data("b.md")).headings
    lint(workspace)
    (house.root / "b.md").unlink()
    assert [f.target for f in lint(workspace, rules=["dangling"]).findings] == ["b"]


def test_a_note_is_never_what_its_own_link_may_have_meant(house: House) -> None:
    house.lay({"茶 green.md": "[[茶 greem]] [[茶 gren.md]]\n", "other/茶 green.md": "x\n", "n.md": "[[茶 greem]]\n"})
    findings = lint(house.ask(), rules=["dangling"]).findings
    assert {(f.path, f.candidates) for f in findings} == {
        ("茶 green.md", ("other/茶 green.md",)),
        ("n.md", ("other/茶 green.md", "茶 green.md")),
    }
