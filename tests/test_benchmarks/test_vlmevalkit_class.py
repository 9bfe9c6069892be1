"""A data set class in VLMEvalKit's shape: its rows, its prompts, its evaluate."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.benchmarks.families.vlmevalkit_evaluate import flattened
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.errors import DataError, UsageError
from snellen.media.drawing import Canvas
from snellen.scoring import Scored, Tally
from snellen.scoring.document import MetricReport

CLASS = """
import json, math
from pathlib import Path

from openpyxl import load_workbook


class Letters:
    TYPE = "MCQ"
    MODALITY = "IMAGE"

    @classmethod
    def supported_datasets(cls):
        return ["Letters"]

    def __init__(self, dataset="Letters", skip_noimg=True):
        self.dataset_name = dataset
        self.data = [
            dict(index=i, question=f"Which {i}?", A="x", B="y", hint=math.nan,
                 answer="AB"[i % 2], category=("one", "two")[i // 2], image="iVBORw0KGgo" + str(i))
            for i in range(4)
        ]

    def dump_image(self, line):
        return [str(Path(__file__).with_name("a.png"))]

    def build_prompt(self, line):
        parts = [dict(type="image", value=path) for path in self.dump_image(line)]
        return [*parts, dict(type="text", value=f"Question: {line['question']}")]

    def evaluate(self, eval_file, **judge_kwargs):
        Path(__file__).with_name("told.json").write_text(json.dumps([eval_file, judge_kwargs]))
        head, *rows = load_workbook(eval_file).active.values
        rows = [dict(zip(head, row)) for row in rows]
        Path(__file__).with_name("rows.json").write_text(json.dumps(rows))
        hits = [row["prediction"] == row["answer"] for row in rows]
        return {"Overall": 100 * sum(hits) / len(hits), "by": {"n": len(hits)}}
"""


def written(folder: Path, source: str = CLASS) -> str:
    (folder / "a.png").write_bytes(Canvas(8, 8).png())
    (folder / "my_set.py").write_text(source)
    return f"vlmevalkit-class:{folder / 'my_set.py'}:Letters"


def scored(benchmark: Benchmark, replies: dict[str, str | None]) -> dict[str, MetricReport]:
    tally = Tally(benchmark)
    samples = [benchmark.read(row) for row in benchmark.data]
    tally.add(
        Scored(
            sample,
            0,
            "failed" if text is None else "ok",
            None if text is None else Reply(text=text),
        )
        for sample in samples
        if (text := replies.get(sample.id, "")) is not None or sample.id in replies
    )
    return dict(tally.report(model="m", identity={}).scorings["evaluate"].metrics)


def test_rows_and_prompts_are_the_classs(tmp_path: Path) -> None:
    benchmark = registry.benchmark(written(tmp_path))
    sample = benchmark.read(next(iter(benchmark.data)))
    request = benchmark.request(sample)

    assert (benchmark.name, benchmark.data.facts().rows) == ("Letters", 4)
    assert (sample.id, sample.question, sample.choices) == ("0", "Which 0?", ("x", "y"))
    assert request is not None
    (message,) = request.messages
    assert [str(part) for part in message.content[1:]] == ["Question: Which 0?"]
    assert [image.source for image in message.images] == [tmp_path / "a.png"]


def test_the_whole_set_is_scored_by_evaluate(tmp_path: Path) -> None:
    benchmark = registry.benchmark(written(tmp_path))
    actual = scored(benchmark, {"0": "A", "1": "A", "2": "A", "3": "B"})  # three of four are right

    assert {name: item.value for name, item in actual.items()} == {
        "primary": 75.0,
        "Overall": 75.0,
        "by|n": 4.0,
    }
    assert actual["primary"].unit == "as evaluate gives it"
    assert (actual["primary"].ci95, actual["primary"].reason) == (
        None,
        "evaluate gives no interval",
    )


def test_the_file_has_the_rows_without_pictures_and_the_predictions(tmp_path: Path) -> None:
    benchmark = registry.benchmark(written(tmp_path))
    scored(benchmark, {"0": "A", "1": "=1+1", "2": "", "3": "None"})

    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [row["prediction"] for row in rows] == ["A", "=1+1", "", "None"]
    assert list(rows[0]) == [
        *("index", "question", "A", "B", "hint", "answer", "category", "prediction")
    ]
    assert rows[0]["index"] == 0 and rows[0]["hint"] is None
    path, document = json.loads((tmp_path / "told.json").read_text())
    assert Path(path).name == "model_Letters.xlsx"
    assert document["model"] == "exact_matching"
    assert not Path(path).exists()


def test_a_question_without_a_reply_leaves_no_figure(tmp_path: Path) -> None:
    benchmark = registry.benchmark(written(tmp_path))
    actual = scored(benchmark, {"0": "A", "1": None, "2": "A", "3": "A"})

    assert (list(actual), actual["primary"].value) == (["primary"], None)
    assert "not every question has a reply (1 missing)" in (actual["primary"].reason or "")
    assert not (tmp_path / "rows.json").exists()


def test_a_reply_too_long_for_a_spreadsheet_is_handed_over_in_a_tsv(tmp_path: Path) -> None:
    source = CLASS.replace(
        "head, *rows = load_workbook(eval_file).active.values",
        "lines = Path(eval_file).read_text().splitlines()\n"
        "        head, *rows = [line[1:-1].split('\"\\t\"') for line in lines]",
    )
    benchmark = registry.benchmark(written(tmp_path, source))
    actual = scored(benchmark, {"0": "A" * 40_000, "1": "B", "2": "A", "3": "B"})

    assert actual["primary"].value == 75.0
    assert Path(json.loads((tmp_path / "told.json").read_text())[0]).suffix == ".tsv"


def test_an_evaluate_that_raises_gives_no_score_and_its_reason(tmp_path: Path) -> None:
    source = CLASS.replace(
        'return {"Overall"', 'raise KeyError("judge")\n        return {"Overall"'
    )
    actual = scored(registry.benchmark(written(tmp_path, source)), {})

    assert actual["primary"].value is None
    assert "evaluate failed: KeyError: 'judge' (my_set.py, line" in (actual["primary"].reason or "")


def test_an_evaluate_without_numbers_gives_no_score(tmp_path: Path) -> None:
    source = CLASS.replace('return {"Overall"', 'return None\n        return {"Overall"')
    actual = scored(registry.benchmark(written(tmp_path, source)), {})

    assert (actual["primary"].value, actual["primary"].reason) == (None, "evaluate gave no number")


def test_the_class_says_which_number_is_its_first(tmp_path: Path) -> None:
    source = f"{CLASS}\n    @classmethod\n    def report_primary_metric(cls, metrics):\n"
    source += "        return {'rows': metrics['by|n']}\n"
    assert scored(registry.benchmark(written(tmp_path, source)), {})["primary"].value == 4.0


@pytest.mark.parametrize("number", ["float('nan')", "'none'", "[1]"])
def test_a_first_number_that_is_none_is_no_score(tmp_path: Path, number: str) -> None:
    source = f"{CLASS}\n    @classmethod\n    def report_primary_metric(cls, metrics):\n"
    benchmark = registry.benchmark(
        written(tmp_path, f"{source}        return {{'first': {number}}}\n")
    )
    actual = scored(benchmark, {"0": "A"})["primary"]
    assert (actual.value, actual.reason) == (None, "report_primary_metric gave no number")


def test_several_replies_to_a_question_are_not_handed_over(tmp_path: Path) -> None:
    benchmark = registry.benchmark(written(tmp_path))
    sample = benchmark.read(next(iter(benchmark.data)))
    tally = Tally(benchmark)
    tally.add(Scored(sample, repeat, "ok", Reply(text="A")) for repeat in range(2))
    metric = tally.report(model="m", identity={}).scorings["evaluate"].metrics["primary"]
    assert metric.value is None and "there are several" in (metric.reason or "")


def test_another_text_of_the_class_is_another_benchmark(tmp_path: Path) -> None:
    before = registry.benchmark(written(tmp_path)).provenance.options
    after = registry.benchmark(written(tmp_path, CLASS + "\n")).provenance.options
    assert before != after


def test_a_benchmark_of_ours_keeps_its_name(tmp_path: Path) -> None:
    source = CLASS.replace('["Letters"]', '["MMBench"]')
    assert registry.benchmark(written(tmp_path, source)).name == "MMBench-class"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('["Letters"]', '["One", "Two"]', "name the data set.*it has One, Two"),
        ("self.data =", "self.pack = True; self.data =", "asks all questions about a video"),
        ("def evaluate", "def other", "has no method evaluate"),
        ("self.data =", "self.rows =", "has no `data`"),
        ("self.dataset_name = dataset", "raise OSError('offline')", "instantiated: OSError"),
        (
            "class Letters",
            "from vlmeval.dataset import D\nclass Letters",
            "is not installed in",
        ),
    ],
)
def test_a_class_that_cannot_be_asked_says_why(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        registry.benchmark(written(tmp_path, CLASS.replace(old, new)))


def test_a_set_that_the_class_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no data set 'Other'; it has Letters\."):
        registry.benchmark(f"{written(tmp_path)}:Other")


@pytest.mark.parametrize(
    ("new", "kind", "says"),
    [
        ("line['no']", UsageError, "build_prompt of row 1 failed: KeyError: 'no'"),
        (
            "[dict(type='image')]",
            DataError,
            "row 1 .* is an object of the type image without a picture",
        ),
    ],
)
def test_a_row_that_cannot_be_asked_says_which(
    tmp_path: Path, new: str, kind: type[Exception], says: str
) -> None:
    source = CLASS.replace("return [*parts", f"return {new}\n        return [*parts")
    benchmark = registry.benchmark(written(tmp_path, source))
    with pytest.raises(kind, match=says):
        benchmark.read(next(iter(benchmark.data)))


@pytest.mark.parametrize("spec", ["vlmevalkit-class:my_set.py", "vlmevalkit-class:a:b:c:d"])
def test_a_name_that_is_none_says_how_one_is_written(spec: str) -> None:
    with pytest.raises(UsageError, match="write vlmevalkit-class:FILE:CLASS"):
        registry.benchmark(spec)


@dataclass
class Frame:
    """As much of a pandas frame as is read of what `evaluate` gives."""

    rows: list[dict[str, Any]]
    iloc: None = None

    def to_dict(self, orient: str) -> list[dict[str, Any]]:
        assert orient == "records"
        return self.rows


# The names and numbers are those that VLMEvalKit e8e78f0's flatten_summary_metrics gives for the
# same dictionaries and for pandas frames of the same rows.
@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ({"a": 1, "b": {"c": "2.5", "d": "x"}}, {"a": 1.0, "b|c": 2.5}),
        ({"a": [1, 2], "b": [3]}, {"a|0": 1.0, "a|1": 2.0, "b": 3.0}),
        (0.5, {"value": 0.5}),
        ({"a": True, "b": float("nan"), "c": None}, {}),
        (
            Frame([{"split": "dev", "Overall": 0.5, "CR": 0.25}, {"split": "test", "Overall": 1}]),
            {"split=dev|Overall": 0.5, "split=dev|CR": 0.25, "split=test|Overall": 1.0},
        ),
        (Frame([{"Overall": "62.5"}]), {"Overall": 62.5}),
    ],
)
def test_what_evaluate_gives_is_flattened_as_vlmevalkit_does(
    actual: object, expected: dict[str, float]
) -> None:
    assert flattened(actual) == expected
