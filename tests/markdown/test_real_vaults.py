"""Vaults that people wrote: every file is read, every span leads back to what is written there."""

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reme.markdown import chunk, parse, retarget

NAMES = ["dataview", "dendron-site", "foam-docs", "kepano-obsidian", "logseq-docs"]


def markdown_files(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as files:
        for member in files:
            if member.isfile() and member.name.endswith(".md") and (content := files.extractfile(member)):
                yield member.name, content.read()


@pytest.mark.parametrize("name", NAMES)
def test_every_file_is_read(shared: Path, name: str) -> None:
    found = 0
    for path, data in markdown_files(shared / "data" / "vaults" / f"{name}.tar.xz"):
        note = parse(data)
        found += 1
        assert note.source == data, path
        assert not any(problem.rule == "encoding" for problem in note.problems), path
        for link in note.links:
            written = note.text(link.span)
            if link.kind == "markdown" or not written.startswith(("[[", "![[")):
                assert written.endswith(")") or "]:" in written, path
            else:
                assert written.endswith("]]"), path
                assert note.text(link.target_span) == link.target or link.origin == "frontmatter", path
            assert note.source.count(b"\n", 0, link.span.start) + 1 == link.line, path
        reached = note.body.start
        for piece in chunk(note):
            assert not note.source[reached : piece.span.start].strip(), path
            reached = piece.span.end
        assert not note.source[reached:].strip(), path
        assert retarget(note, lambda link: link.target) == data, path
    assert found
