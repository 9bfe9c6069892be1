"""Collects facts about one run: the states of its replies, its settings, and its provenance."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from snellen.analysis.result import Result
from snellen.scoring.sections import FACTS

LABELS = {"asks": "prompt version"}
"""Labels for those fields of a run's identity whose own names are unclear to a reader."""


def counts(states: Mapping[str, int]) -> str:
    """The number of replies in each state, as text: `280 ok, 8 failed`."""
    return ", ".join(f"{n:,} {state}" for state, n in states.items()) or "none"


def facts(result: Result) -> Iterator[tuple[str, str]]:
    """Pairs (name, value): replies and readings by state, tokens, sources of the scorings, and the
    run's identity."""
    report = result.report
    turns = f" to turns of {report.conversations:,} conversations" if report.conversations else ""
    yield "replies", f"{report.n:,}{turns} ({counts(report.replies)})"
    for name, scoring in report.scorings.items():
        yield f"{name}, readings", counts(scoring.readings)
    for section_facts in FACTS.values():
        yield from section_facts(report)
    yield from sources(result)
    yield from settings(result)
    if result.run is not None:
        yield "run", f"{result.run}"


def sources(result: Result) -> Iterator[tuple[str, str]]:
    """Pairs (name, value) with the source of each scoring's rules."""
    for name, scoring in result.report.scorings.items():
        yield f"{name}, source", f"{scoring.source}, version {scoring.version}"


def settings(result: Result) -> Iterator[tuple[str, str]]:
    """Pairs (name, value) with the fields of the run's identity. The benchmark and the model are
    left out because the title contains them."""
    for name, value in result.report.identity.items():
        if name not in ("benchmark", "model") and (text := in_words(value)):
            if name == "generation":
                text += "".join(
                    f"; max_tokens={tokens} for {n:,} of the replies"
                    for tokens, n in result.report.other_limits.items()
                )
            yield LABELS.get(name, name.replace("_", " ")), text


def commands(manifest: Mapping[str, Any]) -> list[str]:
    """The commands of the run's sessions, without duplicates."""
    commands_run = (session.get("command") for session in manifest.get("sessions", []))
    return [*dict.fromkeys(shlex.join(["snellen", *words]) for words in commands_run if words)]


def provenance(manifest: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Pairs (name, value) with the data path, and with the last session's machine and software
    versions."""
    if "data" in manifest:
        yield "rows", str(manifest["data"])
    origins = manifest.get("origins", {}).items()
    if settled := {name: source for name, source in origins if source != "default"}:
        yield "values from", in_words(settled)
    sessions = manifest.get("sessions", [])
    for session in sessions[:1]:
        if session.get("started") is not None:
            yield "started", in_words(session["started"])
    for session in sessions[-1:]:
        if len(sessions) > 1 and session.get("started") is not None:
            yield f"last of {len(sessions):,} calls", in_words(session["started"])
        for name in ("server", "served", "limit", "sample", "concurrency"):
            if session.get(name) is not None:
                yield name, in_words(session[name])
        for name in ("snellen", "python", "system", "runs_on"):
            if session.get(name):
                yield name.replace("_", " "), in_words(session[name])
        if session.get("packages"):
            packages = session["packages"].items()
            yield "packages", ", ".join(f"{name} {version}" for name, version in packages)


def in_words(value: Any) -> str:
    """A value as readable text, without empty parts, such as `max_tokens=64, extra=(top_k=1)`."""
    match value:
        case None:
            return ""
        case list():
            return " ".join(map(in_words, value))
        case dict():
            words = {name: in_words(item) for name, item in value.items()}
            return ", ".join(
                f"{name}=({word})" if isinstance(value[name], dict) else f"{name}={word}"
                for name, word in words.items()
                if word
            )
    return str(value)
