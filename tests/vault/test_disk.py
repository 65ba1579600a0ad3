"""What the vault asks of the disk."""

import errno
from pathlib import Path

import pytest

from reme.vault.disk import exists


def test_what_the_system_cannot_tell_is_not_taken_for_absent(tmp_path: Path) -> None:
    note = tmp_path / "茶.md"
    note.write_text("茶 tea\n")
    assert exists(str(note))
    assert not exists(str(tmp_path / "gone.md"))
    assert not exists(str(note / "below a file.md"))
    with pytest.raises(OSError, match="茶茶") as caught:
        exists(str(tmp_path / ("茶" * 2_000)))
    assert caught.value.errno == errno.ENAMETOOLONG
