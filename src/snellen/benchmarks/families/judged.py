"""Shared by benchmarks in which a judge decides every reply, with a prompt of the authors."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import resources
from typing import Any

from snellen.benchmarks.families.judges import PERFECT
from snellen.core import (
    Capabilities,
    Check,
    Judge,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.media.content import user
from snellen.metrics import Metric


def for_the_judge(reply: Reply, sample: Sample) -> Reading:
    """Leave a reply to the judge."""
    return Reading(answer=None, rule="for the judge")


def judge_of_all(
    name: str,
    text: Callable[[Sample, Reply], str],
    parse: Callable[[str, Sample], Reading],
    **settings: Any,
) -> Judge:
    """Create a judge that decides every reply. `text` returns the text of its prompt, `name` is
    also the name of the authors' judge model, and `settings` are further fields of `Judge`."""
    return Judge(
        name=name,
        authors_model=name,
        prompt=lambda sample, reply: (user(text(sample, reply)),),
        parse=parse,
        when=lambda _: True,
        **settings,
    )


def judged(
    source: str,
    judge: Judge,
    score: Callable[[Reading, Sample], float],
    metrics: Mapping[str, Metric],
    **settings: Any,
) -> Scoring:
    """Create a scoring whose judge decides every reply. `score` is called only with a verdict that
    could be parsed, and `settings` are further fields of `Scoring`."""
    return Scoring(
        version=1,
        source=source,
        parse=for_the_judge,
        score=lambda reading, sample: None if reading.answer is None else score(reading, sample),
        metrics=metrics,
        judge=judge,
        **settings,
    )


def check(
    verdict: Callable[[Sample, Reply], str],
    scorings: Iterable[str],
    says: Callable[[Sample, str], str] = lambda _, answer: answer,
) -> Check:
    """The check of a benchmark in whose scorings only the right answer gets a score. `verdict` is
    the verdict of a perfect judge, and `says` a reply that gives an answer."""
    return Check(
        says=says,
        wrong=lambda _: "nothing of the kind",
        verdict=verdict,
        expect=dict.fromkeys(scorings, PERFECT),
    )


def presentation(
    tags: tuple[str, ...], leaves: str | Mapping[str, str], source: str
) -> Presentation:
    """Break results down by the tags. `leaves` is the capability of all samples, or maps the values
    of the first tag to capabilities, and `source` is where the authors say so."""
    if isinstance(leaves, str):
        capabilities = Capabilities(tag="", leaves={"": leaves}, source=source)
    else:
        capabilities = Capabilities(tag=tags[0], leaves=leaves, source=source)
    return Presentation(break_down_by=tags, capabilities=capabilities)


@cache
def prompts(name: str) -> dict[str, Any]:
    """Read the authors' prompts of a benchmark from `prompts/NAME.toml`."""
    path = resources.files(__package__).joinpath("prompts", f"{name}.toml")
    return tomllib.loads(path.read_text(encoding="utf-8"))
