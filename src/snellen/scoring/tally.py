"""Scores one reply after the other, then all of them together."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from snellen import stats
from snellen.core.benchmark import Benchmark
from snellen.core.model import Kind, Reply, ReplyState
from snellen.core.sample import Sample
from snellen.core.scoring import (
    READING_STATES,
    Missing,
    Reading,
    ReadingState,
    Scoring,
    Verdicts,
    reading_state,
)
from snellen.errors import UsageError
from snellen.metrics import Category, Columns, Metric, direction, mean
from snellen.scoring.document import (
    Baselines,
    CapabilityReport,
    Disagreement,
    JudgeReport,
    MetricReport,
    RepeatsReport,
    Report,
    ScoringReport,
    SliceReport,
    metric_report,
)
from snellen.scoring.labels import against
from snellen.scoring.repeats import Rows, repeats_report
from snellen.scoring.resolution import Resolved
from snellen.scoring.slices import BINS, PLACE, Slices, difference_p, known, tested
from snellen.scoring.verdicts import UNREADABLE, Found, agreement, averaged, judged
from snellen.stats import Estimate
from snellen.store import FORMAT, LabelRecord, ScoreRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TRUNCATED_SHARE = 0.02
"""A result with a larger share of cut replies carries a warning."""
EMPTY_SHARE = 0.02
EXAMPLES = 5
REASONS = 3
LONGEST_REASON = 300
FILE = re.compile(r"at byte \d+ of \S+|\S*/\S+|\S+\.\w{2,5}(?![\w.])")
"""What tells apart failures that have one reason: a path, a file's name, a place in a file."""
REPEATED = 0.1
"""Where fewer questions have several replies these are doubled rows of a file, and no repeats."""
SHORT = 8
"""Characters of an answer that is likely to come again."""
READING_CODES = {state: code for code, state in enumerate(READING_STATES)}
ReplyOrAbsent = ReplyState | Literal["absent"]
REPLY_STATES: tuple[ReplyOrAbsent, ...] = (
    "ok",
    "empty",
    "truncated",
    "refused",
    "failed",
    "absent",
)
REPLY_CODES = {state: code for code, state in enumerate(REPLY_STATES)}


class Scored(NamedTuple):
    """One (sample, repeat) with what the model said; `reply` is None where it said nothing. `place`
    is its row's among all rows.

    `absent` is a question that somebody's prediction file has no reply to. Where each turn is
    scored, `sample` is what a `turn` (from 0) of the `conversation` asks. `row` is the digest of
    the data set's row, None where nobody asked for it. `line` is the index of the reply in its file
    of predictions, None for a run's; `in_layout` says that the file is of the form that the
    benchmark's authors read, and `readings` are the answers that such a file states, by scoring.
    """

    sample: Sample
    repeat: int
    state: ReplyOrAbsent
    reply: Reply | None
    kind: Kind = "generate"
    error: str | None = None
    reused: bool = False
    place: int = 0
    turn: int = 0
    conversation: Sample | None = None
    row: str | None = None
    line: int | None = None
    in_layout: bool = False
    readings: Mapping[str, Reading] | None = None


def _still_thinking(reply: Reply | None) -> bool:
    """Whether a cut reply has thoughts and no answer: apart from it, or in its text before the mark
    that many models end them with."""
    if reply is None:
        return False
    begun = "<think>" in reply.text and "</think>" not in reply.text
    return begun or bool(reply.reasoning and not reply.text.strip())


def common_answer(target: str | None, references: Sequence[str]) -> str | None:
    """The target, or the answer that most people gave."""
    if target is not None or not references:
        return target
    return Counter(references).most_common(1)[0][0]


