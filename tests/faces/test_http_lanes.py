"""The threads behind the HTTP face."""

import threading
import time

import pytest

from reme.errors import NotFound, Unavailable
from reme.faces.http.lanes import Lane, Lanes
from reme.faces.http.problems import Bug

GIVEN = object()


def lanes(*, threads: int = 2, waiting: int = 4) -> Lanes[object]:
    return Lanes((Lane("quick", threads, waiting), Lane("slow", 1, 1)), GIVEN)


def test_threads_are_started_when_there_is_work_for_them_and_all_have_what_is_given() -> None:
    both = lanes()
    before = threading.active_count()
    for _ in range(3):
        assert both.submit("quick", lambda given: given).result(10) is GIVEN
    assert threading.active_count() == before + 1
    meeting = threading.Barrier(2)
    together = [both.submit("quick", lambda given: (meeting.wait(10), given)[1]) for _ in range(2)]
    assert [future.result(10) for future in together] == [GIVEN, GIVEN]
    assert threading.active_count() == before + 2
    assert both.close(10)
    assert threading.active_count() == before


def test_what_is_raised_is_given_to_who_asked_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(error: BaseException) -> None:
        raise error

    both = lanes(threads=1)
    with pytest.raises(NotFound):
        both.submit("quick", lambda _: fail(NotFound("it is gone"))).result(10)
    for error in (ValueError("secret"), SystemExit(1), KeyboardInterrupt(), StopIteration()):
        with pytest.raises(Bug, match=type(error).__name__) as caught:
            both.submit("quick", lambda _, error=error: fail(error)).result(10)
        assert "secret" not in caught.value.message
    assert both.submit("quick", lambda _: "still there").result(10) == "still there"
    assert both.close(10)
    assert "secret" in capsys.readouterr().err


def test_too_much_is_refused_and_what_was_given_up_is_not_begun() -> None:
    both, release, begun = lanes(), threading.Event(), []
    running = [both.submit("quick", lambda _: release.wait(30)) for _ in range(2)]
    time.sleep(0.2)
    waiting = [both.submit("quick", lambda _, n=n: begun.append(n)) for n in range(4)]
    assert both.waiting() == {"quick": 4, "slow": 0}
    with pytest.raises(Unavailable, match="4 requests wait already"):
        both.submit("quick", lambda _: None)
    assert both.submit("slow", lambda _: "another lane").result(10) == "another lane"
    assert waiting[1].cancel()
    release.set()
    assert all(future.result(10) for future in running)
    assert both.close(10)
    assert begun in ([0, 2, 3], [0, 3, 2], [2, 0, 3], [0], [0, 2], [])
    assert all(future.done() for future in waiting)


def test_closing_waits_for_what_runs_but_not_for_ever() -> None:
    both, release, done = lanes(threads=1), threading.Event(), []
    both.submit("quick", lambda _: (release.wait(30), done.append(1)))
    later = both.submit("quick", lambda _: done.append(2))
    assert not both.close(0.2)
    assert later.cancelled()
    with pytest.raises(Unavailable, match="stopping"):
        both.submit("quick", lambda _: None)
    release.set()
    assert both.close(10)
    assert done == [1]
