"""Reading settings: the defaults, then the vault's ``reme.yaml``, then the environment.

Owns the file's format, and what is not for a file to say that comes with a vault.
"""

import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Final, cast, get_type_hints

from reme.clock import zone_named
from reme.config.options import Settings
from reme.config.plain import plain_document
from reme.config.zone import system_zone
from reme.errors import ConfigError
from reme.vault import SETTINGS_FILE

__all__ = ["load_settings"]

_SENDING: Final = ("model", "url", "key", "proxy")
_LETTING_IN: Final = ("host", "token_file", "origins")


def load_settings(root: Path | None, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force in a vault; of no vault in particular, the defaults and the environment's.

    A variable ``REME_<SECTION>_<KEY>`` such as ``REME_VAULT_TIMEZONE`` goes before the file.

    Raises:
        ConfigError: For a file that is no YAML mapping, an unknown key (with the nearest one), or a value of the wrong
            kind, each naming the place.
    """
    environment = os.environ if environment is None else environment
    document = _read_document(root / SETTINGS_FILE) if root else {}
    if "endpoint" in document or str(document.get("embedder", "")).startswith("openai"):
        raise ConfigError(
            f"{SETTINGS_FILE}: where notes are sent is not for a vault's own file to say",
            hint="Set REME_EMBEDDER=openai:MODEL, REME_ENDPOINT_URL and REME_ENDPOINT_KEY in the environment.",
        )
    if named := [f"llm.{key}" for key in _SENDING if key in _mapping(document.get("llm"), "llm")]:
        variable = named[0].replace(".", "_").upper()
        raise ConfigError(
            f"{SETTINGS_FILE}: {named[0]}: where notes are sent is not for a vault's own file to say",
            hint=f"Set REME_{variable} in the environment.",
        )
    if named := [f"http.{key}" for key in _LETTING_IN if key in _mapping(document.get("http"), "http")]:
        variable = named[0].replace(".", "_").upper()
        raise ConfigError(
            f"{SETTINGS_FILE}: {named[0]}: who may come in is not for a vault's own file to say",
            hint=f"Set REME_{variable} in the environment.",
        )
    if "state_dir" in document:
        raise ConfigError(
            f"{SETTINGS_FILE}: where a machine keeps its state is not for a vault's own file to say",
            hint="Set REME_STATE_DIR in the environment.",
        )
    settings: Settings = _section(Settings, document, "", environment)
    zone = settings.vault.timezone or system_zone(environment)
    zone_named(zone)
    folders = settings.folders.spelled_as_in(root) if root else settings.folders
    return replace(settings, vault=replace(settings.vault, timezone=zone), folders=folders)


def _read_document(path: Path) -> dict[str, object]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror}", details={"path": str(path)}) from error
    if (plain := plain_document(data)) is not None:
        return plain
    import yaml

    try:
        document: object = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path.name}, line {mark.line + 1}" if mark else path.name
        problem = getattr(error, "problem", None) or str(error)
        raise ConfigError(f"{place}: this is not valid YAML: {problem}", hint="Correct the line.") from error
    return _mapping(document, "the file")


def _mapping(document: object, name: str) -> dict[str, object]:
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise ConfigError(f"{SETTINGS_FILE}: {name} must be a mapping of keys to values, not {document!r}")
    return {str(key): value for key, value in cast("dict[object, object]", document).items()}


def _section(kind: type[Any], document: Mapping[str, object], prefix: str, environment: Mapping[str, str]) -> Any:
    """Build one dataclass of settings from its part of the document and from the environment."""
    known = [item.name for item in fields(kind)]
    for key in document:
        if key not in known:
            raise _unknown(prefix + key, [prefix + name for name in known])
    hints = get_type_hints(kind, include_extras=True)
    values: dict[str, Any] = {}
    for name in known:
        place = prefix + name
        if is_dataclass(hints[name]):
            part = _mapping(document.get(name), place)
            values[name] = _section(cast("type[Any]", hints[name]), part, f"{place}.", environment)
        elif (override := environment.get(f"REME_{place.replace('.', '_').upper()}")) is not None:
            values[name] = _typed(hints[name], override, place)
        elif document.get(name) is not None:
            values[name] = _typed(hints[name], document[name], place)
        if isinstance(values.get(name), Mapping):  # one key set is not all the others unset
            values[name] = {**getattr(kind(), name), **values[name]}
    try:
        return kind(**values)
    except ValueError as error:
        raise ConfigError(f"{prefix.rstrip('.') or SETTINGS_FILE}: {error}") from error


def _typed(hint: Any, value: object, place: str) -> Any:
    if hint is str and isinstance(value, str):
        return value
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        reason = error.errors(include_url=False)[0]["msg"]
        raise ConfigError(f"{place}: {value!r} is not acceptable: {reason[:1].lower()}{reason[1:]}") from error


def _unknown(place: str, known: list[str]) -> ConfigError:
    import difflib

    close = difflib.get_close_matches(place, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
    return ConfigError(f"{SETTINGS_FILE}: there is no setting {place}", hint=hint, details={"setting": place})