class Tally:
    """Scores one reply after the other, then all of them together.

    `missing` overrides what each scoring does about questions without a reply. `verdicts` are what
    judges said of replies, by scoring; with `verdicts_first` they go before the rules, and need no
    target: published scores were made of published verdicts. `labels` are what people say of some
    of the replies that a judge decides. `resolved` is what scorings decided from all replies
    (`Scoring.resolve`).
    """

    def __init__(
        self,
        benchmark: Benchmark,
        names: Sequence[str] | None = None,
        missing: Missing | None = None,
        verdicts: Verdicts | None = None,
        *,
        verdicts_first: bool = False,
        labels: Sequence[LabelRecord] = (),
        resolved: Resolved | None = None,
    ) -> None:
        self._benchmark = benchmark
        self._resolved = resolved or Resolved()
        self._labels_given = labels
        self._labelled = {(one.sample, one.repeat): -1 for one in labels}
        self._verdicts = verdicts or {}
        self._verdicts_first = verdicts_first
        self._columns: dict[str, _Growing] = {}
        self._notes: list[str] = []
        self._missing = missing
        for name in names or benchmark.scorings:
            if name not in benchmark.scorings:
                raise UsageError(
                    f"{benchmark.name} has no scoring {name!r}; it has "
                    f"{', '.join(benchmark.scorings)}."
                )
            scoring = benchmark.scorings[name]
            if scoring.reads != benchmark.ask:
                self._notes.append(
                    f"{name} is absent: it reads `{scoring.reads}`, and this run asked for "
                    f"`{benchmark.ask}`"
                )
            else:
                self._columns[name] = _Growing(slots=None if scoring.judge is None else [])
        self._notes += self._resolved.notes
        self._refused = self._reused = self._thinking = 0
        self._clusters: dict[str, int] = {}
        self._last_id: str | None = None
        self._last_cluster = -1
        self._short: dict[str, str] = {}
        self._cluster = array("i")
        self._tags: dict[str, tuple[dict[str, int], array[int]]] = {
            tag: ({}, array("i")) for tag in (*benchmark.break_down_by, *benchmark.metric_tags)
        }
        self._slices = Slices()
        self._leaves: tuple[dict[str, int], array[int]] = ({}, array("i"))
        self._targets: list[str | None] = []
        self._references: list[tuple[str, ...]] = []
        self._choices = array("i")
        self._reply_states = bytearray()
        self._errors: dict[str, tuple[int, str, str]] = {}
        self._disagreements: dict[str, _Differing] = {}
        # For each row which (row, turn) it is about, and what was said, as a hash.
        self._asked = array("q")
        self._words = array("q")
        self._conversations: set[tuple[str, int]] = set()
        self._turns = 0
        self._repeated = False

    def add(self, replies: Iterable[Scored]) -> None:
        """Score each reply, for the report alone."""
        for scored in replies:
            self._add(scored)

    def rows(self, replies: Iterable[Scored]) -> Iterator[bytes]:
        """Score each reply; gives the lines of `scores.jsonl` in blocks."""
        encode = msgspec.json.Encoder().encode
        block: list[bytes] = []
        for scored in replies:
            found = self._add(scored)
            block += [encode(self._row(scored, name, one)) for name, one in found]
            if len(block) >= 512:
                yield b"\n".join(block) + b"\n"
                block.clear()
        if block:
            yield b"\n".join(block) + b"\n"

    def report(
        self,
        *,
        model: str,
        identity: Mapping[str, Any],
        notes: Sequence[str] = (),
        of: int = 0,
        baselines: Baselines | None = None,
        incomplete: bool = False,
    ) -> Report:
        """The report on all samples. `of` counts the (sample, repeat) pairs. `incomplete`: some
        replies did not reach this tally."""
        n = len(self._cluster)
        states = self.replies
        failed = states.get("failed", 0)
        said = list(notes)
        # A conversation whose turns are scored one by one is one of the data set's rows.
        rows = n - self._turns + len(self._conversations)
        if of > rows:
            said.append(f"partial: {rows:,} of {of:,}")
        if failed:
            counted = "count as wrong" if self._missing == "wrong" else "are in no mean"
            said.append(
                f"incomplete: {failed:,} of {n:,} have no reply and {counted}; the same "
                "command asks them again"
            )
        said += self._why_failed()
        if self._missing:
            counted = "as wrong" if self._missing == "wrong" else "in no mean"
            said.append(f"--missing {self._missing}: questions without a reply count {counted}")
        if self._reused:
            said.append(f"{self._reused:,} replies were taken from another run (--reuse)")
        if self._refused:
            count = "count as wrong"
            headline = next(iter(self._columns), None)
            if headline is not None and not self._zero_is_wrong(self._benchmark.scorings[headline]):
                count = "are in no mean: Snellen does not know whether 0 is the worst score"
            said.append(f"{self._refused:,} replies were withheld by the service and {count}")
        if n and (empty := states.get("empty", 0)) / n > EMPTY_SHARE:
            said.append(
                f"{empty:,} of {n:,} replies are empty ({100 * empty / n:.1f} %), and scored so"
            )
        if n and (cut := states.get("truncated", 0)) / n > TRUNCATED_SHARE:
            said.append(
                f"{cut:,} of {n:,} replies ({100 * cut / n:.1f} %) were cut at the token "
                "limit: raise --max-tokens"
            )
            if self._thinking:
                said.append(
                    f"{self._thinking:,} of these were cut while the model was still thinking, and "
                    "say nothing: give it room with token_floor in its profile"
                )
        alike, several = self._alike()
        if several and identity.get("generation", {}).get("temperature") == 0:
            said.append(
                f"repeats of a greedy model are alike: {alike:,} of {several:,} samples got the "
                "same words each time"
            )
        slices = self._sliced()
        said += self._say_place(slices)
        return Report(
            format=FORMAT,
            benchmark=self._benchmark.name,
            model=model,
            n=n,
            headline=next(iter(self._columns), ""),
            replies=states,
            scorings={name: self._scoring_report(name) for name in self._reported()},
            breakdown={tag: list(labels.values()) for tag, labels in self._labels().items()},
            disagreements=[
                d.report()
                for name, d in self._disagreements.items()
                if d.n and name in self._reported()
            ],
            notes=[*said, *self._notes],
            identity=dict(identity),
            incomplete=bool(
                incomplete or failed or any(self._waiting(name) for name in self._reported())
            ),
            asked_of=of if of > rows else None,
            baselines=baselines,
            ladders=dict(self._benchmark.ladders),
            capabilities=self._capabilities(),
            slices=slices,
            repeats=self._repeats(),
            alike=alike if several else None,
            conversations=len(self._conversations) or None,
            judges=self._judges(),
        )

    def _zero_is_wrong(self, scoring: Scoring) -> bool:
        """Whether a score of 0 is known to be the worst under a scoring."""
        return direction(self._benchmark.name, next(iter(scoring.metrics))) is not None

    def _waiting(self, name: str) -> int:
        """How many replies wait for a judge under a scoring."""
        return self._columns[name].states.count(READING_STATES.index("not-judged"))

    def _reported(self) -> list[str]:
        """The scorings to report: not one beside the headline that waits for a judge whom nobody
        asked."""
        first = next(iter(self._columns), None)
        return [
            name
            for name, column in self._columns.items()
            if name == first or not self._waiting(name) or name in self._verdicts
        ]

    @property
    def n(self) -> int:
        return len(self._cluster)

    @property
    def scorings(self) -> list[str]:
        """The scorings that read what was asked for, the headline first."""
        return [*self._columns]

    @property
    def replies(self) -> dict[str, int]:
        """How many replies there are in each state that occurs."""
        counted = {state: self._reply_states.count(code) for state, code in REPLY_CODES.items()}
        return {state: n for state, n in counted.items() if n}

    def rows_by(self, name: str) -> list[ScoredRows]:
        """A scoring's rows as they are in its metrics; where several judges' verdicts are, the
        rows as each alone makes them."""
        column = self._columns[name]
        scoring = self._benchmark.scorings[name]
        return [self._rows_of(scoring, one) for one in column.by_slot() or [column]]

    def leaves(self) -> Category | None:
        """What each row asks of a model (n,); None where nobody has said."""
        import numpy as np

        names, codes = self._leaves
        if not names:
            return None
        return Category(codes=np.array(codes, dtype=np.int32), names=tuple(names))

    @property
    def has_references(self) -> bool:
        """Whether any question has several people's answers."""
        return any(self._references)

    def headline(self) -> Iterator[tuple[int, object, float | None]]:
        """For each row its cluster, what the first scoring found in the reply, and its score; None
        where it is in no mean."""
        column = next(iter(self._columns.values()), None)
        if column is not None:
            has_score = column.has_score().tolist()
            rows = zip(self._cluster, column.answers, column.scores, has_score, strict=True)
            for cluster, answer, score, scored in rows:
                yield cluster, answer, score if scored else None

    def right_answers(self) -> Iterator[tuple[int, str | None]]:
        """For each row the number of choices, and the target or the answer that most people gave;
        None where it is hidden, or the row is in no mean."""
        column = next(iter(self._columns.values()), None)
        in_mean: Sequence[Any] = [] if column is None else column.has_score().tolist()
        every = not any(in_mean)
        rows = zip(self._choices, self._targets, self._references, strict=True)
        for place, (choices, target, references) in enumerate(rows):
            counted = every or in_mean[place]
            yield choices, common_answer(target, references) if counted else None

    def _why_failed(self) -> list[str]:
        """The commonest reasons of failures, each with a question that it befell."""
        common = sorted(self._errors.values(), key=lambda one: -one[0])
        said = [
            f"failed {n:,}, such as {name}: {error[:LONGEST_REASON]}"
            for n, name, error in common[:REASONS]
        ]
        if rest := len(common) - REASONS:
            said += [f"failed for {rest:,} other reasons: see replies.jsonl"] if rest > 0 else []
        return said

    # -- one reply

    def scores(self, sample: Sample, reply: Reply) -> dict[str, float | None]:
        """What each scoring gives one reply; None where only a judge or the whole set tells. It is
        not counted."""
        scored = Scored(sample, 0, reply.state, reply, self._benchmark.ask)
        results = {name: self._read(name, scored) for name in self._columns}
        return {
            name: None if result.reading.undecided else result.score
            for name, result in results.items()
        }

    def _add(self, scored: Scored) -> list[tuple[str, Found]]:
        """Take a reply into account; gives what each scoring finds in it."""
        sample, reply = scored.sample, scored.reply
        self._reused += scored.reused
        self._repeated |= scored.repeat > 0
        self._asked.append(scored.place << 16 | scored.turn)
        self._words.append(0 if reply is None else hash((reply.text, reply.choices)))
        if scored.conversation is not None:
            self._turns += 1
            self._conversations.add((scored.conversation.id, scored.repeat))
        self._thinking += scored.state == "truncated" and _still_thinking(scored.reply)
        self._refused += scored.state == "refused" and not sample.hidden
        if (sample.id, scored.repeat) in self._labelled:
            self._labelled[sample.id, scored.repeat] = len(self._reply_states)
        self._reply_states.append(REPLY_CODES[scored.state])
        if scored.error is not None:
            reason = FILE.sub("FILE", scored.error)
            n, example, error = self._errors.get(reason, (0, sample.id, scored.error))
            self._errors[reason] = (n + 1, example, error)
        self._cluster.append(self._cluster_of(scored.conversation or sample))
        for tag, (codes, column) in self._tags.items():
            column.append(codes.setdefault(sample.tags.get(tag, ""), len(codes)))
        if self._benchmark.capabilities is not None:
            leaves, leaf = self._leaves
            name = self._benchmark.capabilities.leaf(sample)
            leaf.append(leaves.setdefault(name, len(leaves)))
        self._slices.add(sample)
        self._targets.append(self._same(sample.target))
        self._references.append(sample.references)
        self._choices.append(len(sample.choices))
        every = []
        first: Found | None = None
        for name, growing in self._columns.items():
            found = self._read(name, scored)
            every.append((name, found))
            growing.add(self._same(found.reading.answer), found.state, found.score)
            if growing.slots is not None:
                growing.slots.append(found.slots)
                growing.unreadable += found.reading.rule == UNREADABLE
            if first is None:
                first = found
            elif (
                found.score != first.score
                and scored.reply is not None
                and "not-judged" not in (found.state, first.state)
            ):
                differing = self._disagreements.setdefault(name, _Differing(every[0][0], name))
                differing.add(sample.id, first.reading.rule, found.reading.rule)
        return every

    def _row(self, scored: Scored, name: str, found: Found) -> ScoreRow:
        """The line of `scores.jsonl`."""
        return ScoreRow(
            format=FORMAT,
            sample=scored.sample.id,
            repeat=scored.repeat,
            scoring=name,
            version=self._benchmark.scorings[name].version,
            state=found.state,
            reply=scored.state,
            score=found.score,
            answer=found.reading.answer,
            rule=found.reading.rule,
            candidates=list(found.reading.candidates),
        )

    def _cluster_of(self, sample: Sample) -> int:
        """The number of what the sample shares with others; a sample's repeats, which come one
        after the other, share at least it."""
        if self._benchmark.cluster_by:
            return self._clusters.setdefault(
                self._benchmark.cluster_by(sample), len(self._clusters)
            )
        if sample.id != self._last_id:
            self._last_id = sample.id
            self._last_cluster += 1
        return self._last_cluster

    def _same(self, answer: Any) -> Any:
        """One object for all equal short answers: a hundred thousand "A"s need no room."""
        if isinstance(answer, str) and len(answer) <= SHORT:
            return self._short.setdefault(answer, answer)
        return answer

    def _read(self, name: str, scored: Scored) -> Found:
        """What a scoring finds in a reply and what that is worth."""
        scoring, sample = self._benchmark.scorings[name], scored.sample
        if scored.reply is None or scored.state == "refused":
            missing = self._missing or (scoring.missing if scored.state == "absent" else "excluded")
            wrong = scored.state == "refused" or missing == "wrong"
            nothing = Reading(answer=None, rule=scored.state)
            if sample.hidden:
                return Found(nothing, "no-target", None)
            # A caller's distance would be at its best: the reply is in no mean then.
            if scored.state == "refused" and not self._zero_is_wrong(scoring):
                wrong = False
            return Found(nothing, "no-reply", 0.0 if wrong else None)
        stated = scored.readings.get(name) if scored.readings else None
        reading = stated or self._resolved.readings.get(name, {}).get((sample.id, scored.repeat))
        reading = reading or scoring.parse(scored.reply, sample)
        state = reading_state(reading, sample)
        if stated is not None:
            score = None if state == "no-target" else scoring.score(reading, sample)
            return Found(reading, state, score)
        judge = scoring.judge
        said = self._verdicts[name](sample, scored.reply) if name in self._verdicts else ()
        if judge is not None and said and self._verdicts_first:
            if sample.hidden and judge.needs_target:
                return Found(reading, "no-target", None)
            return judged(scoring, judge, said, sample)
        if state == "no-target":
            return Found(reading, state, None)
        if judge is not None and judge.when(reading):
            return judged(scoring, judge, said, sample)
        return Found(reading, state, scoring.score(reading, sample))

    # -- all of them

    def _scoring_report(self, name: str) -> ScoringReport:
        scoring = self._benchmark.scorings[name]
        column = self._columns[name]
        return ScoringReport(
            version=scoring.version,
            source=scoring.source,
            metrics=self._metrics(name),
            readings={
                state: n
                for state, n in zip(READING_STATES, column.states_counted(), strict=True)
                if n
            },
        )

    def _metrics(self, name: str) -> dict[str, MetricReport]:
        """Every metric, of the whole set and then of each category that it is about."""
        scoring = self._benchmark.scorings[name]
        if not self.n:
            return _no_values(scoring, "no replies")
        column = self._columns[name]
        rows = self._rows_of(scoring, column)
        if rows.absent.any():
            self._say_absent(name, rows)
        self._say_waiting(name)
        slots = column.by_slot()
        if not slots:
            return self._metrics_of(scoring, name, rows)
        every = [self._metrics_of(scoring, name, self._rows_of(scoring, one)) for one in slots]
        self._say_agreement(name, every)
        return averaged(every)

    def _metrics_of(self, scoring: Scoring, name: str, rows: ScoredRows) -> dict[str, MetricReport]:
        counted = rows.columns if rows.in_mean.all() else rows.columns.where(rows.in_mean)
        unscored = rows.unknown & ~rows.in_mean
        if unscored.any():
            counted = replace(counted, unscored=rows.columns.where(unscored))
        if not counted.n:
            hidden = all(target is None for target in self._targets) and not self.has_references
            nothing = f"none of the {self.n:,} questions has a reply"
            if self._waiting(name):
                nothing = f"none of the {self.n:,} replies is judged"
            return _no_values(scoring, "the answers are hidden" if hidden else nothing)
        whole = {
            metric: metric_report(
                function(counted),
                # Without a direction nobody knows which score a wrong reply would have.
                _bounds(function, rows, scoring.best)
                if direction(self._benchmark.name, metric)
                else None,
            )
            for metric, function in scoring.metrics.items()
        }
        if scoring.named is not None:
            named = scoring.named(counted)
            whole |= {metric: metric_report(estimate) for metric, estimate in named.items()}
        if all(function is mean for function in scoring.metrics.values()):
            # Which reads no objects: two million references are not picked for each category.
            unread = _objects([None] * counted.n)
            counted = replace(counted, answer=unread, target=unread, references=unread)
        return whole | self._by_category(scoring, counted)

    def _questions(self) -> NDArray[np.intp] | None:
        """For each row the number of its question; None where too few were asked several times."""
        import numpy as np

        if not self._repeated:
            return None
        _, codes, n = np.unique(
            np.frombuffer(self._asked, dtype=np.int64), return_inverse=True, return_counts=True
        )
        return codes if np.count_nonzero(n > 1) >= REPEATED * len(n) else None

    def _alike(self) -> tuple[int, int]:
        """How many questions got the same words each time, and how many have several replies."""
        import numpy as np

        questions = self._questions()
        if questions is None:
            return 0, 0
        silent = [REPLY_CODES[state] for state in ("failed", "absent")]
        said = ~np.isin(np.frombuffer(self._reply_states, dtype=np.uint8), silent)
        pairs = np.unique(
            np.stack([questions[said], np.frombuffer(self._words, dtype=np.int64)[said]]), axis=1
        )
        several = np.bincount(questions[said]) > 1
        different = np.bincount(pairs[0], minlength=len(several))
        return int((several & (different == 1)).sum()), int(several.sum())

    def _repeats(self) -> dict[str, RepeatsReport]:
        import numpy as np

        questions = self._questions()
        if questions is None:
            return {}
        found = {}
        for name in self._reported():
            scoring = self._benchmark.scorings[name]
            rows = self._rows_of(scoring, self._columns[name])
            if rows.columns.score is None or not rows.in_mean.any():
                continue  # only the whole set has a score, or nothing has
            asked = Rows(
                question=questions,
                cluster=rows.columns.cluster,
                score=rows.columns.score,
                answer=rows.columns.answer,
                in_mean=rows.in_mean,
                unknown=rows.unknown,
                best=scoring.best,
            )
            most = int(np.bincount(questions).max())
            # What a judge's verdict says is a grade, and no answer that replies could share.
            found[name] = repeats_report(asked, most=most, votes=scoring.judge is None)
        return found

    def _headline_rows(self) -> tuple[Sequence[ScoredRows], float]:
        """The headline's rows as each judge makes them, once where there is none; and its best
        score."""
        name = next(iter(self._columns))
        return self.rows_by(name), self._benchmark.scorings[name].best

    def _capabilities(self) -> dict[str, CapabilityReport]:
        """The mean score under the headline, by what samples ask of a model."""

        leaves = self.leaves()
        if leaves is None or not self._columns:
            return {}
        every, best = self._headline_rows()
        found = {}
        for code, leaf in enumerate(leaves.names):
            of = leaves.codes == code
            found[leaf] = CapabilityReport(n=int(of.sum()), mean=_leaf_mean(every, of, best))
        return found

    def _sliced(self) -> dict[str, SliceReport]:
        """The mean score under the headline, by where the right answer stands and the like."""
        columns = self._slices.codes() if self._columns else {}
        if not columns:
            return {}
        every, best = self._headline_rows()
        found, ps = {}, {}
        for name, codes in columns.items():
            bins = {
                BINS[name][code]: _leaf_mean(every, codes == code, best) for code in known(codes)
            }
            found[name] = SliceReport(bins=bins)
            if (p := _slice_p(every, codes)) is not None:
                ps[name] = p
        for (name, p), adjusted in zip(ps.items(), stats.holm([*ps.values()]), strict=True):
            found[name] = msgspec.structs.replace(found[name], p=p, adjusted=adjusted)
        return found

    def _say_place(self, slices: Mapping[str, SliceReport]) -> Iterator[str]:
        """Put in words that the score depends on where the right answer stands."""
        place = slices.get(PLACE)
        if place is None or not place.differs:
            return
        # A place of one question, asked ten times, or of one picture, shows nothing.
        rows, codes = self._headline_rows()[0][0], self._slices.codes()[PLACE]
        score, of = rows.columns.score, rows.in_mean
        assert score is not None
        bins = tested(score[of], rows.columns.cluster[of], codes[of])
        names = [BINS[PLACE][code] for code in bins]
        means = [(value, name) for name in names if (value := place.bins[name].value) is not None]
        (low, worst), (high, best) = min(means), max(means)
        said = (
            f"the score depends on the place of the right answer: {100 * high:.1f} % where it is "
            f"{best}, {100 * low:.1f} % where it is {worst} (p {place.adjusted:.2g})"
        )
        if "permute_options" not in self._benchmark.probe:  # where the questions are the same
            said += (
                "; questions may differ too: `run --permute-options` asks with the choices in "
                "other places, and tells"
            )
        yield said

    def _judges(self) -> dict[str, JudgeReport]:
        """The judges whom people have been compared with, by scoring."""
        import numpy as np

        found = {}
        for name in self._reported() if self._labels_given else ():
            column = self._columns[name]
            if column.slots is None or name not in self._verdicts:
                continue
            headline, function = next(iter(self._benchmark.scorings[name].metrics.items()))
            found[name] = against(
                [one for one in self._labels_given if one.scoring in (None, name)],
                metric=None if function is mean else headline,
                rows=self._labelled,
                score=np.frombuffer(column.scores),
                cluster=np.array(self._cluster, dtype=np.int32),
                in_mean=column.has_score(),
                judged=np.array([bool(slots) for slots in column.slots], dtype=np.bool_),
            )
        return found

    def _rows_of(self, scoring: Scoring, column: _Growing) -> ScoredRows:
        """A scoring's rows, and what becomes of each."""
        import numpy as np

        columns = self._all_columns(column)
        has_score = column.has_score()
        states = np.frombuffer(self._reply_states, dtype=np.uint8)
        failed, refused, absent = (
            states == REPLY_STATES.index(state) for state in ("failed", "refused", "absent")
        )
        hidden, unjudged = (
            columns.state.codes == READING_STATES.index(state)
            for state in ("no-target", "not-judged")
        )
        # Whether replies have scores of their own; what has no reply counts as 0 only then.
        replied = ~(failed | refused | absent | hidden)
        if unjudged.any() or (has_score[replied] if replied.any() else has_score).any():
            in_mean = has_score
        else:
            columns = replace(columns, score=None)
            in_mean = ~hidden
            if not self._zero_is_wrong(scoring):
                in_mean &= ~refused
            if self._missing != "wrong":
                in_mean &= ~failed
            if (self._missing or scoring.missing) != "wrong":
                in_mean &= ~absent
        return ScoredRows(
            columns=columns,
            in_mean=in_mean,
            unknown=(failed | refused | unjudged) & ~hidden,
            absent=absent & ~hidden,
            refused=refused & ~hidden,
        )

    def _by_category(self, scoring: Scoring, counted: Columns) -> dict[str, MetricReport]:
        found = {}
        for tag, labels in self._labels().items():
            for code, label in labels.items():
                part = counted.tagged(tag, (counted.tags[tag].names[code],))
                if part.n:
                    for name, metric in scoring.metrics.items():
                        estimate = metric(part)
                        if estimate.n:  # a metric may be about some categories alone
                            found[f"{name}/{label}"] = metric_report(estimate)
        return found

    def _labels(self) -> dict[str, dict[int, str]]:
        """For each tag its categories, by code, as they stand in metric names; a name that two tags
        share says whose it is."""
        broken_down = {tag: self._tags[tag] for tag in self._benchmark.break_down_by}
        uses = Counter(name for names, _ in broken_down.values() for name in names)
        return {
            tag: {
                codes[name]: name if uses[name] == 1 else f"{tag}={name}"
                for name in sorted(codes)
                if name
            }
            for tag, (codes, _) in broken_down.items()
        }

    def _say_absent(self, name: str, rows: ScoredRows) -> None:
        """Put in words what a scoring makes of questions that a prediction file has no reply to."""
        import numpy as np

        scoring, columns = self._benchmark.scorings[name], rows.columns
        without = f"{name}: {int(rows.absent.sum()):,} rows without a reply"
        who = "as --missing says" if self._missing else "by this scoring's default"
        metric, function = next(iter(scoring.metrics.items()))
        if (self._missing or scoring.missing) == "excluded":
            note = f"{without} are in no mean, {who}"
            if columns.score is not None:
                wrong = replace(columns, score=np.where(rows.absent, 0.0, columns.score))
                value = function(wrong.where(rows.in_mean | rows.absent)).value
                note += "" if value is None else f"; with them as wrong {metric} {value:.4f}"
        else:
            value = function(columns.where(rows.in_mean & ~rows.absent)).value
            rest = (
                "nothing is left without them"
                if value is None
                else f"without them {metric} {value:.4f}"
            )
            note = f"{without} scored 0, {who}; {rest}"
        if scoring.on_missing:
            note += f". {scoring.on_missing}"
        self._say_once(note)

    def _say_waiting(self, name: str) -> None:
        """Put in words how many replies have no verdict, and how many one that nobody can read."""
        waiting, unreadable = self._waiting(name), self._columns[name].unreadable
        if not waiting:
            return
        said = f"{name}: {waiting:,} of {self.n:,} replies are not judged and are in no mean"
        if waiting > unreadable and not self._verdicts_first:
            said += "; `snellen judge RUN --judge MODEL` asks for what is missing"
        if unreadable:
            said += (
                f"; {unreadable:,} of them have a verdict that is not of the form asked for: ask "
                "another judge, or again with --repeats"
            )
        self._say_once(said)

    def _say_agreement(self, name: str, slots: Sequence[Mapping[str, MetricReport]]) -> None:
        """Put in words how far the verdicts on single replies, and the first metric by each judge,
        agree."""
        several, alike = agreement(self._columns[name].slots or ())
        metric = next(iter(slots[0]))
        values = [slot[metric].value for slot in slots]
        by_each = ", ".join("none" if value is None else f"{value:.4f}" for value in values)
        share = f", {100 * alike / several:.1f} % of them all alike" if several else ""
        self._say_once(
            f"{name}: {several:,} replies have several verdicts{share}; {metric} by each judge and "
            f"time alone {by_each}: reported is the mean, with their spread in its error"
        )

    def _say_once(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)

    def _all_columns(self, column: _Growing) -> Columns:
        import numpy as np

        return Columns(
            score=np.frombuffer(column.scores),
            answer=_objects(column.answers),
            target=_objects(self._targets),
            references=_objects(self._references),
            state=Category(codes=column.codes(), names=READING_STATES),
            tags={
                tag: Category(codes=np.array(codes, dtype=np.int32), names=tuple(names))
                for tag, (names, codes) in self._tags.items()
            },
            cluster=np.array(self._cluster, dtype=np.int32),
        )


