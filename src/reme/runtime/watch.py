"""Watching: hears that something happened in a vault's folder, and notices when it has gone deaf.

Owns the watching thread and what of its news concerns the vault. Reads no file and knows no index: news are a trigger,
never a fact.
"""

import os
import threading
import time
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from reme.errors import Refused
from reme.paths import VaultPath, is_hidden, parse_path

__all__ = ["HEARS_WITHIN_S", "Hearing", "News", "Watch", "concerned"]

News = Callable[[frozenset[VaultPath], bool], None]

_DEBOUNCE_MS: Final = 20
_STEP_MS: Final = 30  # shorter steps cost more idle processor time than a runtime may take
_FIRST_PAUSE_S: Final = 0.5
_LONGEST_PAUSE_S: Final = 60.0
_JOIN_S: Final = 0.5
HEARS_WITHIN_S: Final = 1.0
_PATIENCE_S: Final = 8.0
_LONGEST_PATIENCE_S: Final = 60.0
_IGNORE_FILE: Final = ".remeignore"


class Watch:
    """One thread that hears of changes below a folder until it is closed, and begins again whenever it fails.

    Of changes in the folder of the machinery it tells nobody, but keeps in ``heard`` that there was one: who writes
    there can know by it whether the thread hears.

    Args:
        root: The vault's folder, without symlinks.
        state_dir: The folder of the vault's machinery, inside the vault or elsewhere.
        news: Called in the thread with the paths that something happened to, and whether something happened that only
            a walk over everything can tell.
    """

    def __init__(self, root: Path, state_dir: Path, news: News) -> None:
        self._root = str(root)
        self._state_dir = str(state_dir)
        self._news = news
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._heard = 0.0
        self.problem = ""
        self.restarts = 0

    @property
    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    @property
    def heard(self) -> float:
        """When something was last heard of in the folder of the machinery, on the monotonic clock."""
        return self._heard

    def start(self) -> None:
        """Begin to listen. Idempotent."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(self._stop,), name="reme-watch", daemon=True)
        self._thread.start()

    def restart(self, reason: str) -> None:
        """Listen anew, since the thread hears nothing."""
        self.close()
        self.restarts += 1
        self.start()
        self.problem = reason

    def close(self) -> None:
        """Listen no more. Idempotent."""
        self._stop.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(_JOIN_S)

    def _run(self, stop: threading.Event) -> None:
        pause = _FIRST_PAUSE_S
        while not stop.is_set():
            began = time.monotonic()
            try:
                self._listen(stop)
                problem = "the watcher ended by itself"
            except Exception as error:  # whatever it was, the vault must be watched again
                problem = f"the watcher failed: {error}"
            if stop.is_set():
                return
            self.problem = problem
            self.restarts += 1
            pause = _FIRST_PAUSE_S if time.monotonic() - began > _LONGEST_PAUSE_S else pause
            stop.wait(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _listen(self, stop: threading.Event) -> None:
        import watchfiles

        folders = [self._root]
        if not _is_below(self._state_dir, self._root):
            folders.append(self._state_dir)
        for changes in watchfiles.watch(
            *folders,
            watch_filter=self._concerns,
            debounce=_DEBOUNCE_MS,
            step=_STEP_MS,
            rust_timeout=0,
            stop_event=stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            if stop.is_set():
                return
            paths, walk = concerned(self._root, (place for _, place in changes))
            if paths or walk:
                self._news(paths, walk)

    def _concerns(self, _change: object, place: str) -> bool:
        if _is_below(place, self._state_dir):
            self._heard = time.monotonic()
            self.problem = ""
            return False
        return True


class Hearing:
    """Tests whether a watch hears, by changes that the tester makes itself in the folder of the machinery.

    Args:
        watch: What is tested, started, and begun anew when it has been deaf for too long.
    """

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._hears = False
        self._expected: float | None = None
        self._deaf_since = 0.0
        self._patience = _PATIENCE_S
        self._restarts = 0

    @property
    def is_good(self) -> bool:
        """Whether the last test was passed and nothing has failed since."""
        return self._hears and self._watch.is_alive and not self._watch.problem

    def is_beginning(self, now: float) -> bool:
        """Whether it may just not listen yet."""
        return not self._hears and now - self._deaf_since < HEARS_WITHIN_S

    def begin(self, now: float) -> None:
        """Start the watch."""
        self._hears = False
        self._expected = None
        self._deaf_since = now
        self._watch.start()

    def expect(self, at: float | None) -> None:
        """Tell that there was a change at this moment, which must be heard; None if it could not be made."""
        self._expected = at

    def test(self, now: float) -> bool:
        """See whether the last change was heard; returns whether it hears again after a time in which it did not."""
        self._watch.start()
        failed, self._restarts = self._watch.restarts != self._restarts, self._watch.restarts
        if failed:
            self._hears, self._deaf_since = False, now
        if self._expected is not None and self._watch.heard >= self._expected:
            again, self._hears = not self._hears, True
            self._deaf_since, self._patience = now, _PATIENCE_S
            return again
        if now - self._deaf_since > self._patience:
            self._hears = False
            self._patience = min(self._patience * 2, _LONGEST_PATIENCE_S)
            self._watch.restart("the watcher hears nothing; changes are found by looking at everything now and then")
            self._restarts = self._watch.restarts
            self._deaf_since = now
        return False


def concerned(root: str, places: Iterable[str]) -> tuple[frozenset[VaultPath], bool]:
    """The vault paths among these places, and whether one of them changes what belongs to the vault at all."""
    paths: set[VaultPath] = set()
    walk = False
    for place in places:
        name = place[len(root) :].lstrip(os.sep).replace(os.sep, "/")
        parts = name.split("/")
        if any(is_hidden(part) for part in parts):
            walk = walk or name == _IGNORE_FILE or (parts[-1] == ".reme" and len(parts) > 1)
            continue
        if not name:
            walk = True
            continue
        try:
            name.encode()
            path = parse_path(name)
        except (Refused, UnicodeError):
            walk = True
            continue
        if path == unicodedata.normalize("NFC", name):
            paths.add(path)
        else:
            walk = True
    return frozenset(paths), walk


def _is_below(place: str, folder: str) -> bool:
    return place == folder or place.startswith(folder + os.sep)
