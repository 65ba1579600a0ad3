"""The protocol's page says what lint asks for, no more and no less."""

from pathlib import Path
from typing import get_args

import yaml

from reme.catalog import Catalog, add_tools
from reme.config import load_settings
from reme.tools import Rule
from reme.tools.schema import AXES

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text("utf-8")


def test_the_axes_are_those_that_are_checked() -> None:
    for key in AXES.required:
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{key}` ")]
        assert tuple(value.strip(" `") for value in row.split("|")[2].split(",")) == AXES.enums[key]


def test_the_rules_are_those_that_there_are() -> None:
    listed = [line.split("`")[1] for line in PAGE.partition("| rule |")[2].splitlines() if line.startswith("| `")]
    assert tuple(listed) == get_args(Rule)


def test_its_examples_are_settings(tmp_path: Path) -> None:
    blocks = PAGE.split("```yaml\n")[1:]
    assert len(blocks) == 2
    for block in blocks:
        text = block.partition("```")[0]
        (tmp_path / "reme.yaml").write_text(text, "utf-8")
        assert set(load_settings(tmp_path, {}).schema.custom) == set(yaml.safe_load(text)["schema"].get("custom", {}))


def test_the_operations_that_it_names_exist() -> None:
    catalog = Catalog(add_tools)
    assert all(name in catalog for name in ("list", "search", "traverse", "daily_status", "lint"))
