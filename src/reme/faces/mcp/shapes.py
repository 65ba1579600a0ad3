"""Operations as MCP tools: their definitions, and what a call comes back as."""

from typing import Any, Final

from reme.catalog import Operation, as_json, input_schema, output_schema
from reme.errors import ReMeError

__all__ = ["ERROR_KEY", "definition", "failure", "success"]

ERROR_KEY: Final = "reme/error"
_SHOWN: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def definition(operation: Operation) -> dict[str, Any]:
    """The tool that stands for an operation."""
    return {
        "name": operation.name,
        "description": operation.summary,
        "inputSchema": input_schema(operation),
        "outputSchema": _outline(output_schema(operation)),
        "annotations": {"openWorldHint": False, **_effects(operation)},
    }


def _effects(operation: Operation) -> dict[str, bool]:
    """What a host has to know before it asks whether a call may be made; the other hints mean nothing for reading."""
    if operation.effects == "read":
        return {"readOnlyHint": True}
    destroys = operation.effects == "destructive"
    return {"readOnlyHint": False, "destructiveHint": destroys, "idempotentHint": operation.idempotent}


def _outline(schema: dict[str, Any]) -> dict[str, Any]:
    """The names and JSON types of a result's fields: all that a host needs to hold structured content to, at a tenth of
    what the whole schema would cost it in every session."""
    definitions = schema.get("$defs", {})
    fields = {name: _types(field, definitions) for name, field in schema["properties"].items()}
    return {"type": "object", "properties": fields}


def _types(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A schema of the JSON types that a schema allows; of every value, where it says none."""
    kinds = [kind if "$ref" not in kind else definitions[kind["$ref"].rpartition("/")[2]] for kind in _each(schema)]
    types = list(dict.fromkeys(kind.get("type") for kind in kinds))
    return {} if None in types else {"type": types[0] if len(types) == 1 else types}


def _each(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return schema.get("anyOf", [schema])


def success(operation: Operation, result: Any) -> dict[str, Any]:
    """A result in words for a model, and as data for a program; a picture is shown, and its data not said again."""
    content, data = [_text(operation.text(result))], as_json(result)
    held = operation.content(result) if operation.content else None
    if held is not None and held.media_type in _SHOWN:
        content.append({"type": "image", "data": held.data, "mimeType": held.media_type})
        data["data"] = ""
    return {"content": content, "structuredContent": data, "isError": False}


def failure(error: ReMeError) -> dict[str, Any]:
    """An error that a model can act on.

    The data goes into ``_meta``, since clients hold structured content to the tool's output schema even then.
    """
    text = f"{error.kind}: {error.message}"
    if error.hint:
        text += f"\nhint: {error.hint}"
    return {"content": [_text(text)], "isError": True, "_meta": {ERROR_KEY: error.as_dict()}}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text.encode("utf-8", "replace").decode("utf-8")}
