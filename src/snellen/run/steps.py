"""Asks questions with tools. Each turn is a sequence of steps: a request, and the results of the
calls in its reply, which the next request contains.

A step that has a stored reply is not asked again. Since tools are pure functions, the requests of a
turn can be rebuilt from its stored replies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from snellen.core.benchmark import Benchmark
from snellen.core.model import Model, Reply, Request
from snellen.core.sample import Sample
from snellen.core.tools import ToolResult
from snellen.data import Row
from snellen.errors import MediaError, ModelError
from snellen.media.content import Image, Message, Part, Video, tool, user
from snellen.models.threads import CallThreads
from snellen.run.attempts import Attempts, within
from snellen.run.clips import THREADS, videos_of
from snellen.run.conversations import Conversations, Reuse
from snellen.run.group import Group
from snellen.run.recorder import Prepared, Turn
from snellen.run.requests import Requests
from snellen.run.token_limit import TokenLimit
from snellen.run.tool_use import ToolUse
from snellen.store import Ending, Key, ReplyRecord
from snellen.tools import Shown
from snellen.tools.toolbox import MAX_PICTURES

TOOL_SECONDS = 600.0
"""The time limit of the calls in a reply, with the wait for other large pictures to be decoded. A
question whose tools take longer fails."""
LAST = "No further calls are possible. Answer now."
FOLLOWS = "(The pictures are in the next message of the user.)"
NO_OUTPUT = "(The tool returned nothing.)"


class Exchange:
    """The steps of one turn so far, and the next request."""

    def __init__(self, request: Request, tools: ToolUse) -> None:
        self.request = request
        """The next request. After `add`, its last message is the model's, until `carry_out` adds
        the results."""
        self.replies: list[Reply] = []
        self._tools = tools
        self._shown = _shown_in(request)

    def ending(self, reply: Reply) -> Ending | None:
        """How the turn ends with this reply to the next request; None if it goes on."""
        return self._tools.ending([*self.replies, reply])

    def add(self, reply: Reply) -> None:
        """Add the reply to the next request."""
        self.replies.append(reply)
        answer = Message(
            "assistant",
            (reply.text,) if reply.text else (),
            tool_calls=reply.tool_calls,
            continuation=reply.continuation,
        )
        self._append(answer)

    def carry_out(self) -> None:
        """Carry out the calls in the last reply, and add their results.

        Raises:
            MediaError: a picture or video cannot be read.
            Rejected: a tool failed.
        """
        most = self._tools.max_pictures
        pictures = sum(len(message.images) for message in self.request.messages)
        room = MAX_PICTURES if most is None else most - pictures
        toolbox, reply = self._tools.toolbox, self.replies[-1]
        results, self._shown = toolbox.results(reply, self._shown, room=room)
        is_last = len(self.replies) + 1 == self._tools.max_steps
        self._append(*self._messages(results, (LAST,) if is_last else ()))

    def _messages(self, results: Sequence[ToolResult], note: tuple[Part, ...]) -> Iterator[Message]:
        """The messages with the results. `note` is added at the end of the last message."""
        pictures: list[Part] = []
        if not self._tools.takes_pictures:
            pictures = [part for result in results for part in _with_captions(result)]
        for number, result in enumerate(results, start=1):
            parts = result.parts or (NO_OUTPUT,)
            if pictures:
                texts = tuple(part for part in parts if isinstance(part, str))
                parts = texts if len(texts) == len(parts) else (*texts, FOLLOWS)
            is_end = number == len(results) and not pictures
            yield tool(result.call.id, *parts, *(note if is_end else ()))
        if pictures:
            yield user(*pictures, *note)

    def _append(self, *messages: Message) -> None:
        self.request = replace(self.request, messages=(*self.request.messages, *messages))


class StepConversations(Conversations):
    """Asks a model the questions of samples, with tools."""

    has_steps = True

    def __init__(
        self,
        benchmark: Benchmark,
        model: Model,
        requests: Requests,
        attempts: Attempts,
        reuse: Reuse | None,
        limit: TokenLimit,
        tools: ToolUse,
    ) -> None:
        super().__init__(benchmark, model, requests, attempts, reuse, limit)
        self._tools = tools
        self._tool_threads = CallThreads(THREADS, "the tools")

    def close(self) -> None:
        self._tool_threads.close()

    def _is_stored(self, row: Row, key: Key) -> bool:
        return self._last_record(key) is not None and all(
            self._recorder.has_question(row, step) for step in self._stored_steps(key)
        )

    def _stored_reply(self, key: Key) -> Reply:
        record = self._last_record(key)
        assert record is not None
        return record.as_reply()

    def _keeps_truncated(self, key: Key) -> bool:
        return False  # no question with tools is asked again with more tokens

    def _stored_steps(self, key: Key) -> Iterator[Key]:
        """The keys of the steps of a turn that have a reply."""
        step = 0
        while self._recorder.has_reply(stored := Key(key.sample, key.repeat, key.turn, step)):
            yield stored
            step += 1

    def _last_record(self, key: Key) -> ReplyRecord | None:
        """The record of the reply that ended a turn; None if the turn goes on."""
        (*_, last) = (None, *self._stored_steps(key))
        record = None if last is None else self._recorder.stored_record(last)
        return record if record is not None and record.ended is not None else None

    async def _ask_turn(
        self, row: Row, sample: Sample, key: Key, worded: Request, group: Group
    ) -> tuple[Request, Reply] | None:
        """Ask one turn, step by step. Returns the first request and the last reply; None if there
        is no reply."""
        offering = replace(worded, tools=self._tools.toolbox.specs)
        prepared = await self._requests.prepare(sample, offering, group)
        if prepared.error is not None:
            self._fail(row, sample, key, prepared, prepared.error)
            return None
        exchange = Exchange(prepared.request, self._tools)
        while True:
            reply = await self._ask_step(row, sample, key, prepared, exchange, group)
            if reply is None:
                return None
            is_over = exchange.ending(reply) is not None
            exchange.add(reply)
            if is_over:
                pictures = sum(len(message.images) for message in worded.messages)
                return worded, reply.without_tool_sizes(pictures)
            error = await self._carry_out(exchange)
            prepared = _prepared(exchange.request)
            key = self._recorder.key(sample, key.repeat, key.turn, key.step + 1)
            if error is not None:
                self._fail(row, sample, key, prepared, error)
                return None

    async def _ask_step(
        self,
        row: Row,
        sample: Sample,
        key: Key,
        prepared: Prepared,
        exchange: Exchange,
        group: Group,
    ) -> Reply | None:
        """Ask one step, or return its stored reply."""
        if self._recorder.has_reply(key):
            if not self._recorder.has_question(row, key):
                self._recorder.write_question(row, sample, key, prepared)
            return self._recorder.stored_reply(key)
        if self._attempts.stop.reason is not None:
            return None
        request = prepared.request
        is_first = self._recorder.write_question(row, sample, key, prepared)
        with_media = bool(videos_of(request)) or not is_first
        turn = self._recorder.turn(key, request, with_media=with_media)
        turn.ending = exchange.ending
        return self._reused(turn) or await self._reply(turn, sample, group)

    async def _carry_out(self, exchange: Exchange) -> MediaError | ModelError | None:
        """Carry out the calls in the last reply. Returns the error of a tool, if there is one."""
        carried_out = self._tool_threads.run(exchange.carry_out)
        try:
            await within(TOOL_SECONDS, carried_out, "result of the tool calls")
        except (MediaError, ModelError) as error:
            return error.with_traceback(None)
        return None

    def _fail(
        self,
        row: Row,
        sample: Sample,
        key: Key,
        prepared: Prepared,
        error: MediaError | ModelError,
    ) -> None:
        self._recorder.write_question(row, sample, key, prepared)
        self._attempts.fail(Turn(key, prepared.request), error)


def _prepared(request: Request) -> Prepared:
    return Prepared(worded=request, shown=request, request=request)


def _shown_in(request: Request) -> Shown:
    """The pictures and videos of a question, in order."""
    media = [
        part
        for message in request.messages
        for part in message.content
        if not isinstance(part, str)
    ]
    return Shown(
        pictures=tuple(medium for medium in media if isinstance(medium, Image)),
        videos=tuple(medium for medium in media if isinstance(medium, Video)),
    )


def _with_captions(result: ToolResult) -> Iterator[Part]:
    """The pictures of a result, each after the text that precedes it."""
    for caption, part in zip(result.parts, result.parts[1:], strict=False):
        if isinstance(part, Image):
            yield caption
            yield part
