"""The token limit of a run's requests: how it is raised, and which cut replies are asked again."""

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
    """The token limit in `raise:N`; None for other values of the option.

    >>> raised_to("raise:4096"), raised_to("stop")
    (4096, None)
    """
    return int(on_truncation.removeprefix(RAISE)) if on_truncation.startswith(RAISE) else None


@dataclass
class TokenLimit:
    """The token limit of the requests of one run."""

    usual: int | None
    """The limit in the run's identity; None for the server's own."""
    again: int | None = None
    """The limit with which truncated replies are asked again; None if they are not."""
    raised: int | None = None
    """The limit of all further requests, once it is raised; None before."""
    is_open: bool = False
    """Whether the run may still raise the limit."""
    waiting: list[tuple[Row, Sample, int, History]] = field(default_factory=list)
    """Samples, with their repeat, whose reply is truncated while the limit may still be raised. The
    history is empty if the reply is from an earlier call."""

    def raise_to(self, tokens: int) -> None:
        """Ask all further requests with this limit, and truncated ones again."""
        self.raised = tokens
        self.again = max(tokens, self.again or 0)
        self.is_open = False

    def of_request(self, request: Request) -> Request:
        """A new request with the limit that holds now."""
        return request if self.raised is None else _with_limit(request, self.raised)

    def next_request(self, request: Request) -> Request:
        """The request that asks a truncated reply's question again."""
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

    def reopens(self, record: ReplyRecord) -> bool:
        """Whether a stored reply is no final one yet when a run goes on: its question is asked
        again, or would be if the limit were raised."""
        return (self.is_open and self._is_cut_at_limit(record)) or self.asks_again(record)

    def may_help(self, reply: Reply) -> bool:
        """Whether a higher limit than the usual one could complete a new reply."""
        output = None if reply.usage is None else reply.usage.output
        return reply.state == "truncated" and not is_cut_early(output, self.usual)

    def _is_cut_at_limit(self, record: ReplyRecord) -> bool:
        """Whether a stored reply is truncated, and not by the server far below its limit."""
        output = None if record.usage is None else record.usage.output
        return record.state == "truncated" and not is_cut_early(output, self.of_record(record))

    def of_record(self, record: ReplyRecord) -> int | None:
        """The token limit with which a stored reply was requested."""
        return record.max_tokens or self.usual


def check_asks_again(benchmark: Benchmark, settings: Settings) -> None:
    """Check that truncated replies to this benchmark can be asked again, if they shall be.

    Raises:
        UsageError: they cannot, or not with this number of tokens.
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
                f"{benchmark.name}: {option} asks single questions again, and this benchmark has "
                "none with a reply of one turn. Use --max-tokens, which makes a new run."
            )
        if usual is not None and tokens <= usual:
            raise UsageError(
                f"{benchmark.name}: {option} {tokens:,} is not more than the {usual:,} tokens that "
                "each reply may have already. Name a higher number."
            )


def token_limit(settings: Settings) -> TokenLimit:
    """The limit at the start of a run."""
    return TokenLimit(
        settings.generation.max_tokens,
        again=settings.retry_truncated,
        is_open=raised_to(settings.on_truncation) is not None,
    )


def _with_limit(request: Request, tokens: int) -> Request:
    return replace(request, generation=replace(request.generation, max_tokens=tokens))
