"""Explains why two plans have different scores, by runs in which single fields are exchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from snellen.analysis.comparing import LoadedSide
from snellen.analysis.gap import (
    GAP_LEVEL,
    Gap,
    GapField,
    GapGroup,
    GapKind,
    Measured,
    decision,
    exchanges,
    groups_measured,
    measured_fields,
    pairs_in_order,
    partners_in_order,
    smallest_detectable,
    with_adjusted_pairs,
    with_partner,
)
from snellen.analysis.result import Result
from snellen.core.benchmark import Benchmark
from snellen.errors import UsageError
from snellen.metrics import is_mean
from snellen.run import chosen, select
from snellen.run.plan import Finished, Plan
from snellen.run.selected_rows import loaded_side
from snellen.run.ways import SCORING, TwoWays, against
from snellen.stats import FEWEST_CLUSTERS
from snellen.store import FORMAT, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GAP_BUDGET = 3_000
"""The default maximum number of requests to explain one gap. This budget allows 250 questions if 4
fields differ, and 166 questions if 7 fields differ."""
FEWEST_QUESTIONS = 20
"""The minimum number of questions. With fewer questions, a gap would have to be at least a third of
the best score to be significant."""
EXCHANGES = ".exchanges"
"""The folder, inside the output folder, of the runs that exchange some fields. The folder is
hidden, so that reports and comparisons of the output folder leave these runs out."""
Fields = frozenset[str]
RunOf = Callable[[Plan], Finished]


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """The questions of a gap search, and the number of requests that they need."""

    questions: int
    """The number of rows."""
    available: int
    """The number of rows from which the questions are drawn."""
    per_run: int
    """The number of requests in each run."""
    runs: int
    """The maximum number of runs, not counting those that exchange pairs of fields."""
    most_runs: int
    """The maximum number of runs, counting those that exchange pairs of fields, as far as the
    budget allows them."""
    ids: frozenset[str]
    """The ids of the questions."""


@dataclass(kw_only=True)
class GapRun:
    """Searches for the fields that cause a gap, by running plans and comparing their scores."""

    ways: TwoWays
    """The two plans whose scores differ."""
    budget: int
    """The maximum number of requests, including requests whose reply is already stored."""
    sampled: Sampled = field(init=False)
    """The questions of the search."""
    scores: dict[Fields, Mapping[str, float]] = field(default_factory=dict)
    """Maps each set of fields to the scores of its run, keyed by question id. In that run, exactly
    these fields have the recipe's values."""
    finished: dict[Fields, Finished] = field(default_factory=dict)
    """Maps each set of fields to its run. In that run, exactly these fields have the recipe's
    values."""
    clusters: dict[str, int] = field(default_factory=dict)
    """The cluster of each question, keyed by id."""
    notes: list[str] = field(default_factory=list)
    """Notes on the limitations of the result."""
    scoring: str = ""
    """The name of the scoring; empty before the first run."""

    def __post_init__(self) -> None:
        self.sampled = sampled(self.ways, self.budget)

    @property
    def announcement(self) -> str:
        """A description of the planned requests, to be shown before the first request."""
        names = self.ways.exchangeable
        if not names:
            return f"{self._data_set}: the two ways of asking do not differ in any field"
        return (
            f"{self._data_set}: {len(names)} fields differ ({', '.join(names)}); at most "
            f"{self._most_requests:,} requests: {self.sampled.questions:,} questions in "
            f"{self.sampled.most_runs} runs; {2 * self.sampled.per_run:,} first, and no more if "
            "they show no gap"
        )

    @property
    def _most_requests(self) -> int:
        return self.sampled.per_run * self.sampled.most_runs

    @property
    def _benchmark(self) -> Benchmark:
        return self.ways.base.benchmarks[0]

    @property
    def _data_set(self) -> str:
        """The recipe's name for the benchmark's data set."""
        return self.ways.ask.data_set

    @property
    def _every(self) -> Fields:
        return frozenset(self.ways.exchangeable)

    @property
    def ends(self) -> tuple[Finished | None, Finished | None]:
        """The run with the recipe's settings, and the run of the base plan. Each is None until it
        exists."""
        return self.finished.get(_sent(self._every)), self.finished.get(frozenset())

    def explain(self, run: RunOf) -> Gap:
        """Run the two plans, then plans that exchange some fields, and determine which fields cause
        the gap.

        Args:
            run: A function that executes a plan of a single run.

        Raises:
            SnellenError: a plan cannot be executed, or the replies of its run have no scores.
        """
        if not self.ways.exchangeable:
            return self._gap("alike")
        if not self._measure(run, [frozenset(), self._every]):
            return self._gap("unfinished")
        measured = self._measured()
        total = measured.effect(measured.into(self._every))
        if total.difference.n < FEWEST_CLUSTERS:
            raise UsageError(
                f"{self._benchmark.name}: {total.difference.n} of {self.sampled.questions} "
                "questions have a score in both runs, which is too few to explain the gap. Run the "
                "same command again to send the questions without a reply. If the replies have "
                "not been judged yet, run `snellen judge` on "
                f"{' and '.join(f'{done.run}' for done in self.finished.values())}."
            )
        if total.p > GAP_LEVEL:
            self._note_budget()
            return self._gap("noise")
        if not self._measure(run, exchanges(self.ways.exchangeable)):
            return self._gap("unfinished")
        fields = measured_fields(self._measured(), self.ways.fields)
        matters = frozenset(field.name for field in fields if field.matters)
        if len(matters) == 1:
            partnered = self._with_partner(run, fields, *matters)
            if partnered is None:
                return self._gap("unfinished", fields)
            fields = partnered
            matters = frozenset(field.name for field in fields if field.matters)
        if len(matters) == 1:
            return self._gap("field", fields)
        groups = self._together(run, matters) if matters else self._pairs(run)
        if groups is None:
            return self._gap("unfinished", fields)
        kind, names, group = decision(fields, groups)
        return self._gap(kind, fields, groups, names=names, explained=group)

    def _note_budget(self) -> None:
        """Note that a larger budget would detect a smaller gap, if there are more questions."""
        sampled = self.sampled
        if sampled.questions < sampled.available:
            needed = self.budget * sampled.available // sampled.questions + 1
            self.notes.append(
                f"the budget allowed {sampled.questions:,} of {sampled.available:,} questions. A "
                f"larger --budget detects smaller gaps; --budget {needed} asks all questions"
            )

    def _together(self, run: RunOf, matters: Fields) -> list[GapGroup] | None:
        """Exchange all fields that matter at the same time. Returns None if a run was stopped."""
        if not self._measure(run, [matters, self._every - matters]):
            return None
        return groups_measured(self._measured(), [matters])

    def _with_partner(
        self, run: RunOf, fields: list[GapField], first: str
    ) -> list[GapField] | None:
        """If the field `first` leaves a significant part of the gap unexplained, search for a
        second field that matters.

        Returns the updated fields; None if a run was stopped.
        """
        measured = self._measured()
        gap, effect = measured.into(self._every), measured.both(frozenset({first}))
        if measured.effect(gap - effect).p > GAP_LEVEL:
            return fields
        for partner in partners_in_order(measured, first):
            pair = frozenset({first, partner})
            missing = self._missing(pair)
            if len(missing) > self._affordable:
                break
            if not self._measure(run, missing):
                return None
            fields = with_partner(self._measured(), fields, first, partner)
            if any(field.name == partner and field.matters for field in fields):
                break
        return fields

    @property
    def _affordable(self) -> int:
        """The number of further runs that the budget allows."""
        return self.budget // self.sampled.per_run - len(self.finished)

    def _missing(self, fields: Fields) -> list[Fields]:
        """The exchanges of these fields, in either direction, that have not been run yet."""
        ways = (fields, self._every - fields)
        return [way for way in ways if way not in self.scores]

    def _pairs(self, run: RunOf) -> list[GapGroup] | None:
        """Exchange as many pairs of fields as the budget allows. Returns None if a run was
        stopped."""
        pairs = pairs_in_order(self._measured())
        searched: list[Fields] = []
        for pair in pairs:
            missing = self._missing(pair)
            if len(missing) > self._affordable:
                continue
            if not self._measure(run, missing):
                return None
            searched.append(pair)
        if len(searched) < len(pairs):
            ways = {way for pair in pairs for way in (pair, self._every - pair)}
            needed = len({*map(_sent, ways)} | self.finished.keys()) * self.sampled.per_run
            self.notes.append(
                f"only {len(searched)} of {len(pairs)} pairs of fields were exchanged; to exchange "
                f"all of them, use --budget {needed}"
            )
        return with_adjusted_pairs(groups_measured(self._measured(), searched))

    def _measure(self, run: RunOf, ways: Iterable[Fields]) -> bool:
        """Run a plan for each set of fields in `ways` that has no scores yet. Returns False if a
        run was stopped."""
        for way in ways:
            if way in self.scores:
                continue
            finished = self.finished.get(_sent(way))
            if finished is None:
                plan = self.ways.plan(way).replaced(sample=self.sampled.questions)
                if _sent(way) not in (frozenset(), _sent(self._every)):
                    plan = plan.replaced(out=plan.out / EXCHANGES)
                finished = self.finished[_sent(way)] = run(plan)
            if finished.interrupted or finished.stopped:
                self.notes.append(f"{self._name(way)}: stopped: {finished.stopped}")
                return False
            self._keep(way, loaded_side(finished, self._benchmark, self.ways.scoring(way)))
        self._check_judged()
        return True

    def _check_judged(self) -> None:
        """Check that no reply of the runs waits for a judge. Without these replies, the gap would
        be about fewer and perhaps easier questions.

        Raises:
            UsageError: replies wait for a judge.
        """
        waiting: dict[Path, int] = {}
        for way in self.scores:
            done = self.finished[_sent(way)]
            if done.result is not None and (n := not_judged(done.result, self.ways.scoring(way))):
                waiting[done.run] = n
        if waiting:
            commands = (f"`{Run(run).command('judge', '--judge', 'MODEL')}`" for run in waiting)
            raise UsageError(
                f"{self._benchmark.name}: {sum(waiting.values()):,} replies wait for a judge, so "
                f"the gap cannot be explained yet. Run {' and '.join(commands)}. Then run the same "
                "command again."
            )

    def _keep(self, way: Fields, side: LoadedSide) -> None:
        self.scoring = self.scoring or side.scoring
        self.scores[way] = question_scores(side)
        for number, name in zip(side.sample, side.rows[0].columns.cluster, strict=True):
            self.clusters.setdefault(side.ids[number], int(name))

    def _measured(self) -> Measured:
        import numpy as np

        ids = [name for name in self.clusters if name in self.sampled.ids]
        arrays: dict[Fields, NDArray[np.float64]] = {
            way: np.array([scores.get(name, np.nan) for name in ids], dtype=float)
            for way, scores in self.scores.items()
        }
        cluster = np.array([self.clusters[name] for name in ids], dtype=np.int64)
        return Measured(fields=self.ways.exchangeable, scores=arrays, cluster=cluster)

    def _name(self, way: Fields) -> str:
        """`base`, `recipe`, `base + max_tokens`, `recipe - prompt`"""
        if not way or way == self._every:
            return "recipe" if way else "base"
        names = [name for name in self.ways.exchangeable if name in way]
        rest = [name for name in self.ways.exchangeable if name not in way]
        if len(names) <= len(rest):
            return " + ".join(["base", *names])
        return " - ".join(["recipe", *rest])

    def _gap(
        self,
        kind: GapKind,
        fields: Sequence[GapField] | None = None,
        groups: Sequence[GapGroup] = (),
        *,
        names: Sequence[str] | None = None,
        explained: GapGroup | None = None,
    ) -> Gap:
        """Create the result from what has been measured so far."""
        every, fields = self._every, fields or self.ways.fields
        matters = [field.name for field in fields if field.matters] if names is None else [*names]
        known: dict[str, Any] = {}
        if every and {frozenset(), every} <= self.scores.keys():
            measured = self._measured()
            gap = measured.into(every)
            known = {
                "base": measured.value(frozenset(), gap),
                "by_recipe": measured.value(every, gap),
                "total": measured.effect(gap),
                "detectable": smallest_detectable(measured),
            }
            if matters and measured.has(frozenset(matters)):
                known["rest"] = measured.effect(gap - measured.both(frozenset(matters)))
        return Gap(
            format=FORMAT,
            benchmark=self._benchmark.name,
            recipe=self.ways.recipe,
            data_set=self._data_set,
            model=self.ways.model_name,
            against=against(self.ways.base),
            scoring=self.scoring or self._benchmark.headline,
            questions=self.sampled.questions,
            requests=self._most_requests,
            kind=kind,
            fields=[*fields],
            matters=matters,
            groups=[*groups],
            runs={
                self._name(way): f"{self.finished[_sent(way)].run}"
                for way in self.scores
                if _sent(way) in self.finished
            },
            notes=[*self.notes, *self._metric_notes()],
            **known,
        )

    def _metric_notes(self) -> list[str]:
        how = self._benchmark.scorings[self.scoring or self._benchmark.headline]
        name, metric = next(iter(how.metrics.items()))
        if is_mean(metric):
            return []
        return [f"the gap is that of the questions' mean score, not of {name}"]


