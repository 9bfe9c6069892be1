"""Asks the questions of the samples in a group, one turn after another. Each request includes the
conversation so far."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from snellen.core.benchmark import Benchmark, History
from snellen.core.model import Expects, Model, Reply, Request
from snellen.core.sample import Sample
from snellen.data import Row
from snellen.run.attempts import Attempts, within
from snellen.run.clips import videos_of
from snellen.run.group import Group
from snellen.run.model_calls import call_of
from snellen.run.recorder import Turn
from snellen.run.requests import Requests
from snellen.run.token_limit import TokenLimit
from snellen.store import Key

Reuse = Callable[[str], tuple[str, Reply] | None]
"""Given the digest of a request, returns the folder of another run and its reply to this request;
None if no other run has a reply."""


class Conversations:
    """Asks a model the questions of samples, with one request per turn."""

    replays = False
    """Whether questions that already have a reply are asked again if another question of their
    group has none."""
    has_steps = False
    """Whether a turn may take several requests."""

    def __init__(
        self,
        benchmark: Benchmark,
        model: Model,
        requests: Requests,
        attempts: Attempts,
        reuse: Reuse | None,
        limit: TokenLimit,
    ) -> None:
        self._benchmark = benchmark
        # Checked once, because checking a protocol takes as long as all other work at the start of
        # a sample.
        self._expect = model.expect if isinstance(model, Expects) else None
        self._requests = requests
        self._attempts = attempts
        self._recorder = attempts.recorder
        self._observer = attempts.observer
        self._call = call_of(benchmark, model)
        self._reuse = reuse
        self._limit = limit

    @property
    def most_groups(self) -> int:
        """The maximum number of groups in progress. Without this limit, groups would pile up, since
        questions that wait for their next attempt hold no slot."""
        return 2 * int(self._attempts.limiter.limit) + 17

    def start_decoding(self, group: Group) -> None:
        """Start decoding the videos of a group."""
        self._requests.start_decoding(group)

    def announce(self, group: Group) -> None:
        """Announce the next videos to the model, if it has a method `expect`."""
        if self._expect is not None:
            videos = self._requests.first_videos(group)
            self._expect([video for several in videos.values() for video in several])

    async def ask(self, group: Group) -> None:
        """Ask the questions of all samples of a group concurrently."""
        parts = [
            self._ask_sample(row, sample, repeat, group)
            for row, sample in group.samples
            for repeat in group.repeats
        ]
        if len(parts) == 1:
            await parts[0]
            return
        async with asyncio.TaskGroup() as tasks:
            for part in parts:
                tasks.create_task(part)

    def close(self) -> None:
        """Release what is held for asking."""

    def left_over(self) -> Sequence[Group]:
        """Create groups of the samples whose replies were truncated before the limit was raised. If
        the limit was not raised, report these samples as finished."""
        waiting, self._limit.waiting = self._limit.waiting, []
        if self._limit.raised is not None:
            return [
                Group([(row, sample)], (repeat,), asks_again=bool(history))
                for row, sample, repeat, history in waiting
            ]
        for _, sample, _, history in waiting:
            if history:
                self._observer.sample_finished(self._scored_replies(sample, history))
            else:
                self._observer.samples_kept(1)
        return ()

    async def _ask_sample(self, row: Row, sample: Sample, repeat: int, group: Group) -> None:
        try:
            await self._ask_turns(row, sample, repeat, group)
        finally:
            group.note_done(sample, repeat)

    async def _ask_turns(self, row: Row, sample: Sample, repeat: int, group: Group) -> None:
        history: History = ()
        is_new = False
        most = self._benchmark.procedure.conversation.turns
        while len(history) != most:
            key = self._recorder.key(sample, repeat, len(history))
            is_stored = not group.asks_again and self._is_stored(row, key)
            lacks_question = is_stored and not self._recorder.has_question(row, key)
            if is_stored and not lacks_question and most == 1:
                break
            if not is_stored and self._keeps_truncated(key):
                if not self._limit.is_open:
                    break
                self._limit.waiting.append((row, sample, repeat, ()))
                return
            request = self._requests.request(sample, history, repeat)
            if request is None:
                if self._benchmark.procedure.conversation.by_turn is None:
                    self._recorder.write_end(sample, repeat, len(history))
                break
            if is_stored:
                reply = self._stored_reply(key)
                if lacks_question:
                    prepared = self._requests.read_if_possible(request)
                    self._recorder.write_question(row, sample, key, prepared)
            else:
                answered = await self._ask_turn(row, sample, key, request, group)
                if answered is None:
                    return
                request, reply = answered
                is_new = True
            history = (*history, (request.messages, reply))
        if is_new and self._limit.is_open and self._limit.may_help(history[-1][1]):
            self._limit.waiting.append((row, sample, repeat, history))
        elif is_new:
            self._observer.sample_finished(self._scored_replies(sample, history))
        else:
            self._observer.samples_kept(1)

    async def _ask_turn(
        self, row: Row, sample: Sample, key: Key, worded: Request, group: Group
    ) -> tuple[Request, Reply] | None:
        """Ask one turn. Returns the request and its reply; None if there is no reply."""
        prepared = await self._requests.prepare(sample, worded, group)
        request = prepared.request
        if prepared.error is not None:
            self._recorder.write_question(row, sample, key, prepared)
            self._attempts.fail(Turn(key, request), prepared.error)
            return None
        if self._attempts.stop.reason is not None:
            return None
        is_first = not group.asks_again and self._recorder.write_question(
            row, sample, key, prepared
        )
        # The question's record does not list the frames of these media, or they may have changed
        # since it was written.
        with_media = bool(videos_of(request)) or not is_first
        turn = self._turn_again(key, request) or self._first_turn(key, request, with_media)
        reply = self._reused(turn) or await self._reply(turn, sample, group)
        while reply is not None and (again := self._turn_again(key, request)) is not None:
            turn, reply = again, await self._reply(again, sample, group)
        return None if reply is None else (turn.request, reply)

    def _is_stored(self, row: Row, key: Key) -> bool:
        """Whether the reply to a turn is stored."""
        return self._recorder.has_reply(key)

    def _stored_reply(self, key: Key) -> Reply:
        """The stored reply to a turn."""
        return self._recorder.stored_reply(key)

    def _keeps_truncated(self, key: Key) -> bool:
        """Whether a truncated reply from an earlier invocation is kept, because its question is not
        asked again."""
        if self._limit.again is not None:
            return False
        record = self._recorder.stored_record(key)
        return record is not None and record.state == "truncated"

    def _first_turn(self, key: Key, request: Request, with_media: bool) -> Turn:
        turn = self._recorder.turn(key, self._limit.of_request(request), with_media=with_media)
        raised = self._limit.raised
        return turn if raised is None else replace(turn, max_tokens=raised)

    def _turn_again(self, key: Key, request: Request) -> Turn | None:
        """If a question's reply was cut, create the turn that asks the question again with more
        tokens. Otherwise, return None."""
        if self._limit.again is None:
            return None
        record = self._recorder.stored_record(key)
        if record is None or not self._limit.asks_again(record):
            return None
        turn = self._recorder.turn(key, self._limit.next_request(request))
        return replace(
            turn,
            max_tokens=self._limit.again,
            cut_at=self._limit.of_record(record),
            attempts=record.attempt,
        )

    async def _reply(self, turn: Turn, sample: Sample, group: Group) -> Reply | None:
        outcome = await self._attempts.reply(
            turn,
            partial(self._send, turn),
            group.acquire(self._attempts.limiter, sample, turn.key.repeat),
        )
        return outcome if isinstance(outcome, Reply) else None

    async def _send(self, turn: Turn) -> Reply:
        call = self._call(turn.request, turn.key.sample)
        return await within(self._attempts.settings.timeout, call)

    def _reused(self, turn: Turn) -> Reply | None:
        """Store another run's reply to the same request as this run's reply, and return it."""
        match = None if self._reuse is None else self._reuse(turn.digest)
        if match is None:
            return None
        folder, reply = match
        self._recorder.write_reply(turn, reply, reused=folder)
        self._observer.reply_reused(turn, reply)
        return reply

    def _scored_replies(self, sample: Sample, history: History) -> list[tuple[Sample, Reply]]:
        """Pair the sample with its last reply, or each of its scored turns with the turn's
        reply."""
        if self._benchmark.procedure.conversation.by_turn is None:
            return [(sample, history[-1][1])]
        turns = self._benchmark.scored_turns(sample)
        return [
            (turn, reply)
            for turn, (_, reply) in zip(turns, history, strict=True)
            if turn is not None
        ]