@dataclass
class _Growing:
    """One scoring's columns while they grow; a row without a score has 0.0 there and False in
    `_has`. `slots` is what each verdict on a row makes of it, () where rules decide; None for
    scorings without a judge. `unreadable` counts the rows whose verdicts nobody can read."""

    slots: list[tuple[Found, ...]] | None = None
    unreadable: int = 0
    scores: array[float] = field(default_factory=lambda: array("d"))
    answers: list[object] = field(default_factory=list)
    states: bytearray = field(default_factory=bytearray)
    _has: bytearray = field(default_factory=bytearray)

    def add(self, answer: object, state: ReadingState, score: float | None) -> None:
        self.scores.append(0.0 if score is None else score)
        self._has.append(score is not None)
        self.answers.append(answer)
        self.states.append(READING_CODES[state])

    def by_slot(self) -> list[_Growing]:
        """The columns as each judge's verdicts alone make them; none where there is one judge."""
        most = max(map(len, self.slots or ()), default=0)
        return [self._of_slot(number) for number in range(most)] if most > 1 else []

    def _of_slot(self, number: int) -> _Growing:
        made = _Growing()
        for row, slots in enumerate(self.slots or ()):
            if not slots:
                score = self.scores[row] if self._has[row] else None
                made.add(self.answers[row], READING_STATES[self.states[row]], score)
            elif number < len(slots):
                found = slots[number]
                made.add(found.reading.answer, found.state, found.score)
            else:
                made.add(None, "not-judged", None)
        return made

    def has_score(self) -> NDArray[np.bool_]:
        import numpy as np

        return np.frombuffer(self._has, dtype=np.bool_)

    def codes(self) -> NDArray[np.int32]:
        import numpy as np

        return np.frombuffer(self.states, dtype=np.uint8).astype(np.int32)

    def states_counted(self) -> list[int]:
        counted = Counter(self.states)
        return [counted[code] for code in range(len(READING_STATES))]


