"""Bytes on the faces: local files on the command line, pictures that a model sees."""

import base64
import json
from pathlib import Path

from reme.catalog import Catalog, add_tools, as_json
from reme.faces.mcp.shapes import success
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
    named = json.loads(reme_process("upload", "-", "other.bin", "--json", stdin=b"x").stdout)
    assert named["path"].endswith("/other.bin")
    assert reme_process("upload", str(tmp_path / "gone")).returncode == 1
    assert reme_process("upload", "-", stdin=b"x").returncode == 2


def test_a_picture_is_shown_to_a_model_once() -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
    picture = Picture(VaultPath("a.png"), revision_of(b""), "image/png", 8, data)
    frame = success(Catalog(add_tools)["read_image"], picture)
    assert frame["content"][1] == {"type": "image", "data": data, "mimeType": "image/png"}
    assert frame["structuredContent"] == as_json(picture) | {"data": ""}
