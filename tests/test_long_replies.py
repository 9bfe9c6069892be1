"""No reply is long enough to hold up a run: every parser and every judge's parser, on 50,000
characters of what parsers stumble over.

    python -m tests.test_long_replies 5000000        # of another length, with the slowest shown
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import process_time

import pytest

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Scoring

LENGTH = 50_000
SECONDS = 2.0
"""Of CPU time, for one reply: four times what the slowest parser takes."""
REPEATED = (
    *("(", "$", "\\", "\\frac{", "\\boxed{", "7", "1,", "选A", "A,", "Answer:", " ", "\n", '"'),
    *("the answer is A. ", "<think>", "\u200b", "\u202e", "\u0301", "👨‍👩‍👧", "a.b.", '{"a":'),
)
BENCHMARKS = [*(entry.name for entry in registry.entries()), "vcr-wiki:lang=zh"]


class TooSlow(Exception):
    pass


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Ends what takes more CPU time, in the middle."""

    def end(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def texts(sample: Sample, length: int) -> Iterator[tuple[str, str]]:
    """Each a name and a text."""
    for unit in REPEATED:
        yield repr(unit), (unit * (length // len(unit) + 1))[:length]
    yield "nested boxes", "\\boxed{" * (length // 8) + "}" * (length // 8)
    yield "numbers", " ".join(map(str, range(length // 6)))[:length]
    yield "one word behind blanks", " " * (length - 4) + "word"
    words = " ".join([sample.target or "", *sample.references, *sample.choices, "word"])
    yield "the answer again and again", (f"{words} " * (length // len(words) + 1))[:length]


def sample_of(benchmark: Benchmark) -> Sample:
    """One with choices, if there is such."""
    every = [
        sample for row in benchmark.data for sample in benchmark.turn_samples(benchmark.read(row))
    ]
    return max(
        every, key=lambda sample: (bool(sample.choices), bool(sample.target or sample.references))
    )


def parsers(scoring: Scoring) -> Iterator[tuple[str, Callable[[str, Sample], object]]]:
    """What reads a reply, and what reads a judge's verdict of it; each scores what it reads."""

    def of_reply(text: str, sample: Sample) -> object:
        return scoring.score(scoring.parse(Reply(text=text), sample), sample)

    yield "reply", of_reply
    judge = scoring.judge
    if judge is not None:

        def of_verdict(text: str, sample: Sample) -> object:
            reading = judge.parse(text, sample)
            return reading and scoring.score(reading, sample)

        yield "verdict", of_verdict


def slow(name: str, length: int, seconds: float) -> Iterator[tuple[float, str]]:
    """CPU seconds and where, of each parser and text; endless where it took over `seconds`."""
    benchmark = registry.benchmark(name, data=Path(registry.SYNTHETIC))
    sample = sample_of(benchmark)
    for kind, scoring in benchmark.scorings.items():
        for what, parse in parsers(scoring):
            for label, text in texts(sample, length):
                start = process_time()
                try:
                    with at_most(seconds):
                        parse(text, sample)
                    taken = process_time() - start
                except TooSlow:
                    taken = float("inf")
                yield taken, f"{name} {kind}: a {what} of {label}"


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_long_reply_is_read_in_little_time(name: str) -> None:
    late = [where for taken, where in slow(name, LENGTH, SECONDS) if taken == float("inf")]

    assert not late


if __name__ == "__main__":
    for name in BENCHMARKS:
        taken, where = max(slow(name, int(sys.argv[1]), 120.0))
        print(f"{taken:6.2f} s  {where}", flush=True)
