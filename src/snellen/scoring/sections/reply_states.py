"""Reports unusual replies, which are reused, withheld by the service, empty, or truncated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import IntFlag

from snellen.core.model import Reply, is_cut_early
from snellen.scoring.columns import Sparse
from snellen.scoring.draft import Draft, Part
from snellen.scoring.replies import Scored
from snellen.scoring.scorer import Scorer
from snellen.scoring.verdicts import Finding
from snellen.text.amounts import counted

TRUNCATED_SHARE = 0.02
"""The maximum share of truncated replies. If the share is larger, the report gets a note."""
EMPTY_SHARE = 0.02
"""The same for empty replies."""
WITHHELD = " withheld by the service and "
"""The part of a note which says how replies that the service withheld count."""


def is_withheld(note: str) -> bool:
    """Whether a note of a report says how replies that the service withheld count."""
    return WITHHELD in note


class Flag(IntFlag):
    """Properties of a reply that the table does not contain."""

    REUSED = 1
    REFUSED = 2
    """The service withheld the reply, and the right answer is known."""


class ReplyStatesSection:
    """Adds notes on unusual replies."""

    def __init__(self, scorer: Scorer) -> None:
        self._flags, self._limits, self._cut = Sparse(), Sparse(), Sparse()
        self.columns = (self._flags, self._limits, self._cut)

    def collect(self, row: int, scored: Scored, findings: Sequence[Finding]) -> None:
        flags = 1 if scored.reused else 0
        if scored.state == "truncated":
            usage = None if scored.reply is None else scored.reply.usage
            output = None if usage is None else usage.output
            thinks = _still_thinking(scored.reply)
            self._cut.append(row, (output, scored.max_tokens, thinks))
        elif scored.state == "refused" and not scored.sample.hidden:
            flags |= Flag.REFUSED
        if flags:
            self._flags.append(row, flags)
        if scored.max_tokens is not None:
            is_again, is_cut = scored.cut_at is not None, scored.state == "truncated"
            self._limits.append(row, (scored.max_tokens, is_again, is_cut))

    def summarize(self, draft: Draft) -> Part:
        reused, refused = (
            sum(bool(flags & flag) for flags in self._flags.data)
            for flag in (Flag.REUSED, Flag.REFUSED)
        )
        scorer, states = draft.scorer, draft.table.states
        # Shares are computed over the existing replies; failed and absent replies do not count.
        n = len(draft.table) - states.get("failed", 0) - states.get("absent", 0)
        notes = []
        if scorer.missing:
            wrong = scorer.missing == "wrong"
            how = "count as wrong" if wrong else "are left out of the means"
            notes.append(f"--missing {scorer.missing}: questions without a reply {how}")
        if reused:
            notes.append(
                f"{counted(reused, 'reply was', 'replies were')} taken from another run (--reuse)"
            )
        if refused:
            how = _how_refused_count(scorer, refused)
            withheld = counted(refused, "reply was", "replies were")
            notes.append(f"{withheld}{WITHHELD}{how}")
        notes += _raised_notes(self._limits.data)
        if n and (empty := states.get("empty", 0)) / n > EMPTY_SHARE:
            verb, they = ("is", "it is") if empty == 1 else ("are", "they are")
            notes.append(
                f"{empty:,} of {n:,} replies {verb} empty ({100 * empty / n:.1f} %); {they} scored "
                "like other replies"
            )
        limit = draft.source.identity.get("generation", {}).get("max_tokens")
        others = Counter(tokens for tokens, _, _ in self._limits.data if tokens != limit)
        fields = {"other_limits": {f"{tokens}": n for tokens, n in sorted(others.items())}}
        return fields, [*notes, *_truncated_notes(self._cut.data, limit, n)]


def _truncated_notes(
    cut: Sequence[tuple[int | None, int | None, bool]], limit: int | None, n: int
) -> Iterator[str]:
    """Yield notes on truncated replies. `cut` contains (output tokens, own token limit, whether the
    model was still thinking) for each truncated reply. `limit` is the run's token limit, and `n` is
    the number of all replies."""
    if not n or len(cut) / n <= TRUNCATED_SHARE:
        return
    early = [(output, own or limit) for output, own, _ in cut if is_cut_early(output, own or limit)]
    if at_limit := len(cut) - len(early):
        yield (
            f"{_share(at_limit, n)} cut at the token limit: increase --max-tokens, or ask these "
            "questions again with --retry-truncated N"
        )
    thinking = sum(thinks for output, own, thinks in cut if not is_cut_early(output, own or limit))
    if thinking:
        yield (
            f"{thinking:,} of these {_were(thinking)} cut while the model was still thinking, "
            "without an answer: set token_floor in the model's profile to allow more tokens"
        )
    if early:
        most = max(output or 0 for output, _ in early)
        limits = " or ".join(f"{tokens:,}" for tokens in sorted({own or 0 for _, own in early}))
        yield (
            f"{_share(len(early), n)} cut by the server after at most {most:,} tokens, below the "
            f"requested limit of {limits}. A higher limit will not help, and --retry-truncated "
            "does not ask these questions again. Look for a limit of the server itself, such as "
            "its context length"
        )


def _share(count: int, n: int) -> str:
    """`1 of 12 replies (8.3 %) was`"""
    return f"{count:,} of {n:,} replies ({100 * count / n:.1f} %) {_were(count)}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _raised_notes(limits: Sequence[tuple[int, bool, bool]]) -> list[str]:
    """Write notes on replies with a token limit that differs from the run's token limit. For each
    such reply, `limits` contains three values: the token limit, whether the question was asked
    again because an earlier reply was truncated, and whether this reply is truncated too."""
    notes = []
    again = [(tokens, is_cut) for tokens, is_again, is_cut in limits if is_again]
    if again:
        still = sum(is_cut for _, is_cut in again)
        notes.append(
            f"{len(again):,} questions with truncated replies were asked again with "
            f"{_amounts(again)} tokens: {len(again) - still:,} replies are complete now, "
            f"{still:,} are still truncated"
        )
    others = [(tokens, is_cut) for tokens, is_again, is_cut in limits if not is_again]
    if others:
        notes.append(
            f"{len(others):,} questions were asked with {_amounts(others)} tokens, more than the "
            "run's limit, because many of the first replies were truncated"
        )
    return notes


def _amounts(limits: Sequence[tuple[int, bool]]) -> str:
    """Format the distinct token limits as text."""
    return " or ".join(f"{tokens:,}" for tokens in sorted({tokens for tokens, _ in limits}))


def _how_refused_count(scorer: Scorer, refused: int) -> str:
    if scorer.headline is None or scorer.benchmark.scorings[scorer.headline].zero_is_wrong:
        return "counts as wrong" if refused == 1 else "count as wrong"
    verb = "is" if refused == 1 else "are"
    return f"{verb} left out of the means: Snellen does not know whether 0 is the worst score"


def _still_thinking(reply: Reply | None) -> bool:
    """Whether a truncated reply ends before its answer begins. Such a reply has separate reasoning
    but no text, or its text contains `<think>` but not the closing tag."""
    if reply is None:
        return False
    begun = "<think>" in reply.text and "</think>" not in reply.text
    return begun or bool(reply.reasoning and not reply.text.strip())
