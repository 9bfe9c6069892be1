"""Reads the content that pages show about a run's samples: lists, counts, and single samples in
full."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec
import orjson

from snellen import registry
from snellen.core.answer import Answer
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import SnellenError
from snellen.scoring import judge
from snellen.store import Key, Placed, Question, ReplyRecord, Run, ShownMedia, with_steps
from snellen.view._indexes import file_of
from snellen.view.index import EARLIER_STEPS, ROW_OF_KEY, Index
from snellen.view.query import FACET, VERDICTS
from snellen.view.runs import Listed, odd

BATCHES = """
    SELECT row FROM samples
    WHERE instr('+' || sample || '+', '+' || ? || '+')
       OR instr('+' || sample || '+', '+' || ? || '+')
    ORDER BY sample, repeat
"""
"""The rows of a judge's run that are about a reply and others. Their ids are joined by `+`."""
FRAMES = 5_000
"""The maximum number of frames of a video that a page can step through."""


class SampleLine(NamedTuple):
    """A sample in a list."""

    row: int
    """The number of the sample's row in the index."""
    sample: str
    """The sample's id."""
    repeat: int
    """The repeat, from 0."""
    turn: int
    """The turn of the conversation, from 0."""
    step: int
    """The step of the turn, from 0."""
    state: str | None
    """The state of the reply."""
    length: int | None
    """The length of the reply in characters."""
    seconds: float | None
    """The time that the reply took, in seconds."""
    tokens: int | None
    """The number of tokens of the reply."""
    attempts: int | None
    """The number of attempts."""
    question: str | None
    """The beginning of the question."""
    target: str | None
    """The right answer."""
    reply: str | None
    """The beginning of the reply."""
    pictures: int | None
    """The number of pictures."""
    score: float | None
    """The score that the selected scoring gives to the reply."""
    reading: str | None
    """The state of the reading, such as `unparsed`."""
    rule: str | None
    """The rule that parsed the reply."""
    answer: str | None
    """The answer that was parsed from the reply."""


class Facet(NamedTuple):
    """A filter: its values, and the number of samples with each value."""

    name: str
    """The facet's name in the query string."""
    title: str
    """Its heading."""
    choices: Sequence[tuple[str, int]]
    """The values, each with the number of samples that have the value."""


class ScoringResult(NamedTuple):
    """The result of one scoring for one reply."""

    scoring: str
    """The scoring's name."""
    score: float | None
    """The score; None if the reply has no score."""
    state: str
    """The state of the reading, such as `unparsed`."""
    rule: str
    """The rule that parsed the reply."""
    answer: str | None
    """The answer that was parsed from the reply."""
    candidates: list[str]
    """The answers that the reply could have meant."""
    source: str
    """The source of the scoring's rules."""
    verdicts: list[tuple[str, str]]
    """The judges' verdicts, as pairs of the judge's model and the text."""
    typed: Answer | None = None
    """The answer as an object, if it is more than a line of text."""


@dataclass(kw_only=True)
class SampleMedium:
    """A picture or a video of a sample."""

    number: int
    """The number of the picture or video in the sample, from 0."""
    medium: ShownMedia
    """The picture or the video."""
    frames: list[float] = field(default_factory=list)
    """For a video, the media times in seconds of the frames that the model was shown."""


class SessionMoment(NamedTuple):
    """An event in a session of an online run."""

    at: float
    """The media time in seconds."""
    what: str
    """The kind of event: `ask` or `emit`."""
    text: str
    """The text that was sent to the model or that the model sent."""
    delay: float | None
    """The time in seconds since the question; None if the event is not an answer."""


@dataclass(kw_only=True)
class Timeline:
    """A sample's session in an online run."""

    session: str
    """The session's id."""
    end: float
    """The last media time in seconds."""
    frames: int
    """The number of frames sent."""
    dropped: int
    """The number of frames dropped."""
    moments: list[SessionMoment]
    """The events, in order."""


@dataclass(kw_only=True)
class Story:
    """Everything about one sample."""

    row: int
    """The number of the sample's row in the index."""
    key: Key
    """The key under which the sample's question and replies are stored."""
    question: Question | None
    """The question, with the steps that the model took itself; None if the run did not send the
    question."""
    final: ReplyRecord | None
    """The reply that counts; None if there is no reply."""
    attempts: list[ReplyRecord]
    """All attempts, in order."""
    results: list[ScoringResult]
    """The result of each scoring."""
    media: list[SampleMedium]
    """Its pictures and videos."""
    timelines: list[Timeline]
    """The sample's sessions in an online run."""
    turns: list[tuple[int, int, str | None]]
    """The turns and steps of the sample's conversation, each with the state of its reply."""


