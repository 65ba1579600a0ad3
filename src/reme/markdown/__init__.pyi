from reme.markdown.chunks import Chunk, ChunkSettings, chunk, count_tokens
from reme.markdown.cuts import cut
from reme.markdown.frontmatter import find_frontmatter
from reme.markdown.note import (
    Block,
    BlockKind,
    Field,
    Frontmatter,
    Heading,
    Link,
    LinkKind,
    Note,
    Problem,
    Span,
    Tag,
)
from reme.markdown.parse import parse, parse_head
from reme.markdown.properties import delete_property, set_property
from reme.markdown.prose import flowing, joined, sentence_spans, unwrapped
from reme.markdown.regions import region, with_region, with_regions_of, without_regions
from reme.markdown.resolve import Names, Resolution, resolution, resolve, spellings
from reme.markdown.retarget import is_wikilink, known_links, link_text, retarget
from reme.markdown.spans import splice
from reme.markdown.values import field_value, number_text
from reme.markdown.words import display_text, fingerprint, is_withdrawn, standing_words, words

__all__ = [
    "Block",
    "BlockKind",
    "Chunk",
    "ChunkSettings",
    "Field",
    "Frontmatter",
    "Heading",
    "Link",
    "LinkKind",
    "Names",
    "Note",
    "Problem",
    "Resolution",
    "Span",
    "Tag",
    "chunk",
    "count_tokens",
    "cut",
    "delete_property",
    "display_text",
    "field_value",
    "find_frontmatter",
    "fingerprint",
    "flowing",
    "is_wikilink",
    "is_withdrawn",
    "joined",
    "known_links",
    "link_text",
    "number_text",
    "parse",
    "parse_head",
    "region",
    "resolution",
    "resolve",
    "retarget",
    "sentence_spans",
    "set_property",
    "spellings",
    "splice",
    "standing_words",
    "unwrapped",
    "with_region",
    "with_regions_of",
    "without_regions",
    "words",
]
