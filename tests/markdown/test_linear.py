"""Reading takes time in proportion to the size, whatever is in a file.

Held against one another are two CPU times of one run, again where the machine was busy: of a file, and of one eight
times as long, which takes eight times the time where the reading is linear and sixty-four times where it is quadratic.
"""

import time
from collections.abc import Callable

import pytest

from reme.markdown import chunk, fingerprint, parse

TEN_MEGABYTES = 10_000_000
MEASURABLE_S = 0.01
TRIES = 4
KINDS: dict[str, Callable[[int], bytes]] = {
    "opening brackets": lambda n: b"[" * n,
    "opening wikilinks": lambda n: b"[[" * n,
    "opening aliases": lambda n: b"[[a|" * n,
    "opening images": lambda n: b"![" * n,
    "links in links": lambda n: b"[a " * n + b"](b.md)" * n,
    "backticks": lambda n: b"`" * n,
    "runs of backticks": lambda n: b"".join(b"`" * (i % 50 + 1) + b" " for i in range(n // 25)),
    "quotes in quotes": lambda n: b"> " * n + b"x",
    "lists in lists": lambda n: b"- " * n + b"x",
    "colons": lambda n: b":: " * n,
    "opening fields": lambda n: b"[k:: " * n,
    "fields in fields": lambda n: b"(k:: " * n + b")" * n,
    "comment marks": lambda n: b"%%" * n,
    "hashes": lambda n: b"#" * n,
    "tags": lambda n: "#茶 ".encode() * n,
    "dollars": lambda n: b"$a " * n,
    "opening comments": lambda n: b"<!-- " * n,
    "asterisks": lambda n: b"*a " * n,
    "escapes": lambda n: b"\\[" * n,
    "words in one line": lambda n: b"word " * n,
    "characters in one line": lambda n: "茶".encode() * n,
    "emoji in one line": lambda n: "👩‍👩‍👧".encode() * n,
    "definitions": lambda n: b"".join(b"p\n\n[x%d]: y.md\n\n" % i for i in range(n // 10)),
    "properties": lambda n: b"---\n" + b"".join(b"k%d: '[[a]]'\n" % i for i in range(n // 10)) + b"---\n",
    "properties in properties": lambda n: b"---\na: " + b"[" * n + b"\n---\n",
    "a long property": lambda n: b"---\na: " + b"b " * n + b": c\n---\n",
    "a list property": lambda n: b"---\na: [" + b"b, " * n + b"c]\n---\n",
    "fences": lambda n: b"---\n" * n,
    "line endings": lambda n: b" \r\n" * n,
    "headings": lambda n: b"".join(b"#" * (i % 6 + 1) + b" a [[b]]\n\nx\n" for i in range(n // 10)),
}


def cost(data: bytes) -> float:
    """CPU-seconds to read, cut and compare a file."""

    def once() -> float:
        start = time.process_time()
        note = parse(data)
        chunk(note)
        fingerprint(note)
        return time.process_time() - start

    return min(once() for _ in range(2))


@pytest.mark.parametrize("kind", KINDS)
def test_eight_times_as_much_does_not_take_more_than_twenty_four_times_as_long(kind: str) -> None:
    make, size = KINDS[kind], 2_500
    while cost(make(size)) < MEASURABLE_S and size < 160_000:
        size *= 2
    assert any(cost(make(8 * size)) < 24 * max(cost(make(size)), MEASURABLE_S) for _ in range(TRIES))


@pytest.mark.slow
@pytest.mark.parametrize("piece", [b"word ", b":: ", b"k:: v ", b"[[", b"> ", "茶".encode(), b"`"])
def test_ten_megabytes_in_one_line(piece: bytes) -> None:
    data = piece * (TEN_MEGABYTES // len(piece))
    note = parse(data)
    assert note.source == data
    assert chunk(note)[-1].span.end >= len(data.rstrip())