LINE = """
SELECT s.row, s.sample, s.repeat, s.turn, s.step, s.state, s.length, s.seconds, s.tokens,
    s.attempts, h.question, h.target, h.reply, h.pictures, x.score, x.state, x.rule, x.answer
FROM samples s LEFT JOIN shown h ON h.row = s.row
LEFT JOIN scores x ON x.row = s.row AND x.scoring = ?
WHERE s.row = ?"""


def lines(connection: sqlite3.Connection, rows: Sequence[int], scoring: str) -> list[SampleLine]:
    """The samples of these rows, in that order."""
    return [SampleLine(*connection.execute(LINE, (scoring, row)).fetchone()) for row in rows]


def states(connection: sqlite3.Connection) -> dict[str, int]:
    """The number of samples per reply state. Samples without a reply are `waiting`."""
    every = connection.execute(
        "SELECT state, count(*) FROM samples WHERE earlier = 0 GROUP BY state"
    )
    return {state or "waiting": n for state, n in every}


def scorings(run: Listed, connection: sqlite3.Connection) -> list[str]:
    """The scorings that have scored the replies, the headline scoring first."""
    if run.result is not None:
        return [*run.result.report.scorings]
    # This query reads only one row per scoring, no matter how many rows there are.
    every = connection.execute(
        "WITH RECURSIVE one(name) AS (SELECT min(scoring) FROM scores UNION ALL "
        "SELECT (SELECT min(scoring) FROM scores WHERE scoring > one.name) FROM one "
        "WHERE one.name IS NOT NULL) SELECT name FROM one WHERE name IS NOT NULL"
    )
    return [name for (name,) in every]


VERDICT = (
    "CASE WHEN x.score IS NULL THEN 'none' WHEN x.score >= ? THEN 'right' "
    "WHEN x.score > 0 THEN 'partly' ELSE 'wrong' END"
)
"""The SQL expression for the verdict on a row of the table `scores`, which the query must name `x`.
The verdict is one of `VERDICTS`. The expression's parameter is the full score."""


def facets(connection: sqlite3.Connection, scoring: str, best: float) -> list[Facet]:
    """The filters (facets) that a page offers, with counts over the full run. The verdicts come
    first. Tags with more than `FACET` values, or with a single value, are left out.

    Args:
        connection: The index.
        scoring: The scoring whose scores and readings are counted.
        best: The full score.
    """
    verdicts = connection.execute(
        f"SELECT {VERDICT}, count(*) FROM samples s LEFT JOIN scores x "
        "ON x.row = s.row AND x.scoring = ? WHERE s.earlier = 0 GROUP BY 1",
        (best, scoring),
    )
    counts = dict(verdicts.fetchall())
    score = Facet("score", "Score", [(name, counts.get(name, 0)) for name in VERDICTS])
    known = states(connection)
    all_facets = [
        score,
        Facet("state", "Reply", sorted(known.items(), key=lambda choice: -choice[1])),
    ]
    for name, title, column in (("reading", "Reading", "state"), ("rule", "Rule", "rule")):
        every = connection.execute(
            f"SELECT {column}, count(*) n FROM scores WHERE scoring = ? GROUP BY 1 ORDER BY n DESC",
            (scoring,),
        ).fetchall()
        all_facets.append(Facet(name, title, [choice for choice in every if choice[0]][:FACET]))
    names: dict[str, list[tuple[str, int]]] = {}
    counted = connection.execute(
        f"SELECT tag, value, count(*) FROM tags WHERE row NOT IN ({EARLIER_STEPS}) "
        "GROUP BY tag, value"
    )
    for tag, value, n in counted:
        names.setdefault(tag, []).append((value, n))
    all_facets += [
        Facet(f"tag.{tag}", tag.replace("_", " "), values)
        for tag, values in names.items()
        if 1 < len(values) <= FACET
    ]
    return [facet for facet in all_facets if facet.choices]


