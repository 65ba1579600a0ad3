"""Which files are documents, and what takes their text out.

Owns the kinds and the converter's identity. Runs nothing.
"""

from typing import Final

from reme.index.installed import version_of

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
    version = version_of("kreuzberg", "kreuzberg")
    return version and f"kreuzberg {version}"
