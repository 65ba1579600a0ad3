"""What of the watcher's news concerns the vault."""

import pytest

from reme.runtime.watch import concerned


@pytest.mark.parametrize(
    ("places", "paths", "walk"),
    [
        (["/v/a.md", "/v/x/日记.md"], {"a.md", "x/日记.md"}, False),
        (["/v/x/u\u0308.md"], {"x/ü.md"}, False),
        (["/v/.git/index", "/v/x/.obsidian/app.json", "/v/.a.md.swp", "/v/.reme"], set(), False),
        (["/v/.remeignore"], set(), True),
        (["/v/x/.reme"], set(), True),
        (["/v"], set(), True),
        (["/v/a\x07.md", "/v/b.md"], {"b.md"}, True),
        (["/v/\udcff.md"], set(), True),
        (["/v/a\\b.md"], set(), True),
    ],
)
def test_places_become_paths(places: list[str], paths: set[str], walk: bool) -> None:
    assert concerned("/v", places) == (frozenset(paths), walk)
