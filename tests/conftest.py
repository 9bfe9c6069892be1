"""Tests marked `heavy` skip without their packages; `--no-skips` makes a failure of every skip."""

from collections.abc import Generator
from importlib.util import find_spec
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails")


def pytest_runtest_setup(item: pytest.Item) -> None:
    absent = [name for name in ("torch", "transformers") if find_spec(name) is None]
    if absent and item.get_closest_marker("heavy"):
        pytest.skip(f"needs {' and '.join(absent)} (constraints-heavy.txt)")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _no_skip((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _no_skip((yield), collector.config)


def _no_skip(report: Report, config: pytest.Config) -> Report:
    # An expected failure is reported as skipped too, and stays what it is.
    if report.skipped and config.getoption("no_skips") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, and nothing may be: {report.longrepr}"
    return report
