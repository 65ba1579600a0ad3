"""Files that are not Markdown: exact pieces that leave nothing out, under what they belong to."""

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reme.index.pieces import Piece, Size, dialogue_pieces, markup_title, pieces_of
from reme.markdown import count_tokens
from tests.index.place import Place, holding

SIZE = Size(30, 50)
ENDINGS = [".txt", ".log", ".json", ".jsonl", ".yaml", ".csv", ".html", ".xml"]


def cut(ending: str, text: str, size: Size = SIZE) -> list[Piece]:
    return list(pieces_of(ending, text.encode(), size))


def texts(ending: str, text: str, size: Size = SIZE) -> list[str]:
    return [text.encode()[piece.start : piece.end].decode() for piece in cut(ending, text, size)]


text_like = st.text(st.sampled_from(list("ab北京é🌱 \n\r\t.,:-\"'{}[]<>/&;!\\u0041#")), max_size=300)


@settings(max_examples=150, deadline=None)
@given(ending=st.sampled_from(ENDINGS), text=text_like)
def test_pieces_are_exact_ranges_in_order_with_their_lines(ending: str, text: str) -> None:
    data = text.encode()
    reached = 0
    for piece in cut(ending, text):
        assert reached <= piece.start < piece.end <= len(data)
        shown = data[piece.start : piece.end].decode()
        assert shown.strip()
        assert piece.line == data[: piece.start].count(b"\n") + 1
        assert piece.end_line == data[: piece.end - 1].count(b"\n") + 1
        assert count_tokens(piece.words if piece.words is not None else shown) <= SIZE.limit + 2
        reached = piece.end


@settings(max_examples=150, deadline=None)
@given(ending=st.sampled_from([".txt", ".jsonl", ".yaml", ".csv"]), text=text_like)
def test_nothing_but_white_space_lies_between_pieces(ending: str, text: str) -> None:
    data = text.encode()
    reached = 0
    for piece in cut(ending, text):
        assert not data[reached : piece.start].strip()
        reached = piece.end
    assert not data[reached:].strip()


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_edit_leaves_most_pieces_as_they_were(ending: str) -> None:
    def made(number: int, word: str) -> str:
        rows = [f"row{i} {word if i == number else 'pear'} grows in garden number {i}" for i in range(800)]
        match ending:
            case ".json":
                return json.dumps({"garden": [{"note": row} for row in rows]}, indent=1)
            case ".jsonl":
                return "\n".join(json.dumps({"text": row, "role": "user"}) for row in rows)
            case ".yaml":
                return "\n".join(f"- note: {row}" for row in rows)
            case ".html" | ".xml":
                return "\n".join(f"<p>{row}</p>" for row in rows)
            case ".txt":
                return "\n\n".join(rows)
            case _:
                return "\n".join(rows)

    size = Size(150, 250)
    before, after = texts(ending, made(-1, ""), size), texts(ending, made(3, "a much longer story about plums"), size)
    if ending != ".log":  # no blank line anywhere: one paragraph
        assert len(set(after) - set(before)) <= len(before) // 4
    assert len(before) > 20


def test_long_lines_are_cut_between_words_and_never_inside_characters() -> None:
    found = texts(".txt", "gamma 北京🌱👨‍👩‍👧 " * 300)
    assert len(found) > 20
    assert "".join(found).replace(" ", "") == ("gamma 北京🌱👨‍👩‍👧 " * 300).replace(" ", "")
    assert all("gamma" in piece or "北京" in piece for piece in found)
    assert not any(piece.startswith("\u200d") or piece.endswith("\u200d") for piece in found)


def test_json_is_cut_by_members_under_their_keys() -> None:
    document = {
        "garden": {"trees": [{"kind": f"pear {i}", "planted": 2000 + i} for i in range(12)]},
        "城市": {"名": "北京", "notes": "first line\nsecond line"},
    }
    pieces = cut(".json", json.dumps(document))  # escapes everything beyond ASCII
    assert {piece.trail for piece in pieces} >= {("garden", "trees")}
    words = " ".join(piece.words or "" for piece in pieces)
    assert "北京" in words
    assert "first line second line" in words
    assert all(f"pear {i}" in words and str(2000 + i) in words for i in range(12))


@pytest.mark.parametrize("text", ['{"a": [1, 2', "]", '{"a": 1]', "pear {"])
def test_broken_json_is_found_as_text_and_complained_of(text: str) -> None:
    (piece,) = cut(".json", text)
    assert piece.complaint == "this is no valid JSON"
    assert text.encode()[piece.start : piece.end].decode() == text


def test_hostile_json_takes_no_time() -> None:
    began = time.process_time()
    cut(".json", "[1," * 100_000 + "1" + "]" * 100_000)
    cut(".json", '{"a":' * 100_000)
    cut(".html", "<a <!-- <script <" * 50_000)
    cut(".csv", '"' + "a,b\n" * 100_000)
    assert time.process_time() - began < 30  # a power of the size would take hours


