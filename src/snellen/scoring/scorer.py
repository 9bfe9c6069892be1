"""Parses and scores one reply. All scores of a report come from this module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Missing, Parts, Reading, Scoring, Verdicts, reading_state
from snellen.errors import SnellenError, UsageError
from snellen.scoring.replies import Scored
from snellen.scoring.reply_errors import reply_error
from snellen.scoring.resolution import Resolved
from snellen.scoring.verdicts import Finding, finding, judged
from snellen.store import FORMAT, ScoreRow


class Scorer:
    """Scores single replies by one or more scorings of a benchmark."""

    names: Sequence[str]
    """The scorings that can parse the kind of reply that was requested. The first one is the
    headline."""
    notes: Sequence[str]
    """Notes on the scorings, for the report."""

    def __init__(
        self,
        benchmark: Benchmark,
        names: Sequence[str] | None = None,
        missing: Missing | None = None,
        verdicts: Verdicts | None = None,
        *,
        verdicts_first: bool = False,
        resolved: Resolved | None = None,
    ) -> None:
        """`missing` overrides how each scoring handles questions without a reply. With
        `verdicts_first`, verdicts take precedence over the rules, since published scores were
        computed from published verdicts. Verdicts are then used even if the target is hidden,
        unless the judge needs the target.

        Raises:
            UsageError: a scoring does not exist.
        """
        self.benchmark = benchmark
        self.missing = missing
        self.verdicts = verdicts or {}
        self.verdicts_first = verdicts_first
        self._resolved = resolved or Resolved()
        self.names, notes = _readable(benchmark, names or [*benchmark.scorings])
        self._scorings = [(name, benchmark.scorings[name]) for name in self.names]
        uses = Counter(id(scoring.parse) for _, scoring in self._scorings)
        self._shared = {parse for parse, n in uses.items() if n > 1}
        """The ids of the parse functions that several scorings share. They parse each reply
        once."""
        self.notes = [*notes, *self._resolved.notes]

    @property
    def headline(self) -> str | None:
        """The first scoring; None if no scoring can parse the kind of reply that was requested."""
        return self.names[0] if self.names else None

    def scores(self, sample: Sample, reply: Reply) -> dict[str, float | None]:
        """The score that each scoring gives a reply. A score is None if it needs a judge, or if the
        scoring scores only whole sets of replies."""
        scored = Scored(sample, 0, reply.state, reply, self.benchmark.procedure.kind)
        findings = zip(self.names, self.findings(scored), strict=True)
        return {
            name: None if result.reading.undecided else result.score for name, result in findings
        }

    def findings(self, scored: Scored) -> list[Finding]:
        """The reading and the score that each scoring in `names` gives a reply.

        Raises:
            DataError: a function of the benchmark raised an exception.
        """
        if scored.reply is None or scored.state == "refused":
            return [self._without_reply(scoring, scored) for _, scoring in self._scorings]
        parsed: dict[int, Reading] = {}
        findings = []
        for name, scoring in self._scorings:
            try:
                findings.append(self._finding(name, scoring, scored, parsed))
            except SnellenError:
                raise
            except Exception as error:
                raise reply_error(error, self.benchmark, name, scored) from error
        return findings

    def score_rows(self, scored: Scored, findings: Sequence[Finding]) -> list[ScoreRow]:
        """The lines of `scores.jsonl` for a reply, one for each scoring."""
        return [
            ScoreRow(
                format=FORMAT,
                sample=scored.sample.id,
                repeat=scored.repeat,
                scoring=name,
                version=self.benchmark.scorings[name].version,
                state=result.state,
                reply=scored.state,
                score=result.score,
                answer=result.reading.answer,
                rule=result.reading.rule,
                candidates=list(result.reading.candidates),
                parts=dict(result.parts or {}),
            )
            for name, result in zip(self.names, findings, strict=True)
        ]

    def _without_reply(self, scoring: Scoring, scored: Scored) -> Finding:
        nothing = Reading(answer=None, rule=scored.state)
        if scored.sample.hidden:
            return Finding(nothing, "no-target", None)
        if scored.state == "refused":
            # For a user's own distance, 0 would be the best score. The reply is then left out.
            wrong = scoring.zero_is_wrong
        else:
            default = scoring.missing if scored.state == "absent" else "excluded"
            wrong = (self.missing or default) == "wrong"
        return Finding(nothing, "no-reply", 0.0 if wrong else None)

    def _finding(
        self, name: str, scoring: Scoring, scored: Scored, parsed: dict[int, Reading]
    ) -> Finding:
        """The finding of one scoring. `parsed` maps the ids of shared parse functions to their
        readings of this reply."""
        sample, reply, judge = scored.sample, scored.reply, scoring.judge
        assert reply is not None
        stated = reading = scored.readings.get(name) if scored.readings else None
        if reading is None and scoring.resolve is not None:
            reading = self._resolved.reading(name, sample.id, scored.repeat)
        if reading is None and self._shared:
            reading = parsed.get(id(scoring.parse))
        if reading is None:
            reading = scoring.parse(reply, sample)
            if id(scoring.parse) in self._shared:
                parsed[id(scoring.parse)] = reading
        state = reading_state(reading, sample)
        if judge is not None and stated is None:
            verdicts = self.verdicts[name](sample, reply) if name in self.verdicts else ()
            if verdicts and self.verdicts_first:
                if sample.hidden and judge.needs_target:
                    return Finding(reading, "no-target", None)
                return judged(scoring, judge, verdicts, sample)
            if state != "no-target" and judge.when(reading):
                return judged(scoring, judge, verdicts, sample)
        if state == "no-target":
            return Finding(reading, state, None)
        score = scoring.score(reading, sample)
        if isinstance(score, Parts):
            return finding(reading, state, score)
        return Finding(reading, state, score)


def _readable(benchmark: Benchmark, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The scorings that can parse the run's kind of reply, and a note on each of the other
    scorings."""
    readable, notes = [], []
    for name in names:
        if name not in benchmark.scorings:
            raise UsageError(
                f"{benchmark.name} has no scoring {name!r}. Scorings: "
                f"{', '.join(benchmark.scorings)}."
            )
        scoring = benchmark.scorings[name]
        if scoring.reads == benchmark.procedure.kind:
            readable.append(name)
        else:
            notes.append(
                f"{name} is left out: it needs replies of kind `{scoring.reads}`, but this run has "
                f"`{benchmark.procedure.kind}`"
            )
    return readable, notes
