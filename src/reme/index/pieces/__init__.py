"""Files that are not Markdown, cut into pieces: each an exact range of its bytes, with what it is found by.

Owns how such files are read. Knows nothing of tokens or stores. Nothing is left out but white space and markup.
"""

from collections.abc import Iterator

from reme.index.pieces.data import json_pieces, table_pieces, yaml_pieces
from reme.index.pieces.dialogue import dialogue_pieces, iso_date
from reme.index.pieces.markup import markup_pieces, markup_title
from reme.index.pieces.packing import Piece, Size, text_pieces

__all__ = ["Piece", "Size", "dialogue_pieces", "iso_date", "markup_title", "pieces_of", "text_pieces"]


def pieces_of(ending: str, data: bytes, size: Size) -> Iterator[Piece]:
    """The pieces of a file.

    Args:
        ending: The file name's extension, lower-cased, with its dot.
        data: The file in UTF-8.
        size: How large pieces are.
    """
    match ending:
        case ".jsonl":
            return dialogue_pieces(data, size)
        case ".json":
            return json_pieces(data, size)
        case ".yaml" | ".yml":
            return yaml_pieces(data, size)
        case ".csv" | ".tsv":
            return table_pieces(data, size)
        case ".html" | ".htm":
            return markup_pieces(data, size)
        case ".xml":
            return markup_pieces(data, size, is_html=False)
        case _:
            return text_pieces(data, size)
