"""Promotion: an event gets a folder of its own as soon as a file is put beside it.

Owns that it follows what other tools make. A move does it by itself.
"""

from dataclasses import replace

from reme.errors import InvalidInput
from reme.tools.changes import Written
from reme.tools.move import move
from reme.tools.places import promotion
from reme.tools.workspace import Workspace

__all__ = ["with_promotion"]


def with_promotion(workspace: Workspace, made: Written) -> Written:
    """Move the event whose material a new file is into the folder of the material, if it is not there yet.

    Args:
        made: What became of the file.

    Returns:
        The same; with the revision that retargeting has given the file, where it links to the event itself.
    """
    wanted = None if made.dry_run or made.outcome != "created" else promotion(workspace, made.path)
    if wanted is None:
        return made
    try:
        move(workspace, *wanted)
    except InvalidInput as error:
        workspace.vault.notices.append(f"{wanted[0]} was not put into its folder: {error.message}")
        return made
    return replace(made, revision=workspace.vault.read(made.path).revision)
