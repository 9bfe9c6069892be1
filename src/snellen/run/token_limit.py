"""Manages the token limit of a run's requests: raises the limit, and selects which questions with
truncated replies are asked again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from snellen.core.benchmark import Benchmark, History
from snellen.core.model import Reply, Request, is_cut_early
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.errors import UsageError
from snellen.run.settings import Settings
from snellen.store import ReplyRecord

RAISE = "raise:"


def raised_to(on_truncation: str) -> int | None:
    """The token limit N in `raise:N`; None for other values of `--on-truncation`.

    >>> raised_to("raise:4096"), raised_to("stop")
    (4096, None)
    """
    return int(on_truncation.removeprefix(RAISE)) if on_truncation.startswith(RAISE) else None


@dataclass
class TokenLimit:
    """The token limit of the requests of one run."""

    usual: int | None
    """The limit in the run's identity; None: the server's own limit."""
    again: int | None = None
    """The limit with which questions with truncated replies are asked again; None: they are not
    asked again."""
    raised: int | None = None
    """The limit of all further requests once the limit has been raised; None until then."""
    is_open: bool = False
    """Whether the run may still raise the limit."""
    waiting: list[tuple[Row, Sample, int, History]] = field(default_factory=list)
    """Samples with truncated replies that are asked again if the limit is raised, each with its
    row, repeat, and history. The history is empty if the reply is from an earlier invocation."""

    def raise_to(self, tokens: int) -> None:
        """Use this limit for all further requests, and ask questions with truncated replies
        again."""
        self.raised = tokens
        self.again = max(tokens, self.again or 0)
        self.is_open = False

    def of_request(self, request: Request) -> Request:
        """Apply the current limit to a new request."""
        return request if self.raised is None else _with_limit(request, self.raised)

    def next_request(self, request: Request) -> Request:
        """Create the request that repeats a question whose reply was truncated."""
        assert self.again is not None
        return _with_limit(request, self.again)

    def asks_again(self, record: ReplyRecord) -> bool:
        """Whether the question of a stored reply is asked again with more tokens."""
        tokens = self.of_record(record)
        return (
            self._is_cut_at_limit(record)
            and self.again is not None
            and (tokens is None or tokens < self.again)
        )

    @property
    def may_reopen(self) -> bool:
        """Whether stored replies may have to be asked again."""
        return self.is_open or self.again is not None

    def reopens(self, record: ReplyRecord) -> bool:
        """Whether a resumed run may replace a stored reply, because its question is asked again, or
        would be asked again if the limit were raised."""
        return (self.is_open and self._is_cut_at_limit(record)) or self.asks_again(record)

    def may_help(self, reply: Reply) -> bool:
        """Whether a new reply was cut at the limit in the run's identity, so that a higher limit
        could complete it."""
        output = None if reply.usage is None else reply.usage.output
        return reply.state == "truncated" and not is_cut_early(output, self.usual)

    def _is_cut_at_limit(self, record: ReplyRecord) -> bool:
        """Whether a stored reply was cut at its token limit, and not by the server far below the
        limit."""
        output = None if record.usage is None else record.usage.output
        return record.state == "truncated" and not is_cut_early(output, self.of_record(record))

    def of_record(self, record: ReplyRecord) -> int | None:
        """The token limit with which a stored reply was requested."""
        return record.max_tokens or self.usual


def check_asks_again(benchmark: Benchmark, settings: Settings) -> None:
    """Check that the benchmark and the token limits allow asking questions with truncated replies
    again, if this option is set.

    Raises:
        UsageError: the benchmark does not allow asking such questions again, or the new token limit
            is too low.
    """
    usual = settings.generation.max_tokens
    options = {
        "--retry-truncated": settings.retry_truncated,
        "--on-truncation raise": raised_to(settings.on_truncation),
    }
    for option, tokens in options.items():
        if tokens is None:
            continue
        if benchmark.procedure.kind != "generate" or benchmark.procedure.conversation.turns != 1:
            raise UsageError(
                f"{benchmark.name}: {option} works only for benchmarks with generated replies and "
                "a single turn per sample. Use --max-tokens, which starts a new run."
            )
        if usual is not None and tokens <= usual:
            raise UsageError(
                f"{benchmark.name}: {option} {tokens:,} is not above the current limit of "
                f"{usual:,} tokens. Pass a higher number."
            )


def token_limit(settings: Settings) -> TokenLimit:
    """The token limit at the start of a run."""
    return TokenLimit(
        settings.generation.max_tokens,
        again=settings.retry_truncated,
        is_open=raised_to(settings.on_truncation) is not None,
    )


def _with_limit(request: Request, tokens: int) -> Request:
    return replace(request, generation=replace(request.generation, max_tokens=tokens))
