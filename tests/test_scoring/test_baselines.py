"""What blind models get, where a formula does not say it."""

from dataclasses import replace
from pathlib import Path

import pytest

from snellen import registry, report
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark, Check, vary
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.data import jsonl
from snellen.media.content import user
from snellen.metrics import Columns, Metric, macro_average, mean
from snellen.metrics.only_tagged import only_tagged
from snellen.scoring import Baselines, score_predictions
from snellen.stats import Estimate
from snellen.transforms.coordinates import with_coordinates
from tests.test_scoring.test_judge import scoring


def half(columns: Columns) -> Estimate:
    """A metric that is no mean."""
    estimate = mean(columns)
    return replace(estimate, value=None if estimate.value is None else estimate.value / 2)


@pytest.fixture
def judged(tmp_path: Path) -> Benchmark:
    """Forty questions with two choices, all of them A; what is said of every other one is read by
    rule, the rest is left to the judge."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f'{{"id": "{n}"}}\n' for n in range(40)))
    return Benchmark(
        name="mine",
        asks=1,
        data=jsonl(rows),
        sample=lambda _, row: Sample(id=row["id"], question="?", choices=("x", "y"), target="A"),
        prompt=lambda sample, _: (user(sample.question),),
        scorings={"official": replace(scoring(), metrics={"half": half})},
        check=Check(
            says=lambda sample, answer: answer if int(sample.id) % 2 else f"It is {answer}",
            wrong=lambda sample: "B",
            expect={},
        ),
    )


def blind(bench: Benchmark) -> Baselines | None:
    return score_predictions(bench, {"1": "A", "2": "It is A"}, where="here").baselines


def test_what_waits_for_a_judge_has_no_baselines(judged: Benchmark) -> None:
    assert blind(judged) == Baselines(chance=None, constant=None, answer="A")


def test_no_baselines_are_not_spoken_of(judged: Benchmark) -> None:
    result = score_predictions(judged, {"1": "A", "2": "It is A"}, where="here")

    assert "blind" not in report.as_text([Result(result)])


def test_what_rules_read_alone_is_drawn_and_the_draws_are_counted(judged: Benchmark) -> None:
    assert judged.check is not None
    readable = replace(judged.check, says=lambda sample, answer: answer)

    baselines = blind(replace(judged, check=readable))

    assert baselines is not None
    assert baselines.constant == 0.5
    assert baselines.chance == pytest.approx(0.25, abs=0.06), "120 draws of A or B, halved"
    assert baselines.draws == 3


def test_chance_of_a_mean_is_computed_where_every_question_has_choices() -> None:
    # Of eight colors, four quarters and four sides: (1/8 + 1/4 + 1/4) / 3, though replies to other
    # questions of the benchmark may be right in part.
    bench = registry.benchmark("eyechart:tasks=colors+positions+relations,n=30")
    replies = {bench.read(row).id: "red" for row in bench.data}
    baselines = score_predictions(bench, replies, where="here").baselines
    assert baselines is not None and baselines.draws is None
    assert baselines.chance == pytest.approx(5 / 24)
    letters = registry.benchmark("eyechart:n=30")
    replies = {letters.read(row).id: "red" for row in letters.data}
    baselines = score_predictions(letters, replies, where="here").baselines
    assert baselines is None or baselines.chance is None


def by_kind(bench: Benchmark, metric: Metric) -> Benchmark:
    """With kinds of questions: every fourth has four choices, and the others two."""
    assert bench.check is not None
    return vary(
        bench,
        check=replace(bench.check, says=lambda _, answer: answer),
        sample=lambda index, row: Sample(
            id=row["id"],
            question="?",
            choices=("w", "x", "y", "z") if index % 4 == 0 else ("x", "y"),
            target="A",
            tags={"kind": "four" if index % 4 == 0 else "two"},
        ),
        scorings={
            "official": replace(
                scoring(),
                judge=None,
                parse=lambda reply, _: Reading(answer=reply.text, rule="all"),
                score=lambda reading, sample: float(reading.answer == sample.target),
                metrics={"average": metric},
            )
        },
        break_down_by=("kind",),
    )


@pytest.mark.parametrize(
    ("metric", "chance"),
    [(macro_average("kind"), 0.375), (only_tagged(mean, "kind", ["four"]), 0.25)],
)
def test_chance_of_a_mean_over_categories_is_exact(
    judged: Benchmark, metric: Metric, chance: float
) -> None:
    baselines = blind(by_kind(judged, Metric(metric, better="higher")))

    assert baselines is not None and baselines.draws is None
    assert baselines.chance == pytest.approx(chance)


def test_chance_of_a_mean_over_parsed_replies_is_exact() -> None:
    bench = registry.benchmark("video-mme", data=registry.bundled("video_mme"))
    samples = [bench.read(row) for row in bench.data]
    baselines = score_predictions(bench, {samples[0].id: "A"}, where="here").baselines

    assert baselines is not None and baselines.draws is None
    assert baselines.chance == 0.25  # of four choices


def in_parts(bench: Benchmark) -> Benchmark:
    """With a mean of scores that may be parts, which no formula of choices gives."""
    official = replace(scoring(), metrics={"accuracy": mean}, partial=True)
    return replace(bench, scorings={"official": official})


def test_chance_of_a_mean_is_not_that_of_what_rules_read_before_the_judge(
    judged: Benchmark,
) -> None:
    assert blind(in_parts(judged)) == Baselines(chance=None, constant=None, answer="A")


def test_questions_whose_answer_is_hidden_are_in_no_chance(judged: Benchmark) -> None:
    assert judged.check is not None
    bench = replace(
        in_parts(judged),
        check=replace(judged.check, says=lambda _, answer: answer),
        sample=lambda index, row: Sample(
            id=row["id"], question="?", choices=("x", "y"), target="A" if index % 4 else None
        ),
    )

    baselines = blind(bench)

    assert baselines is not None and baselines.draws is None
    assert baselines.chance == 0.5


def constant_in(tasks: str, coordinates: str | None) -> float | None:
    """The baseline of a constant answer on an eye chart, read in the given coordinates."""
    bench = registry.benchmark(f"eyechart:tasks={tasks},n=20")
    replies = {bench.read(row).id: "[1, 2]" for row in bench.data}
    read = with_coordinates(bench, coordinates)
    baselines = score_predictions(read, replies, where="here").baselines
    assert baselines is not None
    return baselines.constant


@pytest.mark.parametrize("tasks", ["point+box", "colors+box"])
def test_a_constant_place_has_no_baseline_in_other_coordinates_than_the_prompt_s(
    tasks: str,
) -> None:
    assert constant_in(tasks, None) is not None
    assert constant_in(tasks, "pixels-original") == constant_in(tasks, None)
    assert constant_in(tasks, "0-1000") is None


def test_a_constant_text_has_a_baseline_in_all_coordinates() -> None:
    # The most frequent answer is a row of letters.
    of_letters = constant_in("letters+point", None)
    assert of_letters is not None
    assert constant_in("letters+point", "0-1000") == of_letters