@dataclass(frozen=True, kw_only=True)
class ScoredRows:
    """One scoring's rows, and masks (n,): what is `in_mean`; what is `unknown`, since it failed,
    was refused or waits for a judge; what is `absent` from a prediction file; what was `refused`.
    Hidden answers are in none of the four.

    `columns` have no scores where replies have none of their own.
    """

    columns: Columns
    in_mean: NDArray[np.bool_]
    unknown: NDArray[np.bool_]
    absent: NDArray[np.bool_]
    refused: NDArray[np.bool_]


@dataclass
class _Differing:
    """Where two scorings give different scores."""

    one: str
    other: str
    n: int = 0
    by_rule: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, sample: str, rule: str, other_rule: str) -> None:
        self.n += 1
        self.by_rule[f"{rule} | {other_rule}"] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(sample)

    def report(self) -> Disagreement:
        return Disagreement(
            scorings=(self.one, self.other),
            n=self.n,
            by_rule=dict(self.by_rule.most_common()),
            examples=self.examples,
        )


def _leaf_mean(every: Sequence[ScoredRows], of: NDArray[np.bool_], best: float) -> MetricReport:
    """The mean score of some rows, as a share of the best; over what each judge makes of them."""
    return averaged([{"": metric_report(_mean_of(rows, of, best))} for rows in every])[""]


