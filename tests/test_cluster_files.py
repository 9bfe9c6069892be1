"""The job files of docs/cluster.md, run under the environment variables of their schedulers."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.pages import ROOT, blocks, shell

PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
N = 20
PLAN = 'benchmarks = ["eyechart:n=20"]\nmodels = ["baseline/reader"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


def text_of(name: str) -> str:
    [block] = [block for block in blocks(PAGE) if block.before.rstrip().endswith(f"`{name}`:")]
    return block.text


def run(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment: Mapping[str, str] = {**shell(folder), **variables}
    return subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )


def check_complete(folder: Path) -> None:
    """The run under `folder` has one reply to each question, and a report of all of them."""
    [report] = folder.glob("runs/*/*/*/report.json")
    lines = [
        json.loads(line)
        for path in report.parent.glob("replies*.jsonl")
        for line in path.read_text().splitlines()
    ]
    keys = Counter(tuple(line["key"]) for line in lines)
    assert len(keys) == N and set(keys.values()) == {1}
    assert json.loads(report.read_text())["replies"] == {"ok": N}


def test_the_slurm_array_asks_one_run_and_its_last_task_scores_it(folder: Path) -> None:
    script = folder / "snellen.slurm"
    script.write_text(text_of("snellen.slurm").replace("/shared/runs", str(folder / "runs")))
    assert "#SBATCH --array=1-8" in script.read_text()

    for task in ("1", "3"):
        done = run(
            ["bash", str(script)], folder, SLURM_ARRAY_TASK_ID=task, SLURM_ARRAY_TASK_COUNT="3"
        )
        assert done.returncode == 0, done.stderr
        assert "scored when all parts are complete" in done.stderr
    alone = {"SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_TASK_COUNT": "1"}
    assert "no part 2/1" in run(["bash", str(script)], folder, **alone).stderr
    done = run(["bash", str(script)], folder, **alone, PARTS="3")
    assert done.returncode == 0, done.stderr

    check_complete(folder)


def test_the_indexed_job_of_kubernetes_asks_one_run(folder: Path) -> None:
    job = yaml.safe_load(text_of("snellen.yaml"))
    assert job["spec"]["completionMode"] == "Indexed"
    [container] = job["spec"]["template"]["spec"]["containers"]
    variables = {entry["name"]: entry["value"] for entry in container["env"]}
    assert variables["PARTS"] == str(job["spec"]["completions"])
    words = [
        word.replace("/plans/", f"{folder}/").replace("s3://BUCKET/runs", str(folder / "runs"))
        for word in container["command"]
    ]

    for index in range(3):
        done = run(words, folder, JOB_COMPLETION_INDEX=str(index), PARTS="3")
        assert done.returncode == 0, done.stderr

    check_complete(folder)
