"""Versions are told as the installer told them, without its library."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from reme.index.installed import version_of


@pytest.mark.parametrize(
    ("distribution", "module"), [("rjieba", "rjieba"), ("PyStemmer", "Stemmer"), ("PyYAML", "yaml"), ("click", "click")]
)
def test_the_version_is_the_one_that_is_installed(distribution: str, module: str) -> None:
    assert version_of(distribution, module) == version(distribution)


def test_what_is_not_installed_has_none() -> None:
    assert version_of("nothing-of-the-kind", "nothing_of_the_kind") == ""
    assert version_of("json", "json") == "", "a module of the interpreter's own"


def test_where_two_installers_left_their_marks_the_library_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "二.py").write_text("", "utf-8")
    for number in ("1.0", "2.0"):
        folder = tmp_path / f"er-{number}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: er\nVersion: {number}\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert version_of("er", "二") in ("1.0", "2.0")
    (tmp_path / "er-2.0.dist-info" / "METADATA").unlink()
    (tmp_path / "er-2.0.dist-info").rmdir()
    assert version_of("er", "二") == "1.0"


def test_the_library_is_not_loaded_for_it() -> None:
    program = (
        "import sys; from reme.index.installed import version_of; version_of('rjieba', 'rjieba'); print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "importlib.metadata" not in told
