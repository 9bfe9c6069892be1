"""Computes the scores of blind models, which draw choices at random or always give the same
answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from string import ascii_uppercase

from snellen.core.answer import BoxAnswer, PointAnswer, PolygonAnswer
from snellen.core.benchmark import Benchmark
from snellen.core.coordinates import CoordinateUse
from snellen.core.model import Reply
from snellen.core.presentation import Presentation
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring, total_score
from snellen.metrics import averages_scores, is_mean
from snellen.scoring.document import Baselines
from snellen.scoring.draft import NOTHING, Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.resolution import resolve
from snellen.scoring.scorer import Scorer
from snellen.scoring.sections._base import Base
from snellen.scoring.sections.metrics import scoring_metrics
from snellen.scoring.table import ScoreTable

DRAWS = 3
"""The number of random draws. If the chance level cannot be computed exactly, it is the mean value
of these draws."""
MOST = 20_000
"""The maximum number of samples for which a baseline without a formula is computed. Computing such
a baseline doubles the time that scoring takes."""

Say = Callable[[Sample], str]


class Common:
    """Finds the most frequent right answer among questions with the same number of choices.
    `answers` contains the number of choices and the right answer of each question. The right answer
    is None if it is hidden."""

    def __init__(self, answers: Iterable[tuple[int, str | None]]) -> None:
        self._counts: dict[int, Counter[str]] = {}
        for choices, answer in answers:
            if answer is not None:
                self._counts.setdefault(choices, Counter())[answer] += 1

    def __bool__(self) -> bool:
        return bool(self._counts)

    def answer_to(self, choices: int) -> str:
        """The most frequent right answer among questions with this number of choices; empty if no
        answer is known."""
        counter = self._counts.get(choices)
        return counter.most_common(1)[0][0] if counter else ""

    @property
    def single(self) -> str | None:
        """The most frequent right answer; None if it depends on the number of choices."""
        answers = {self.answer_to(choices) for choices in self._counts}
        return answers.pop() if len(answers) == 1 else None

    @property
    def share(self) -> float:
        """The share of questions for which the most frequent answer is right."""
        right = sum(counter.most_common(1)[0][1] for counter in self._counts.values())
        return right / sum(map(Counter.total, self._counts.values()))

    @property
    def chance(self) -> float | None:
        """The expected share of questions for which a random choice is right; None if a question
        has no choices."""
        if 0 in self._counts:
            return None
        n = {choices: counter.total() for choices, counter in self._counts.items()}
        return sum(count / choices for choices, count in n.items()) / sum(n.values())


class BaselinesSection(Base):
    """Computes the baselines of the headline scoring's first metric, unless all right answers are
    unknown.

    If the metric is the mean of scores, and each choice is either right or wrong, there are
    formulas for both baselines. The chance level is the mean of 1 / (number of choices). The value
    of a constant answer is the share of questions for which this answer is right. Otherwise, blind
    models answer in the form that the prompt requests, and their replies are scored like any other
    replies. If the metric averages scores, as a mean over categories does, each choice is scored
    once, which gives the exact chance level without random draws.
    """

    def summarize(self, draft: Draft) -> Part:
        benchmark, table = draft.benchmark, draft.table
        if draft.source.questions is None or benchmark.procedure.kind != "generate":
            return NOTHING
        scoring = benchmark.scorings[benchmark.headline]
        function = next(iter(scoring.metrics.values()))
        simple = is_mean(function) and not scoring.partial and not table.has_references
        if not simple and len(table) > MOST:
            return NOTHING
        common = Common(_right_answers(table))
        if not common:
            return NOTHING
        if simple and common.chance is not None:
            baselines = Baselines(chance=common.chance, constant=common.share, answer=common.single)
        elif benchmark.check is None or len(table) > MOST:
            return NOTHING
        else:
            baselines = _by_blind_models(benchmark, benchmark.check.says, draft, common)
        return {"baselines": baselines}, ()


def _right_answers(table: ScoreTable) -> Iterator[tuple[int, str | None]]:
    """For each row, yield the number of choices and the right answer. The right answer is None if
    it is hidden. The right answer is also None if this row is left out of the means and other rows
    are included."""
    headline = table.headline
    in_mean = [] if headline is None else headline.has_score.tolist()
    every = not any(in_mean)
    rows = zip(table.choices.data, table.targets.data, table.references, strict=True)
    for row, (choices, target, references) in enumerate(rows):
        counted = every or in_mean[row]
        yield choices, common_answer(target, references) if counted else None


def common_answer(target: str | None, references: Sequence[str]) -> str | None:
    """The target, or the most frequent reference if there is no target."""
    if target is not None or not references:
        return target
    return Counter(references).most_common(1)[0][0]


def _by_blind_models(
    benchmark: Benchmark, says: Callable[[Sample, str], str], draft: Draft, common: Common
) -> Baselines:
    name = benchmark.headline
    scoring = benchmark.scorings[name]
    metric, function = next(iter(scoring.metrics.items()))
    alone = replace(
        benchmark,
        scorings={name: replace(scoring, metrics={metric: function})},
        presentation=Presentation(
            metric_tags=(
                *benchmark.presentation.break_down_by,
                *benchmark.presentation.metric_tags,
            ),
            ladders=benchmark.presentation.ladders,
        ),
    )

    def constant(sample: Sample) -> str:
        return says(sample, common.answer_to(len(sample.choices)))

    def constant_value() -> float | None:
        use = scoring.coordinates
        if use is not None and _is_in_other_coordinates(use, draft, constant):
            return None
        return _value(alone, draft, constant)

    drawn_at_random = common.chance is not None
    if drawn_at_random and averages_scores(function):
        exact = _expected_value(alone, draft, says)
        if exact is not None:
            return Baselines(chance=exact, constant=constant_value(), answer=common.single)
    draws = range(DRAWS) if drawn_at_random else ()
    values = [_value(alone, draft, _random(says, draw)) for draw in draws]
    known = [value for value in values if value is not None]
    is_known = len(known) == DRAWS
    return Baselines(
        chance=sum(known) / DRAWS if is_known else None,
        constant=constant_value(),
        answer=common.single,
        draws=DRAWS if is_known else None,
    )


def _is_in_other_coordinates(use: CoordinateUse, draft: Draft, say: Say) -> bool:
    """Whether some replies from `say`, which are in the prompt's coordinates, contain places, but
    replies are read in other coordinates."""
    if use.effective == use.of_prompt:
        return False
    places = (BoxAnswer, PointAnswer, PolygonAnswer)
    for _, scored in draft.samples():
        reply = Reply(text=say(scored.sample), stop="stop")
        if isinstance(use.parse(reply, scored.sample, use.of_prompt).answer, places):
            return True
    return False


def _value(benchmark: Benchmark, draft: Draft, say: Say) -> float | None:
    """The value of a benchmark's only metric for a model whose replies come from `say`. None if any
    reply needs a judge, since the replies that rules can score do not represent all replies."""
    questions = draft.source.questions
    assert questions is not None

    def answers() -> Iterator[Scored]:
        for scored in questions():
            reply = Reply(text=say(scored.sample), stop="stop")
            yield Scored(
                scored.sample,
                scored.repeat,
                "ok",
                reply,
                row_index=scored.row_index,
                turn=scored.turn,
            )

    name = benchmark.headline
    # A model that draws at random gives other replies in the second pass. These replies are scored,
    # so they must be parsed anew.
    resolved = replace(resolve(benchmark, [name], answers), parsed={})
    table = ScoreTable(Scorer(benchmark, resolved=resolved))
    table.extend(answers())
    if table.findings[name].waiting:
        return None
    metrics, _ = scoring_metrics(Draft(table, draft.source), name, {})
    return next(iter(metrics.values())).value


def _expected_value(
    benchmark: Benchmark, draft: Draft, says: Callable[[Sample, str], str]
) -> float | None:
    """The expected value of a benchmark's only metric for a model that picks choices at random. The
    metric averages scores, so its expected value is its value if each question has the expected
    score of a random choice. None if the score of some choice is unknown."""
    scoring = benchmark.scorings[benchmark.headline]
    known = [
        _expected_score(scoring, says, scored.sample) is not None
        for _, scored in draft.samples()
        if not scored.sample.hidden
    ]
    if not known or not all(known):
        return None
    expecting = replace(
        scoring,
        parse=lambda reply, sample: Reading(answer="a random choice", rule="chance"),
        score=lambda reading, sample: _expected_score(scoring, says, sample),
        judge=None,
        resolve=None,
    )
    expected = replace(benchmark, scorings={benchmark.headline: expecting})
    return _value(expected, draft, lambda sample: "")


def _expected_score(
    scoring: Scoring, says: Callable[[Sample, str], str], sample: Sample
) -> float | None:
    """The mean score of a question's choices. None if the score of some choice is unknown, for
    example because it needs a judge."""
    readings = [_read(scoring, says(sample, choice), sample) for choice in _choices(sample)]
    worth = [
        total_score(scoring.score(reading, sample))
        for reading in readings
        if not reading.undecided and not _waits(scoring, reading)
    ]
    scores = [score for score in worth if score is not None]
    if not scores or len(scores) < len(sample.choices):
        return None
    return sum(scores) / len(scores)


def _choices(sample: Sample) -> Sequence[str]:
    """The answers from which a model can choose. The answers have the same form as the target,
    which is a letter or the text of a choice."""
    letters = ascii_uppercase[: len(sample.choices)]
    lettered = sample.target is not None and sample.target in letters
    return letters if lettered else sample.choices


def _read(scoring: Scoring, text: str, sample: Sample) -> Reading:
    return scoring.parse(Reply(text=text, stop="stop"), sample)


def _waits(scoring: Scoring, reading: Reading) -> bool:
    return scoring.judge is not None and scoring.judge.when(reading)


def _random(says: Callable[[Sample, str], str], draw: int) -> Say:
    drawing = Random(f"chance {draw}")

    def say(sample: Sample) -> str:
        drawn = _choices(sample)
        return says(sample, drawing.choice(drawn) if drawn else "")

    return say
