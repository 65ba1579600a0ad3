"""Reading by lines, by heading and whole."""

import pytest

from reme.errors import Conflict, InvalidInput, NotFound
from reme.revision import revision_of
from reme.tools import read, read_text
from tests.tools.house import House

NOTE = "# 会议\n\n要点。\n\n## Steps\n\none\n\n### Deep\n\ntwo\n\n## Other\n\nthree\n"


def test_whole(house: House) -> None:
    house.lay({"notes/会议.md": NOTE})
    result = read(house.ask(), "notes/会议")
    assert (result.path, result.text, result.encoding) == ("notes/会议.md", NOTE, "utf-8")
    assert (result.start_line, result.end_line, result.total_lines) == (1, 15, 15)
    assert result.revision == revision_of(NOTE.encode())
    assert read_text(result).endswith(NOTE)
    assert result.revision in read_text(result)


def test_lines(house: House) -> None:
    house.lay({"a.md": NOTE})
    result = read(house.ask(), "a.md", start_line=3, end_line=5)
    assert (result.text, result.start_line, result.end_line) == ("要点。\n\n## Steps\n", 3, 5)
    assert read(house.ask(), "a.md", start_line=14).text == "\nthree\n"
    assert read(house.ask(), "a.md", start_line=14, end_line=999).end_line == 15
    assert result.revision == revision_of(NOTE.encode())


def test_lines_that_are_not_there(house: House) -> None:
    house.lay({"a.md": "one\ntwo", "empty.md": ""})
    with pytest.raises(NotFound, match="only 2"):
        read(house.ask(), "a.md", start_line=3)
    with pytest.raises(InvalidInput):
        read(house.ask(), "a.md", start_line=2, end_line=1)
    empty = read(house.ask(), "empty.md")
    assert (empty.text, empty.start_line, empty.end_line, empty.total_lines) == ("", 0, 0, 0)


def test_heading(house: House) -> None:
    house.lay({"a.md": NOTE})
    assert read(house.ask(), "a", heading="Steps").text == "## Steps\n\none\n\n### Deep\n\ntwo\n\n"
    assert read(house.ask(), "a", heading="## steps").start_line == 5
    assert read(house.ask(), "a", heading="会议").end_line == 15
    with pytest.raises(NotFound) as caught:
        read(house.ask(), "a", heading="Missing")
    assert "Steps" in caught.value.hint
    with pytest.raises(InvalidInput):
        read(house.ask(), "a", heading="Steps", start_line=1)


def test_heading_that_is_there_twice(house: House) -> None:
    house.lay({"a.md": "# A\n## Steps\nx\n# B\n## Steps\ny\n"})
    with pytest.raises(Conflict, match="lines 2, 5"):
        read(house.ask(), "a", heading="Steps")
    assert read(house.ask(), "a", heading="B > Steps").text == "## Steps\ny\n"


def test_bytes_are_shown_as_they_are(house: House) -> None:
    house.lay({"bom.md": b"\xef\xbb\xbf# A\r\nb\r\nc"})
    house.lay({"latin.md": "# Über\n\ncafé, déjà vu, naïve\n".encode("latin-1")})
    crlf = read(house.ask(), "bom")
    assert (crlf.text, crlf.total_lines) == ("# A\r\nb\r\nc", 3)
    latin = read(house.ask(), "latin")
    assert "café" in latin.text
    assert latin.encoding != "utf-8"


def test_what_is_no_text(house: House) -> None:
    house.lay({"a.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xfe\x00\x9d", "b.md": b"\0\1\2\3"})
    for path in ("a.png", "b.md"):
        with pytest.raises(InvalidInput, match="not text"):
            read(house.ask(), path)


def test_missing(house: House) -> None:
    house.lay({"folder/a.md": "x"})
    with pytest.raises(NotFound):
        read(house.ask(), "nope")
    with pytest.raises(InvalidInput, match="folder is a folder"):
        read(house.ask(), "folder")


def test_large_file_by_range_without_holding_it(house: House) -> None:
    line = "一行文字 with some words in it to fill the line up, number "
    (house.root / "big.txt").write_text("".join(f"{line}{n}\n" for n in range(1, 200_001)), "utf-8")
    import tracemalloc

    tracemalloc.start()
    result = read(house.ask(), "big.txt", start_line=150_000, end_line=150_001)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.text == f"{line}150000\n{line}150001\n"
    assert result.total_lines == 200_000
    assert result.revision == revision_of((house.root / "big.txt").read_bytes())
    assert peak < 2_000_000


def test_more_than_one_read_returns_is_cut_at_a_line_and_said_so(house: House) -> None:
    (house.root / "big.md").write_text("".join(f"第 {n} 行\n" for n in range(1, 100_001)), "utf-8")
    seen, at = "", 1
    while True:
        result = read(house.ask(), "big", start_line=at)
        seen += result.text
        if not result.truncated:
            break
        at = result.end_line + 1
    assert seen == (house.root / "big.md").read_text("utf-8")
    assert at > 1


@pytest.mark.parametrize(
    "text", ["字" * 700_000, "short\n" + "ab 茶😀" * 300_000 + "\nlast\n", "\n" * 3 + "é" * 499_999 + "\r\n"]
)
def test_a_line_longer_than_one_read_is_read_on_within(house: House, text: str) -> None:
    (house.root / "line.txt").write_bytes(text.encode())
    seen, at, lines = "", None, list[tuple[int, int]]()
    while True:
        part = read(house.ask(), "line.txt", start_byte=at)
        assert len(part.text.encode()) <= 1_000_000
        assert (part.encoding, part.truncated) == ("utf-8", part.next_byte is not None)
        seen += part.text
        lines.append((part.start_line, part.end_line))
        if part.next_byte is None:
            break
        assert f"cut short: go on at byte {part.next_byte}]" in read_text(part)
        at = part.next_byte
    assert seen == text
    assert len(lines) > 1 or len(text.encode()) <= 1_000_000
    assert (lines[0][0], lines[-1][1]) == (1, part.total_lines)


def test_bytes_of_a_long_line_within_a_range(house: House) -> None:
    house.lay({"a.txt": "一二三\n" + "x" * 10 + "\nend\n", "latin.txt": b"caf\xe9 " * 9 + b"\n"})
    assert read(house.ask(), "a.txt", start_byte=10, end_line=2).text == "x" * 10 + "\n"
    within = read(house.ask(), "a.txt", start_byte=4, end_line=1)
    assert (within.text, within.start_line, within.end_line) == ("三\n", 1, 1)
    assert read(house.ask(), "latin.txt", start_byte=3).text.startswith("é café")
    with pytest.raises(NotFound, match="no byte 25, only 25"):
        read(house.ask(), "a.txt", start_byte=25)
    for given in ({"start_line": 1}, {"heading": "x"}, {"end_line": 1}):
        with pytest.raises(InvalidInput):
            read(house.ask(), "a.txt", start_byte=20, **given)


def test_a_long_line_is_read_without_holding_it(house: House) -> None:
    (house.root / "line.txt").write_text("一行文字 with words. " * 600_000, "utf-8")
    import tracemalloc

    tracemalloc.start()
    part = read(house.ask(), "line.txt", start_byte=12_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (part.next_byte or 0) > 12_900_000
    assert peak < 8_000_000
