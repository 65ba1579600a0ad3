"""ONNX graphs, written without the onnx package: its format is Protocol Buffers, of which a few messages are enough.

Owns the bytes of a model. The field numbers are those of ``onnx.proto``.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from reme.models.extras import load

__all__ = ["Graph"]

_IR_VERSION: Final = 9
_OPSET: Final = 17
_TYPES: Final = {"float32": 1, "uint8": 2, "int64": 7}
_FLOAT, _INT, _INTS = 1, 2, 7

Attribute = float | int | Sequence[int]


class Graph:
    """Collects nodes and constants; ``model`` gives the whole as the bytes of a model."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._made = 0

    def constant(self, values: Any) -> str:
        """Add an array; returns its name."""
        np = load("numpy")
        array = np.ascontiguousarray(values)
        name = self._name()
        self._constants.append(
            b"".join(_number(1, size) for size in array.shape)
            + _number(2, _TYPES[array.dtype.name])
            + _bytes(8, name.encode())
            + _bytes(9, array.tobytes())
        )
        return name

    def node(self, kind: str, inputs: Iterable[str], *, domain: str = "", **attributes: Attribute) -> str:
        """Add an operation; returns the name of what it computes."""
        name = self._name()
        parts = [_bytes(1, item.encode()) for item in inputs]
        parts += [_bytes(2, name.encode()), _bytes(4, kind.encode())]
        parts += [_bytes(5, _attribute(key, value)) for key, value in attributes.items()]
        if domain:
            parts.append(_bytes(7, domain.encode()))
        self._nodes.append(b"".join(parts))
        return name

    def model(self, inputs: dict[str, Sequence[int | str]], output: str, shape: Sequence[int | str]) -> bytes:
        """The model: inputs and output are float32 with these shapes, in which a name stands for any size."""
        graph = b"".join(
            (
                *(_bytes(1, node) for node in self._nodes),
                _bytes(2, b"reme"),
                *(_bytes(5, constant) for constant in self._constants),
                *(_bytes(11, _value(name, sizes)) for name, sizes in inputs.items()),
                _bytes(12, _value(output, shape)),
            )
        )
        sets = (_bytes(8, _number(2, _OPSET)), _bytes(8, _bytes(1, b"com.microsoft") + _number(2, 1)))
        return _number(1, _IR_VERSION) + b"".join(sets) + _bytes(7, graph)

    def _name(self) -> str:
        self._made += 1
        return f"v{self._made}"


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _attribute(name: str, value: Attribute) -> bytes:
    import struct

    start = _bytes(1, name.encode())
    if isinstance(value, float):
        return start + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, _FLOAT)
    if isinstance(value, int):
        return start + _number(3, value) + _number(20, _INT)
    return start + b"".join(_number(8, item) for item in value) + _number(20, _INTS)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sizes = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size.encode())) for size in shape
    )
    tensor = _number(1, _TYPES["float32"]) + _bytes(2, sizes)
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, tensor))
