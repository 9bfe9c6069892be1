"""Converts a scored run to records for tables, one record for each reply and scoring."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import msgspec

from snellen.errors import UsageError
from snellen.store import Key, Question, Run, ScoreRow

FORMS = ("records", "pandas", "polars")


def sample_records(run: Run, scoring: str) -> Iterator[dict[str, Any]]:
    """Yield a record for each reply, scored by one scoring. If `scoring` is `all`, yield a record
    for each reply and scoring. Records are in the order of `scores.jsonl`.

    A record has these keys:

    - `sample`, `repeat`, `turn`: the sample's id, and the numbers of the repeat and the turn,
      counted from 0
    - `question`, `choices`, `target`, `references`: the sample's question, choices, and right
      answers
    - `reply_state`: `ok`, `empty`, `truncated`, `refused`, `failed`, or `absent`
    - `reply`: the text of the reply; None for `failed` and `absent`
    - `scoring`, `score`, `state`, `answer`, `rule`: the name of the scoring, and the result that it
      gives the reply; `score` is None if the reply does not count
    - `tag.x`: the category of the sample under the tag `x`
    - `part.x`: the score of the part `x`, if the scoring has parts
    """
    with closing(run):
        run.load()
        questions: dict[tuple[str, int], dict[int, Question]] = {}
        for question in run.questions():
            key = question.key
            questions.setdefault((key.sample, key.repeat), {})[key.turn] = question
        for row in run.scores():
            if scoring not in (row.scoring, "all"):
                continue
            yield _record(run, row, _question_of(row, questions))


def _question_of(
    row: ScoreRow, questions: dict[tuple[str, int], dict[int, Question]]
) -> Question | None:
    """Find the question of a row. If the row is a turn that is scored by itself (`ID#2`), the
    result is the question of that turn. If the row is a conversation, the result is the last
    question."""
    turns = questions.get((row.sample, row.repeat))
    if turns is not None:
        return turns[max(turns)]
    sample, sign, number = row.sample.rpartition("#")
    turns = questions.get((sample, row.repeat), {}) if sign and number.isdigit() else {}
    return turns.get(int(number) - 1) if turns else None


def _record(run: Run, row: ScoreRow, question: Question | None) -> dict[str, Any]:
    key = Key(row.sample, row.repeat) if question is None else question.key
    final = run.final(key)
    has_text = final is not None and row.reply not in ("failed", "absent")
    return {
        "sample": row.sample,
        "repeat": row.repeat,
        "turn": key.turn,
        "question": None if question is None else question.question,
        "choices": [] if question is None else question.choices,
        "target": None if question is None else question.target,
        "references": [] if question is None else question.references,
        "reply_state": row.reply,
        "reply": final.reply if has_text and final is not None else None,
        "scoring": row.scoring,
        "score": row.score,
        "state": row.state,
        "answer": msgspec.to_builtins(row.answer),
        "rule": row.rule,
        **{f"tag.{name}": tag for name, tag in (question.tags if question else {}).items()},
        **{f"part.{name}": score for name, score in row.parts.items()},
    }


def in_form(records: Iterator[dict[str, Any]], form: str) -> Any:
    """The records as a list of dictionaries, or as a DataFrame of pandas or polars.

    Raises:
        UsageError: the form does not exist, or its package is not installed.
    """
    if form == "records":
        return list(records)
    if form not in FORMS:
        raise UsageError(f"Unknown form {form!r}. Forms: {', '.join(FORMS)}.")
    try:
        if form == "pandas":
            import pandas

            return pandas.DataFrame.from_records(list(records))
        import polars

        return polars.DataFrame(list(records), infer_schema_length=None)
    except ImportError as error:
        raise UsageError(f"form={form!r} needs the package {form}: pip install {form}.") from error
