"""Looks up replies of other runs that can be reused."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from snellen.core.model import Reply
from snellen.errors import StoreError, UsageError
from snellen.run import Reuse
from snellen.run.plan import Plan
from snellen.store import ReplyRecord, Run

SAME_MODEL = ("model", "model_revision", "profile", "called")
"""The fields of the identity that must be equal for one run to reuse another run's replies.
`called` is the name of the benchmark that is passed to models with their own prompts."""


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