def narrowed(connection: sqlite3.Connection, facet: Facet, scoring: str, best: float) -> Facet:
    """Count a facet's values over the selected samples (`Chosen`)."""
    from_chosen = "FROM chosen c CROSS JOIN"
    here = {"state": "coalesce(state, 'waiting')", "reading": "state", "rule": "rule"}
    values: tuple[object, ...] = ()
    if facet.name == "score":
        sql = (
            f"SELECT {VERDICT}, count(*) FROM chosen c LEFT JOIN scores x "
            "ON x.row = c.row AND x.scoring = ? GROUP BY 1"
        )
        values = (best, scoring)
    elif facet.name == "state":
        sql = (
            f"SELECT {here['state']}, count(*) {from_chosen} samples s ON s.row = c.row GROUP BY 1"
        )
    elif facet.name in here:
        sql = (
            f"SELECT {here[facet.name]}, count(*) {from_chosen} scores x "
            "ON x.scoring = ? AND x.row = c.row GROUP BY 1"
        )
        values = (scoring,)
    else:
        sql = (
            "SELECT value, count(*) FROM tags t CROSS JOIN chosen c ON c.row = t.row "
            "WHERE tag = ? GROUP BY 1"
        )
        values = (facet.name.removeprefix("tag."),)
    counts = dict(connection.execute(sql, values).fetchall())
    return facet._replace(choices=[(name, counts.get(name, 0)) for name, _ in facet.choices])


def best_score(run: Listed, scoring: str) -> float:
    """The score of a perfect answer, or 1 if the benchmark cannot be loaded."""
    if registry.runs_a_program(run.manifest):
        return 1.0
    try:
        return registry.of_run(run.manifest).scorings[scoring].best
    except (SnellenError, KeyError, TypeError, ValueError):
        return 1.0


def marked_best(run: Listed, scoring: str) -> float | None:
    """The score of a perfect answer, which pages need in order to mark answers as right or wrong.
    None if it is unknown whether a wrong answer scores 0."""
    if run.result is not None and scoring in run.result.report.scorings:
        first = next(iter(run.result.scoring(scoring).metrics.values()))
        if first.better != "higher":
            return None
    return best_score(run, scoring)


def find(connection: sqlite3.Connection, key: Key) -> int | None:
    """The row of the sample with this key; None if there is no such sample."""
    values = (key.sample, key.repeat, key.turn, key.step)
    row = connection.execute(ROW_OF_KEY, values).fetchone()
    return None if row is None else int(row[0])


def find_question(connection: sqlite3.Connection, key: Key) -> int | None:
    """The row of the last step of the turn to which this key belongs, which stands for the
    question in lists; None if there is no such turn."""
    row = connection.execute(
        "SELECT row FROM samples WHERE sample = ? AND repeat = ? AND turn = ? "
        "ORDER BY step DESC LIMIT 1",
        key[:3],
    ).fetchone()
    return None if row is None else int(row[0])


def key_of(connection: sqlite3.Connection, row: int) -> Key:
    sql = "SELECT sample, repeat, turn, step FROM samples WHERE row = ?"
    return Key(*connection.execute(sql, (row,)).fetchone())


def question_of(index: Index, connection: sqlite3.Connection, row: int) -> Question | None:
    """The question of a row, read from the run's file."""
    where = connection.execute(
        "SELECT question_file, question_at, question_size FROM samples WHERE row = ?", (row,)
    ).fetchone()
    if where[0] is None:
        return None
    with closing(Run(index.run)) as run:
        return run.question_at(Placed(*where))


def question_with_steps(index: Index, connection: sqlite3.Connection, row: int) -> Question | None:
    """The question of a row, with the steps that the model took itself before its reply."""
    question = question_of(index, connection, row)
    return None if question is None else with_steps(question, reply_of(index, connection, row))


def reply_of(index: Index, connection: sqlite3.Connection, row: int) -> ReplyRecord | None:
    """The reply that counts for a row, read from the run's file."""
    where = connection.execute(
        "SELECT reply_file, reply_at, reply_size FROM samples WHERE row = ?", (row,)
    ).fetchone()
    if where[0] is None:
        return None
    with closing(Run(index.run)) as run:
        return run.reply_at(Placed(*where))


def story(listed: Listed, index: Index, connection: sqlite3.Connection, row: int) -> Story:
    """Everything that is known about a sample."""
    key = key_of(connection, row)
    question = question_with_steps(index, connection, row)
    final = reply_of(index, connection, row)
    every = connection.execute(
        "SELECT file, at, size FROM attempts WHERE row = ?", (row,)
    ).fetchall()
    places = sorted((Placed(*where) for where in every), key=lambda placed: placed.order)
    with closing(Run(index.run)) as run:
        attempts = [run.reply_at(placed) for placed in places]
    timelines = _timelines(connection, key.sample)
    return Story(
        row=row,
        key=key,
        question=question,
        final=final,
        attempts=attempts,
        results=_scoring_results(listed, connection, row, key, final),
        media=_media(connection, question, final, timelines),
        timelines=timelines,
        turns=connection.execute(
            "SELECT turn, step, state FROM samples WHERE sample = ? AND repeat = ? "
            "ORDER BY turn, step",
            key[:2],
        ).fetchall(),
    )


