"""Which folder is the vault that is meant, and how one becomes a vault.

Owns the settings that a new vault has, written out with every default.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reme.config.zone import system_zone
from reme.errors import ConfigError
from reme.vault import SETTINGS_FILE, STATE_FOLDER

__all__ = ["create_vault", "enclosing_vault", "find_root"]

_TEMPLATE: Final = """\
# Settings of this vault. Every line that is commented out shows a default.

vault:
  timezone: {timezone:<19} # days begin and end in this zone
  # agents_write_notes: true  # false: agents only read what is in none of ReMe's own folders

# journal:                    # how far back undo reaches: until either limit is passed
#   days: 30
#   size: 500000000           # bytes

# git:
#   auto_commit: false        # commit each change to the git repository that this folder is in

# links:
#   follow_renames: false     # respell links to files that other programs rename, while `reme runtime` is running

# embedder: none              # search by meaning, too: bundled, use, auto (whichever is installed), onnx:DIRECTORY

# reasoner: auto              # offline: never ask the model that the environment names (REME_LLM_MODEL)

# llm:                        # how that model is asked
#   daily_tokens: 500000      # what it may use a day, read and written
#   context: 32000            # how many tokens it takes at once
#   prompts: prompts          # your own instead of those that ship: a folder of this vault
#   price_in: 0.4             # what a million tokens costs, read and written, for `reme cost`
#   price_out: 1.6

# folders:                    # where things are kept; one that is there as Daily or DAILY is taken as it is
#   resource: resource        # raw material, written once
#   daily: daily              # what happened, by day
#   digest: digest            # what was learnt
#   session: session          # source dialogues
#   archive: archive
#   audit: audit              # reports, and the ledger

# digest:
#   preset: three             # personal, procedure, wiki; or six: concept, procedure, entity, observation, preference
#   fallback: unknown         # the bucket of what fits none
#   buckets:                  # your own instead of a preset
#     recipe: Dishes and how they are made.

# memory:
#   messages_at_once: 500     # how much of a long conversation is learnt from in one step
#   open_days: 7              # how far back an event may be continued
#   open_events: 12           # how many events may be

# dream:
#   mode: auto                # propose: leave what it would write for you to accept or reject
#   scan_days: 2              # how many days back changed notes are looked for
#   max_units: 5              # how much one run learns at most
#   parallel: 4               # how much of that is decided at once
#   candidates: 10            # how many nodes are looked at as the home of each
#   topics: 3                 # how many topics a day takes up; 0 for none
#   topic_days: 7             # for how long one is not taken up again
#   resource_bytes: 65536     # how large a resource may be to be read

# http:                       # how `reme serve` is reached; REME_HTTP_HOST, _TOKEN_FILE and _ORIGINS say by whom
#   port: 8765
#   max_body: 33554432        # bytes that a request may carry

# schema:                     # what `reme lint` asks of frontmatter
#   preset: core              # core: name and description; axes: lifecycle, scope, source, role too; off
#   custom:                   # your own, checked besides
#     recipes:
#       buckets: [recipe]
#       required: [servings]
#       enums:
#         difficulty: [easy, hard]
"""


def find_root(given: str | None, start: Path, environment: Mapping[str, str] | None = None) -> Path:
    """The folder of the vault that is meant.

    Args:
        given: What the caller named, else ``REME_VAULT``, else the nearest of ``start`` and its parents that holds
            ``reme.yaml`` or ``.reme/``.
        start: Where to look from.
        environment: Instead of the process's.

    Raises:
        ConfigError: If the named folder is not there or no vault, or none is found. A folder becomes a vault by
            ``create_vault`` alone: inside another vault, that one would not see what is in it any more.
    """
    named, origin = given, "--vault"
    if not named:
        named, origin = (os.environ if environment is None else environment).get("REME_VAULT", ""), "REME_VAULT"
    if named:
        root = Path(named).expanduser()
        if not root.is_dir():
            problem = "is not a folder" if root.exists() else "does not exist"
            raise ConfigError(
                f"the vault {named!r} ({origin}) {problem}",
                hint=f"Make one with: reme init {named}",
                details={"vault": named},
            )
        root = root.resolve()
        if (found := enclosing_vault(root)) == root:
            return root
        inside = f"; it is a folder of the vault {found}" if found else ""
        way_out = "Name that one, or make this one a vault of its own" if found else "Make it one"
        raise ConfigError(
            f"{named!r} ({origin}) is no vault{inside}",
            hint=f"{way_out} with: reme init {named}",
            details={"vault": named},
        )
    if found := enclosing_vault(start.resolve()):
        return found
    raise ConfigError(
        f"there is no vault at {start} or above it",
        hint="Make one here with: reme init . Or name one with --vault DIR or REME_VAULT.",
    )


def enclosing_vault(folder: Path) -> Path | None:
    """The nearest vault of a folder and those around it, if there is one.

    Args:
        folder: Absolute.
    """
    for root in (folder, *folder.parents):
        if (root / SETTINGS_FILE).is_file() or (root / STATE_FOLDER).is_dir():
            return root
    return None


def create_vault(root: Path, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """Make a folder a vault: ``reme.yaml`` and ``.reme/.gitignore``, each only where it is not there already.

    Returns:
        The names of the files that were made.

    Raises:
        ConfigError: If the place is not a folder or cannot be written.
    """
    settings = _TEMPLATE.format(timezone=system_zone(os.environ if environment is None else environment))
    made: list[str] = []
    try:
        for name, text in ((SETTINGS_FILE, settings), (f"{STATE_FOLDER}/.gitignore", "*\n")):
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with path.open("x", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            except FileExistsError:
                continue
            made.append(name)
    except OSError as error:
        raise ConfigError(
            f"{root} cannot be made a vault: {error.strerror}", hint="Name a folder that you may write to."
        ) from error
    return tuple(made)
