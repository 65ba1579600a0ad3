"""What a text says, apart from how it is laid out and linked: for comparing texts before and after a change.

Owns the normal form. Two texts with the same words may differ in white space, line breaks, list, quote, callout and
heading marks, and in where their links lead.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from reme.markdown.note import Link, Note, Span
from reme.markdown.regions import without_regions
from reme.markdown.spans import splice
from reme.paths import fold

__all__ = ["display_text", "fingerprint", "is_withdrawn", "standing_words", "words"]

_WIKILINK: Final = re.compile(r"!?\[\[(?!\[)([^\[\]|\n\r]*)(?:\|((?:[^\[\]\n\r]|\](?!\])|\[(?!\[))*))?\]\]")
_MARKDOWN_LINK: Final = re.compile(r"!?\[([^\[\]\n]*)\]\((?:<[^<>\n]*>|[^\s()<>]*)(?:[ \t]+\"[^\"\n]*\")?\)")
_LINE_MARKS: Final = re.compile(
    r"^[ \t]*(?:(?:>|[-*+](?=[ \t\r]|$)|[0-9]{1,9}[.)](?=[ \t\r]|$)|\#{1,6}(?=[ \t\r]|$)|\[![^\]\n]*\][-+]?)[ \t]*)*"
    r"(?:(?:={2,}|-{2,}|\*{3,}|_{3,})[ \t\r]*$)?"
)
_BETWEEN_CHINESE: Final = re.compile(
    r"(?<=[\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef])[^\S\n]*\n[^\S\n]*"
    r"(?=[\u2e80-\u303f\u3400-\u9fff\uf900-\ufaff\uff00-\uffef])"
)
_MD_SUFFIX: Final = re.compile(r"\.md$", re.IGNORECASE)
_SUPERSEDED: Final = re.compile(r"^\s*>\s*\[!superseded\]", re.IGNORECASE)
_DESCRIBING: Final = ("name", "description", "aliases", "tags")


def display_text(link: Link) -> str:
    """What a reader sees of a link: its alias, else the file's name without folders and ``.md``, and the anchor."""
    if link.alias is not None:
        return link.alias
    return _shown(link.target, link.anchor or "")


def _shown(target: str, anchor: str) -> str:
    name = _MD_SUFFIX.sub("", target.replace("\\", "/").rpartition("/")[2])
    return " > ".join(part for part in (name, *anchor.split("#")) if part)


def words(text: str) -> str:
    """The words of a text in their order, separated by single spaces.

    Links are replaced by what a reader sees of them; list bullets and numbers, quote, callout and heading marks at the
    start of lines and rules are left out, as are line breaks inside a Chinese paragraph; Unicode is NFC. Letter case,
    punctuation and task boxes are kept.
    """
    plain = shown(text)
    if "](" in plain:
        plain = _MARKDOWN_LINK.sub(r"\1", plain)
    plain = _BETWEEN_CHINESE.sub("", plain)
    lines = (line if line[:1].isalpha() else _LINE_MARKS.sub("", line) for line in plain.split("\n"))
    return " ".join(unicodedata.normalize("NFC", "\n".join(lines)).split())


def shown(text: str) -> str:
    """A text with its wikilinks replaced by what a reader sees of them."""
    return _WIKILINK.sub(_wikilink_words, text) if "[[" in text else text


def _wikilink_words(match: re.Match[str]) -> str:
    alias = match[2]
    if alias is not None:
        return alias.strip()
    target, _, anchor = match[1].partition("#")
    return _shown(target.strip(), anchor.strip())


def standing_words(note: Note) -> str:
    """The words of a note's body, what it quotes as superseded left out."""
    quotes = (block.span for block in note.blocks if block.kind == "quote")
    ended = [span for span in quotes if _SUPERSEDED.match(note.text(span))]
    left_out = (Span(0, note.body.start), *ended, Span(note.body.end, len(note.source)))
    return words(splice(note.source, ((span, b"") for span in left_out)).decode("utf-8", "replace"))


def is_withdrawn(note: Note, text: str, stated: Iterable[str] = ()) -> bool:
    """Whether a note does not state any more what a text says: it quotes it as superseded, or it has stated it once.

    Args:
        text: Such as a description; letters' case aside.
        stated: What the note is known to have stated, asked for only where the note's own words do not tell.
    """
    said = fold(words(text))
    if not said or said in fold(standing_words(note)):
        return False
    return said in fold(words(note.text(note.body))) or any(said in fold(words(each)) for each in stated)


def fingerprint(note: Note) -> str:
    """Hex BLAKE2b-128 of what a note says: its words outside generated regions, its name, description, aliases, tags.

    Adding links around existing words, moving a linked file to another folder, re-flowing and regenerating do not
    change it.
    """
    body = without_regions(note.source[note.body.start : note.body.end]).decode("utf-8")
    described = {key: note.properties[key] for key in _DESCRIBING if key in note.properties}
    said = words(body) + "\0" + json.dumps(described, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.blake2b(said.encode("utf-8"), digest_size=16).hexdigest()
