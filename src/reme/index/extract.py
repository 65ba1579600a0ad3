"""Which files are documents, and what takes their text out.

Owns the kinds and the converter's identity. Runs nothing.
"""

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Final

__all__ = ["ENDINGS", "converter"]

ENDINGS: Final = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".epub": "application/epub+zip",
}
"""Media type by extension."""


def converter() -> str:
    """Identifies what takes texts out, or empty where the extra is not installed."""
    if find_spec("kreuzberg") is None:
        return ""
    try:
        return f"kreuzberg {version('kreuzberg')}"
    except PackageNotFoundError:
        return ""