def _scoring_results(
    listed: Listed,
    connection: sqlite3.Connection,
    row: int,
    key: Key,
    final: ReplyRecord | None,
) -> list[ScoringResult]:
    report = None if listed.result is None else listed.result.report
    results = []
    for name in scorings(listed, connection):
        score_row = connection.execute(
            "SELECT score, state, rule, answer, candidates, typed FROM scores WHERE scoring = ? "
            "AND row = ?",
            (name, row),
        ).fetchone()
        if score_row is None:
            continue
        source = report.scorings[name].source if report and name in report.scorings else ""
        score, state, rule, answer, candidates, typed = score_row
        results.append(
            ScoringResult(
                scoring=name,
                score=score,
                state=state,
                rule=rule,
                answer=answer,
                candidates=[] if candidates is None else orjson.loads(candidates),
                source=source,
                verdicts=_verdicts(listed, name, key, final),
                typed=None if typed is None else msgspec.json.decode(typed, type=Answer),
            )
        )
    return results


def _verdicts(
    listed: Listed, scoring: str, key: Key, final: ReplyRecord | None
) -> list[tuple[str, str]]:
    """The verdicts of a run's judges on a reply, one verdict for each request."""
    if final is None or not (listed.path / judge.JUDGED).is_dir():
        return []
    verdicts = []
    names = (key.sample, f"{key.sample}#{key.turn + 1}")
    for run in judge.runs_of(listed.path, f"{listed.manifest.get('benchmark')}.{scoring}"):
        if run.path.resolve() != run.path or odd(run.path) is not None:
            continue
        with closing(run):
            judged_ids = [
                judge.judged_id(Sample(id=name, question=""), Reply(text=final.reply))
                for name in names
            ]
            own = Index(run.path, file_of(run.path))
            own.catch_up()
            with own.connect() as connection:
                rows = connection.execute(
                    "SELECT row FROM samples WHERE sample IN (?, ?) ORDER BY sample, repeat",
                    judged_ids,
                ).fetchall()
                # The judge may have read the reply in one prompt with others.
                rows = rows or connection.execute(BATCHES, judged_ids).fetchall()
                for (row,) in rows:
                    record = reply_of(own, connection, row)
                    if record is not None:
                        model = str(run.manifest().get("model", ""))
                        verdicts.append((model, record.reply or f"({record.state})"))
    return verdicts


def _media(
    connection: sqlite3.Connection,
    question: Question | None,
    final: ReplyRecord | None,
    timelines: Sequence[Timeline],
) -> list[SampleMedium]:
    if question is None:
        return []
    media = [
        SampleMedium(number=n, medium=sample_medium)
        for n, sample_medium in enumerate(question.media)
    ]
    seen = [] if final is None else list(final.media)
    for sample_medium in media:
        if sample_medium.medium.kind != "video":
            continue
        match = next((sent for sent in seen if sent.digest == sample_medium.medium.digest), None)
        if match is not None:
            seen.remove(match)
            sample_medium.frames = match.frames[:FRAMES]
        if not sample_medium.frames and timelines:
            every = connection.execute(
                "SELECT DISTINCT at FROM events WHERE session = ? AND ev = 'frame' AND "
                "said IS NULL AND at IS NOT NULL ORDER BY at LIMIT ?",
                (timelines[-1].session, FRAMES),
            )
            sample_medium.frames = [at for (at,) in every]
    return media


def _timelines(connection: sqlite3.Connection, sample: str) -> list[Timeline]:
    timelines = []
    every = connection.execute("SELECT session FROM sessions WHERE sample = ?", (sample,))
    for (session,) in every.fetchall():
        events = connection.execute(
            "SELECT ev, at, sample, said FROM events WHERE session = ? AND at IS NOT NULL AND "
            "ev != 'frame' ORDER BY seq",
            (session,),
        ).fetchall()
        frames, dropped, last = connection.execute(
            "SELECT count(*), count(said), max(at) FROM events WHERE session = ? AND ev = 'frame'",
            (session,),
        ).fetchone()
        ask_times: dict[str | None, float] = {}
        moments = []
        for what, at, of, text in events:
            if what == "ask":
                ask_times[of] = at
            mine = of in (None, sample)
            if what in ("ask", "emit") and mine:
                since = ask_times.get(of, ask_times.get(sample))
                delay = at - since if what == "emit" and since is not None else None
                moments.append(SessionMoment(at, what, text or "", delay))
        end = max([last or 0.0, *(event[1] for event in events)])
        timelines.append(
            Timeline(
                session=session, end=end, frames=frames - dropped, dropped=dropped, moments=moments
            )
        )
    return timelines
