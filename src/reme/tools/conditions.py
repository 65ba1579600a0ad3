"""Conditions on properties, as callers write them: ``key=value``."""

from reme.errors import InvalidInput

__all__ = ["parse_where"]


def parse_where(conditions: list[str] | None) -> dict[str, str | None]:
    """Conditions ``key=value`` as the index takes them; ``null`` is no value, and ``"null"`` the word.

    Raises:
        InvalidInput: If one is something else, or two are about one key.
    """
    parsed: dict[str, str | None] = {}
    for condition in conditions or ():
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise InvalidInput(f"where: {condition!r} is no condition", hint="Write key=value, such as status=open.")
        if key.strip() in parsed:
            raise InvalidInput(f"where: there are two conditions on {key.strip()!r}", hint="Give one.")
        wanted = value.strip()
        quoted = len(wanted) > 1 and wanted[0] == wanted[-1] and wanted[0] in "'\"" and _is_null(wanted[1:-1])
        parsed[key.strip()] = None if _is_null(wanted) else wanted[1:-1] if quoted else wanted
    return parsed


def _is_null(value: str) -> bool:
    return value.casefold() == "null"
