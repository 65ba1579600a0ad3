"""P18: what a tool has acknowledged is on disk, whenever the process is killed."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reme.tools import append
from tests.tools.house import House

WRITER = """
import sys
from pathlib import Path
from reme.tools import append
from tests.tools.house import House
house = House(Path(sys.argv[1]))
for number in range(100_000):
    append(house.ask(), "n.md", f"第 {number} 行")
    print(number, flush=True)
"""


@pytest.mark.parametrize("seed", range(3))
def test_p18_an_acknowledged_write_survives_kill_9(tmp_path: Path, seed: int) -> None:
    root = tmp_path / "vault"
    House(root).close()
    (root / "n.md").write_bytes(b"# n\n")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(Path(__file__).parents[2] / p) for p in ("src", ".")),
    }
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    with process.stdout as stdout:
        wanted = random.Random(seed).randrange(3, 30)
        for _ in range(wanted):
            assert stdout.readline()
        process.send_signal(signal.SIGKILL)
        acknowledged = wanted + len(stdout.readlines())
    process.wait()
    house = House(root)
    try:
        append(house.ask(), "n", "after")
        lines = [line for line in house.text("n.md").splitlines() if line.startswith("第")]
        assert lines[:acknowledged] == [f"第 {number} 行" for number in range(acknowledged)]
        assert len(lines) <= acknowledged + 1
        assert house.text("n.md").endswith("\n\nafter\n")
    finally:
        house.close()
