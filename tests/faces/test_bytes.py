"""Bytes on the faces: local files on the command line, pictures that a model sees."""

import base64
import json
from pathlib import Path

import pytest

from reme.catalog import Catalog, add_tools, as_json, valid_arguments
from reme.errors import InvalidInput
from reme.faces.mcp.shapes import definition, success
from reme.paths import VaultPath
from reme.revision import revision_of
from reme.tools import Picture
from tests.faces.conftest import Run

DATA = bytes(range(256))


def test_a_local_file_goes_in_and_comes_out(reme_process: Run, vault: Path, tmp_path: Path) -> None:
    (tmp_path / "表 1.bin").write_bytes(DATA)
    done = reme_process("upload", str(tmp_path / "表 1.bin"), "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["path"].endswith("/表 1.bin")
    assert (vault / made["path"]).read_bytes() == DATA
    assert reme_process("download", made["path"]).stdout == DATA
    assert base64.b64decode(json.loads(reme_process("download", made["path"], "--json").stdout)["data"]) == DATA
    saved = reme_process("download", made["path"], "--into", str(tmp_path / "out.bin"))
    assert b"saved as " in saved.stdout
    assert (tmp_path / "out.bin").read_bytes() == DATA
    assert reme_process("download", made["path"], "--into", str(tmp_path / "out.bin")).returncode == 3
    named = json.loads(reme_process("upload", "-", "other.bin", "--json", stdin=b"x").stdout)
    assert named["path"].endswith("/other.bin")
    assert reme_process("upload", str(tmp_path / "gone")).returncode == 1
    assert reme_process("upload", "-", stdin=b"x").returncode == 2


def test_no_tool_of_an_agent_names_a_file_of_this_machine() -> None:
    """An upload's data is base64 and nothing else, and there is nowhere to save a download to."""
    offered = {operation.name: definition(operation)["inputSchema"] for operation in Catalog(add_tools)}
    assert offered["upload"]["properties"]["data"] == {"type": "string", "description": "The content, in base64"}
    assert set(offered["download"]["properties"]) == {"path", "max_bytes"}
    with pytest.raises(InvalidInput, match="not acceptable"):
        valid_arguments(Catalog(add_tools)["download"], {"path": "a", "into": "/tmp/x"})


def test_a_picture_is_shown_to_a_model_once() -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    picture = Picture(VaultPath("a.png"), revision_of(b""), "image/png", 8, data)
    frame = success(Catalog(add_tools)["read_image"], picture)
    assert frame["content"][1] == {"type": "image", "data": data, "mimeType": "image/png"}
    assert frame["structuredContent"] == as_json(picture) | {"data": ""}
