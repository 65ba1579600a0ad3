"""Moving: every link leads where it led, and nothing else changes."""

import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reme.errors import Conflict, InvalidInput, NotFound, Refused
from reme.index import refresh
from reme.markdown import Names, parse, resolve
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.tools import list_files, log, move, move_text, undo, write
from reme.vault import Layout
from tests.tools.house import House


def test_b05_code_is_not_rewritten(house: House) -> None:
    code = (
        "write `see [[Hub]]`, ``a ` [[Hub]]``\n\n~~~\n[[Hub]]\n~~~\n\n    [[Hub]] indented\n\n"
        "<!-- [[Hub]] -->\n\n%% [[Hub]] %%\n"
    )
    house.lay({"Hub.md": "# Hub\n", "a.md": f"{code}\n[[Hub]]\n"})
    result = move(house.ask(), "Hub", "Centre")
    assert house.text("a.md") == f"{code}\n[[Centre]]\n"
    assert [(r.path, r.links) for r in result.retargeted] == [("a.md", 1)]


def test_plain_links_are_respelled_beside_others_of_that_name(house: House) -> None:
    """Notes in which the links are told by the index alone, and such as must be read."""
    plain = "see [[Hub]], [[digest/Hub.md|the hub]] and [[hub]]\n\n茶 [[Hub#Tea]] [[Hubs]]\n"
    mixed = "see `[[Hub]]` and [[Hub|a[b]]\n"
    embedded = "see ![[Hub]] and [[Hub]]\n"
    house.lay({"digest/Hub.md": "# Hub\n", "a.md": plain, "b.md": mixed, "c.md": embedded, "Hubs.md": "x\n"})
    result = move(house.ask(), "digest/Hub", "digest/it's (new)")
    assert house.text("a.md") == (
        "see [[it's (new)]], [[digest/it's (new).md|the hub]] and [[it's (new)]]\n\n茶 [[it's (new)#Tea]] [[Hubs]]\n"
    )
    assert house.text("b.md") == "see `[[Hub]]` and [[it's (new)|a[b]]\n"
    assert house.text("c.md") == "see ![[it's (new)]] and [[it's (new)]]\n"
    assert [(r.path, r.links) for r in result.retargeted] == [("a.md", 4), ("b.md", 1), ("c.md", 2)]


def test_b09_links_in_frontmatter(house: House) -> None:
    before = (
        "---\nrelated: [\"[[Plan A]]\", '[[Dir/Plan B#Goals|b]]', '[[Plan A]]']  # mine\n"
        'meta: {owner: "[[Ann]]"}\nbare: "see [[plan a]] and [[Plan A|A]]"\n---\n'
    )
    house.lay({"Plan A.md": "a\n", "Dir/Plan B.md": "b\n", "Ann.md": "c\n", "n.md": before})
    move(house.ask(), "Plan A", "Plan 'C', 计划")
    note = parse(house.data("n.md"))
    assert note.frontmatter is not None
    assert note.frontmatter.valid
    assert note.properties["related"] == ["[[Plan 'C', 计划]]", "[[Dir/Plan B#Goals|b]]", "[[Plan 'C', 计划]]"]
    assert note.properties["bare"] == "see [[Plan 'C', 计划]] and [[Plan 'C', 计划|A]]"
    assert '# mine\nmeta: {owner: "[[Ann]]"}\n' in house.text("n.md")


def test_a_name_that_yaml_must_quote_is_taken_along(house: House) -> None:
    old, new = ('from/Plan "C": 计划', 'to/Plan "C": 计划')
    text = "---\ndouble: \"[[{}]]\"\nsingle: '[[{}]]'\n---\n"
    house.lay({f"{old}.md": "a\n", "n.md": text.format(old.replace('"', '\\"'), old)})
    move(house.ask(), "from", "to")
    assert house.text("n.md") == text.format(new.replace('"', '\\"'), new)


