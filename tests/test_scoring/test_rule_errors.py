"""A benchmark whose own functions raise exceptions: one clear error, and no number."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Row
from snellen.errors import DataError
from snellen.media.content import user
from snellen.metrics import mean
from tests.tiny import Says, benchmark, parse, right, run, sample_of

FILE = Path(__file__).name


def fails(*arguments: object) -> Any:
    raise AssertionError("seven is odd")


def parse_or_fail(reply: Reply, sample: Sample) -> Reading:
    return parse(reply, sample) if sample.id != "s7" else fails()


def score_or_fail(reading: Reading, sample: Sample) -> float:
    return right(reading, sample) if sample.id != "s7" else fails()


def scoring(**functions: Callable[..., Any]) -> dict[str, Scoring]:
    rules: dict[str, Any] = {"parse": parse, "score": right, "metrics": {"accuracy": mean}}
    return {"official": Scoring(version=1, source="ours", **{**rules, **functions})}


@pytest.mark.parametrize(
    ("functions", "what"),
    [
        ({"parse": parse_or_fail}, "the scoring official of sample 's7' failed"),
        ({"score": score_or_fail}, "the scoring official of sample 's7' failed"),
        ({"parse": parse_or_fail, "resolve": fails}, "the scoring official of sample 's7' failed"),
        ({"resolve": fails}, "`resolve` of the scoring official failed"),
        ({"metrics": {"mine": fails}}, "a metric failed"),
    ],
)
def test_a_rule_that_fails_gives_no_number_and_loses_no_reply(
    tmp_path: Path, functions: dict[str, Any], what: str
) -> None:
    tiny, model = benchmark(10, scorings=scoring(**functions)), Says(lambda request: "a reply")

    for _ in range(2):
        with pytest.raises(DataError) as error:
            run(tmp_path, model, tiny)
        text = str(error.value)
        assert text.startswith(f"tiny: {what} with AssertionError: seven is odd (")
        assert f"{FILE}:" in text and ", in fails)" in text
        assert "All replies are kept" in text
        assert ("The reply is 'a reply'" in text) == ("sample" in what)

    assert len(model.requests) == 10
    (folder,) = tmp_path.glob("tiny/*/*")
    assert f"RUN is {folder}" in text
    assert len((folder / "replies.jsonl").read_text().splitlines()) == 10
    assert not (folder / "report.json").exists()


@pytest.mark.parametrize("function", ["sample", "prompt"])
def test_a_question_that_cannot_be_built_names_the_code(tmp_path: Path, function: str) -> None:
    def sample(row_index: int, row: Row) -> Sample:
        return sample_of(row_index, row) if row_index != 7 else fails()

    def prompt(sample: Sample, history: object) -> Any:
        return (user(sample.question),) if sample.id != "s7" else fails()

    changed = {"sample": sample} if function == "sample" else {"prompt": prompt}
    with pytest.raises(DataError, match=rf"AssertionError: seven is odd.*{FILE}:\d+, in fails"):
        run(tmp_path, Says(lambda request: "yes"), benchmark(10, **changed))
