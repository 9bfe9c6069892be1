"""The job of examples/ci, run as a CI system does, without a network."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.pages import shell

CI = Path(__file__).parents[1] / "examples" / "ci"


def measured(folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**shell(folder), "LIMIT": "36", **settings}
    return subprocess.run(
        [CI / "measure.sh"], cwd=folder, env=environment, capture_output=True, text=True, timeout=90
    )


def test_a_model_above_the_floor_passes_and_one_below_its_baseline_does_not(
    tmp_path: Path,
) -> None:
    first = measured(tmp_path, MODEL="baseline/reader", FLOOR="0.6", REVISION="one")
    assert first.returncode == 0, first.stderr
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert not (tmp_path / "comparison.md").exists()

    (tmp_path / "runs").rename(tmp_path / "baseline")
    shutil.rmtree(tmp_path / ".bin")
    worse = measured(tmp_path, MODEL="baseline/first", FLOOR="0")
    assert worse.returncode == 1
    assert "eyechart: worse by more than 0: baseline/first is " in worse.stderr
    assert 'failures="1"' in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert "baseline/first" in (tmp_path / "comparison.md").read_text(encoding="utf-8")


def test_a_model_that_lost_everything_does_not_pass_for_want_of_an_interval(tmp_path: Path) -> None:
    """From all right to all wrong: every sample has the same difference, which has no interval."""
    counts = {"BENCHMARK": "eyechart:tasks=counts,n=24", "FLOOR": "0"}
    assert measured(tmp_path, MODEL="baseline/reader", **counts).returncode == 0
    (tmp_path / "runs").rename(tmp_path / "baseline")
    shutil.rmtree(tmp_path / ".bin")
    worse = measured(tmp_path, MODEL="baseline/first", **counts)
    assert worse.returncode == 1, worse.stdout
    assert "worse by more than 0: baseline/first is 100.00 pp below baseline/reader" in worse.stderr


def test_a_model_below_the_floor_fails_and_has_its_report(tmp_path: Path) -> None:
    done = measured(tmp_path, MODEL="baseline/first", FLOOR="0.6")
    assert done.returncode == 1
    assert "at least 0.6 is required" in done.stderr
    assert (tmp_path / "report.html").exists()


@pytest.mark.parametrize("settings", [{}, {"MODEL": "baseline/reader", "FLOOR": "60%"}])
def test_wrong_use_is_no_result(settings: dict[str, str], tmp_path: Path) -> None:
    done = measured(tmp_path, **settings)
    assert done.returncode == 2
    assert not (tmp_path / "runs").exists()


def test_the_workflow_runs_the_script_and_keeps_the_report() -> None:
    workflow = yaml.safe_load((CI / "measure.yml").read_text(encoding="utf-8"))
    steps = workflow["jobs"]["measure"]["steps"]
    (run,) = [step for step in steps if "measure.sh" in step.get("run", "")]
    script = (CI / "measure.sh").read_text(encoding="utf-8")
    assert all(f"{name}" in script for name in run["env"])
    (kept,) = [step for step in steps if "upload-artifact" in step.get("uses", "")]
    assert kept["if"] == "always()" and "report.html" in kept["with"]["path"].split()
    assert os.access(CI / "measure.sh", os.X_OK)


def test_a_floor_may_be_of_another_metric_or_none(tmp_path: Path) -> None:
    settings = {"MODEL": "baseline/first", "LIMIT": "36"}
    other = measured(tmp_path, **settings, METRIC="accuracy/colors", FLOOR="0.99")
    assert other.returncode == 1 and "accuracy/colors" in other.stdout + other.stderr
    shutil.rmtree(tmp_path / ".bin", ignore_errors=True)
    none = measured(tmp_path, **settings, METRIC="nothing", FLOOR="")
    assert none.returncode == 0, none.stderr


def test_the_workflow_installs_what_can_be_installed() -> None:
    workflow = yaml.safe_load((CI / "measure.yml").read_text())
    steps = workflow["jobs"]["measure"]["steps"]
    (checkout,) = [step for step in steps if "repository" in step.get("with", {})]
    assert f"pip install ./{checkout['with']['path']}" in [step.get("run") for step in steps]


def test_the_guide_to_the_job_reads_without_a_site_builder() -> None:
    guide = (CI.parents[1] / "docs" / "ci.md").read_text(encoding="utf-8")
    assert "```{" not in guide
    for name in ("measure.sh", "measure.yml"):
        assert f"](../examples/ci/{name})" in guide
