"""Explains one sample: the prompt, the reply, and the result of each scoring."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from snellen.core.answer import Answer
from snellen.core.benchmark import Benchmark
from snellen.core.scoring import Verdicts
from snellen.media.content import Message
from snellen.scoring.explained_calls import ExplainedCall, explained_calls
from snellen.scoring.predictions import Predicted
from snellen.scoring.replies import Scored, replies_of, sample_of
from snellen.scoring.resolution import resolve
from snellen.scoring.scorer import Scorer
from snellen.store import Key, Question, ReplyRecord, Run


class Attempt(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt at a question."""

    state: str
    """The state of the reply, such as `ok` or `failed`."""
    turn: int = 0
    """The number of the question's turn, counted from 0."""
    step: int = 0
    """The number of the step within the turn, counted from 0."""
    attempt: int = 1
    """The number of the attempt, counted from 1."""
    reply: str = ""
    """The text of the reply."""
    reasoning: str | None = None
    """The reasoning before the reply; None if there is none."""
    error: str | None = None
    """The error, if the attempt failed."""
    at: str | None = None
    """The time at which the outcome was stored (ISO 8601)."""


class Explained(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result that one scoring gives a reply."""

    scoring: str
    """The scoring."""
    source: str
    """The source of the scoring's rules."""
    state: str
    """The state of the reading, such as `answered`."""
    answer: Answer | None
    """The parsed answer; None if there is none."""
    rule: str
    """The rule that extracted the answer, or that decided that the reply has no answer."""
    score: float | None
    """The score; None if the reply does not count."""
    candidates: list[Answer] = []
    """The possible answers, if the reply is ambiguous."""
    verdicts: list[str] = []
    """The texts of the judges' verdicts."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Everything that a run or a file contains about one sample."""

    benchmark: str
    """The benchmark."""
    sample: str
    """The id of the sample."""
    repeat: int
    """The number of the repeat, from 0."""
    question: str
    """The question."""
    choices: list[str]
    """The choices."""
    target: str | None
    """The right answer; None if it is not public, or if there are references instead."""
    references: list[str]
    """Several people's answers."""
    tags: dict[str, str]
    """The category of the sample under each tag."""
    messages: list[tuple[str, str]]
    """The role and the text of each message that was sent. A picture is shown as `<PATH>`."""
    attempts: list[Attempt]
    """The attempts."""
    readings: list[Explained]
    """The result of each scoring."""
    calls: list[ExplainedCall] = []
    """The calls of tools, in order."""


def explain_run(
    run: Run, benchmark: Benchmark, sample: str, verdicts: Verdicts
) -> list[Explanation]:
    """Explain a sample of a run. There is one explanation for each repeat and, if turns are scored,
    for each turn. The id of a single turn selects that turn. The result is empty if the sample was
    not asked."""
    apart = benchmark.procedure.conversation.by_turn is not None

    def story(key: Key) -> tuple[int, int]:
        return key.repeat, key.turn if apart else 0

    replies = {
        (scored.repeat, scored.turn): scored
        for scored in replies_of(run, benchmark)
        if sample in (scored.sample.id, (scored.conversation or scored.sample).id)
    }
    resolved = resolve(benchmark, benchmark.scorings, lambda: replies_of(run, benchmark))
    sample_ids = {sample} | {
        (scored.conversation or scored.sample).id for scored in replies.values()
    }
    messages: dict[tuple[int, int], list[tuple[str, str]]] = {}
    last_steps: dict[tuple[int, int], Question] = {}
    for question in run.questions():
        if question.key.sample not in sample_ids:
            continue
        # Without a reply (for example, because the run was killed), explain only the question.
        sample_shown = sample_of(question)
        if apart:
            sample_shown = benchmark.turn_samples(sample_shown)[question.key.turn]
        if sample in (question.key.sample, sample_shown.id):
            nothing = Scored(
                sample_shown, question.key.repeat, "absent", None, benchmark.procedure.kind
            )
            replies.setdefault(story(question.key), nothing)
        turn = (question.key.repeat, question.key.turn)
        # The question of a later step contains the messages of the earlier steps.
        before = len(last_steps[turn].messages) if question.key.step and turn in last_steps else 0
        last_steps[turn] = question
        for role, parts in question.messages[before:]:
            shown = [
                part if isinstance(part, str) else _picture(question.media[part].place)
                for part in parts
            ]
            messages.setdefault(story(question.key), []).append((role, "\n".join(shown)))
    attempts: dict[tuple[int, int], list[Attempt]] = {}
    for record in run.replies():
        if isinstance(record, ReplyRecord) and record.key.sample in sample_ids:
            attempts.setdefault(story(record.key), []).append(_attempt(record))
    calls: dict[tuple[int, int], list[ExplainedCall]] = {}
    for _, question in sorted(last_steps.items()):
        more = explained_calls(question, run.final(question.key))
        calls.setdefault(story(question.key), []).extend(more)
    return [
        _explained(
            Scorer(benchmark, verdicts=verdicts, resolved=resolved),
            replies[key],
            messages.get(key, []),
            attempts.get(key, []),
            calls.get(key, []),
        )
        for key in sorted(replies)
    ]


def explain_reply(predicted: Predicted, sample: str, verdicts: Verdicts) -> list[Explanation]:
    """Explain the prediction for a sample. The result is empty if the data set has no such sample.
    The messages are those that Snellen would send.

    Raises:
        DataError: the predictions do not belong to this data set (see `Predicted.scored`).
    """
    benchmark = predicted.benchmark
    # All rows are read, because the file is compared with the whole data set.
    matches = [row for row in predicted.scored() if row.sample.id == sample]
    if not matches:
        return []
    scored = matches[0]
    request = benchmark.request(scored.sample)
    messages = [] if request is None else [_message(message) for message in request.messages]
    reply = scored.reply
    attempts = [] if reply is None else [Attempt(state=reply.state, reply=reply.text)]
    scorer = Scorer(
        benchmark,
        verdicts=verdicts,
        verdicts_first=True,
        resolved=resolve(benchmark, benchmark.scorings, predicted.scored),
    )
    return [_explained(scorer, scored, messages, attempts)]


def _attempt(record: ReplyRecord) -> Attempt:
    return Attempt(
        turn=record.key.turn,
        step=record.key.step,
        attempt=record.attempt,
        state=record.state,
        reply=record.reply,
        reasoning=record.reasoning,
        error=None if record.error is None else record.error.message,
        at=record.at,
    )


def _message(message: Message) -> tuple[str, str]:
    shown = [
        part if isinstance(part, str) else _picture(part.label or "") for part in message.content
    ]
    return message.role, "\n".join(shown)


def _picture(path: str) -> str:
    return f"<{path or 'picture'}>"


def _explained(
    scorer: Scorer,
    scored: Scored,
    messages: list[tuple[str, str]],
    attempts: list[Attempt],
    calls: Sequence[ExplainedCall] = (),
) -> Explanation:
    sample, benchmark = scored.sample, scorer.benchmark
    return Explanation(
        benchmark=benchmark.name,
        sample=sample.id,
        repeat=scored.repeat,
        question=sample.question,
        choices=list(sample.choices),
        target=sample.target,
        references=list(sample.references),
        tags=dict(sample.tags),
        messages=messages,
        attempts=attempts,
        readings=[
            Explained(
                scoring=row.scoring,
                source=benchmark.scorings[row.scoring].source,
                state=row.state,
                answer=row.answer,
                rule=row.rule,
                score=row.score,
                candidates=row.candidates,
                verdicts=_words(scorer.verdicts, row.scoring, scored),
            )
            for row in scorer.score_rows(scored, scorer.findings(scored))
        ],
        calls=[*calls],
    )


def _words(verdicts: Verdicts, scoring: str, scored: Scored) -> list[str]:
    if scoring not in verdicts or scored.reply is None:
        return []
    words_by_judge = verdicts[scoring](scored.sample, scored.reply)
    return [words for words in words_by_judge if words is not None]