def sampled(ways: TwoWays, budget: int) -> Sampled:
    """Draw as many questions as a budget allows.

    Raises:
        UsageError: the budget allows too few questions, or too few questions are independent.
    """
    benchmark, options = ways.base.benchmarks[0], ways.base.options
    rows = benchmark.data.facts().rows
    turns = benchmark.procedure.conversation.turns or 1
    per_question = turns * options["repeats"]
    count = len(ways.exchangeable)
    ends = [frozenset[str](), frozenset(ways.exchangeable)]
    singles = {*map(_sent, [*ends, *exchanges(ways.exchangeable)])}
    runs = len(singles) + (2 if count > 3 else 0)
    pairs = [frozenset(pair) for pair in combinations(ways.exchangeable, 2)]
    all_runs = len(singles | {_sent(way) for pair in pairs for way in (pair, ends[1] - pair)})
    most = min(rows, options["sample"] or rows, options["limit"] or rows)
    questions = min(most, budget // (runs * per_question))
    if questions < min(most, FEWEST_QUESTIONS):
        least = min(most, FEWEST_QUESTIONS) * runs * per_question
        raise UsageError(
            f"--budget {budget} is too small for {benchmark.name}: {count} fields differ, and "
            f"{min(most, FEWEST_QUESTIONS)} questions must be asked in {runs} runs. Use --budget "
            f"{least} or more."
        )
    selection = select(
        benchmark,
        rows,
        limit=options["limit"],
        sample=questions,
        seed=options["sample_seed"],
    )
    samples = [benchmark.read(row) for row in chosen(benchmark, selection)]
    shared = benchmark.cluster_by or (lambda sample: sample.id)
    clusters = len({shared(sample) for sample in samples})
    if clusters < FEWEST_CLUSTERS:
        raise UsageError(
            f"{benchmark.name}: explaining the gap needs at least {FEWEST_CLUSTERS} independent "
            f"groups of questions, but the {selection.rows} questions form only {clusters}. "
            "Questions about the same picture form one group."
        )
    ids = frozenset(turn.id for sample in samples for turn in benchmark.turn_samples(sample))
    per_run = selection.rows * per_question
    return Sampled(
        questions=selection.rows,
        available=most,
        per_run=per_run,
        runs=runs,
        most_runs=max(runs, min(all_runs, budget // per_run)),
        ids=ids,
    )


def question_scores(side: LoadedSide) -> dict[str, float]:
    """Compute the score of each question of a run, keyed by id, as a fraction of the best score.

    If a question has several replies or several judges, the scores are averaged. Questions without
    a score are left out.

    Raises:
        UsageError: the scoring does not score single replies.
    """
    import numpy as np

    columns = [rows.columns.score for rows in side.rows]
    if any(column is None for column in columns) and side.in_mean.any():
        raise UsageError(
            f"{side.where}: the scoring {side.scoring} of {side.benchmark.name} does not score "
            "single replies, so the effect of a field cannot be tested."
        )
    counted = side.in_mean
    if not counted.any():
        return {}
    score = np.mean([column for column in columns if column is not None], axis=0)
    of = side.sample[counted]
    sums = np.bincount(of, weights=score[counted], minlength=len(side.ids))
    counts = np.bincount(of, minlength=len(side.ids))
    best = side.benchmark.scorings[side.scoring].best
    return {
        name: float(total / n / best)
        for name, total, n in zip(side.ids, sums, counts, strict=True)
        if n
    }


def not_judged(result: Result, scoring: str | None) -> int:
    """The number of replies that wait for a judge by a scoring, or by the headline scoring if
    `scoring` is None."""
    if not result.report.scorings:
        return 0
    return result.scoring(scoring).readings.get("not-judged", 0)


def _sent(way: Fields) -> Fields:
    """Select the fields that affect requests, which are all fields except the scoring."""
    return way - {SCORING}
