"""Any model in ONNX form in a local folder: ``model.onnx`` and ``tokenizer.json``, as most hubs publish them.

Owns how such a folder is read: which pooling, which words before questions and passages, how many tokens. What
sentence-transformers writes beside the model (``1_Pooling/config.json``, ``config_sentence_transformers.json``,
``sentence_bert_config.json``) is heeded.
"""

import hashlib
import json
import re
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, cast

from reme.errors import ConfigError
from reme.models.embedder import Calibration, Vectors, sendable, usual_question
from reme.models.extras import load

__all__ = ["ModelFolder"]

_TOKENS: Final = 512
_LONGEST: Final = 20_000
_PER_RUN: Final = 8
_BLOCK: Final = 1 << 20
_E5: Final = (-0.03, 0.14)
_OTHER: Final = (0.0, 0.7)


class ModelFolder:
    """An ``Embedder`` from a folder.

    Args:
        folder: Where ``model.onnx`` (or ``onnx/model.onnx``) and ``tokenizer.json`` are.
        threads: How many processor threads to use.

    Raises:
        ConfigError: If the folder lacks something or holds something else.
    """

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        model = next((file for file in (folder / "model.onnx", folder / "onnx/model.onnx") if file.is_file()), None)
        if model is None or not (folder / "tokenizer.json").is_file():
            raise ConfigError(
                f"{folder} holds no model", hint="A model folder has the files model.onnx and tokenizer.json."
            )
        try:
            self._tokenizer = load("tokenizers", "onnx").Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._session = _session(model, threads)
        except Exception as error:  # both libraries raise whatever they like
            raise ConfigError(f"the model in {folder} cannot be loaded: {error}", hint="Fetch it again.") from error
        self._tokenizer.enable_truncation(_most_tokens(folder))
        self._tokenizer.enable_padding()
        self._inputs = {item.name for item in self._session.get_inputs()}
        outputs = [item.name for item in self._session.get_outputs()]
        self._output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
        self._pooling = _pooling(folder)
        self._prefixes = _prefixes(folder)
        self._one_at_a_time = threading.Lock()
        self.name = f"onnx-{folder.name}-{_fingerprint(model)}"
        self._scale = _E5 if _is_e5(folder) else _OTHER
        self.dim = int(self._run(["."]).shape[1])

    @property
    def calibration(self) -> Calibration:
        """Where its cosines lie."""
        return Calibration(*self._scale, centre=self._usual)

    @cached_property
    def _usual(self) -> Vectors:
        return usual_question(self)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Vectors:
        """The vectors of texts."""
        np = load("numpy")
        prefix = self._prefixes[0 if query else 1]
        found = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _PER_RUN):
            some = [prefix + sendable(text, _LONGEST) for text in texts[start : start + _PER_RUN]]
            found[start : start + len(some)] = self._run(some)
        return found

    def _run(self, texts: list[str]) -> Vectors:
        np = load("numpy")
        with self._one_at_a_time:
            encoded: list[Any] = self._tokenizer.encode_batch(texts)
        given = {
            "input_ids": np.array([item.ids for item in encoded], np.int64),
            "attention_mask": np.array([item.attention_mask for item in encoded], np.int64),
            "token_type_ids": np.array([item.type_ids for item in encoded], np.int64),
        }
        mask = given["attention_mask"][..., None].astype(np.float32)
        [output] = self._session.run([self._output], {key: given[key] for key in given.keys() & self._inputs})
        if output.ndim == 3:
            output = output[:, 0] if self._pooling == "first" else (output * mask).sum(1) / mask.sum(1).clip(1)
        vectors = output.astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)


def _session(model: Path, threads: int) -> Any:
    onnxruntime = load("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def _most_tokens(folder: Path) -> int:
    value = _json(folder / "sentence_bert_config.json").get("max_seq_length")
    return value if isinstance(value, int) and value > 0 else _TOKENS


def _pooling(folder: Path) -> Literal["first", "mean"]:
    return "first" if _json(folder / "1_Pooling/config.json").get("pooling_mode_cls_token") is True else "mean"


def _prefixes(folder: Path) -> tuple[str, str]:
    """What goes before a question and before a passage."""
    prompts = _json(folder / "config_sentence_transformers.json").get("prompts")
    if isinstance(prompts, dict):
        texts = {key: value for key, value in cast("dict[str, object]", prompts).items() if isinstance(value, str)}
        return texts.get("query", ""), texts.get("passage", texts.get("document", ""))
    return ("query: ", "passage: ") if _is_e5(folder) else ("", "")


def _is_e5(folder: Path) -> bool:
    return re.search(r"(^|[^a-z0-9])e5([^a-z0-9]|$)", folder.name.lower()) is not None


def _json(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _fingerprint(file: Path) -> str:
    digest = hashlib.blake2b(digest_size=6)
    with file.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