def test_b25_every_form(house: House) -> None:
    before = (
        "[[Ops/Plan|Ops/Plan]] [[Ops/Plan#Goals|the plan]] ![[Ops/Plan]]\n\nk:: [[Ops/Plan]]\n\n"
        '[[Ops/Planner]] Ops/Plan [[ Ops/Plan ]] [[Ops/Plan.md]] [t](Ops/Plan.md#x) [u](<Ops/Plan.md> "T")\n\n'
        "| a |\n|---|\n| [[Ops/Plan\\|x]] |\n"
    )
    after = (
        "[[Ops/Road map|Ops/Plan]] [[Ops/Road map#Goals|the plan]] ![[Ops/Road map]]\n\nk:: [[Ops/Road map]]\n\n"
        "[[Ops/Planner]] Ops/Plan [[ Ops/Road map ]] [[Ops/Road map.md]] [t](Ops/Road%20map.md#x) "
        '[u](<Ops/Road map.md> "T")\n\n| a |\n|---|\n| [[Ops/Road map\\|x]] |\n'
    )
    house.lay({"Ops/Plan.md": "# Plan\n", "Ops/Planner.md": "x\n", "n.md": before})
    result = move(house.ask(), "Ops/Plan", "Ops/Road map")
    assert house.text("n.md").replace("<Ops/Road%20map.md>", "<Ops/Road map.md>") == after
    assert [(f.source, f.target) for f in result.files] == [("Ops/Plan.md", "Ops/Road map.md")]
    assert result.files[0].revision == revision_of(b"# Plan\n")
    assert result.retargeted[0].links == 9
    assert "respelled 9 links" in move_text(result)


def test_chinese_names_and_line_endings(house: House) -> None:
    house.lay(
        {
            "digest/wiki/令牌.md": "---\r\nname: 令牌\r\n---\r\n内容\r\n",
            "a.md": "\ufeff见[[令牌]]与[[digest/wiki/令牌.md|它]]。\r\n[链接](digest/wiki/%E4%BB%A4%E7%89%8C.md)",
        }
    )
    move(house.ask(), "digest/wiki/令牌", "digest/wiki/令牌轮换")
    text = house.text("a.md")
    assert text.startswith("\ufeff见[[令牌轮换]]与[[digest/wiki/令牌轮换.md|它]]。\r\n[链接](")
    refresh(house.index, house.vault)
    assert [resolve(x.target, VaultPath("a.md"), _names(house)) for x in parse(house.data("a.md")).links] == [
        "digest/wiki/令牌轮换.md"
    ] * 3


def test_p09_a_link_that_was_just_written_is_found(house: House) -> None:
    house.lay({"X.md": "x\n"})
    refresh(house.index, house.vault)
    write(house.ask(), "n", "[[X]]\n")
    move(house.ask(), "X", "deep/Y")
    assert house.text("n.md") == "[[Y]]\n"


