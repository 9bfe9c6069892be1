"""What blind models would get: choices drawn at random, and one answer always."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.presentation import Presentation
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.metrics import mean
from snellen.scoring.document import Baselines
from snellen.scoring.resolution import resolve
from snellen.scoring.tally import Scored, Tally

DRAWS = 3
"""Blind models whose mean stands for chance, where it has no formula."""
MOST = 20_000
"""Samples beyond which a baseline that has no formula is left out: it would double the wait."""

Say = Callable[[Sample], str]


class Common:
    """The most frequent right answer to questions with as many choices; `answers` are pairs of
    number of choices and right answer, None where that is hidden."""

    def __init__(self, answers: Iterable[tuple[int, str | None]]) -> None:
        self._counts: dict[int, Counter[str]] = {}
        for choices, answer in answers:
            if answer is not None:
                self._counts.setdefault(choices, Counter())[answer] += 1

    def __bool__(self) -> bool:
        return bool(self._counts)

    def among(self, choices: int) -> str:
        """The answer to a question with so many choices; "" where none is known."""
        counter = self._counts.get(choices)
        return counter.most_common(1)[0][0] if counter else ""

    @property
    def single(self) -> str | None:
        """The answer, where it is the same whatever the number of choices."""
        answers = {self.among(choices) for choices in self._counts}
        return answers.pop() if len(answers) == 1 else None

    @property
    def share(self) -> float:
        """How often it is right."""
        right = sum(counter.most_common(1)[0][1] for counter in self._counts.values())
        return right / sum(map(Counter.total, self._counts.values()))

    @property
    def chance(self) -> float | None:
        """How often a choice drawn at random is right; None where a question has no choices."""
        if 0 in self._counts:
            return None
        n = {choices: counter.total() for choices, counter in self._counts.items()}
        return sum(count / choices for choices, count in n.items()) / sum(n.values())


def baselines(
    benchmark: Benchmark, tally: Tally, samples: Callable[[], Iterator[Sample]]
) -> Baselines | None:
    """The baselines of the headline's first metric on a tally's samples; None where nothing is
    known to be right.

    Where the metric is the mean of scores and a choice is right or wrong, chance is the mean
    of 1 / (number of choices), and the constant answer's value is its share. Otherwise blind models
    reply in the words that the prompt asks for, and are scored as any other: for a mean each choice
    once, since what it is by chance is known then.
    """
    name = benchmark.headline
    scoring, check = benchmark.scorings[name], benchmark.check
    metric, function = next(iter(scoring.metrics.items()))
    simple = function is mean and not scoring.partial and not tally.has_references
    if benchmark.procedure.kind != "generate" or (not simple and tally.n > MOST):
        return None
    common = Common(tally.right_answers())
    if not common:
        return None
    if simple and common.chance is not None:
        return Baselines(chance=common.chance, constant=common.share, answer=common.single)
    if check is None or tally.n > MOST:
        return None
    says = check.says
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

    def value(say: Say) -> float | None:
        decided = resolve(alone, [name], lambda: _said(say, samples()))
        blind = Tally(alone, resolved=decided)
        blind.add(_said(say, samples()))
        found = blind.report(model="", identity={}).scorings[name]
        # The few that rules can read say nothing of those that wait for a judge.
        return None if "not-judged" in found.readings else found.metrics[metric].value

    def constant(sample: Sample) -> str:
        return says(sample, common.among(len(sample.choices)))

    drawn_at_random = common.chance is not None
    if drawn_at_random and function is mean:
        exact = _expected(scoring, says, samples())
        if exact is not None:
            return Baselines(chance=exact, constant=value(constant), answer=common.single)
    draws = range(DRAWS) if drawn_at_random else ()
    drawn = [found for draw in draws if (found := value(_random(says, draw))) is not None]
    known = len(drawn) == DRAWS
    return Baselines(
        chance=sum(drawn) / DRAWS if known else None,
        constant=value(constant),
        answer=common.single,
        draws=DRAWS if known else None,
    )


def _said(say: Say, samples: Iterator[Sample]) -> Iterator[Scored]:
    return (Scored(sample, 0, "ok", Reply(text=say(sample), stop="stop")) for sample in samples)


def _expected(
    scoring: Scoring, says: Callable[[Sample, str], str], samples: Iterator[Sample]
) -> float | None:
    """The mean, over the questions whose answer is known, of the mean score of their choices; None
    where one has no score before a judge is asked, or there are none."""
    means = []
    for sample in samples:
        if sample.hidden:
            continue
        readings = [_read(scoring, says(sample, choice), sample) for choice in _choices(sample)]
        found = [
            scoring.score(reading, sample)
            for reading in readings
            if not reading.undecided and not _waits(scoring, reading)
        ]
        scores = [score for score in found if score is not None]
        if not scores or len(scores) < len(sample.choices):
            return None
        means.append(sum(scores) / len(scores))
    return sum(means) / len(means) if means else None


def _choices(sample: Sample) -> Sequence[str]:
    """What a model could choose, as the target names it: letters, or the choices themselves."""
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
