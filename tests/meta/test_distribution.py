"""The wheel holds the package and the examples, and nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def contents(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_every_module_is_there_and_what_its_names_are_read_from(contents: set[str]) -> None:
    source = ROOT / "src"
    modules = [*source.rglob("*.py"), *source.rglob("*.pyi")]
    assert {path.relative_to(source).as_posix() for path in modules} <= contents


def test_the_examples_are_there(contents: set[str]) -> None:
    examples = {path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").rglob("*") if path.is_file()}
    assert {f"reme/{name}" for name in examples} <= contents


def test_nothing_else_is_there(contents: set[str]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in contents} == {"reme"}
    assert not [name for name in contents if "tests" in name.split("/") or name.endswith(".pyc")]


def test_the_licence_is_there(contents: set[str]) -> None:
    assert any(name.endswith("licenses/LICENSE") for name in contents)
