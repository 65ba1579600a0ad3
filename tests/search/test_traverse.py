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
