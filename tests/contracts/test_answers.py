"""Each kind of answer goes through scores, columns, exports, the viewer, and comparisons."""

import html
import json
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import msgspec
import numpy as np
import pytest

import snellen
from snellen.api import compare
from snellen.core import (
    Answer,
    BoxAnswer,
    ChoiceAnswer,
    IntervalAnswer,
    NamedAnswers,
    PointAnswer,
    PolygonAnswer,
    Reading,
    Reply,
    Sample,
    Scoring,
    SeveralAnswers,
    TableAnswer,
)
from snellen.core.benchmark import Benchmark
from snellen.metrics import Columns, mean
from snellen.report.export import export
from snellen.report.stories import story
from snellen.scoring import Scored, Tally
from snellen.stats import Estimate
from snellen.store import Run, ScoreRow
from tests import tiny
from tests.viewers import viewing

BOX = BoxAnswer(left=10, top=20.5, right=30, bottom=40)
ANSWERS: Mapping[str, tuple[Answer, object, str]] = {
    "text": ("a cat", "a cat", "a cat"),
    "number": (2.5, 2.5, "2.5"),
    "texts": (("a cat", "a dog"), ["a cat", "a dog"], '["a cat","a dog"]'),
    "choice": (ChoiceAnswer(index=1), {"kind": "choice", "index": 1}, "B"),
    "box": (
        BOX,
        {"kind": "box", "left": 10, "top": 20.5, "right": 30, "bottom": 40},
        "box (10, 20.5) to (30, 40)",
    ),
    "point": (
        PointAnswer(x=1.5, y=2, medium=1),
        {"kind": "point", "x": 1.5, "y": 2, "medium": 1},
        "point (1.5, 2) in medium 2",
    ),
    "polygon": (
        PolygonAnswer(points=((0, 0), (4, 0), (4, 3.5))),
        {"kind": "polygon", "points": [[0, 0], [4, 0], [4, 3.5]]},
        "polygon (0, 0), (4, 0), (4, 3.5)",
    ),
    "interval": (
        IntervalAnswer(start=1.5, end=4),
        {"kind": "interval", "start": 1.5, "end": 4},
        "1.5 s to 4 s",
    ),
    "table": (
        TableAnswer(header=("name", "legs"), rows=(("cat", "4"), ("hen", "2"))),
        {"kind": "table", "header": ["name", "legs"], "rows": [["cat", "4"], ["hen", "2"]]},
        "table: name | legs; cat | 4; hen | 2",
    ),
    "several": (
        SeveralAnswers(answers=(BOX, 2.0)),
        {
            "kind": "several",
            "answers": [
                {"kind": "box", "left": 10, "top": 20.5, "right": 30, "bottom": 40},
                2.0,
            ],
        },
        "box (10, 20.5) to (30, 40); 2",
    ),
    "named": (
        NamedAnswers(answers={"what": "a cat", "when": IntervalAnswer(start=0, end=2)}),
        {
            "kind": "named",
            "answers": {"what": "a cat", "when": {"kind": "interval", "start": 0, "end": 2}},
        },
        "what: a cat; when: 0 s to 2 s",
    ),
}
"""By the word that stands for it: an answer, the same in JSON, and as a page shows it."""
WORDS = [*ANSWERS]


def parse(reply: Reply, sample: Sample) -> Reading:
    answer = ANSWERS[reply.text][0]
    return Reading(answer=answer, rule="looked up", candidates=(answer, "another"))


def right(reading: Reading, sample: Sample) -> float:
    return float(reading.answer == ANSWERS[str(sample.target)][0])


def benchmark(metric: Any = mean) -> Benchmark:
    """Questions of which each has another kind of answer."""
    base = tiny.benchmark(len(ANSWERS), break_down_by=())
    scoring = Scoring(version=1, source="ours", parse=parse, score=right, metrics={"m": metric})
    return replace(
        base,
        scorings={"official": scoring},
        sample=lambda index, row: replace(tiny.sample_of(index, row), target=WORDS[index]),
    )


def run(out: Path, name: str = "says", **fields: Any) -> Path:
    """The run of a model that answers every question rightly, or all of them with `says`."""
    says = fields.pop("says", None)

    def reply(request: Any) -> str:
        return str(says or WORDS[int(request.messages[0].text.removeprefix("question "))])

    finished = tiny.run(out, tiny.Says(reply, name), benchmark(), **fields)
    assert finished.result is not None
    assert finished.result.headline.value == (1.0 if says is None else 1 / len(ANSWERS))
    return finished.run


def test_there_is_an_example_of_each_kind() -> None:
    examples = {type(answer) for answer, _, _ in ANSWERS.values()}
    assert examples == {getattr(kind, "__origin__", kind) for kind in get_args(Answer)}


