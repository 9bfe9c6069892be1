"""Parses replies for scorings that need all replies of a run or a file in order to parse a single
reply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.core.scoring import Line, Reading, ReplyTable
from snellen.errors import SnellenError
from snellen.media.content import Image
from snellen.scoring.reply_errors import reply_error, table_error

if TYPE_CHECKING:
    from snellen.scoring.replies import Scored

Key = tuple[str, int]
"""The id of the sample, and the number of the repeat."""


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """The readings that scorings determine from a whole table of replies."""

    readings: Mapping[str, Mapping[Key, Reading]] = field(default_factory=dict)
    """For each scoring, maps keys to the readings that replace the results of `Scoring.parse`."""
    parsed: Mapping[str, Mapping[Key, Reading]] = field(default_factory=dict)
    """For each scoring, maps keys to the results of `Scoring.parse`, so that no reply is parsed
    twice."""
    notes: Sequence[str] = ()
    """Notes for the report. Each note starts with the name of a scoring."""

    def reading(self, scoring: str, sample: str, repeat: int) -> Reading | None:
        """The reading of a reply; None if the scoring has no `resolve`, or if the table passed to
        `resolve` does not contain the reply."""
        key = sample, repeat
        replaced = self.readings.get(scoring, {}).get(key)
        return replaced or self.parsed.get(scoring, {}).get(key)


def resolve(
    benchmark: Benchmark, names: Iterable[str], replies: Callable[[], Iterable[Scored]]
) -> Resolved:
    """Call `Scoring.resolve` of each scoring that defines it, once for each repeat.

    `replies` is called only if there is such a scoring. Media in the table keep their sizes but not
    their bytes, because a data set with pictures in its rows may not fit in memory.
    """
    chosen = set(names)
    resolvers = {
        name: scoring.resolve
        for name, scoring in benchmark.scorings.items()
        if name in chosen
        and scoring.resolve is not None
        and scoring.reads == benchmark.procedure.kind
    }
    if not resolvers:
        return Resolved()
    passes: dict[int, list[Scored]] = {}
    for scored in replies():
        if scored.reply is not None and scored.state != "refused" and not scored.sample.hidden:
            light = scored._replace(sample=_without_bytes(scored.sample), conversation=None)
            passes.setdefault(scored.repeat, []).append(light)
    readings: dict[str, dict[Key, Reading]] = {name: {} for name in resolvers}
    parsed: dict[str, dict[Key, Reading]] = {name: {} for name in resolvers}
    notes: dict[str, None] = {}
    for name, resolver in resolvers.items():
        for repeat, rows in passes.items():
            table = _table(benchmark, name, rows)
            try:
                resolution = resolver(table)
            except SnellenError:
                raise
            except Exception as error:
                what = f"`resolve` of the scoring {name}"
                raise table_error(error, benchmark, what) from error
            for line in table.lines:
                parsed[name][line.sample.id, repeat] = line.reading
            for sample, reading in resolution.readings.items():
                readings[name][sample, repeat] = reading
            notes |= dict.fromkeys(f"{name}: {note}" for note in resolution.notes)
    return Resolved(readings=readings, parsed=parsed, notes=[*notes])


def _without_bytes(sample: Sample) -> Sample:
    """The sample, with media that keep their sizes but not their bytes."""
    media = tuple(
        replace(medium, source=b"")
        if isinstance(medium, Image) and isinstance(medium.source, bytes)
        else medium
        for medium in sample.media
    )
    return replace(sample, media=media)


def _table(benchmark: Benchmark, name: str, rows: Sequence[Scored]) -> ReplyTable:
    """Build a table of the replies of one repeat. Replies from a file are in the order of the
    file's lines."""
    parse = benchmark.scorings[name].parse
    first = rows[0]
    if first.line is not None:
        rows = sorted(rows, key=lambda scored: scored.line or 0)
    lines = []
    for scored in rows:
        assert scored.reply is not None
        stated = scored.readings.get(name) if scored.readings else None
        try:
            reading = stated or parse(scored.reply, scored.sample)
        except SnellenError:
            raise
        except Exception as error:
            raise reply_error(error, benchmark, name, scored) from error
        lines.append(Line(sample=scored.sample, reading=reading, row_index=scored.row_index))
    if first.line is None:
        return ReplyTable(lines=lines, order="data")
    return ReplyTable(lines=lines, order="authors" if first.in_layout else "file")
