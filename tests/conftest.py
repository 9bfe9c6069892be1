"""Tests marked `heavy` or `exchange` skip without their packages; `--no-skips` makes a failure of
every skip."""

from collections.abc import Generator, Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from tests.stores import bucket as bucket
from tests.stores import endpoint as endpoint
from tests.stores import proxy as proxy

NEEDED = {
    "heavy": ("torch", "transformers"),
    "exchange": ("inspect_ai", "huggingface_hub", "every_eval_ever", "lm_eval", "lmms_eval"),
}
"""The packages of the tests with a marker."""
Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="a skipped test fails")


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """What is downloaded or drawn goes where all processes of one run find it, and nobody else."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if folder.name.startswith("popen-") else folder
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SNELLEN_HOME", str(folder / "home"))
        yield folder / "home"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for marker, packages in NEEDED.items():
        absent = [name for name in packages if find_spec(name) is None]
        reason = f"needs {' and '.join(absent)}, of constraints-{marker}.txt"
        for item in items:
            if absent and item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=reason))


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


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    # A worker of xdist keeps to itself what it left out; the closing line is to count it.
    for item in items:
        output = getattr(item.config, "workeroutput", {})
        output["deselected"] = output.get("deselected", 0) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    # Each worker collects, and leaves out, the same tests.
    count = getattr(node, "workeroutput", {}).get("deselected", 0)
    reporter = node.config.pluginmanager.get_plugin("terminalreporter")
    if count:
        reporter.stats["deselected"] = [SimpleNamespace() for _ in range(count)]
