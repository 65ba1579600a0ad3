"""Where notes are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reme.markdown import Chunk, ChunkSettings, Note, chunk, count_tokens, parse


def chunks_of(text: str, settings: ChunkSettings | None = None) -> tuple[Note, tuple[Chunk, ...]]:
    note = parse(text.encode("utf-8"))
    return note, chunk(note, settings)


def size(note: Note, piece: Chunk) -> int:
    return count_tokens(note.text(piece.span)) + sum(map(count_tokens, piece.trail))


FENCES = {
    "backticks": "````\n# pip install x\n```\n## not a heading\n````\n",
    "tildes": "~~~~\n# pip install x\n~~~\n## not a heading\n~~~~\n",
}


@pytest.mark.parametrize("fence", FENCES.values(), ids=FENCES.keys())
def test_b11_hashes_in_fences_are_no_headings(fence: str) -> None:
    filler = "词" * 200
    note, pieces = chunks_of(f"# Setup\n\n{filler}\n\n{fence}\n# Usage\n\n{filler}\n")
    assert [heading.text for heading in note.headings] == ["Setup", "Usage"]
    assert [piece.trail for piece in pieces] == [("Setup",), ("Usage",)]
    assert fence.strip() in note.text(pieces[0].span)
    assert fence.strip() not in note.text(pieces[1].span)


def test_b11_an_unclosed_fence_runs_to_the_end() -> None:
    note, _ = chunks_of("# Setup\n\n````\n# pip\n```\n## no\n\n# Usage\n")
    assert [heading.text for heading in note.headings] == ["Setup"]
    assert [block.kind for block in note.blocks] == ["heading", "code"]
    assert note.blocks[1].span.end == len(note.source) - 1


def test_b13_every_piece_of_a_long_section_has_its_heading_path() -> None:
    note, pieces = chunks_of("# Guide\n## Tokens\n" + "word " * 3000)
    assert len(pieces) > 5
    assert {piece.trail for piece in pieces} == {("Guide", "Tokens")}
    assert note.text(pieces[0].span).startswith("# Guide\n## Tokens\nword")
    assert all(size(note, piece) <= 512 for piece in pieces)


def test_b13_no_heading_no_trail() -> None:
    _, pieces = chunks_of("plain text\n")
    assert [piece.trail for piece in pieces] == [()]


@pytest.mark.parametrize("heading", ["long heading " * 600, "长标题" * 500, "x" * 9000])
def test_b13_a_heading_longer_than_the_limit(heading: str) -> None:
    note, pieces = chunks_of(f"# {heading}\n\nshort text\n")
    assert all(note.text(piece.span).strip() for piece in pieces)
    assert all(size(note, piece) <= 512 for piece in pieces)
    assert all(piece.trail and heading.startswith(piece.trail[0]) for piece in pieces)
    assert "".join(note.text(piece.span) for piece in pieces).split() == note.text(note.body).split()


def test_small_sections_are_packed_and_large_ones_keep_to_themselves() -> None:
    small = "小节的内容。" * 5
    note, pieces = chunks_of(
        f"# 一\n\n## 甲\n\n{small}\n\n## 乙\n\n{small}\n\n# 二\n\n{'大段内容。' * 110}\n\n# 三\n\n{small}\n"
    )
    assert [piece.trail for piece in pieces] == [("一",), ("二",), ("二",), ("三",)]
    assert note.text(pieces[0].span).startswith("# 一")
    assert "乙" in note.text(pieces[0].span)


def test_frontmatter_only_gives_one_empty_chunk_and_nothing_gives_none() -> None:
    note, pieces = chunks_of("---\nname: 茶\n---\n\n")
    assert [(note.text(piece.span), piece.line, piece.trail) for piece in pieces] == [("", 4, ())]
    assert chunks_of("")[1] == ()
    assert chunks_of(" \n\n")[1] == ()


def test_long_tables_and_fences_are_cut_at_lines_and_name_their_lead() -> None:
    rows = "".join(f"| 第{n}行 | {'值' * 20} |\n" for n in range(60))
    note, pieces = chunks_of(f"| a | b |\n|---|---|\n{rows}")
    assert len(pieces) > 3
    assert all(note.text(piece.span).rstrip().endswith("|") for piece in pieces)
    assert pieces[0].lead is None
    assert {note.text(piece.lead) for piece in pieces[1:] if piece.lead} == {"| a | b |\n|---|---|\n"}
    code = "".join(f"print('line {n} of the code')\n" for n in range(200))
    note, pieces = chunks_of(f"```python\n{code}```\n")
    assert all(note.text(piece.span).endswith(")\n") for piece in pieces[:-1])
    assert {note.text(piece.lead) for piece in pieces[1:] if piece.lead} == {"```python\n"}


def test_long_paragraphs_are_cut_at_sentences() -> None:
    note, pieces = chunks_of("这是一个完整的句子，说明一件事。" * 80)
    assert len(pieces) > 2
    assert all(note.text(piece.span).rstrip().endswith("。") for piece in pieces)
    note, pieces = chunks_of("This is one whole sentence that says a thing. " * 80)
    assert all(note.text(piece.span).rstrip().endswith(".") for piece in pieces)


@pytest.mark.parametrize("cluster", ["🇩🇪", "👩‍👩‍👧", "e\u0301", "👍🏽", "각"])
def test_characters_are_never_cut(cluster: str) -> None:
    note, pieces = chunks_of(cluster * 3000)
    texts = [note.text(piece.span) for piece in pieces]
    assert len(texts) > 1
    assert all(text.replace(cluster, "") == "" for text in texts)


def test_the_hash_is_of_trail_and_text() -> None:
    first = chunks_of("# A\n\ntext\n")[1][0]
    assert first.hash == chunks_of("\n\n# A\n\ntext\n\n\n")[1][0].hash
    assert first.hash == chunks_of("---\ndescription: new\n---\n# A\n\ntext\n")[1][0].hash
    assert first.hash != chunks_of("# B\n\ntext\n")[1][0].hash


def test_an_edit_leaves_the_chunks_of_other_sections() -> None:
    def sections(edited: str) -> str:
        parts = [
            f"## 第{n}节\n\n" + "".join(f"段落{n}-{k}。" + "内容" * 40 + "\n\n" for k in range(6)) for n in range(5)
        ]
        parts[2] = parts[2].replace("段落2-3", edited)
        return "".join(parts)

    before = {piece.hash: piece.trail for piece in chunks_of(sections("段落2-3"))[1]}
    after = {piece.hash: piece.trail for piece in chunks_of(sections("改写过的长了许多的段落" * 9))[1]}
    assert {before[key] for key in before.keys() - after.keys()} == {("第2节",)}
    assert {after[key] for key in after.keys() - before.keys()} == {("第2节",)}


def test_the_counter_is_a_setting() -> None:
    settings = ChunkSettings(target=20, limit=40, count=len)
    note, pieces = chunks_of("# 题\n\n" + "某些文字，" * 30, settings)
    assert all(len(note.text(piece.span)) + sum(map(len, piece.trail)) <= 40 for piece in pieces)


def test_token_estimate() -> None:
    assert count_tokens("") == 0
    assert count_tokens("one two three four five six seven eight nine ten") == 13
    assert count_tokens("北京大学") == 4
    assert count_tokens("用 Python 写") in (3, 4)
    assert count_tokens("x" * 1000) == 200


texts = st.lists(
    st.one_of(
        st.sampled_from(
            ["# A\n", "## 乙\n", "### C\n", "- item\n", "\n", "```\n", "| a |\n|---|\n", "> q\n", "---\n", "<!--\n"]
        ),
        st.integers(1, 400).map(lambda n: "word " * n + "\n"),
        st.integers(1, 400).map(lambda n: "句子。" * n + "\n"),
        st.integers(1, 3000).map(lambda n: "x" * n + "\n"),
        st.text(max_size=30),
    ),
    max_size=12,
).map("".join)


@given(
    texts, st.sampled_from([ChunkSettings(), ChunkSettings(target=40, limit=64), ChunkSettings(target=64, limit=64)])
)
def test_chunks_cover_the_body_in_order_and_keep_the_limit(text: str, settings: ChunkSettings) -> None:
    note, pieces = chunks_of(text, settings)
    reached = note.body.start
    for piece in pieces:
        assert piece.span.start >= reached
        assert not note.source[reached : piece.span.start].strip()
        assert note.text(piece.span).strip() or not note.blocks or not note.text(note.body).strip(" \t\r\n")
        assert size(note, piece) <= settings.limit
        assert piece.line == note.source.count(b"\n", 0, piece.span.start) + 1
        assert piece.end_line >= piece.line
        reached = piece.span.end
    assert not note.source[reached:].strip()
