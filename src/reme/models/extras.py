"""Packages that are not part of the core: imported when they are needed and not before.

Owns what is said when one is missing.
"""

import importlib
from typing import Any

from reme.errors import Unavailable

__all__ = ["load"]


def load(package: str, extra: str = "semantic") -> Any:
    """Import a package.

    Args:
        package: Its name in imports.
        extra: The extra of ReMe that brings it.

    Raises:
        Unavailable: If it is not installed or cannot be loaded.
    """
    try:
        return importlib.import_module(package)
    except (ImportError, OSError) as error:
        raise Unavailable(f"{package} cannot be loaded: {error}", hint=f"pip install 'reme[{extra}]'") from error
