"""Promotion: an event gets a folder of its own as soon as a file is put beside it.

Owns when that happens. How links follow is the move's.
"""

import re
from dataclasses import replace

from reme.paths import VaultPath, join, parent
from reme.tools.changes import Written
from reme.tools.move import move
from reme.tools.workspace import Workspace

__all__ = ["with_promotion"]


def with_promotion(workspace: Workspace, made: Written) -> Written:
    """Move the event whose material a new file is into the folder of the material, if it is not there yet.

    Args:
        made: What became of the file.

    Returns:
        The same; with the revision that retargeting has given the file, where it links to the event itself.
    """
    if made.dry_run or made.outcome != "created" or not _promoted(workspace, made.path):
        return made
    return replace(made, revision=workspace.vault.read(made.path).revision)


def _promoted(workspace: Workspace, path: VaultPath) -> bool:
    vault = workspace.vault
    event = re.fullmatch(rf"({re.escape(vault.layout.daily)}/\d{{4}}-\d{{2}}-\d{{2}}/([^/]+))/.+", path)
    if event is None:
        return False
    folder, slug = VaultPath(event[1]), event[2]
    note, within = VaultPath(f"{folder}.md"), join(folder, f"{slug}.md")
    if not vault.exists(note) or vault.exists(within) or parent(path) != folder:
        return False
    move(workspace, note, within)
    return True
