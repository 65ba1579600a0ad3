"""What the repository promises of itself: documented commands exist, links resolve, the examples are what they say."""

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]
DOCS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "examples" / "README.md"])
LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(
    r"(?<![\w./])(?:/work/|/home/|/root/|/Users/)|pypi\.org|pythonhosted|registry\.npmjs", re.IGNORECASE
)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCS, ids=name)
def test_links_between_documents_resolve(path: Path) -> None:
    text = CODE.sub("", path.read_text("utf-8"))
    targets = [unquote(target).split("#")[0] for target in LINK.findall(text) if "://" not in target]
    missing = [target for target in targets if target and not (path.parent / target).exists()]
    assert not missing


@pytest.mark.parametrize("path", DOCS, ids=name)
def test_documents_name_nothing_outside(path: Path) -> None:
    assert not OUTSIDE.findall(path.read_text("utf-8"))


def test_requirements_are_pinned_and_name_no_host() -> None:
    for path in sorted((ROOT / "requirements").iterdir()):
        for line in path.read_text("utf-8").splitlines():
            assert re.fullmatch(r"#.*|-r (?:core|build|semantic|documents)\.txt|[\w.-]+==[A-Za-z0-9.]+", line), (
                f"{path.name}: {line}"
            )


@pytest.mark.parametrize("path", DOCS, ids=name)
def test_make_targets_in_documents_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text("utf-8"), re.MULTILINE)
    assert set(named) <= targets


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/conversations/*.jsonl")), ids=lambda path: path.stem)
def test_example_conversations_are_complete(path: Path) -> None:
    messages = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert len(messages) >= 12
    assert f"`{path.name}`" in (ROOT / "examples" / "README.md").read_text("utf-8")
