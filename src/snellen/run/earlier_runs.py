"""Checks a run's stored questions before the run is resumed, and looks up replies of other runs
that can be reused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply, loaded
from snellen.data import rows_at
from snellen.errors import DataError, MediaError, StoreError, UsageError
from snellen.run import Reuse
from snellen.run.plan import Plan
from snellen.store import ReplyRecord, Run

LOOKED_AT = 3
"""The number of questions whose pictures are checked before a run is resumed."""
SAME_MODEL = ("model", "model_revision", "profile", "called")
"""The fields of the identity that must be equal for one run to reuse another run's replies.
`called` is the name of the benchmark that is passed to models with their own prompts."""


def check_pictures(run: Run, benchmark: Benchmark) -> None:
    """Check that the pictures of the first few questions are unchanged. Rows refer to files, which
    may have been changed or moved.

    Raises:
        DataError: a picture has changed.
    """
    questions = {question.place: question for question in run.first_questions(LOOKED_AT)}
    for row in rows_at(benchmark.data, questions):
        request = benchmark.request(benchmark.read(row))
        shown = questions[row.position].media
        if request is None or questions[row.position].row != row.digest:
            continue
        try:
            media = [part for message in loaded(request).messages for part in message.images]
        except MediaError:
            continue  # the error is reported when the question is asked
        before = [medium.digest for medium in shown if medium.kind == "image"]
        # A picture that was missing when its question was stored has no digest.
        known = None not in before and len(before) == len(media)
        if known and before != [image.digest for image in media]:
            raise DataError(
                f"{benchmark.name}: the pictures of row {row.position + 1} of "
                f"{benchmark.data.where} differ from those of the same questions in {run.path}. "
                "Restore the pictures, or choose another folder with --out."
            )


def _tool_form(identity: Mapping[str, Any]) -> str | None:
    """The form in which a model gets tools, which the digests of requests do not contain; None if
    there are no tools."""
    form: str | None = identity.get("tool_use", {}).get("form")
    return form


def reuse_of(plan: Plan, identity: Mapping[str, Any], stack: ExitStack) -> Reuse | None:
    """Create a function that looks up a reply in the runs that the plan's option `reuse` lists, as
    far as these runs have the same model. Returns None if there is no such run and the plan allows
    that, as a plan with several models does.

    Raises:
        UsageError: none of the listed runs has the same model, and the plan does not allow that.
    """
    if not plan.reuse:
        return None
    tables = []
    others = []
    for path in plan.reuse:
        run = Run(path)
        try:
            other = run.manifest()["identity"]
        except StoreError:
            if plan.reuse_strictly:
                raise
            continue  # this is an error of that run, not of this one
        if any(identity.get(field) != other.get(field) for field in SAME_MODEL) or (
            _tool_form(identity) != _tool_form(other)
        ):
            others.append(f"{path} ({other.get('model')})")
            continue
        run.load()
        stack.callback(run.close)
        records = (record for record in run.replies() if isinstance(record, ReplyRecord))
        keys = {record.request: record.key for record in records if record.state != "failed"}
        tables.append((run, keys))
    if not tables and (len(plan.models) > 1 or not plan.reuse_strictly):
        return None  # the runs to reuse are for another model of the plan
    if not tables:
        raise UsageError(
            f"--reuse: no run has the same model, revision and profile as {identity['model']}. "
            f"Different: {', '.join(others)}. Leave out --reuse, or name another run."
        )

    def reply(digest: str) -> tuple[str, Reply] | None:
        for run, keys in tables:
            record = run.final(keys[digest]) if digest in keys else None
            if record is not None and record.request == digest and record.state != "failed":
                return str(run.path), record.as_reply()
        return None

    return reply
