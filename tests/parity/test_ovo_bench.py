"""OVO-Bench against the folders of results that its authors published, and their script."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks.ovo_bench import GROUPS, ovo_bench
from snellen.core.exchange import Published
from snellen.report.words import markdown
from tests.golden_data import golden

Row = tuple[str, int, int | None, Any, str]
"""Task, id, index of the point, response, and what the row takes for right."""


def rows(folder: Path) -> Iterator[Row]:
    """The rows of a folder in the order of the expected ones, read apart from our reader."""
    files = [json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))]
    for group in GROUPS:
        for row in (row for file in files for row in file[group]):
            if group != "forward":
                yield row["task"], row["id"], None, row["response"], row["ground_truth"]
                continue
            for index, point in enumerate(row["test_info"]):
                right = str(point["count" if row["task"] == "REC" else "type"])
                yield row["task"], row["id"], index, point["response"], right


def by_script(answered: Iterator[Row]) -> dict[str, float | None]:
    """utils/OVOBenchScore.py written out from what its page says, of rows whose responses are
    texts."""
    scores: dict[str, list[bool]] = defaultdict(list)
    for task, _, _, response, right in answered:
        if task == "REC":
            is_right = response is not None and "".join(re.findall(r"\d+", response)) == right
        elif task in GROUPS["forward"]:
            word = {"0": "No", "1": "Yes"}[right]
            is_right = response == word[0] or word in (response or "")
        else:
            is_right = right in (response or "")
        scores[task].append(is_right)
    means = {task: sum(of) / len(of) for task, of in scores.items()}
    groups = {
        group: sum(means[task] for task in tasks if task in means) / n
        for group, tasks in GROUPS.items()
        if (n := sum(task in means for task in tasks))
    }
    figures: dict[str, float | None] = {f"accuracy/{task}": value for task, value in means.items()}
    figures |= {f"accuracy/{group}": value for group, value in groups.items()}
    figures["accuracy"] = sum(groups.values()) / 3 if len(groups) == 3 else None
    return figures


def figures(path: Path, scoring: str = "official", **options: Any) -> Mapping[str, Any]:
    """The accuracies alone, for the time that intervals of the others take."""
    benchmark = registry.benchmark("ovo-bench", data=golden("ovobench"))
    chosen = benchmark.scorings[scoring]
    only = replace(chosen, metrics={"accuracy": chosen.metrics["accuracy"]})
    result = snellen.score(
        path, replace(benchmark, scorings={scoring: only}, check=None), **options
    )
    return result.report.scorings[scoring].metrics


def written(folder: Path, parts: Mapping[str, Mapping[str, list[Any]]]) -> Path:
    folder.mkdir()
    for name, part in parts.items():
        (folder / name).write_text(json.dumps(part), encoding="utf-8")
    return folder


def files_of(model: str) -> dict[str, dict[str, list[Any]]]:
    folder = golden("ovobench") / "outputs" / model
    return {path.name: json.loads(path.read_bytes()) for path in sorted(folder.glob("*.json"))}


def same(path: Path) -> None:
    """Our figures of a folder are those of the script's rule written out."""
    ours, script = figures(path), by_script(rows(path))
    assert script["accuracy"] is not None
    for name, value in script.items():
        assert ours[name].value == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("seed", range(1))
def test_shuffled_rows_halved_files_and_others_replies_score_as_by_the_script(
    tmp_path: Path, seed: int
) -> None:
    drawing = random.Random(seed)
    parts = files_of("InternVL2")
    for part in parts.values():
        for group in part.values():
            drawing.shuffle(group)
    shuffled = written(tmp_path / "shuffled", parts)
    same(shuffled)
    original = figures(golden("ovobench") / "outputs" / "InternVL2")
    assert {name: of.value for name, of in figures(shuffled).items()} == pytest.approx(
        {name: of.value for name, of in original.items()}, abs=1e-12
    )
    for part in parts.values():
        for rows_ in part.values():
            del rows_[len(rows_) // 2 :]
    same(written(tmp_path / "halved", parts))
    others = {
        (row["id"], index): response
        for part in files_of("LLaVA_Video").values()
        for group in part.values()
        for row in group
        for index, response in enumerate(
            [point["response"] for point in row.get("test_info", [])] or [row["response"]]
        )
    }
    mixed = files_of("InternVL2")
    for part in mixed.values():
        for row in (row for group in part.values() for row in group):
            if drawing.random() < 0.5:
                continue
            if "test_info" in row:
                for index, point in enumerate(row["test_info"]):
                    point["response"] = others[row["id"], index]
            else:
                row["response"] = others[row["id"], 0]
    same(written(tmp_path / "mixed", mixed))


def test_rows_under_the_id_of_another_question_are_that_ones() -> None:
    """Gemini's and GPT's ids were looked up by the question's words, which two share: what such a
    row takes for right is the other's answer, at each of the three where the two differ."""
    pack = golden("ovobench")
    benchmark = ovo_bench(data=pack)
    assert benchmark.interop.layout is not None
    for model, n_again in (("Gemini", 0), ("GPT", 1)):
        published = benchmark.interop.layout(pack / "outputs" / model)
        assert isinstance(published, Published)
        assert {"194", "240", "283", "463", "467"} <= published.replies.keys()
        assert len(published.again) == n_again
        notes = "\n".join(published.notes)
        assert "192 is 194, 225 is 283, 239 is 240, 424 is 467, 427 is 463" in notes
        assert "have a different right answer" not in notes


def test_a_folder_that_lacks_tasks_says_which_and_has_the_scripts_average() -> None:
    path = golden("ovobench") / "outputs" / "GPT"
    result = snellen.score(path, "ovo-bench", data=golden("ovobench"), scorings=["official"])
    report = markdown([result])
    absent = "points without a row, which are left out of all means, as in the authors' script: "
    assert absent + "698 of REC, 629 of SSR" in report
    assert "points that appear more than once: 1 (414); every row counts" in report
    assert "27 rows without a reply scored 0" in report
    every = figures(path, missing="wrong")["accuracy/REC"]
    assert (every.n, every.value) == (698, 0.0)


@pytest.mark.parametrize(
    ("reply", "figures_of"),
    [
        ("A B C D E", {"backward": 1.0, "realtime": 1.0, "REC": 0.0}),
        ("Yes No", {"SSR": 1.0, "CRR": 1.0}),
        ("Yes", {"SSR": 0.672, "CRR": 0.6}),
        ("1", {"REC": 0.205}),
    ],
)
def test_constant_replies_get_what_the_sheet_says(
    tmp_path: Path, reply: str, figures_of: Mapping[str, float]
) -> None:
    benchmark = ovo_bench(data=golden("ovobench"))
    replies = {benchmark.read(row).id: reply for row in benchmark.data}
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    ours = figures(path)
    for name, value in figures_of.items():
        assert ours[f"accuracy/{name}"].value == pytest.approx(value, abs=0.0006), name
