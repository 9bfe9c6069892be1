"""What the catalogue says of benchmarks without making them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from snellen import registry
from snellen.models.scripted import Scripted

NAMES = [entry.name for entry in registry.entries()]


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_but_the_one_that_draws_its_rows_reads_data(name: str) -> None:
    assert registry.reads_data(name) == (name not in ("eyechart", "eyechart-video"))


@pytest.mark.parametrize(
    ("spec", "vlmevalkits", "lmms_evals"),
    [
        ("mmmu:split=val", "MMMU_DEV_VAL", "mmmu_val"),
        ("docvqa:split=test,prompt=vlmevalkit", "DocVQA_TEST", "docvqa_test"),
        ("mmmu-pro:setting=vision,mode=cot", "MMMU_Pro_V_COT", "mmmu_pro_vision_cot"),
        ("eyechart", "eyechart", "eyechart"),
    ],
)
def test_a_set_has_its_name_elsewhere_whatever_words_asked_it(
    spec: str, vlmevalkits: str, lmms_evals: str
) -> None:
    benchmark = registry.benchmark(spec, data=Path("synthetic"))
    manifest = {
        "benchmark": benchmark.name,
        "identity": {"options": dict(benchmark.provenance.options)},
    }
    assert registry.vlmevalkit_name(manifest) == vlmevalkits
    assert registry.lmms_eval_name(manifest) == lmms_evals


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("window:4", "window:4"),
        ("window:04", "window:4"),
        ("window:all", "window:all"),
        ("reask:uniform:64", "reask:uniform:64"),
        ("reask:uniform:064,at=ends", "reask:uniform:64"),
        ("reask:fps:1.0", "reask:fps:1"),
    ],
)
def test_an_adapter_has_one_name_however_it_is_written(written: str, name: str) -> None:
    opened = registry.Opened(model=Scripted("yes"), name="one", server="one")
    assert registry.watching(opened, written)[1] == name


def test_processes_that_list_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    environment = {**os.environ, "SNELLEN_HOME": f"{tmp_path / 'home'}"}
    command = [sys.executable, "-m", "snellen", "list"]
    several = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(3)
    ]
    for process in several:
        output, _ = process.communicate(timeout=120)
        assert process.returncode == 0, output.decode()
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["outlines.json"]


def test_where_no_index_can_be_kept_the_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    environment = {**os.environ, "SNELLEN_HOME": f"{tmp_path / 'home'}"}
    command = [sys.executable, "-m", "snellen", "list"]
    done = subprocess.run(command, env=environment, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