def test_a_table_names_its_columns_in_every_piece() -> None:
    rows = "\n".join(f'{i},"pear, the {i}th\nof the garden",梨{i}' for i in range(60))
    pieces = cut(".csv", f"id,fruit,水果\n{rows}\n")
    assert len(pieces) > 5
    assert all(piece.trail == ("id,fruit,水果",) for piece in pieces[1:])
    assert all(shown.count('"') % 2 == 0 for shown in texts(".csv", f"id,fruit,水果\n{rows}\n"))


def test_yaml_is_under_its_keys() -> None:
    text = "name: garden\ntrees:\n" + "".join(f"  - kind: pear {i}\n    soil: loam {i}\n" for i in range(40))
    text += "城市:\n  北京:\n    note: |\n" + "".join(f"      line {i} of many words\n" for i in range(20))
    pieces = cut(".yaml", text)
    assert ("trees",) in {piece.trail for piece in pieces}
    assert ("城市", "北京", "note") in {piece.trail for piece in pieces}


def test_html_is_found_by_what_it_shows_under_its_headings() -> None:
    page = (
        "<!DOCTYPE html><html><head><title>Pears &amp; Plums</title><style>p { color: quince }</style>"
        "<script>var quince = '<p>quince</p>';</script></head><body><!-- quince <p>quince</p> -->"
        "<h1>Gardens</h1><p>A <b>pe</b>ar costs 3&nbsp;&euro; &#x5317;&#20140;.</p>"
        f"<h2>Soil <i>types</i></h2><p>{'loam and clay. ' * 20}</p><h1>Usage</h1><p title='a'>Eat.</p>"
    )
    pieces = cut(".html", page)
    words = "\n".join(piece.words or "" for piece in pieces)
    assert "A pear costs" in words
    assert "3\xa0€ 北京" in words
    assert "quince" not in words
    assert ("Gardens", "Soil types") in {piece.trail for piece in pieces}
    assert pieces[-1].trail in ((), ("Usage",))
    assert markup_title(page.encode()) == "Pears & Plums"


def test_a_long_turn_is_cut_and_every_piece_knows_who_spoke_when() -> None:
    turn = {"role": "user", "speaker": "Ann", "at": "2026-05-14T10:00:00", "text": "pears\nand 梨 " * 100}
    data = json.dumps(turn).encode() + b"\n" + json.dumps({"role": "assistant", "text": "yes"}).encode()
    pieces = list(dialogue_pieces(data, SIZE))
    assert len(pieces) > 3
    assert {(piece.speaker, piece.date) for piece in pieces[:-1]} == {("Ann", "2026-05-14")}
    assert {piece.line for piece in pieces[:-1]} == {1}
    assert sum((piece.words or "").count("梨") for piece in pieces) == 100
    assert len(list(dialogue_pieces(data))) == 2


def test_nothing_that_is_said_in_a_turn_is_lost_and_a_name_tells_who_said_it() -> None:
    nested: object = "deep 深"
    for _ in range(50):
        nested = [{"of": nested}]
    turns = [
        {"role": "user", "name": "安妮", "content": [{"type": "text", "text": "pears"}, {"parts": nested}]},
        {"role": "tool", "text": 4711, "content": "quince"},
    ]
    first, second = dialogue_pieces("\n".join(json.dumps(turn) for turn in turns).encode(), SIZE)
    assert first.speaker == "安妮"
    assert {"pears", "deep", "深"} <= set((first.words or "").split())
    assert {"4711", "quince"} <= set((second.words or "").split())


@pytest.mark.parametrize("ending", [".txt", ".json", ".jsonl", ".csv", ".yaml", ".html", ".xml"])
@pytest.mark.parametrize("run", [" ", "\t", "\n", "[", '"', '"\\', "\\", "- ", "<!--", "a: ", "é", "记"])
def test_no_run_of_one_thing_takes_long(ending: str, run: str) -> None:
    began = time.process_time()
    cut(ending, run * 50_000)
    cut(ending, (run * 500 + "\n") * 100)
    assert time.process_time() - began < 30  # a power of the size would take minutes


def test_what_is_in_any_kind_of_file_is_found(place: Place) -> None:
    place.write("a.json", json.dumps({"place": {"名字": "故宫"}, "id": 471147}))
    place.write("b.csv", "fruit,price\nqzpear,3\n")
    place.write("c.yaml", "soil:\n  kind: qzloam\n")
    place.write("d.html", "<title>Das Buch</title><p>qz<b>word</b> &eacute;t&eacute;</p>")
    place.write("e.jsonl", '{"id": 815815, "note": "qzline"}\n')
    place.write("f.log", "2026-05-14 qzlog happened\n")
    place.refresh()

    def found(query: str) -> list[str]:
        keys = holding(place.index, *place.index.terms(query))
        return sorted(standing.path for standing, _ in place.index.around(keys, 0).files)

    for query, path in {
        "故宫": "a.json",
        "471147": "a.json",
        "名字": "a.json",
        "qzpear": "b.csv",
        "qzloam": "c.yaml",
        "qzword": "d.html",
        "été": "d.html",
        "Buch": "d.html",
        "815815": "e.jsonl",
        "qzline": "e.jsonl",
        "qzlog": "f.log",
    }.items():
        assert found(query) == [path], query
    assert place.index.names.by_alias("das buch") == ["d.html"]
