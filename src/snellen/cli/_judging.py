"""Says how to get the verdicts that a run lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import store
from snellen.text.amounts import counted

if TYPE_CHECKING:
    from snellen import api


def unjudged(run: api.Finished) -> str | None:
    """The command that asks a judge about the replies that wait for one; None if no reply of the
    headline scoring does."""
    if run.result is None or not run.result.report.scorings:
        return None
    waiting = run.result.counts.not_judged
    if not waiting:
        return None
    command = store.Run(run.run).command("judge", "--judge", "MODEL")
    replies = counted(waiting, "reply waits", "replies wait")
    return f"{run.progress.name}: {replies} for a judge; run `{command}`"
