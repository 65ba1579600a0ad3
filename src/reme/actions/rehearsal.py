"""Rehearsals: an action done in earnest on a copy of the files that it goes by, so that the vault stays as it is.

Owns what is copied and for how long the copy is there. Knows nothing of what any action does.
"""

import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from reme.paths import VaultPath
from reme.tools import Workspace
from reme.vault import Vault

__all__ = ["rehearsed"]


@contextmanager
def rehearsed(workspace: Workspace, places: Sequence[VaultPath]) -> Generator[Workspace]:
    """The same workspace over a vault that is gone afterwards and has the files of some places.

    Args:
        workspace: Whose index and state stay those of the real vault.
        places: Files and folders; those that are not there are left out.
    """
    real = workspace.vault
    with TemporaryDirectory(prefix="reme-") as folder:
        copied = Vault(Path(folder), layout=real.layout, clock=real.clock)
        try:
            for place in places:
                inside = [file.path for file in real.scan(place).files] if real.is_folder(place) else [place]
                for path in inside:
                    if real.stat(path) is not None:
                        target = copied.locate(path)
                        target.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copyfile(real.locate(path), target)
            yield replace(workspace, vault=copied)
        finally:
            copied.close()
