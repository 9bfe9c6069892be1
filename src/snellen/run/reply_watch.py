"""Watches the first replies of a run for the two faults that cost the most points: replies that are
cut at the token limit, and thinking that is on or off contrary to the settings."""

from __future__ import annotations

from snellen.answers.reply import thoughts_in
from snellen.core.model import Reply, is_cut_early
from snellen.run.observer import Observer
from snellen.run.progress import Progress
from snellen.run.recorder import Turn
from snellen.run.settings import Settings
from snellen.run.stop import Stop
from snellen.run.token_limit import TokenLimit, raised_to
from snellen.store import Run

FIRST = 50
"""The number of replies that are watched; in a smaller run, all replies are watched."""
SHARE = 0.05
"""The share of truncated replies above which the user is warned."""
NOTICED = "noticed"
"""The manifest field that contains messages about faults, which become notes of the result."""

TRUNCATED = "truncated"
"""The message about replies that are cut, in the manifest field `NOTICED`."""

THINKING = ", although thinking was turned "
"""The part of a message which says that replies have thoughts, or none, contrary to the
settings."""

RAISED = "raised"
"""The manifest field that contains the raised token limit."""


def is_about_thoughts(note: str) -> bool:
    """Whether a run's note says that replies have thoughts, or none, contrary to the settings."""
    return THINKING in note


class ReplyWatch(Observer):
    """Tells the user immediately what is wrong with the first replies, and what to do. The same
    text is stored in the manifest and becomes a note of the result."""

    def __init__(
        self,
        progress: Progress,
        run: Run,
        stop: Stop,
        limit: TokenLimit,
        settings: Settings,
        expects_thoughts: bool | None,
    ) -> None:
        self._progress = progress
        self._run = run
        self._stop = stop
        self._limit = limit
        self._on_truncation = settings.on_truncation
        self._expects_thoughts = expects_thoughts
        self._watched = min(FIRST, progress.total or FIRST)
        self._n = self._truncated = self._thoughtful = 0
        self._early: list[int] = []
        """The token counts of replies that the server cut well below the limit."""
        self._is_over = False
        # From this count on, the share of all watched replies is certain to be above SHARE.
        self._too_many = int(SHARE * self._watched) + 1
        self._was_noticed = TRUNCATED in run.manifest().get(NOTICED, {})

    def reply_stored(self, turn: Turn, reply: Reply, seconds: float) -> None:
        if self._is_over or turn.cut_at is not None:
            return
        self._n += 1
        self._is_over = self._n >= self._watched
        if reply.state == "truncated":
            self._count_truncated(reply, turn.request.generation.max_tokens)
        if self._expects_thoughts is not None:
            self._check_thoughts(reply)
        if self._is_over:
            self._limit.is_open = False

    def _count_truncated(self, reply: Reply, limit: int | None) -> None:
        output = None if reply.usage is None else reply.usage.output
        if output is not None and is_cut_early(output, limit):
            self._early.append(output)
        else:
            self._truncated += 1
            if self._truncated == self._too_many and (to := raised_to(self._on_truncation)):
                self._raise_limit(to, limit)
        if self._truncated + len(self._early) == self._too_many and self._limit.raised is None:
            self._notice_truncation(limit)

    def _raise_limit(self, to: int, limit: int | None) -> None:
        if self._limit.raised is None:
            self._limit.raise_to(to)
            self._store(RAISED, to)
            self._notice(
                TRUNCATED,
                f"{self._cut_replies(self._truncated)} at {_limit_text(limit)}. Further replies "
                f"may have {to:,} tokens, and these questions are asked again (--on-truncation)",
            )

    def _notice_truncation(self, limit: int | None) -> None:
        parts = []
        if self._truncated:
            parts.append(f"{self._cut_replies(self._truncated)} at {_limit_text(limit)}")
            if raised_to(self._on_truncation) is None:
                parts[0] += (
                    ". Raise the limit with --max-tokens (token_floor in a profile), or ask for "
                    "less thinking with --effort; --retry-truncated N asks the cut ones again"
                )
        if self._early:
            parts.append(
                f"{self._cut_replies(len(self._early))} by the server after at most "
                f"{max(self._early):,} tokens, below the {limit:,} that were asked for. A higher "
                "limit will not help, and they are not asked again: look for a limit of the server "
                "itself, such as its context length"
            )
        self._notice(TRUNCATED, "; ".join(parts))
        if self._on_truncation == "stop" and not self._was_noticed:
            what = self._cut_replies(self._truncated + len(self._early))
            how = "" if self._early else f" at {_limit_text(limit)}"
            self._stop.set(f"{what}{how} (--on-truncation stop)", interrupted=True, patient=True)

    def _cut_replies(self, n: int) -> str:
        first = "the first reply" if self._n == 1 else f"{n:,} of the first {self._n:,} replies"
        return f"{first} {'was' if n == 1 else 'were'} cut"

    def _check_thoughts(self, reply: Reply) -> None:
        in_text = thoughts_in(reply.text)
        usage = reply.usage
        has_thoughts = bool(
            (reply.reasoning or "").strip() or in_text or (usage and usage.reasoning)
        )
        self._thoughtful += has_thoughts
        if has_thoughts and not self._expects_thoughts and self._thoughtful == 1:
            parser = (
                " The thoughts are in the text of the reply, so start the server with a reasoning "
                "parser."
            )
            self._notice(
                "thoughts",
                f"reply {self._n:,} has thoughts{THINKING}off. Either the "
                "server ignores the setting, or the model always thinks. To see what was sent, "
                "look at `thinking` in the run's manifest. Then set --effort."
                f"{parser if in_text else ''}",
            )
        if self._is_over and self._expects_thoughts and not self._thoughtful:
            self._notice(
                "thoughts",
                f"none of the first {self._n:,} replies has thoughts{THINKING}on. "
                "If the server hides thoughts, start it with a reasoning parser. Otherwise, "
                "set --effort, and check that the model's chat template reads it",
            )

    def _notice(self, kind: str, text: str) -> None:
        self._progress.note(text)
        self._store(NOTICED, {**self._run.manifest().get(NOTICED, {}), kind: text})

    def _store(self, name: str, value: object) -> None:
        self._run.put_manifest({**self._run.manifest(), name: value})


def _limit_text(limit: int | None) -> str:
    return "the server's token limit" if limit is None else f"{limit:,} tokens"
