"""A process that takes the text out of documents: ``python -m reme.index.convert``.

Owns the converter. Knows nothing of vaults or indexes: on standard input come documents, each behind a line of JSON
``{"ending": ".pdf", "size": bytes}``, and each is answered on standard output in the same way: a line
``{"size": bytes}`` and a JSON document, ``{"parts": [[place, Markdown], …]}`` or ``{"problem": text}``. A document may
bring it down; who started it starts another.
"""

import contextlib
import json
import re
import sys
from importlib import import_module
from typing import Any, Final

from reme.index.extract import ENDINGS

__all__: list[str] = []

_MOST_MEMORY: Final = 2_000_000_000
_MOST_CHARS: Final = 20_000_000
_KIND: Final = re.compile(r"^\w+(?:Error|Exception): ")


def _main() -> None:
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    source, answers = sys.stdin.buffer, sys.stdout.buffer
    while line := source.readline():
        asked: dict[str, Any] = json.loads(line)
        answer = json.dumps(_answer(asked["ending"], source.read(asked["size"]))).encode()
        answers.write(json.dumps({"size": len(answer)}).encode() + b"\n" + answer)
        answers.flush()


def _answer(ending: str, data: bytes) -> dict[str, Any]:
    try:
        return {"parts": _parts(ending, data)}
    except Exception as error:  # whatever is wrong with a document
        said = _KIND.sub("", str(error).strip().split("\n", 1)[0])
        return {"problem": said or type(error).__name__}


def _parts(ending: str, data: bytes) -> list[tuple[str, str]]:
    kreuzberg: Any = import_module("kreuzberg")
    paged = ending == ".pdf"
    pages = kreuzberg.PageConfig(extract_pages=True) if paged else None
    config = kreuzberg.ExtractionConfig(output_format="markdown", use_cache=False, pages=pages)
    result = kreuzberg.extract_bytes_sync(data, ENDINGS[ending], config=config)
    if paged and result.pages:
        parts = [(f"page {page['page_number']}", str(page["content"])) for page in result.pages]
    else:
        parts = [("", str(result.content))]
    if sum(len(text) for _, text in parts) > _MOST_CHARS:
        raise ValueError(f"its text has more than {_MOST_CHARS:,} characters")
    return [(place, text.replace("\r\n", "\n")) for place, text in parts if text.strip()]


if __name__ == "__main__":
    _main()