def test_p09_a_link_written_while_the_move_was_made_is_found(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = sys.modules["reme.tools.changes"]
    real, late = changes.commit, ["late.md"]

    def commit(vault: object, change_set: object) -> object:
        outcome = real(vault, change_set)
        while late:
            house.lay({late.pop(): "[[X]] and [[other]]\n"})
        return outcome

    house.lay({"X.md": "x\n", "other.md": "o\n", "n.md": "[[X]]\n"})
    monkeypatch.setattr(changes, "commit", commit)
    result = move(house.ask(), "X", "Y")
    assert house.text("late.md") == "[[Y]] and [[other]]\n"
    assert {r.path for r in result.retargeted} == {"n.md", "late.md"}
    undo(house.ask(), result.run)
    assert house.text("late.md") == "[[X]] and [[other]]\n"
    assert house.text("n.md") == "[[X]]\n"


def test_the_notes_own_relative_links(house: House) -> None:
    house.lay(
        {
            "a/n.md": "[m](m.md) [up](../top.md) ![p](img/p.png) [[m]] [[./m]] [self](#x) [[#y]] [[n]] [w](https://x.y/z)\n",
            "a/m.md": "[n](n.md) [[a/n]]\n",
            "a/img/p.png": b"\x89PNG",
            "top.md": "[n](a/n.md)\n",
        }
    )
    move(house.ask(), "a/n", "b/c/n")
    assert house.text("b/c/n.md") == (
        "[m](../../a/m.md) [up](../../top.md) ![p](../../a/img/p.png) [[m]] [[../../a/m]] [self](#x) [[#y]] [[n]] "
        "[w](https://x.y/z)\n"
    )
    assert house.text("a/m.md") == "[n](../b/c/n.md) [[b/c/n]]\n"
    assert house.text("top.md") == "[n](b/c/n.md)\n"


def test_pictures_move_with_their_embeds(house: House) -> None:
    house.lay({"pics/a.png": b"\x89PNG", "n.md": "![[a.png]] ![[pics/a.png|100]] ![x](pics/a.png)\n"})
    result = move(house.ask(), "pics/a.png", "media/b")
    assert result.files[0].target == "media/b.png"
    assert house.text("n.md") == "![[b.png]] ![[media/b.png|100]] ![x](media/b.png)\n"


def test_short_links_elsewhere_are_lengthened(house: House) -> None:
    house.lay({"x/Plan.md": "1\n", "y/Draft.md": "2\n", "n.md": "[[Plan]] [[Draft]] [[x/Plan]]\n"})
    move(house.ask(), "y/Draft", "y/Plan")
    assert house.text("n.md") == "[[x/Plan]] [[y/Plan]] [[x/Plan]]\n"


def test_links_by_title_are_not_stolen(house: House) -> None:
    house.lay({"a.md": "---\ntitle: Road\n---\n", "b.md": "b\n", "n.md": "[[Road]] [[b]]\n"})
    move(house.ask(), "b", "Road")
    assert house.text("n.md") == "[[a]] [[Road]]\n"


def test_a_title_that_says_the_old_name_does_not_stand_in_for_it(house: House) -> None:
    house.lay({"jwt.md": "---\nname: jwt\naliases: [令牌]\n---\n", "n.md": "[[jwt]] [[令牌]]\n"})
    move(house.ask(), "jwt", "jwt-rotation")
    assert house.text("n.md") == "[[jwt-rotation]] [[令牌]]\n"


def test_case_only(house: House) -> None:
    house.lay({"Ops/Plan.md": "x\n", "n.md": "[[Plan]] [[Ops/Plan.md]] [[plan]]\n"})
    move(house.ask(), "Ops/Plan", "Ops/plan")
    assert list(house.tree()) == ["n.md", "Ops/plan.md"] or sorted(house.tree()) == ["Ops/plan.md", "n.md"]
    assert house.text("n.md") == "[[plan]] [[Ops/plan.md]] [[plan]]\n"


def test_target_exists(house: House) -> None:
    house.lay({"a.md": "a\n", "b.md": "b\n", "c/a.md": "c\n", "d/x.md": "d\n", "e/x.md": "e\n", "Z/q.md": "q\n"})
    before = house.tree()
    for source, target in (("a", "b"), ("a", "B"), ("a", "c"), ("a", "c/"), ("d", "e/x.md"), ("d/x", "e/X")):
        with pytest.raises(Conflict):
            move(house.ask(), source, target)
    for source, target in (("a", "a"), ("d", "d/sub"), ("d", "d")):
        with pytest.raises(InvalidInput):
            move(house.ask(), source, target)
    with pytest.raises(NotFound):
        move(house.ask(), "nope", "x")
    assert house.tree() == before


def test_expected_revision(house: House) -> None:
    house.lay({"a.md": "a\n", "d/x.md": "x\n"})
    with pytest.raises(Conflict):
        move(house.ask(), "a", "b", expected_revision=revision_of(b"z"))
    with pytest.raises(InvalidInput):
        move(house.ask(), "d", "e", expected_revision=revision_of(b"z"))
    move(house.ask(), "a", "b", expected_revision=revision_of(b"a\n"))
    assert "b.md" in house.tree()


def test_target_forms(house: House) -> None:
    house.lay({"trips/v1.md": "x\n", "into/y.md": "y\n"})
    assert move(house.ask(), "trips/v1", "trips/v1.2").files[0].target == "trips/v1.2.md"
    assert move(house.ask(), "trips/v1.2", "into").files[0].target == "into/v1.2.md"
    assert move(house.ask(), "into/v1.2", "new/").files[0].target == "new/v1.2.md"


def test_folder(house: House) -> None:
    files: dict[str, str | bytes] = {
        "Ops/Plan.md": "[[Ops/sub/Deep]] [d](sub/Deep.md) [[Deep]] [t](../top.md)\n",
        "Ops/sub/Deep.md": "[[Ops/Plan]] [p](../Plan.md)\n",
        "Ops/data.csv": "a,b\n",
        "Ops/old.bak": "kept with the rest",
        "top.md": "[[Ops/Plan]] [[Plan]] [p](Ops/sub/Deep.md)\n",
    }
    house.lay(files)
    result = move(house.ask(), "Ops", "Arbeit/运维")
    assert house.tree() == {
        "Arbeit/运维/Plan.md": "[[Arbeit/运维/sub/Deep]] [d](sub/Deep.md) [[Deep]] [t](../../top.md)\n".encode(),
        "Arbeit/运维/sub/Deep.md": "[[Arbeit/运维/Plan]] [p](../Plan.md)\n".encode(),
        "Arbeit/运维/data.csv": b"a,b\n",
        "Arbeit/运维/old.bak": b"kept with the rest",
        "top.md": house.data("top.md"),
    }
    top = parse(house.data("top.md"))
    assert house.text("top.md").startswith("[[Arbeit/运维/Plan]] [[Plan]] [p](Arbeit/")
    refresh(house.index, house.vault)
    assert all(resolve(x.target, VaultPath("top.md"), _names(house)) for x in top.links)
    assert not (house.root / "Ops").exists()
    undo(house.ask(), result.run)
    assert house.tree() == {path: text.encode() for path, text in files.items() if isinstance(text, str)}


def test_folder_with_what_no_path_can_name(house: House) -> None:
    house.lay({"d/a.md": "a\n", "d/.DS_Store": "x"})
    (house.root / "d/link.md").symlink_to(house.root / "d/a.md")
    result = move(house.ask(), "d", "e")
    assert result.left_behind == ("d/.DS_Store", "d/link.md")
    assert (house.root / "d/.DS_Store").exists()


def test_folder_or_note(house: House) -> None:
    house.lay({"Plan.md": "n\n", "Plan/a.md": "a\n"})
    with pytest.raises(InvalidInput, match="folder"):
        move(house.ask(), "Plan", "X")
    move(house.ask(), "Plan/", "Folder")
    move(house.ask(), "Plan", "Note")
    assert sorted(house.tree()) == ["Folder/a.md", "Note.md"]


def test_layer_folders_stay(tmp_path: Path) -> None:
    house = House(tmp_path / "v", Layout(daily="tage", digest="kb/digest"))
    house.lay({"tage/a.md": "a\n", "kb/digest/wiki/b.md": "b\n"})
    for source in ("tage", "kb", "kb/digest", "Tage"):
        with pytest.raises((Refused, NotFound)):
            move(house.ask(), source, "elsewhere")
    assert move(house.ask(), "kb/digest/wiki", "kb/digest/concept").files[0].target == "kb/digest/concept/b.md"
    house.close()


def test_recorded_content_is_reported_not_rewritten(house: House) -> None:
    house.lay(
        {
            "X.md": "x\n",
            "resource/2026-05-15/r.md": "[[X]]\n",
            "session/dialog/s.md": "\n[[X]]\n",
            "latin.md": "caf\xe9 [[X]] d\xe9j\xe0 vu na\xefve\n".encode("latin-1"),
            "n.md": "[[X]]\n",
        }
    )
    before = house.tree()
    result = move(house.ask(), "X", "Y")
    assert {(link.path, link.line, link.target) for link in result.links_left} == {
        ("resource/2026-05-15/r.md", 1, "X"),
        ("session/dialog/s.md", 2, "X"),
        ("latin.md", 1, "X"),
    }
    assert "3 links not respelled" in move_text(result)
    assert {p: d for p, d in house.tree().items() if before.get(p) != d} == {"Y.md": b"x\n", "n.md": b"[[Y]]\n"}


def test_bases_and_canvases_that_name_what_moved_are_told(house: House) -> None:
    base = (
        "filters:\n  and:\n    - file.hasLink(\"Books\") && link('Bookshelf')\n    - 'link(\"books#new\")'\n"
        '    - "link(\\"Lists/Books.md\\")"\nviews:\n  - name: 书\n    filters: file.inFolder("Lists") # [[Books|b]]\n'
    )
    canvas = '{"nodes":[{"type":"file","file":"Lists/Books.md"},{"type":"text","text":"Books about [[茶]]"}]}'
    files = {
        "Lists/Books.md": "b\n",
        "茶.md": "t\n",
        "Lists/all.base": base,
        "map.canvas": canvas,
        "n.md": "[[Books]]\n",
    }
    house.lay(files)
    told = move(house.ask(), "Lists/Books", "Lists/Titles", dry_run=True)
    assert [(link.path, link.line, link.target) for link in told.links_left] == [
        ("Lists/all.base", 3, "Books"),
        ("Lists/all.base", 4, "books"),
        ("Lists/all.base", 5, "Lists/Books.md"),
        ("Lists/all.base", 8, "Books"),
        ("map.canvas", 1, "Lists/Books.md"),
    ]
    assert move(house.ask(), "Lists/Books", "Lists/Titles").links_left == told.links_left
    assert house.text("Lists/all.base") == base
    assert "map.canvas:1 Lists/Books.md: only links of notes are respelled" in move_text(told)
    folder = move(house.ask(), "Lists", "old/Lists")
    assert [(link.path, link.line, link.target) for link in folder.links_left] == [("old/Lists/all.base", 8, "Lists")]
    assert [link.path for link in move(house.ask(), "茶", "drinks/茶").links_left] == []
    assert [link.target for link in move(house.ask(), "drinks/茶", "drinks/水").links_left] == ["茶"]


def test_retarget_off(house: House) -> None:
    house.lay({"X.md": "[self](X.md)\n", "n.md": "[[X]]\n"})
    result = move(house.ask(), "X", "d/Y", retarget=False)
    assert house.tree() == {"d/Y.md": b"[self](X.md)\n", "n.md": b"[[X]]\n"}
    assert {(link.path, link.target) for link in result.links_left} == {("n.md", "X"), ("d/Y.md", "X.md")}
    assert result.retargeted == ()


def test_dry_run(house: House) -> None:
    house.lay({"X.md": "x\n", "n.md": "[[X]]\n"})
    before = house.tree()
    result = move(house.ask(), "X", "Y", dry_run=True)
    assert (result.run, result.retargeted[0].path, result.files[0].target) == ("", "n.md", "Y.md")
    assert move_text(result).startswith("would move X.md to Y.md")
    assert house.tree() == before
    assert log(house.ask()).runs == ()


def test_rights_are_checked_on_what_is_named_and_not_on_links(house: House) -> None:
    house.lay({"daily/a.md": "a\n", "digest/wiki/b.md": "[[daily/a]]\n", "digest/wiki/c.md": "c\n"})
    move(house.ask("agent"), "daily/a", "daily/z")
    assert house.text("digest/wiki/b.md") == "[[daily/z]]\n"
    with pytest.raises(Refused):
        move(house.ask("agent"), "digest/wiki/c", "daily/c")
    with pytest.raises(Refused):
        move(house.ask("agent"), "daily/z", "digest/wiki/z")


def test_a_name_that_links_cannot_spell(house: House) -> None:
    house.lay({"X.md": "x\n", "n.md": "[[X]]\n"})
    before = house.tree()
    with pytest.raises(InvalidInput):
        move(house.ask(), "X", "a]]b|c#d")
    assert house.tree() == before


def test_listing_sees_the_move_at_once(house: House) -> None:
    house.lay({"X.md": "x\n"})
    move(house.ask(), "X", "Y")
    assert [f.path for f in list_files(house.ask()).files] == ["Y.md"]


# Laws over random vaults

FOLDERS = ["", "a/", "a/b/", "ü (c)/"]
STEMS = [
    "Plan",
    "笔记",
    "会议：记录",
    "v1.2",
    "100% x",
    "it's",
    'a "b"',
    "C++ & D",
    "Straße",
    "STRASSE",
    "x*y_z",
    "- d",
]
PATHS = st.builds(lambda folder, stem: f"{folder}{stem}.md", st.sampled_from(FOLDERS), st.sampled_from(STEMS))
FORMS = (
    "[[{stem}]]",
    "[[{bare}|x]]",
    "![[{path}#h]]",
    "[[{suffix}]]",
    "[t]({url})",
    "[t](<{up}{path}>)",
    "- k:: [[{bare}]], [[{stem}]]",
    "| a |\n|---|\n| [[{bare}\\|x]] |",
    "`[[{stem}]]`",
)
PROPERTIES = (
    "single: '[[{single}]]'",
    'double: "[[{double}|x]]"',
    "flow: [\"[[{double}]]\", '[[{single}]]']",
    "block: |\n  text [[{bare}]]\n  more",
    "title: {double_stem}",
    "plain: see [[{bare}]] there",
    "list:\n  - to [[{stem}|x]] and [[{bare}]]",
)
HEADS = st.lists(st.sampled_from(PROPERTIES), max_size=3)


def spelled(form: str, source: str, target: str) -> str:
    bare, up = target.removesuffix(".md"), "../" * source.count("/")
    stem = bare.rpartition("/")[2]
    return form.format(
        stem=stem,
        bare=bare,
        path=target,
        up=up,
        suffix="/".join(bare.split("/")[-2:]),
        url=quote(up + target),
        single=bare.replace("'", "''"),
        double=bare.replace('"', '\\"'),
        double_stem='"' + stem.replace('"', '\\"') + '"',
    )


@st.composite
def vaults(draw: st.DrawFn) -> tuple[dict[str, str | bytes], str, str]:
    """Files with links among them, what to move, and where to."""
    paths = draw(st.lists(PATHS, min_size=2, max_size=6, unique_by=lambda path: path.casefold()))
    targets = st.lists(st.sampled_from(paths), max_size=3)
    files: dict[str, str | bytes] = {}
    for path in paths:
        body = [spelled(draw(st.sampled_from(FORMS)), path, target) for target in draw(targets)]
        head = {key[: key.index(":")]: spelled(key, path, draw(st.sampled_from(paths))) for key in draw(HEADS)}
        text = "\n".join(["---", *head.values(), "---", ""]) if head else ""
        files[path] = (text + "\n\n".join(body) + "\n").replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    folders = sorted({path.rpartition("/")[0] for path in paths} - {""})
    if folders and draw(st.booleans()):
        return files, draw(st.sampled_from(folders)) + "/", draw(st.sampled_from(["new", "ü (c)/new", "a/b/new"]))
    return files, draw(st.sampled_from(paths)), draw(PATHS)


@given(vaults())
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_move_keeps_what_links_lead_to_and_undo_restores(case: tuple[dict[str, str | bytes], str, str]) -> None:
    files, source, target = case
    root = Path(tempfile.mkdtemp())
    house = House(root / "v")
    try:
        house.lay(files)
        refresh(house.index, house.vault)
        before, led = house.tree(), _leads(house)
        try:
            result = move(house.ask(), source, target)
        except (Conflict, InvalidInput):
            assert house.tree() == before
            return
        moved = {f.source: f.target for f in result.files}
        refresh(house.index, house.vault)
        expected = [(moved.get(s, s), n, moved.get(t, t)) for s, n, t in led]
        now = _leads(house)
        assert sorted(x for x in now if (x[0], x[1]) in {(s, n) for s, n, _ in expected}) == sorted(expected)
        assert result.links_left == ()
        undo(house.ask(), result.run)
        assert house.tree() == before
    finally:
        house.close()
        shutil.rmtree(root)


def _leads(house: House) -> list[tuple[VaultPath, int, VaultPath]]:
    """Every link that leads somewhere: source, number in it, target."""
    found: list[tuple[VaultPath, int, VaultPath]] = []
    for path, data in house.tree().items():
        for number, link in enumerate(parse(data).links):
            led_to = resolve(link.target, VaultPath(path), _names(house))
            if led_to is not None:
                found.append((VaultPath(path), number, led_to))
    return found


def _names(house: House) -> Names:
    return house.index.names
