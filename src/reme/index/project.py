"""Projection: the bytes of one file → everything that the index holds of it.

Owns what of a file is found by which words. Pure: knows neither the vault nor the store.
"""

import contextlib
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, Final, cast

from reme.index.counts import tally
from reme.index.extract import ENDINGS, converter
from reme.index.given import given, one_line
from reme.index.large import transcoded, windows
from reme.index.pieces import Piece, Size, iso_date, markup_title, pieces_of
from reme.index.rows import ChunkEntry, Entry, Format, Found, IndexSettings, Stamp, Taken
from reme.index.tokens import Tokenizer
from reme.markdown import Chunk, ChunkSettings, Note, Span, chunk, field_value, number_text, parse
from reme.paths import VaultPath, basename, fold, is_markdown, stem, suffix
from reme.vault import TEXT_SUFFIXES, Layout

__all__ = ["Projector"]

_MOST_VALUES: Final = 200
_SEPARABLE: Final = frozenset((".jsonl", ".html", ".htm", ".xml"))
"""Kinds of files whose parts can be read each for itself."""
_UNDECODABLE: Final = "not searched: this is no text in any known encoding"
_LONGEST_VALUE: Final = 500
_BATCH_CHUNKS: Final = 500
_MONTHS: Final = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
_PATH_DATE: Final = re.compile(r"(?:^|/)(\d{4}-\d{2}-\d{2})(?![0-9A-Za-z])")
_WIKI_LINK: Final = re.compile(r"\[\[([^\[\]|#\n]*)(?:#[^\[\]|\n]*)?(?:\\?\|([^\[\]\n]*))?\]\]")
_KEPT_ELSEWHERE: Final = frozenset({"aliases", "alias", "tags", "tag", "description"})
_NAMING: Final = frozenset({"name", "title", "description", "aliases", "alias", "tags", "tag"})

_as_json = json.JSONEncoder(ensure_ascii=False, skipkeys=True, default=str).encode

Batches = Iterator[tuple[ChunkEntry, ...]]
Projected = tuple[Entry, Batches]
"""What the index holds of a file, and further chunks of it in order."""


