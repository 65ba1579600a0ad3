"""How counts are said."""

import pytest

from reme.wording import counted


@pytest.mark.parametrize(("number", "said"), [(0, "0 notes"), (1, "1 note"), (2, "2 notes")])
def test_one_is_singular_and_nothing_else(number: int, said: str) -> None:
    assert counted(number, "note") == said
