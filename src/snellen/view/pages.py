"""Prepares the content of the viewer's pages. Templates lay out this content."""

from __future__ import annotations

import shlex
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import jinja2
from markupsafe import Markup

from snellen.analysis.comparing import lines as comparison_lines
from snellen.analysis.comparing import p_value, shown_difference, significant, verdict
from snellen.analysis.result import metric_label, shown
from snellen.core.benchmark import Benchmark
from snellen.errors import plain
from snellen.scoring.sections.tools import REASONS
from snellen.store import DEPTH, Key, differing
from snellen.text.amounts import duration
from snellen.view._answers import laid_out
from snellen.view._board import Board
from snellen.view._comparing import Compares
from snellen.view._indexes import Indexes
from snellen.view._text import CUT, excerpt, visible, with_marks
from snellen.view.index import Index
from snellen.view.marks import has_marks, sample_layers, side_layers, timeline
from snellen.view.query import FLIPS, PAGE, SORTS, Chosen, Wanted
from snellen.view.runs import RESTED, Listed, Runs, is_being_written
from snellen.view.samples import (
    Facet,
    Story,
    best_score,
    facets,
    find,
    find_question,
    key_of,
    lines,
    marked_best,
    narrowed,
    scorings,
    states,
    story,
)

FOLDER = Path(__file__).parent
ENDINGS: Mapping[str, str] = {
    "answered": "The question ended with this reply, which calls no tool.",
    **{
        name: f"The question ended with this reply: the model {reason}."
        for name, reason in REASONS.items()
    },
}
"""How a question with tools ended, in words."""
FEW = 20_000
"""If a run has at most this many samples, the counts next to the filters refer to the samples that
the other filters select. For 100,000 samples, such counts take 200 ms."""
MAX_SIDE_BY_SIDE = 3
"""The maximum number of runs side by side."""
READ = 0.99
"""The counts next to the filters are cached if at least this share of the run's files is indexed.
The share is below 1, because records may be appended at any time."""
ALL_READ = 0.999
"""If at least this share of a run's files is indexed, pages no longer say that the files are being
read."""


class NotThere(Exception):
    """Raised if the requested page does not exist or cannot be shown. The message says why."""


class Counted(NamedTuple):
    """The filters (facets) of a run with their counts, which are cached for a while."""

    changes: Any
    """The state of the index when the facets were counted."""
    at: float
    """The time at which the facets were counted."""
    took: float
    """The time that counting took, in seconds."""
    facets: list[Facet]
    """The facets with their counts."""