class Projector:
    """Projects files.

    Args:
        layout: Which folder is which layer.
        settings: What else the projection depends on.
        tokenizer: Its memory of words makes it fast; asked also when chunks are, after the projection.
    """

    def __init__(self, layout: Layout, settings: IndexSettings, tokenizer: Tokenizer) -> None:
        self._layout = layout
        self._settings = settings
        self._chunking = ChunkSettings(settings.chunk_target, settings.chunk_max)
        self._size = Size(settings.chunk_target, settings.chunk_max)
        self._tokenizer = tokenizer
        self._named = "", tokenizer.document("")
        self._day = re.compile(rf"{re.escape(layout.daily)}/\d{{4}}-\d{{2}}-\d{{2}}\.md")

    @property
    def max_bytes(self) -> int:
        """Larger files are read window by window."""
        return self._settings.max_bytes

    def reads(self, path: VaultPath) -> bool:
        """Whether the text of such a file is indexed."""
        return suffix(path) in TEXT_SUFFIXES

    def reads_as_document(self, path: VaultPath) -> bool:
        """Whether the text of such a file has to be taken out of it first."""
        return suffix(path) in ENDINGS

    def project(self, path: VaultPath, data: bytes, stamp: Stamp) -> Projected:
        """What the index holds of a file with these bytes."""
        if is_markdown(path):
            return self._note(path, parse(data), stamp)
        if suffix(path) in TEXT_SUFFIXES:
            return self._document(path, data, stamp, suffix(path))
        return self.catalogued(path, stamp, "binary"), iter(())

    def project_large(self, path: VaultPath, pieces: Callable[[], Iterator[bytes]], stamp: Stamp) -> Projected:
        """What the index holds of a file that is too large to hold.

        Only links in its first window are followed.

        Args:
            path: The file.
            pieces: Reads it from its beginning.
            stamp: Its state.
        """
        encoding = _encoding(next(windows(pieces()), b""))
        if encoding is None:
            return self.catalogued(path, stamp, "binary", [("undecodable", _UNDECODABLE, 1)]), iter(())
        text = windows(transcoded(pieces(), encoding))
        first = next(text, b"")
        problems = [] if encoding == "utf-8" else [("encoding", f"read as {encoding}", 1)]
        if is_markdown(path):
            entry, more = self._note(path, parse(first), stamp)
            problems.append(("size", f"only links in its first {len(first):,} bytes are followed", 1))
        else:
            ending = suffix(path)
            entry, more = self._document(path, first, stamp, ".txt" if ending == ".json" else ending)
        entry = replace(entry, problems=(*problems, *entry.problems))
        return entry, self._further(path, (entry, more), first, text)

    def _further(self, path: VaultPath, known: Projected, first: bytes, text: Iterator[bytes]) -> Batches:
        ending = suffix(path) if suffix(path) in _SEPARABLE else ".txt"
        start, lines = len(first), first.count(b"\n")
        chunks = known[0].chunks
        for chunks in known[1]:
            yield chunks
        for window in text:
            pieces = pieces_of(ending, window, self._size)
            for found in _batches(self._pieces(path, "", window, pieces, chunks[-1] if chunks else None)):
                chunks = tuple(_further_on(chunk, start, lines) for chunk in found)
                yield chunks
            start, lines = start + len(window), lines + window.count(b"\n")

    def project_document(self, path: VaultPath, stamp: Stamp, taken: Taken | None) -> Entry:
        """What the index holds of a document, by the text that was taken out of it; None where it was not yet."""
        problem = self._why_unread(stamp, taken)
        entry = self.catalogued(path, stamp, "document", [("document", problem, 1)] if problem else ())
        if problem or taken is None:
            return entry
        source, pieces = self._read_parts(json.loads(zlib.decompress(taken.parts)))
        return replace(entry, chunks=tuple(self._pieces(path, "", source, pieces or [Piece(0, 0, 1, 1)])))

    def _why_unread(self, stamp: Stamp, taken: Taken | None) -> str:
        if taken is not None:
            return f"not searched: {taken.problem}" if taken.problem else ""
        if stamp.size > self.max_bytes:
            return f"not searched: a document of more than {self.max_bytes:,} bytes"
        if not converter():
            return "not searched: pip install 'reme[documents]' makes it so"
        return "not searched yet: a running runtime reads it, or the next wait"

    def _read_parts(self, parts: Sequence[tuple[str, str]]) -> tuple[bytes, list[Piece]]:
        """The whole text, and its chunks as pieces, each under its place (a page) and headings."""
        source: list[bytes] = []
        pieces: list[Piece] = []
        start = line = 0
        for place, text in parts:
            body = text if not text.startswith("---") else f"\n{text}"  # a rule, not frontmatter
            note = parse(body.encode("utf-8", "replace"))
            pieces += [
                Piece(
                    start + found.span.start,
                    start + found.span.end,
                    line + found.line,
                    line + found.end_line,
                    trail=(*((place,) if place else ()), *found.trail),
                )
                for found in chunk(note, self._chunking)
            ]
            source.append(note.source.rstrip(b"\n") + b"\n\n")
            start, line = start + len(source[-1]), line + source[-1].count(b"\n")
        return b"".join(source), pieces

    def catalogued(
        self, path: VaultPath, stamp: Stamp, form: Format, problems: Iterable[tuple[str, str, int]] = ()
    ) -> Entry:
        """What the index holds of a file whose text is not read."""
        name = stem(path)
        return Entry(
            path=path,
            layer=self._layout.layer_of(path),
            format=form,
            stamp=stamp,
            name=name,
            date=_path_date(path),
            problems=tuple(problems),
        )

    # Markdown

    def _note(self, path: VaultPath, note: Note, stamp: Stamp) -> Projected:
        layer = self._layout.layer_of(path)
        properties = note.properties
        names = given(properties)
        name = names.name or names.title or stem(path)
        description = one_line(properties.get("description"))
        date = iso_date(properties.get("date", "")) or _path_date(path)
        tags = tuple(dict.fromkeys(tag.name for tag in note.tags))
        encoded, problem = _json(properties)
        unknown = note.encoding == "unknown"
        problems = [
            ("undecodable" if unknown and p.rule == "encoding" else p.rule, p.message, p.line) for p in note.problems
        ] + problem
        more = _batches(self._note_chunks(path, note, name, description, names.aliases, tags, date))
        entry = Entry(
            path=path,
            layer=layer,
            format="note",
            stamp=stamp,
            counts=not (
                layer in self._settings.uncounted_layers
                or basename(path) in self._settings.generated
                or self._day.fullmatch(path)
            ),
            name=name,
            description=description,
            date=date,
            properties=encoded,
            aliases=tuple(sorted(names.folded)),
            tags=tags,
            fields=_fields(note),
            chunks=next(more, ()),
            links=note.links,
            problems=tuple(problems),
        )
        return entry, more

    def _note_chunks(
        self,
        path: VaultPath,
        note: Note,
        name: str,
        description: str,
        aliases: list[str],
        tags: tuple[str, ...],
        date: str | None,
    ) -> Iterator[ChunkEntry]:
        named = stem(path) if fold(name) == fold(stem(path)) else f"{name} {stem(path)}"
        dated = _date_words(date)
        labels = f"{dated}\n{' '.join(aliases)}\n{' '.join(tags)}"
        lead = f"{description}\n{_other_texts(note.properties)}\n"
        pieces = chunk(note, self._chunking)
        if not pieces:
            at = note.body.start
            line = note.source.count(b"\n", 0, at) + 1
            pieces = (Chunk(Span(at, at), line, line, (), hashlib.blake2b(b"", digest_size=16).hexdigest()),)
        for (start, end), line, end_line, trail, digest, _ in pieces:
            text = note.source[start:end].decode("utf-8", "replace")
            columns = labels, "\n".join(trail), lead + _shown(text)
            words, found = _words(named, *columns), partial(self._found, named, *columns)
            yield ChunkEntry(start, end, line, end_line, trail, digest, text, words, found)
            lead, labels = "", dated

    def _found(self, named: str, labels: str, headings: str, body: str) -> Found:
        """What a chunk is found by, from each column."""
        if named != self._named[0]:  # the chunks of a file come one after the other
            self._named = named, self._tokenizer.document(named, keep_stopwords=True)
        name = self._named[1]
        label, trail, said = map(self._tokenizer.document, (labels, headings, body))
        length = name.length + label.length + trail.length + said.length
        return Found(length, tally(name.found, label.found, trail.found, said.found))

    # Other text

    def _document(self, path: VaultPath, data: bytes, stamp: Stamp, ending: str) -> Projected:
        source, problems = _decoded(data)
        if source is None:
            return self.catalogued(path, stamp, "binary", problems), iter(())
        name, date = stem(path), _path_date(path)
        title = markup_title(source) if ending in (".html", ".htm") else ""
        pieces = list(pieces_of(ending, source, self._size))
        dialogue = ending == ".jsonl" and any(piece.speaker for piece in pieces)
        complaints = dict.fromkeys((piece.complaint, piece.line) for piece in pieces if piece.complaint)
        rule = "dialogue" if ending == ".jsonl" else "format"
        problems += [(rule, complaint, line) for complaint, line in complaints]
        more = _batches(self._pieces(path, title, source, pieces or [Piece(0, 0, 1, 1)]))
        entry = Entry(
            path=path,
            layer=self._layout.layer_of(path),
            format="dialogue" if dialogue else "text",
            stamp=stamp,
            name=title or name,
            date=date or next((piece.date for piece in pieces if piece.date), None),
            aliases=(fold(title),) if title else (),
            chunks=next(more, ()),
            problems=tuple(problems[:_MOST_VALUES]),
        )
        return entry, more

    def _pieces(
        self, path: VaultPath, title: str, source: bytes, pieces: Iterable[Piece], before: ChunkEntry | None = None
    ) -> Iterator[ChunkEntry]:
        """The chunks of pieces; a turn is told apart from the same one after another turn, ``before`` at first."""
        date = _path_date(path)
        named = f"{title} {stem(path)}"
        for piece in pieces:
            raw = source[piece.start : piece.end]
            text = raw.decode("utf-8")
            name = "" if piece.speaker else named
            labels = f"{_date_words(piece.date or date)} {piece.speaker or ''}"
            columns = labels, "\n".join(piece.trail), text if piece.words is None else piece.words
            context = before.text if piece.speaker and before and before.speaker else ""
            before = ChunkEntry(
                start=piece.start,
                end=piece.end,
                line=piece.line,
                end_line=piece.end_line,
                trail=(*(part for part in (piece.date, piece.speaker) if part), *piece.trail),
                hash=_hash((*piece.trail, context) if context else piece.trail, raw),
                text=text,
                words=_words(name, *columns),
                found=partial(self._found, name, *columns),
                speaker=piece.speaker,
                date=piece.date,
            )
            yield before