def _mean_of(rows: ScoredRows, of: NDArray[np.bool_], best: float) -> Estimate:
    of, columns = of & rows.in_mean, rows.columns
    if columns.score is None:
        return Estimate(value=None, n=0, reason="only the whole set has a score")
    return stats.mean(columns.score[of] / best, columns.cluster[of])


def _slice_p(every: Sequence[ScoredRows], codes: NDArray[np.uint8]) -> float | None:
    """The highest p of all judges: a difference must be there by each of them."""
    ps = []
    for rows in every:
        score, of = rows.columns.score, rows.in_mean
        p = None if score is None else difference_p(score[of], rows.columns.cluster[of], codes[of])
        if p is None:
            return None
        ps.append(p)
    return max(ps)


def _no_values(scoring: Scoring, reason: str) -> dict[str, MetricReport]:
    nothing = metric_report(Estimate(value=None, n=0, reason=reason))
    return dict.fromkeys(scoring.metrics, nothing)


def _bounds(metric: Metric, rows: ScoredRows, best: float) -> tuple[float, float] | None:
    """The metric if all unknown scores were wrong, and if all were right. None if no score is
    unknown, or if the metric does not follow from the scores."""
    import numpy as np

    if rows.columns.score is None or not rows.unknown.any():
        return None
    values = []
    for score, wrong in ((0.0, rows.unknown), (best, None)):
        scores = np.where(rows.unknown, score, rows.columns.score)
        filled = replace(rows.columns, score=scores, assumed_wrong=wrong)
        value = metric(filled.where(rows.in_mean | rows.unknown)).value
        if value is None:
            return None
        values.append(value)
    # A metric of answers, such as a distribution, stays the same whatever the scores are.
    return None if values[0] == values[1] else (values[0], values[1])


def _objects(values: Sequence[object]) -> NDArray[Any]:
    """A column of objects; numpy must not look inside tuples."""
    import numpy as np

    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
