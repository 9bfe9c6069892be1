"""No reply is long enough to hold up a run: every parser and every judge's parser of every
benchmark, with each of its options, on 50,000 characters of what parsers stumble over.

    python -m tests.test_long_replies 5000000        # of another length, with the slowest shown
"""

from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import process_time

import pytest

from snellen import registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Scoring
from snellen.errors import DataError, SnellenError
from snellen.registry.options import described

SYNTHETIC = Path(registry.SYNTHETIC)
LENGTH = 50_000
SECONDS = 2.0
"""Of CPU time, for one reply: four times what the slowest parser takes."""
REPEATED = (
    *("(", "$", "\\", "\\frac{", "\\boxed{", "7", "1,", "选A", "A,", "Answer:", " ", "\n", '"'),
    *("the answer is A. ", "<think>", "\u200b", "\u202e", "\u0301", "👨‍👩‍👧", "a.b.", '{"a":'),
)
BEGUN = ("a```\n", '{"a":')
"""What begins a part that never ends."""
ENTRIES = {entry.name: entry for entry in registry.entries()}
KINDS: Mapping[str, str] = {
    **{
        "cc-ocr": "kind",
        "ocrbench-v2": "type",
        "ovo-bench": "task",
        "tempcompass": "task",
        "tir-bench": "task",
    },
}
"""The tag of a sample on which a benchmark's rules depend."""


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


def begun(sample: Sample, length: int) -> Iterator[tuple[str, str]]:
    """Like `texts`, but only what never ends."""
    for unit in BEGUN:
        yield repr(unit), (unit * (length // len(unit) + 1))[:length]


def samples_of(benchmark: Benchmark) -> list[Sample]:
    """One of each kind. The first has choices, if there is such."""
    every = [
        sample for row in benchmark.data for sample in benchmark.turn_samples(benchmark.read(row))
    ]
    every.sort(key=lambda sample: (not sample.choices, not (sample.target or sample.references)))
    tag = KINDS.get(benchmark.name)
    kinds = {sample.tags[tag] if tag else "": sample for sample in reversed(every)}
    return sorted(kinds.values(), key=every.index)


def variants(name: str) -> Iterator[Benchmark]:
    """The benchmark by default, and with each value of each option for which there are rows."""
    entry = ENTRIES[name]
    yield registry.benchmark(name, data=SYNTHETIC)
    make = getattr(importlib.import_module(f"snellen.benchmarks.{entry.function}"), entry.function)
    for option, values in described(make).items():
        for value in values["choices"] or ():
            if value == values["default"]:
                continue
            try:
                benchmark = registry.benchmark(name, data=SYNTHETIC, options={option: value})
                if benchmark.read(next(iter(benchmark.data))).hidden:
                    continue
            except (SnellenError, StopIteration):
                continue
            yield benchmark


def rules(scoring: Scoring) -> tuple[object, ...]:
    """Equal for scorings that are made of the same functions."""
    judge = scoring.judge
    return tuple(map(code, (scoring.parse, scoring.score, judge and judge.parse)))


def code(function: object) -> object:
    if isinstance(function, partial):
        return code(function.func), function.args, repr(function.keywords)
    cells = getattr(function, "__closure__", None) or ()
    inner = [cell.cell_contents for cell in cells]
    functions = tuple(code(part) for part in inner if callable(part) and not isinstance(part, type))
    return getattr(function, "__code__", function), functions


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
    """CPU seconds and where, of each parser and text; endless where it took over `seconds`. Rules
    that several options share are tried once. Kinds of samples after the first are tried with the
    headline scoring, on what never ends."""
    tried = set()
    for benchmark in variants(name):
        first, *others = samples_of(benchmark)
        for scoring_name, scoring in benchmark.scorings.items():
            if rules(scoring) in tried:
                continue
            tried.add(rules(scoring))
            where = f"{name} {dict(benchmark.provenance.options)} {scoring_name}"
            for what, parse in parsers(scoring):
                yield from timed(parse, first, texts(first, length), seconds, f"{where}: a {what}")
                for sample in others if scoring_name == benchmark.headline else ():
                    kind = sample.tags[KINDS[name]]
                    label = f"{where}, {kind}: a {what}"
                    yield from timed(parse, sample, begun(sample, length), seconds, label)


def timed(
    parse: Callable[[str, Sample], object],
    sample: Sample,
    labeled: Iterator[tuple[str, str]],
    seconds: float,
    where: str,
) -> Iterator[tuple[float, str]]:
    for label, text in labeled:
        start = process_time()
        try:
            with at_most(seconds):
                parse(text, sample)
            taken = process_time() - start
        except TooSlow:
            taken = float("inf")
        except DataError as error:  # some rules need data of nltk
            assert "not installed" in str(error), where
            continue
        yield taken, f"{where} of {label}"


@pytest.mark.parametrize(
    ("name", "scoring_name", "text"),
    [
        ("refcoco", "internvl", "[1,2," * 20_000),
        ("refcoco", "internvl", "\\[" * 50_000),
        ("refcoco", "qwen-vl", "(" * 100_000 + "),("),
        ("refcoco", "lmms-eval-grounding", "```" + " " * 100_000 + "x"),
        ("screenspot-pro", "lmms-eval", "<bbox>" * 17_000),
        ("screenspot-pro", "lmms-eval", "x=1 " * 25_000),
        ("screenspot-pro", "evalscope", "<bbox" * 20_000),
        ("video-holmes", "official", "<answer>" * 12_500),
        ("cc-ocr", "official", "</table>" + "<table" * 17_000),
    ],
)
def test_the_end_of_a_part_that_has_none_is_looked_for_once(
    name: str, scoring_name: str, text: str
) -> None:
    benchmark = registry.benchmark(name, data=SYNTHETIC)
    scoring = benchmark.scorings[scoring_name]
    for sample in samples_of(benchmark):
        for _, parse in parsers(scoring):
            with at_most(SECONDS):
                parse(text, sample)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_long_reply_is_read_in_little_time(name: str) -> None:
    late = [where for taken, where in slow(name, LENGTH, SECONDS) if taken == float("inf")]

    assert not late


if __name__ == "__main__":
    for name in ENTRIES:
        taken, where = max(slow(name, int(sys.argv[1]), 120.0))
        print(f"{taken:6.2f} s  {where}", flush=True)
