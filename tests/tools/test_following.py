"""Links to files that other programs rename: told, and respelled where that is asked for."""

from reme.index import refresh
from reme.tools import follow_renames, followed_text, left_behind, lint, status, status_text, undo
from tests.tools.house import House

FILES: dict[str, str | bytes] = {
    "digest/wiki/tea.md": "---\nname: Tea\n---\n# Tea\n",
    "digest/wiki/cup.md": "See [[digest/wiki/tea.md]] and [[tea#Tea|the tea]], [it](tea.md).\n",
    "daily/2026-05-15/茶.md": "rel:: [[tea]] `[[tea]]` [[nowhere]]\n",
    "session/dialog/x.jsonl": '{"role": "user", "text": "[[tea]]"}\n',
    "other.md": "[[digest/wiki/cup.md]]\n",
}


def renamed(house: House) -> None:
    house.lay(FILES)
    refresh(house.index, house.vault)
    (house.root / "digest/wiki/tea.md").rename(house.root / "digest/wiki/green-tea.md")
    refresh(house.index, house.vault)


def test_links_left_behind_are_told(house: House) -> None:
    renamed(house)
    told = left_behind(house.ask())
    assert [(link.path, link.target) for link in told] == [  # [[tea]] leads there still: the note's name says so
        ("digest/wiki/cup.md", "digest/wiki/tea.md"),
        ("digest/wiki/cup.md", "tea.md"),
    ]
    assert {link.now for link in told} == {"digest/wiki/green-tea.md"}
    health = status(house.ask())
    assert health.left_behind == len(told)
    assert "follow_renames" in status_text(health)
    findings = lint(house.ask(), rules=["dangling"]).findings
    assert "'digest/wiki/tea.md' was renamed to digest/wiki/green-tea.md" in [finding.message for finding in findings]


def test_links_follow_in_one_run_that_can_be_undone(house: House) -> None:
    renamed(house)
    before = house.tree()
    asked = house.ask("system")
    dry = follow_renames(asked, dry_run=True)
    assert house.tree() == before
    assert dry.run == ""
    done = follow_renames(asked)
    assert done.run == asked.caller.run
    assert "digest/wiki/cup.md:1 digest/wiki/tea.md follows digest/wiki/green-tea.md" in followed_text(done)
    text = house.text("digest/wiki/cup.md")
    assert "[[digest/wiki/green-tea.md]]" in text
    assert "[it](green-tea.md)" in text
    assert "|the tea]]" in text
    assert "`[[tea]]` [[nowhere]]" in house.text("daily/2026-05-15/茶.md")
    assert house.data("session/dialog/x.jsonl") == before["session/dialog/x.jsonl"]
    refresh(house.index, house.vault)
    assert [edge.raw_target for edge in house.index.unresolved()] == ["nowhere"]
    assert left_behind(house.ask()) == ()
    assert follow_renames(house.ask("system")).run == ""
    undo(house.ask(), done.run)
    assert house.tree() == before


def test_links_follow_a_file_from_every_path_that_it_has_had(house: House) -> None:
    house.lay({"茶/tea.md": "# Green\n", "a.md": "[[tea]] [[茶/tea.md]]\n", "b.md": "[[cup]] [[茶/cup]]\n"})
    refresh(house.index, house.vault)
    place = house.root / "茶/tea.md"
    for name in ("cup.md", "bowl.md", "Bowl.md"):
        place = place.rename(place.with_name(name))
        refresh(house.index, house.vault)
    assert {(link.target, link.now) for link in left_behind(house.ask())} == {
        (target, "茶/Bowl.md") for target in ("tea", "茶/tea.md", "cup", "茶/cup")
    }
    follow_renames(house.ask("system"))
    assert house.text("a.md") == "[[Bowl]] [[茶/Bowl.md]]\n"
    assert house.text("b.md") == "[[Bowl]] [[茶/Bowl]]\n"


def test_nothing_renamed_nothing_to_do(house: House) -> None:
    house.lay(FILES)
    done = follow_renames(house.ask("system"))
    assert done.links == ()
    assert followed_text(done) == "no link was left behind by a rename"
