"""Turns any model into a streaming model. Each question is asked with the newest frames.

In SimpleStream's results on OVO-Bench (arXiv 2604.02317), an ordinary model with four frames at one
frame per second beats the streaming models. Streaming models should therefore be compared with a
sliding window of frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from snellen.core.model import Emission, Generates, Query, Request, SessionSpec
from snellen.errors import Rejected
from snellen.media.content import Frame, Message, system, user
from snellen.media.video import Policy, picked
from snellen.models.traits import copy_traits


class SlidingWindow:
    """A streaming model that shows an ordinary model the last `n` frames before each question
    (None: all frames). A frame policy can select some of the last `n` frames. The frames are sent
    again with each question."""

    forks_apart = True
    speaks = False

    def __init__(self, model: Generates, n: int | None, policy: Policy | None = None) -> None:
        self.name = model.name
        copy_traits(model, self)
        self._model = model
        self._n = n
        self._policy = policy

    async def open(self, spec: SessionSpec) -> WindowSession:
        return WindowSession(self._model, spec, deque(maxlen=self._n), self._policy)

    async def close(self) -> None:
        if close := getattr(self._model, "close", None):
            await close()


class WindowSession:
    """A session for one stream. The session stores the newest frames and its own questions and
    answers, but not the questions and answers of its forks."""

    def __init__(
        self,
        model: Generates,
        spec: SessionSpec,
        frames: deque[Frame],
        policy: Policy | None,
        history: tuple[Message, ...] = (),
    ) -> None:
        self._model = model
        self._spec = spec
        self._frames = frames
        self._policy = policy
        self._history = history

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        self._frames.extend(frames)
        return []

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        """Return the reply to the question, which is sent after the frames.

        Raises:
            Overloaded, Rejected: the model raised this error.
            Rejected: `must_answer` is false, and the model cannot speak unprompted.
        """
        if not must_answer:
            raise Rejected(
                f"{self._model.name} only answers questions. The model cannot watch a stream and "
                "speak unprompted.",
                hopeless=True,
            )
        question = user(*(frame.image for frame in self._shown()), query.text)
        first = (system(self._spec.system),) if self._spec.system else ()
        generation = self._spec.generation
        if query.max_tokens is not None:
            generation = replace(generation, max_tokens=query.max_tokens)
        reply = await self._model.generate(
            Request(
                messages=(*first, *self._history, question),
                choices=query.choices,
                generation=generation,
                seed=self._spec.seed,
                stop=query.stop,
            )
        )
        self._history = (*self._history, user(query.text), Message("assistant", (reply.text,)))
        return [Emission(text=reply.text, query=query.id, stop=reply.stop, usage=reply.usage)]

    async def fork(self) -> WindowSession:
        return WindowSession(
            self._model, self._spec, self._frames.copy(), self._policy, self._history
        )

    async def close(self) -> None:
        self._frames.clear()

    def _shown(self) -> Sequence[Frame]:
        frames = [*self._frames]
        if self._policy is None:
            return frames
        return [frames[index] for index in picked(self._policy, [frame.time for frame in frames])]
