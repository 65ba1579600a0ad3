"""Traversal: breadth first, each node once, at its shortest distance."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.errors import InvalidInput, NotFound, Refused
from reme.search import traverse, traverse_text
from tests.index.place import Place


@pytest.fixture
def graph(place: Place) -> Place:
    place.write("a.md", "---\nname: Start\n---\nup:: [[b]]\n[[c#x]] [[nowhere]] [[a]]\n")
    place.write("b.md", "[[d]] [[a]]\n")
    place.write("c.md", "[[d]] down:: [[e]]\n")
    place.write("d.md", "[[a]]\n")
    place.write("e.md", "[[archive/f]]\n")
    place.write("archive/f.md", "[[digest/wiki/g]]\n")
    place.write("digest/wiki/g.md", "end\n")
    place.refresh()
    return place


def reached(place: Place, *seeds: str, **options: object) -> dict[str, int]:
    result = traverse(place.index, seeds, **options)  # pyright: ignore[reportArgumentType]
    return {node.path: node.distance for node in result.nodes}


def test_distances(graph: Place) -> None:
    assert reached(graph, "a") == {"a.md": 0, "b.md": 1, "c.md": 1}
    assert reached(graph, "a.md", depth=2) == {"a.md": 0, "b.md": 1, "c.md": 1, "d.md": 2, "e.md": 2}
    assert reached(graph, "d", direction="backward") == {"d.md": 0, "b.md": 1, "c.md": 1}
    assert reached(graph, "e", direction="both") == {"e.md": 0, "archive/f.md": 1, "c.md": 1}
    assert reached(graph, "a", "e") == {"a.md": 0, "e.md": 0, "b.md": 1, "c.md": 1, "archive/f.md": 1}
    assert len(reached(graph, "a", depth=10)) == 7


def test_edges_say_how(graph: Place) -> None:
    result = traverse(graph.index, ["a"], unresolved=True)
    found = {(e.source, e.target, e.predicate, e.anchor, e.line, e.resolved) for e in result.edges}
    assert found == {
        ("a.md", "b.md", "up", None, 4, True),
        ("a.md", "c.md", None, "x", 5, True),
        ("a.md", "nowhere", None, None, 5, False),
    }
    assert all(edge.resolved for edge in traverse(graph.index, ["a"]).edges)


def test_predicates_layers_and_the_archive(graph: Place) -> None:
    assert reached(graph, "a", predicates=["up"], depth=3) == {"a.md": 0, "b.md": 1}
    assert reached(graph, "e", depth=2, exclude_archived=True) == {"e.md": 0}
    assert reached(graph, "e", depth=2, layers=["archive"]) == {"e.md": 0, "archive/f.md": 1}
    with pytest.raises(InvalidInput, match="no layer"):
        reached(graph, "e", layers=["x"])


@pytest.mark.parametrize(("wrong", "right"), [("depends-on", "depends_on"), ("负责人", "负责")])
def test_a_predicate_that_no_link_has_is_refused_with_the_nearest(graph: Place, wrong: str, right: str) -> None:
    graph.write("h.md", "depends_on:: [[a]]\n\n负责:: [[a]]\n")
    graph.refresh()
    with pytest.raises(InvalidInput, match=f"no link has the predicate '{wrong}'") as caught:
        reached(graph, "a", predicates=["up", wrong])
    assert caught.value.hint == f"The nearest: {right}."
    assert reached(graph, "a", predicates=[right]) == {"a.md": 0}, "another note has it"
    assert reached(graph, "a", predicates=[right], direction="backward") == {"a.md": 0, "h.md": 1}
    with pytest.raises(InvalidInput, match="no link has the predicate"):
        reached(graph, "a", predicates=["\0" * 1000])


def test_limits(graph: Place) -> None:
    result = traverse(graph.index, ["a"], depth=5, limit=2)
    assert len(result.nodes) == 3
    assert result.truncated
    assert not traverse(graph.index, ["a"], depth=10, limit=6).truncated
    for options in ({"depth": 0}, {"depth": 99}, {"limit": 0}, {"limit": 10**9}, {"direction": "sideways"}):
        with pytest.raises(InvalidInput):
            reached(graph, "a", **options)


def test_unknown_seeds_are_named(graph: Place) -> None:
    with pytest.raises(NotFound, match="nope"):
        traverse(graph.index, ["a", "nope"])
    with pytest.raises(Refused):
        traverse(graph.index, ["../a"])
    with pytest.raises(InvalidInput):
        traverse(graph.index, [])


def test_a_seed_that_is_elsewhere_is_named(graph: Place) -> None:
    graph.write("digest/wiki/茶.md", "tea\n")
    graph.refresh()
    for name, found in (("g", "digest/wiki/g.md"), ("wiki/茶.md", "digest/wiki/茶.md")):
        with pytest.raises(NotFound) as caught:
            reached(graph, name)
        assert found in caught.value.hint


def test_the_text_form(graph: Place) -> None:
    assert traverse_text(traverse(graph.index, ["a"], unresolved=True)).splitlines() == [
        "nodes (3):",
        "  0 a.md — Start",
        "  1 b.md — b",
        "  1 c.md — c",
        "edges (3):",
        "  a.md:4 → b.md via up",
        "  a.md:5 → c.md#x via plain",
        "  a.md:5 → nowhere via plain (no such note)",
    ]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20), st.integers(1, 4))
def test_distances_are_the_shortest(
    tmp_path_factory: pytest.TempPathFactory, edges: list[tuple[int, int]], depth: int
) -> None:
    place = Place(tmp_path_factory.mktemp("vault"))
    try:
        for node in range(8):
            place.write(f"n{node}.md", " ".join(f"[[n{target}]]" for source, target in edges if source == node))
        place.refresh()
        expected, queue = {0: 0}, deque([0])
        while queue:
            node = queue.popleft()
            for source, target in edges:
                if source == node and target not in expected and expected[node] < depth:
                    expected[target] = expected[node] + 1
                    queue.append(target)
        assert reached(place, "n0", depth=depth) == {f"n{node}.md": distance for node, distance in expected.items()}
    finally:
        place.close()


def test_a_hub_fills_the_limit_in_the_order_of_its_links_whatever_is_left_out(place: Place) -> None:
    place.write("hub.md", "".join(f"[[{'archive' if n % 3 else 'notes'}/n{n:03}]] " for n in range(90)) + "[[茶]]\n")
    for n in range(90):
        place.write(f"{'archive' if n % 3 else 'notes'}/n{n:03}.md", f"[[hub]] [[notes/n{(n // 3) * 3:03}]]\n")
    place.write("茶.md", "[[hub]]\n")
    place.refresh()
    walked = traverse(place.index, ["hub"], exclude_archived=True, direction="both", depth=2, limit=31)
    expected = ["hub.md", *(f"notes/n{n:03}.md" for n in range(0, 90, 3)), "茶.md"]
    assert [node.path for node in walked.nodes] == expected
    assert not walked.truncated
    walked = traverse(place.index, ["hub"], exclude_archived=True, direction="both", depth=2, limit=7)
    assert [node.path for node in walked.nodes] == expected[:8]
    assert walked.truncated


@pytest.mark.parametrize("unresolved", [True, False])
def test_where_there_is_no_room_the_edges_between_what_was_reached_are_still_told(
    place: Place, unresolved: bool
) -> None:
    place.write("hub.md", "".join(f"[[茶{n:02}]] " for n in range(40)))
    for n in range(40):
        place.write(f"茶{n:02}.md", f"[[茶{(n + 1) % 40:02}]]\n\n[[茶{(n + 2) % 40:02}]] [[hub]] [[nowhere]]\n")
    place.refresh()
    result = traverse(place.index, ["hub"], direction="both", depth=2, limit=3, unresolved=unresolved)
    notes = ["茶00.md", "茶01.md", "茶02.md"]
    assert [node.path for node in result.nodes] == ["hub.md", *notes]
    assert result.truncated
    expected = {("hub.md", note) for note in notes} | {(note, "hub.md") for note in notes}
    expected |= {("茶00.md", "茶01.md"), ("茶00.md", "茶02.md"), ("茶01.md", "茶02.md")}
    expected |= {(note, "nowhere") for note in notes} if unresolved else set()
    found = [(edge.source, edge.target) for edge in result.edges]
    assert set(found) == expected
    assert len(found) == len(expected)


def test_b23_a_link_in_another_case_is_seen_from_both_ends(place: Place) -> None:
    place.write("Depot.md", "x\n")
    place.write("Straße.md", "x\n")
    place.write("Müller.md", "x\n")
    spelt = {"a": "depot", "b": "DEPOT|d", "c": "de\u0440ot", "d": "STRASSE", "e": "straße", "f": "MÜLLER"}
    spelt["g"] = "Mu\u0308ller"  # the same letter in two characters
    for name, target in spelt.items():
        place.write(f"{name}.md", f"[[{target}]]\n")
    place.refresh()
    for note, sources in (("Depot", "ab"), ("Straße", "de"), ("Müller", "fg")):
        back = dict.fromkeys((f"{source}.md" for source in sources), 1)
        assert reached(place, note, direction="backward") == {f"{note}.md": 0} | back
        for source in sources:
            assert reached(place, source) == {f"{source}.md": 0, f"{note}.md": 1}
    assert reached(place, "c") == {"c.md": 0}