def _batches(chunks: Iterator[ChunkEntry]) -> Batches:
    """So many at a time that what they are found by can be held."""
    while batch := tuple(islice(chunks, _BATCH_CHUNKS)):
        yield batch


def _further_on(chunk: ChunkEntry, start: int, lines: int) -> ChunkEntry:
    """A chunk of what stands so many bytes and lines behind the beginning of its file."""
    return chunk._replace(
        start=chunk.start + start,
        end=chunk.end + start,
        line=chunk.line + lines,
        end_line=chunk.end_line + lines,
    )


def _hash(trail: tuple[str, ...], raw: bytes) -> str:
    digest = hashlib.blake2b("\0".join(trail).encode("utf-8"), digest_size=16)
    digest.update(b"\0\0" + raw)
    return digest.hexdigest()


def _words(*columns: str) -> bytes:
    """Identity of the words that a chunk has in each column."""
    return hashlib.blake2b("\0".join(columns).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _shown(text: str) -> str:
    """A text with its links as a reader sees them."""
    if "[[" not in text:
        return text
    parts = _WIKI_LINK.split(text)
    if "![[" in text:
        parts[:-1:3] = [before.removesuffix("!") for before in parts[:-1:3]]
    parts[1::3] = [alias or _shown_name(target) for target, alias in zip(parts[1::3], parts[2::3], strict=True)]
    del parts[2::3]
    return "".join(parts)


def _shown_name(target: str) -> str:
    name = target.rpartition("/")[2]
    return "" if name.endswith(".jsonl") else name.removesuffix(".md")  # a dialogue's name is an id


def _date_words(date: str | None) -> str:
    """A date in the ways in which people ask for it."""
    if date is None:
        return ""
    year, month, day = (int(part) for part in date.split("-"))
    return f"{date} {day} {_MONTHS[month - 1]} {year}年{month}月{day}日"


def _path_date(path: VaultPath) -> str | None:
    found = _PATH_DATE.findall(path)
    return next((date for text in reversed(found) if (date := iso_date(text))), None)


def _flat(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """Scalar values by dotted key; the items of a list share its key."""
    if isinstance(value, dict):
        for name, item in cast("dict[object, object]", value).items():
            yield from _flat(item, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _flat(item, key)
    elif isinstance(value, bool):
        yield key, "true" if value else "false"
    elif value is not None:
        yield key, number_text(str(value)) if isinstance(value, float) else str(value)


def _limited(values: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for count, (key, value) in enumerate(values):
        if count >= _MOST_VALUES:
            return
        yield key, value[:_LONGEST_VALUE]


def _fields(note: Note) -> tuple[tuple[str, str], ...]:
    if not note.frontmatter and not note.fields:
        return ()
    properties = {key: value for key, value in note.properties.items() if key not in _KEPT_ELSEWHERE}
    written = (_flat(field_value(field.value[:_LONGEST_VALUE]), field.key) for field in note.fields)
    found = chain(_limited(_flat(properties)), *written)
    return tuple(sorted({(fold(key.strip()), fold(value.strip())) for key, value in found}))


def _other_texts(properties: dict[str, Any]) -> str:
    rest = {key: value for key, value in properties.items() if key not in _NAMING}
    if not rest:
        return ""
    return _shown("\n".join(value for _, value in _limited(_flat(rest))))


def _json(properties: dict[str, Any]) -> tuple[str, list[tuple[str, str, int]]]:
    if not properties:
        return "{}", []
    try:
        return _as_json(properties), []
    except (ValueError, RecursionError) as error:
        return "{}", [("frontmatter.values", f"the properties cannot be kept: {error}", 1)]


def _decoded(data: bytes) -> tuple[bytes | None, list[tuple[str, str, int]]]:
    """The text in UTF-8: as it is, or transcribed from the encoding that it is detected to be in."""
    encoding = _encoding(data)
    if encoding == "utf-8":
        return data, []
    if encoding is not None:
        with contextlib.suppress(UnicodeError, LookupError):
            return data.decode(encoding).encode(), [("encoding", f"read as {encoding}", 1)]
    return None, [("undecodable", _UNDECODABLE, 1)]


def _encoding(data: bytes) -> str | None:
    """The encoding of a text, or None if it is none."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        if b"\0" in data[:8192] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            return None
        from charset_normalizer import from_bytes

        best = from_bytes(data[:1_000_000]).best()
        return best.encoding if best else None
    return "utf-8"
