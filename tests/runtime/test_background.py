"""Work behind the projection: one after the other, whatever fails."""

from collections.abc import Callable
from pathlib import Path

import pytest

from reme.index import Index, extract
from reme.runtime import LeaseLost, each, embedding, reading
from reme.testing import SyntheticEmbedder
from tests.index.papers import pdf
from tests.index.place import Place
from tests.runtime.watched import Watched, until


def test_what_fails_does_not_keep_the_others_from_their_turn(tmp_path: Path) -> None:
    place = Place(tmp_path / "vault")
    done: list[str] = []

    def work(name: str, more: bool) -> Callable[[Index, Callable[[], bool]], bool]:
        def one(_index: Index, _stop: Callable[[], bool]) -> bool:
            done.append(name)
            if name == "bad":
                raise ValueError("bad luck")
            if name == "lost":
                raise LeaseLost("another process keeps the index now")
            return more

        return one

    def go(*works: Callable[[Index, Callable[[], bool]], bool]) -> bool:
        done.clear()
        return each(*works)(place.index, lambda: False)

    assert not go(work("a", False), work("b", False))
    assert go(work("a", True), work("b", False))
    with pytest.raises(ValueError, match="bad luck"):
        go(work("a", True), work("bad", False), work("c", True))
    assert done == ["a", "bad", "c"]
    with pytest.raises(LeaseLost):
        go(work("lost", False), work("c", False))
    assert done == ["lost"]
    place.close()


@pytest.mark.skipif(not extract.converter(), reason="the extra documents is not installed")
def test_documents_are_read_and_embedded_behind_the_projection(tmp_path: Path) -> None:
    pytest.importorskip("numpy")
    made = Watched(tmp_path / "vault")
    watched = Watched(made.root, background=each(reading(made.vault), embedding(SyntheticEmbedder())))
    watched.start()
    watched.write("broken.pdf", b"%PDF-1.7 no more")
    watched.write("a.pdf", pdf(["first page", "密钥轮换"]))
    until(lambda: watched.finds("密钥轮换") == ["a.pdf"], 60)
    until(lambda: watched.index.status().embedded == 2)
    until(lambda: not watched.index.waiting_documents(extract.converter()))
    assert [problem.path for problem in watched.index.problems()] == ["broken.pdf"]
    assert not watched.projector.status().trouble
    watched.close()
    made.close()