def test_scores_hold_each_kind_in_json_and_give_it_back(tmp_path: Path) -> None:
    path = run(tmp_path)
    lines = [json.loads(line) for line in (path / "scores.jsonl").read_text().splitlines()]
    assert [line["answer"] for line in lines] == [in_json for _, in_json, _ in ANSWERS.values()]
    rows = [*Run(path).scores()]
    answers = [answer for answer, _, _ in ANSWERS.values()]
    assert [row.answer for row in rows] == answers
    assert [row.candidates for row in rows] == [[answer, "another"] for answer in answers]


def test_metrics_get_each_kind_as_it_is() -> None:
    columns: list[Columns] = []

    def metric(rows: Columns) -> Estimate:
        columns.append(rows)
        return mean(rows)

    typed_benchmark = benchmark(metric)
    tally = Tally(typed_benchmark)
    samples = [typed_benchmark.read(row) for row in typed_benchmark.data]
    tally.add(
        Scored(sample, 0, "ok", Reply(text=word))
        for sample, word in zip(samples, WORDS, strict=True)
    )
    tally.report(model="m", identity={})
    answers = [answer for answer, _, _ in ANSWERS.values()]
    assert columns[0].answer.dtype == object
    assert columns[0].answer.tolist() == answers
    assert columns[0].where(np.array([4])).answer.tolist() == [BOX]


@pytest.mark.parametrize("to", ["jsonl", "csv", "xlsx", "vlmevalkit", "lmms-eval"])
def test_runs_with_such_answers_are_exported(tmp_path: Path, to: str) -> None:
    written, _ = export(run(tmp_path / "run"), to, out=tmp_path, benchmark=benchmark())
    assert written.stat().st_size


@pytest.mark.parametrize("to", ["inspect", "every-eval-ever", "lm-eval"])
def test_formats_with_scores_have_such_answers_in_words(tmp_path: Path, to: str) -> None:
    path, out = run(tmp_path / "run"), tmp_path / "out"
    out.mkdir()
    export(path, to, out=out, benchmark=benchmark())
    text = ""
    for file in filter(Path.is_file, out.rglob("*")):
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                text += "".join(archive.read(name).decode() for name in archive.namelist())
        else:
            text += file.read_text()
    for answer, _, words in ANSWERS.values():
        if not isinstance(answer, str | float | tuple):
            assert words in text
    assert "Answer(" not in text and "Answers(" not in text


def test_the_viewer_shows_them_in_words(tmp_path: Path) -> None:
    path = run(tmp_path)
    at = path.relative_to(tmp_path).as_posix()
    with viewing(tmp_path) as viewer:
        listed = html.unescape(viewer.get(f"/samples/{at}").text)
        for number, (_, _, words) in enumerate(ANSWERS.values()):
            page = html.unescape(viewer.get(f"/sample/{at}?s=s{number}").text)
            assert f"<bdi>{words}</bdi>" in page
            assert words in listed


def test_the_story_of_a_sample_tells_them_in_words(tmp_path: Path) -> None:
    path = run(tmp_path)
    for number, (answer, _, words) in enumerate(ANSWERS.values()):
        (explanation,) = snellen.api.explain(path, f"s{number}", benchmark())
        text = story(explanation)
        plain = [*answer] if isinstance(answer, tuple) else answer
        expected = repr(plain) if isinstance(answer, str | float | tuple) else words
        assert f"answer {expected}," in text


def test_runs_with_such_answers_are_compared(tmp_path: Path) -> None:
    def boxes(columns: Columns) -> Estimate:
        """The share of answers that are the box; not `mean`, for which answers aren't kept."""
        return mean(
            replace(columns, score=np.array([float(answer == BOX) for answer in columns.answer]))
        )

    sides = [run(tmp_path, "good"), run(tmp_path, "poor", says="box")]
    document = compare(*sides, benchmark=benchmark(boxes)).comparisons
    (difference,) = document.comparisons[0].metrics.values()
    assert difference.difference.value == pytest.approx(1 - 1 / len(ANSWERS))


def test_repeats_with_equal_answers_vote_together(tmp_path: Path) -> None:
    finished = tiny.run(tmp_path, tiny.Says(lambda _: "named"), benchmark(), repeats=3)
    assert finished.result is not None
    repeats = finished.result.report.repeats["official"]
    assert repeats.metrics["majority@3"].value == pytest.approx(1 / len(ANSWERS))


def test_numbers_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="BoxAnswer: right is inf"):
        BoxAnswer(left=0, top=0, right=float("inf"), bottom=1)
    with pytest.raises(ValueError, match="corner"):
        PolygonAnswer(points=((0, float("nan")),))


def test_an_answer_of_a_later_kind_is_not_taken_for_another() -> None:
    row = b'{"format":0,"sample":"s","repeat":0,"scoring":"o","version":1,"state":"answered",'
    row += b'"reply":"ok","answer":{"kind":"sphere","radius":1}}'
    with pytest.raises(msgspec.ValidationError, match="sphere"):
        msgspec.json.decode(row, type=ScoreRow)
