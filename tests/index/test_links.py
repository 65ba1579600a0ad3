"""Links: resolved the moment a name appears, unresolved the moment it goes."""

from reme.paths import VaultPath
from tests.index.place import Place

P = VaultPath


def targets(place: Place, path: str) -> list[str | None]:
    return [edge.target for edge in place.index.links_from(P(path))]


def test_b21_a_link_resolves_when_its_note_appears_and_not_after_it_went(place: Place) -> None:
    place.write("A.md", "[[Later]]\n")
    place.refresh()
    (edge,) = place.index.unresolved()
    assert (edge.target, edge.raw_target) == (None, "Later")
    place.write("sub/Later.md", "here\n")
    place.refresh()
    assert targets(place, "A.md") == ["sub/Later.md"]
    assert place.index.referrers(P("sub/Later.md")) == ["A.md"]
    place.delete("sub/Later.md")
    place.refresh()
    assert targets(place, "A.md") == [None]


def test_an_alias_that_appears_and_goes(place: Place) -> None:
    place.write("a.md", "[[CI/CD Pipeline]]\n")
    place.write("b.md", "plain\n")
    place.refresh()
    assert targets(place, "a.md") == [None]
    place.write("b.md", "---\naliases: [ci/cd pipeline]\n---\n")
    place.refresh()
    assert targets(place, "a.md") == ["b.md"]
    place.write("b.md", "---\ntitle: Other\n---\n")
    place.refresh()
    assert targets(place, "a.md") == [None]


def test_a_second_note_of_the_name_makes_a_short_link_ambiguous(place: Place) -> None:
    place.write("x/tea.md", "one\n")
    place.write("a.md", "[[tea]] [[x/tea]]\n")
    place.refresh()
    assert targets(place, "a.md") == ["x/tea.md", "x/tea.md"]
    place.write("y/tea.md", "two\n")
    place.refresh()
    assert targets(place, "a.md") == [None, "x/tea.md"]
    assert place.index.sources_naming("TEA.md") == ["a.md"]
    place.delete("x/tea.md")
    place.refresh()
    assert targets(place, "a.md") == ["y/tea.md", None]


def test_images_are_no_edges_but_refer(place: Place) -> None:
    place.write("pic.png", b"\x89PNG")
    place.write("note.md", "text\n")
    place.write("a.md", "![[pic.png]] ![[note]]\n")
    place.refresh()
    assert [target for _, target, _ in place.index.steps([P("a.md")], "out")] == ["note.md"]
    assert place.index.referrers(P("pic.png")) == ["a.md"]
    assert place.index.inlinks([P("pic.png"), P("note.md")]) == {"note.md": 1}


def test_inlinks_count_notes_and_no_views(place: Place) -> None:
    place.write("digest/wiki/x.md", "[[digest/wiki/x]]\n")
    for source in ("a.md", "digest/_buckets.md", "daily/2026-05-15.md", "audit/2026-05-15/r.md", "archive/o.md"):
        place.write(source, "[[digest/wiki/x]] [[digest/wiki/x]]\n")
    place.write("daily/2026-05-15/e.md", "up:: [[digest/wiki/x]]\n")
    place.refresh()
    assert place.index.inlinks([P("digest/wiki/x.md")]) == {"digest/wiki/x.md": 2}
    near = place.index.neighbours([P("digest/wiki/x.md")], "in", 10)
    assert [(n.path, n.predicates) for n in near] == [("a.md", ()), ("daily/2026-05-15/e.md", ("up",))]


def test_links_in_properties_have_predicates(place: Place) -> None:
    place.write("Plan A.md", "x\n")
    place.write("a.md", '---\nrelated: ["[[Plan A]]", "[[Missing#Goals|b]]"]\n---\n')
    place.refresh()
    found = [
        (e.target, e.raw_target, e.anchor, e.alias, e.predicate, e.origin) for e in place.index.links_from(P("a.md"))
    ]
    assert found == [
        ("Plan A.md", "Plan A", None, None, "related", "frontmatter"),
        (None, "Missing", "Goals", "b", "related", "frontmatter"),
    ]


def test_a_hostile_predicate_and_path_are_data(place: Place) -> None:
    place.write('it\'s "quoted".md', "x\n")
    place.write("a.md", '[[it\'s "quoted"]]\n')
    place.refresh()
    assert targets(place, "a.md") == ['it\'s "quoted".md']
    assert place.index.steps([P("a.md")], "out", ["'; DROP TABLE links; --"]) == []
