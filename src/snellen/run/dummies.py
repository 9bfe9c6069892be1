"""Dummy models that know what a real model must not know: the right answers, or the most frequent
answer.

Each dummy is a table of replies, keyed by request digest. The table is computed from the benchmark
and passed to a `Recorded` model, so no back end ever sees a target.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import ascii_uppercase

from snellen.core.benchmark import Benchmark, Check, History
from snellen.core.layout import with_times
from snellen.core.model import Generation, Ranked, Reply, loaded, request_digest
from snellen.core.sample import Sample
from snellen.errors import MediaError, UsageError
from snellen.scoring import Common, common_answer

Say = Callable[[Sample], str]


def table(
    benchmark: Benchmark,
    say: Say,
    *,
    generation: Generation | None = None,
    seed: int | None = None,
    repeats: int = 1,
) -> Mapping[str, Reply]:
    """Compute the replies of a model that answers each sample with `say(sample)`, keyed by the
    digest of the sample's request. Samples whose media cannot be read have no reply."""
    replies: dict[str, Reply] = {}
    for row in benchmark.data:
        sample = benchmark.read(row)
        turns = benchmark.turn_samples(sample)
        for repeat in range(repeats):
            history: History = ()
            while True:
                request = benchmark.request(
                    sample,
                    history,
                    generation=generation,
                    seed=(seed or 0) + repeat if repeat else seed,
                )
                if request is None:
                    break
                try:
                    request = loaded(with_times(request))
                except MediaError:
                    break  # the question will fail with this error when it is asked
                turn = turns[min(len(history), len(turns) - 1)]
                reply = _reply(benchmark, turn, say(turn))
                replies[request_digest(request)] = reply
                history = (*history, (request.messages, reply))
    return replies


def _reply(benchmark: Benchmark, sample: Sample, answer: str) -> Reply:
    """Create a reply with this text. For a benchmark that ranks choices, the choice with this
    letter or text is the most likely; if no choice matches, all are equally likely."""
    if benchmark.procedure.kind == "generate":
        return Reply(text=answer, stop="stop")
    is_answer = [
        answer in (letter, choice)
        for letter, choice in zip(ascii_uppercase, sample.choices, strict=False)
    ]
    return Reply(
        choices=tuple(Ranked(0.0 if matches else -1.0, 1) for matches in is_answer), stop="stop"
    )


def right_answer(sample: Sample) -> str | None:
    """The target of a sample, or its most frequent reference."""
    return common_answer(sample.target, sample.references)


def oracle(check: Check) -> Say:
    """A model that is always right, with answers in the form that the prompt requests."""
    return lambda sample: check.says(sample, right_answer(sample) or "")


def wrong(check: Check) -> Say:
    """A model that is never right, with answers in the form that the prompt requests."""
    return lambda sample: check.says(sample, check.wrong(sample))


def silent(check: Check) -> Say:
    """A model that says nothing."""
    return lambda _: ""


def hedging(check: Check) -> Say:
    """A model that names every answer and commits to none of them."""

    def say(sample: Sample) -> str:
        if {choice.lower() for choice in sample.choices} == {"yes", "no"}:
            return "Yes and no"
        if sample.choices:
            return " ".join("ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(sample.choices)])
        return "1 2 3"

    return say


def most_frequent(benchmark: Benchmark) -> Say:
    """A model that gives the most frequent right answer, in the form that the prompt requests. This
    answer is determined separately for each number of choices.

    Raises:
        UsageError: the benchmark's answers are hidden, or the benchmark does not define how a reply
            states an answer.
    """
    samples = (
        turn for row in benchmark.data for turn in benchmark.turn_samples(benchmark.read(row))
    )
    common = Common((len(sample.choices), right_answer(sample)) for sample in samples)
    check = benchmark.check
    if not common or check is None:
        raise UsageError(
            f"{benchmark.name} has no public answers, so the most frequent answer is not known."
        )

    def say(sample: Sample) -> str:
        return check.says(sample, common.answer_to(len(sample.choices)))

    return say


DUMMIES: Mapping[str, Callable[[Check], Say]] = {
    "oracle": oracle,
    "wrong": wrong,
    "silent": silent,
    "hedging": hedging,
}