class Pages:
    """Renders the pages of the runs in folders."""

    def __init__(self, *roots: Path, benchmarks: Sequence[str | Benchmark] = ()) -> None:
        self.runs = Runs(*roots)
        self.indexes = Indexes()
        self.compares = Compares(benchmarks)
        self._benchmarks = benchmarks
        self._counted: dict[tuple[Path, str], Counted] = {}
        self._counting: set[tuple[Path, str]] = set()

    def stop(self) -> None:
        self.indexes.stop()
        self.compares.stop()

    def run(self, name: str) -> Listed:
        """The run with this name.

        Raises:
            NotThere: the run does not exist, or cannot be shown.
        """
        run = self.runs.by_name(name)
        if run is None:
            raise NotThere(f"There is no run {name!r} in {self.runs.where}.")
        if run.fault is not None:
            raise NotThere(run.fault)
        return run

    # -- pages

    def known(self) -> str:
        """A digest of the list of runs. The digest changes when a run appears, disappears, starts,
        or ends."""
        every = [(run.name, run.fault, self._is_live(run), run.unscored) for run in self.runs.all()]
        return blake2b(repr(every).encode(errors="replace"), digest_size=16).hexdigest()

    def overview(self) -> str:
        known = self.known()
        every = self.runs.all()
        groups: dict[str, list[Listed]] = {}
        for run in every:
            if run.fault is None:
                groups.setdefault(run.benchmark, []).append(run)
        boards = [Board(name, of) for name, of in sorted(groups.items())]
        return _page(
            "runs.html",
            roots=[f"{root}" for root in self.runs.roots],
            depth=DEPTH,
            known=known,
            boards=boards,
            faults=[run for run in every if run.fault is not None],
            writing={run.name for run in every if self._is_live(run)},
        )

    def run_page(self, name: str) -> str:
        run = self.run(name)
        others = self._siblings(run)
        return _page(
            "run.html",
            run=run,
            report=None if run.result is None else run.result.report,
            others=others,
            commands=commands(run),
            files=_files(run),
            progress=self._progress(run, self.indexes.of(run.path)),
        )

    def progress(self, name: str) -> str:
        """The part of a page that shows a run's progress."""
        run = self.run(name)
        return _page(
            "progress.html", run=run, progress=self._progress(run, self.indexes.of(run.path))
        )

    def samples(self, name: str, wanted: Wanted) -> str:
        run = self.run(name)
        other = self._other(run, wanted)
        wanted = wanted if other is not None else replace(wanted, vs="", flip="")
        index = self.indexes.of(run.path)
        with index.connect() as connection:
            names = scorings(run, connection)
            scoring = wanted.scoring if wanted.scoring in names else next(iter(names), "")
            best = best_score(run, scoring)
            other_index = None if other is None else self.indexes.of(other.path).file
            chosen = Chosen(connection, wanted, scoring, best, other_index)
            n = chosen.count()
            sample_lines = lines(connection, chosen.page(), scoring)
            progress = self._progress(run, index)
            total = sum(progress["states"].values())
            every = self._known_facets(run, index, scoring, best)
            is_narrow = not wanted.is_unfiltered and total <= FEW
            if is_narrow:
                every = [
                    self._narrowed(facet, connection, index, wanted, scoring, best, other_index)
                    for facet in every
                ]
            return _page(
                "samples.html",
                run=run,
                wanted=wanted,
                scoring=scoring,
                scorings=names,
                best=marked_best(run, scoring),
                n=n,
                total=total,
                lines=sample_lines,
                pages=max(1, -(-n // PAGE)),
                first=PAGE * (wanted.page - 1) + 1,
                facets=[facet for facet in every if facet.name != "score"],
                verdicts=next((dict(f.choices) for f in every if f.name == "score"), {}),
                is_narrow=is_narrow,
                sorts=SORTS,
                flips=FLIPS,
                other=other,
                others=self._siblings(run),
                progress=progress,
            )

    def sample(self, name: str, key: Key, wanted: Wanted) -> str:
        run = self.run(name)
        other = self._other(run, wanted)
        wanted = wanted if other is not None else replace(wanted, vs="", flip="")
        index = self.indexes.of(run.path)
        with index.connect() as connection:
            row = find(connection, key)
            if row is None:
                raise NotThere(f"{name} has no sample {key.sample!r} ({_position(key)}).")
            names = scorings(run, connection)
            scoring = wanted.scoring if wanted.scoring in names else next(iter(names), "")
            other_index = None if other is None else self.indexes.of(other.path).file
            chosen = Chosen(connection, wanted, scoring, best_score(run, scoring), other_index)
            last_step = find_question(connection, key) or row
            before, after, number = chosen.around(last_step)
            shown_story = story(run, index, connection, row)
            return _page(
                "sample.html",
                run=run,
                wanted=wanted,
                story=shown_story,
                layers=sample_layers(run, shown_story, scoring, self._benchmarks),
                line=lines(connection, [row], scoring)[0],
                scoring=scoring,
                best=marked_best(run, scoring),
                before=None if before is None else key_of(connection, before),
                after=None if after is None else key_of(connection, after),
                number=number,
                n=chosen.count(),
                is_last_step=row == last_step,
                others=self._siblings(run),
            )

    def side_by_side(self, names: Sequence[str], key: Key | None, wanted: Wanted) -> str:
        """The page with two or three runs side by side: a list of samples, or a sample in full."""
        names = list(dict.fromkeys(names))
        if not 2 <= len(names) <= MAX_SIDE_BY_SIDE:
            raise NotThere(
                f"Choose two or three runs to show side by side. You chose {len(names)}."
            )
        runs = [self.run(name) for name in names]
        first = runs[0]
        if any(run.benchmark != first.benchmark for run in runs):
            raise NotThere(
                "Choose runs of the same benchmark. Runs of different benchmarks share no samples."
            )
        wanted = replace(wanted, vs=wanted.vs if wanted.vs in names[1:] else names[1])
        index = self.indexes.of(first.path)
        second = next(run for run in runs if run.name == wanted.vs)
        with index.connect() as connection:
            scored = scorings(first, connection)
            scoring = wanted.scoring if wanted.scoring in scored else next(iter(scored), "")
            best = best_score(first, scoring)
            chosen = Chosen(connection, wanted, scoring, best, self.indexes.of(second.path).file)
            common: dict[str, Any] = dict(
                runs=runs, wanted=wanted, scoring=scoring, scorings=scored,
                best=marked_best(first, scoring), flips=FLIPS, n=chosen.count(),
                same={"run": names},
            )  # fmt: skip
            if key is not None:
                row = find_question(connection, key)
                if row is None:
                    raise NotThere(f"{first.name} has no sample {key.sample!r}.")
                before, after, number = chosen.around(row)
                stories = [self._story(run, key) for run in runs]
                alike = len({_shown(run_story) for run_story in stories if run_story}) == 1
                return _page(
                    "beside_sample.html",
                    stories=stories,
                    alike=alike,
                    layers=side_layers(runs, stories, scoring, alike, self._benchmarks),
                    diffs=_differences(stories),
                    sample=key,
                    before=None if before is None else key_of(connection, before),
                    after=None if after is None else key_of(connection, after),
                    number=number,
                    **common,
                )
            rows = chosen.page()
            mine = lines(connection, rows, scoring)
        others = ([self._line(run, line[1:4], scoring) for run in runs[1:]] for line in mine)
        table = [[line, *rest] for line, rest in zip(mine, others, strict=True)]
        return _page(
            "beside.html",
            table=table,
            pages=max(1, -(-common["n"] // PAGE)),
            **common,
        )

    def comparison(self, names: Sequence[str]) -> str:
        """The page that compares two runs and shows whether they differ significantly."""
        runs = self._two(names)
        return _page("compare.html", runs=runs, **self._compared(runs))

    def difference(self, names: Sequence[str]) -> str:
        """The part of the comparison page that shows the result, once the comparison is
        computed."""
        runs = self._two(names)
        return _page("difference.html", runs=runs, **self._compared(runs))

    def _two(self, names: Sequence[str]) -> list[Listed]:
        names = list(dict.fromkeys(names))
        if len(names) != 2:
            raise NotThere(f"Choose two runs to compare. You chose {len(names)}.")
        return [self.run(name) for name in names]

    def _compared(self, runs: Sequence[Listed]) -> dict[str, Any]:
        # The difference is the second run minus the first, but readers want to know how far the
        # first run is above or below the other. So the order is reversed.
        comparisons = self.compares.of(runs[::-1])
        comparison = None if comparisons is None else next(iter(comparisons.comparisons), None)
        return {
            "comparisons": comparisons,
            "comparison": comparison,
            "verdict": None if comparison is None else verdict(comparison),
        }

    def fault(self, message: str) -> str:
        return _page("fault.html", message=message)

    # -- inside

    def _story(self, run: Listed, key: Key) -> Any:
        index = self.indexes.of(run.path)
        with index.connect() as connection:
            row = find_question(connection, key)
            return None if row is None else story(run, index, connection, row)

    def _line(self, run: Listed, key: Any, scoring: str) -> Any:
        with self.indexes.of(run.path).connect() as connection:
            row = find_question(connection, Key.of(key))
            return None if row is None else lines(connection, [row], scoring)[0]

    def _is_live(self, run: Listed) -> bool:
        return run.fault is None and is_being_written(run.path)

    def _progress(self, run: Listed, index: Index) -> dict[str, Any]:
        with index.connect() as connection:
            known = states(connection)
        total = sum(known.values())
        done = total - known.get("waiting", 0)
        share = index.share()
        return {
            "live": self._is_live(run),
            "done": done,
            "wanted": max(run.wanted, total),
            "states": known,
            # A run that was killed can leave an incomplete last line, which is never indexed.
            "reading": index.has_more and share[0] < ALL_READ,
            "share": share,
        }

    def _siblings(self, run: Listed) -> list[Listed]:
        return [
            other for other in self.runs.all()
            if other.benchmark == run.benchmark and other.name != run.name and other.fault is None
        ]  # fmt: skip

    def _other(self, run: Listed, wanted: Wanted) -> Listed | None:
        return next((sibling for sibling in self._siblings(run) if sibling.name == wanted.vs), None)

    def _known_facets(self, run: Listed, index: Index, scoring: str, best: float) -> list[Facet]:
        """The facets with their last counts. If the index has changed since then, a thread counts
        again, but only after a pause, so that counting takes only a small fraction of the time
        while a run is in progress.
        """
        key = (run.path, scoring)
        with index.connect() as connection:
            row = connection.execute("SELECT value FROM known WHERE name = 'changes'").fetchone()
        known = self._counted.get(key)
        if known is None:
            self._counting.add(key)
            known = self._count(key, index, row, best)
            if index.share()[0] < READ:
                self._counted.pop(key, None)
            return known.facets
        due = time.monotonic() > known.at + RESTED * known.took
        if known.changes != row and due and key not in self._counting:
            self._counting.add(key)
            threading.Thread(target=self._count, args=(key, index, row, best), daemon=True).start()
        return known.facets

    def _narrowed(
        self,
        facet: Facet,
        connection: sqlite3.Connection,
        index: Index,
        wanted: Wanted,
        scoring: str,
        best: float,
        other_index: Path | None,
    ) -> Facet:
        """Count a facet's values over the samples that pass all filters except the facet's own.
        `connection` contains the samples that pass all filters."""
        if not wanted.by_facet(facet.name):
            return narrowed(connection, facet, scoring, best)
        others = wanted.without(facet.name)
        if others.is_unfiltered:
            return facet
        with index.connect() as another:
            Chosen(another, others, scoring, best, other_index)
            return narrowed(another, facet, scoring, best)

    def _count(self, key: tuple[Path, str], index: Index, changes: Any, best: float) -> Counted:
        began = time.monotonic()
        try:
            with index.connect() as connection:
                run_facets = facets(connection, key[1], best)
            now = time.monotonic()
            self._counted[key] = counted = Counted(changes, now, now - began, run_facets)
            return counted
        finally:
            self._counting.discard(key)


def distinction(run: Listed, runs: Sequence[Listed]) -> str:
    """The folder and the settings that distinguish a run from other runs of the same model."""
    others = [other for other in runs if other.model == run.model and other.name != run.name]
    apart = any(other.folder != run.folder for other in others)
    parts: dict[str, None] = {f"in {run.folder}": None} if apart and run.folder else {}
    parts |= {
        f"{name}={value}": None
        for other in others
        for name, value, _ in differing(run.identity, other.identity)
        if value is not None
    }
    return "; ".join(parts)


def _differences(stories: Sequence[Story | None]) -> list[Any]:
    """For each story, its reply with the differences from the other reply marked; None if there are
    not exactly two, or if a reply is too long."""
    texts = [story.final.reply if story and story.final else "" for story in stories]
    return list((with_marks(*texts) if len(texts) == 2 else None) or [None] * len(texts))


def _shown(story: Story) -> tuple[tuple[str, str | None], ...]:
    """The kinds and digests of the media that were shown with a question."""
    return tuple(
        (sample_medium.medium.kind, sample_medium.medium.digest or sample_medium.medium.place)
        for sample_medium in story.media
    )


def commands(run: Listed) -> list[str]:
    """The commands of the run's sessions, without duplicates."""
    command_lines = []
    for session in run.sessions:
        command = session.get("command")
        if isinstance(command, list) and command:
            command_lines.append(f"snellen {shlex.join(map(str, command))}")
    return list(dict.fromkeys(command_lines))


def _files(run: Listed) -> list[tuple[str, int]]:
    files = []
    for path in sorted(run.path.iterdir()):
        if path.is_file() and not path.is_symlink() and not path.name.startswith("."):
            files.append((path.name, path.stat().st_size))
    return files


# -- templates


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "visible": visible,
        "plain": lambda text: plain(str(text)),
        "line": lambda text, cut=120: visible(excerpt(str(text), cut)),
        "path": lambda name: quote(str(name), safe="/~"),
        "shown": shown,
        "difference": shown_difference,
        "label": metric_label,
        "p": p_value,
        "significant": significant,
        "number": lambda n: f"{n:,}",
        "percent": lambda share: f"{100 * share:.0f} %",
        "score": lambda value: "" if value is None else f"{value:g}",
        "size": _size,
        "seconds": lambda value: f"{value:,.2f} s",
        "duration": duration,
        "words": _words,
        "answer": laid_out,
    }
    environment.globals |= {
        "key": _key, "comparison_lines": comparison_lines, "distinction": distinction,
        "endings": ENDINGS, "position": _label, "query": _query,
        "timeline": timeline, "has_marks": has_marks, "CUT": CUT, "PAGE": PAGE,
    }  # fmt: skip
    return environment


def _page(name: str, **known: Any) -> str:
    return _templates().get_template(name).render(**known)


def _key(key: Sequence[Any]) -> str:
    """A sample's key as a query string. Parts that are 0 are left out."""
    parts = dict(zip(("s", "repeat", "turn", "step"), key, strict=False))
    return urlencode({name: value for name, value in parts.items() if value != 0})


def _position(key: Key) -> str:
    step = f", step {key.step}" if key.step else ""
    return f"repeat {key.repeat}, turn {key.turn}{step}"


def _label(turns: Sequence[tuple[int, int, str | None]], turn: int, step: int) -> str:
    """The label of a step of a conversation with these turns and steps."""
    if turns[-1][0] == 0:
        return f"step {step + 1}"
    has_steps = (turn, 1) in {key[:2] for key in turns}
    return f"turn {turn + 1}, step {step + 1}" if has_steps else f"turn {turn + 1}"


def _query(pairs: Mapping[str, Any]) -> Markup:
    return Markup(urlencode(pairs, doseq=True).replace("&", "&amp;"))


def _size(n: int) -> str:
    for unit in ("bytes", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n = n / 1000  # type: ignore[assignment]
    return f"{n:.1f} GB"


def _words(value: Any) -> str:
    """A value of a run's identity as text. Empty parts are left out."""
    if isinstance(value, dict):
        return ", ".join(
            f"{name}={_words(item)}"
            for name, item in value.items()
            if item not in (None, "", {}, [])
        )
    if isinstance(value, list):
        return " ".join(map(_words, value))
    return "" if value is None else str(value)
