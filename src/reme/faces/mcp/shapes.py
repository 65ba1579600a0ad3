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
        "outputSchema": output_schema(operation),
        "annotations": {
            "readOnlyHint": operation.effects == "read",
            "destructiveHint": operation.effects == "destructive",
            "idempotentHint": operation.effects == "read" or operation.idempotent,
            "openWorldHint": False,
        },
    }


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
