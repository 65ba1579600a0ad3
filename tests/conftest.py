"""What all tests share: how hard Hypothesis tries, and the data sets that lie beside the checkout, if they do."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared"
NO_SHARED = "no shared data"

settings.register_profile("default", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("default"), max_examples=100, derandomize=True)
settings.register_profile("slow", settings.get_profile("default"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of data sets that are not part of the repository; tests of it are skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was not tested for want of data, so that a green run is not taken for more than it is."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if NO_SHARED in str(report.longrepr)]
    terminalreporter.write_line(f"skipped for missing shared data: {len(skipped)}")
