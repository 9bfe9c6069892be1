"""A model of one's own, in a few lines and without importing anything of ours: python:FILE:NAME, or
an object that is given to `snellen.evaluate`.

NAME in FILE (a path ending in .py, or the name of an installed module), or the object, is

- a function `answer(messages) -> str`, sync or async. `messages[-1].text` is the question's text,
  `messages[-1].images` its images: `image.source` their bytes, `image.mime` their type,
  `image.width` and `image.height` pixels;
- a class, made once without arguments, or an object, with a method `generate(messages) -> str` of
  that kind;
- one with `generate_batch(list of messages) -> list of str`, sync: questions that wait are then
  answered together;
- one with `inference(video_file_name, prompt, start_time, end_time)`, as OVO-Bench's are: it gets
  the path of the video's file, the question's text, and the seconds from which and before which it
  may look, and reads the file itself; it gives text, a list of one text, or None where it failed.
  Without the last two parameters it is asked about whole files alone;
- or one with `open(spec)`, which gives a session that watches a stream: `feed(frames)`,
  `ask(query, must_answer)`, and if it can `fork()` and `close()`; they say text, a
  `snellen.core.model.Emission`, a list of these, or None.

A sync function is called for one question at a time, unless `--concurrency` or the profile says how
many; it must then bear as many threads. A call that takes longer than the total time-out is given
up and its question fails; the next question is asked in another thread. The old call is ended with
an exception as soon as it executes Python code again.

A first parameter named `request` (or `requests`), or annotated so, gets all that a back end gets
(`snellen.core.model.Request`), and a `Reply` may be given instead of text. An object's `revision`
(text) says which one it is, beside its file's digest: with another one it is asked again.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from snellen.core.model import Ranked, Ranks, Reply, Request, Session, SessionSpec, loaded
from snellen.core.profile import Profile
from snellen.errors import ModelError, Rejected, UsageError, type_of
from snellen.models.threads import CallThreads
from snellen.models.traits import copy_traits
from snellen.models.user_code import Calls, found, opened, told_as


def open_model(
    name: str, *, profile: Profile, api_key: str | None
) -> Python | Batched | Files | PythonStream:
    """The model that `FILE:NAME` means.

    Raises:
        UsageError: there is no such file or name, or nothing in it can be asked.
    """
    own = found(name, "python")
    title = f"python:{name}"
    threads = profile.concurrency
    return of_object(own.made, title, threads=threads, source=own.source, digest=own.digest)


def of_object(
    made: Any,
    name: str,
    *,
    threads: int | None = None,
    source: str | None = None,
    digest: str | None = None,
) -> Python | Batched | Files | PythonStream:
    """A function, an object or a class as a model of that name. `threads` are those of a sync one,
    `source` the file whose lines are told when it raises. `digest`, a file's, is part of its
    revision beside what it declares; without one its source is, where it declares nothing.

    Raises:
        UsageError: it cannot be asked, or it is a class that cannot be made without arguments.
    """
    if inspect.isclass(made):
        source = source or _file(made)
        with told_as(UsageError, f"{name}: {name_of(made)}() failed", source):
            made = made()
    ask = _asked(made)
    if ask is None:
        raise UsageError(
            f"{name} is neither a function nor has it a method `generate`, `generate_batch`, "
            f"`inference` or `open`: {made!r:.80} is no model."
        )
    source = source or _file(ask if inspect.isroutine(ask) else type(ask))
    answer = _AnswerFunction(name, ask, source)
    declared = _declared(made)
    if digest is None:
        revision = declared or _digest(made, ask)
    else:  # a file may change without its object's knowing
        revision = f"{declared} {digest}" if declared else digest
    known = getattr(made, "concurrency", None)
    limit = known if isinstance(known, int) and known > 0 else None
    if ask == getattr(made, "generate_batch", None):
        batched = Batched(name, answer, revision)
        copy_traits(made, batched)
        return batched
    if ask == getattr(made, "inference", None):
        return Files(name, ask, source, revision, threads or limit or 1)
    watching = None
    if callable(getattr(made, "open", None)):
        watching = PythonStream(name, made, source, revision, threads or limit or 1)
        copy_traits(made, watching)
        if ask == made.open:
            return watching
    model = Python(name, answer, revision, threads=threads or limit, limit=limit)
    copy_traits(made, model)
    # What a model can do is told by its methods: only those are here that it has.
    if isinstance(made, Ranks):
        model.rank = _ranking(_AnswerFunction(name, made.rank, source))
    if watching is not None:
        model.open, model.silence = watching.open, watching.silence
    return model


def _asked(made: Any) -> Callable[..., Any] | None:
    """What of an object, or whether itself, is called with a question."""
    methods = [getattr(made, name, None) for name in ("generate_batch", "generate", "inference")]
    ways: list[Any] = [*methods, made, getattr(made, "open", None)]
    return next((way for way in ways if callable(way)), None)


def name_of(made: Any) -> str:
    """What an object calls itself, else the name of its function or class."""
    name = getattr(made, "name", None)
    if not inspect.isclass(made) and isinstance(name, str) and name:
        return name
    made = _unwrapped(made)
    return str(getattr(made, "__name__", None) or type(made).__name__)


def _declared(made: Any) -> str | None:
    """The revision that an object says it is, if it does."""
    revision = getattr(made, "revision", None)
    return revision if isinstance(revision, str) and revision else None


class Python:
    """A function of messages as a model; a sync one runs in `threads` threads (None: one). `limit`
    is how many requests at once suit an async one (None: find out)."""

    rank: Callable[[Request], Coroutine[Any, Any, Sequence[Ranked]]]
    open: Callable[[SessionSpec], Coroutine[Any, Any, Session]]
    silence: Sequence[str]

    def __init__(
        self,
        name: str,
        answer: _AnswerFunction,
        revision: str | None,
        *,
        threads: int | None,
        limit: int | None = None,
    ) -> None:
        self.name = name
        self.revision = revision
        self.concurrency = limit if answer.is_async else threads or 1
        self._answer = answer
        self._threads = CallThreads(threads or 1, name)

    async def generate(self, request: Request) -> Reply:
        """What the function says.

        Raises:
            Rejected: it raised something; says what, and where.
        """
        given = self._answer.given(loaded(request))
        if self._answer.is_async:
            said = await self._answer.awaited(self._answer(given))
        else:
            said = await self._threads.run(self._answer, given)
            if inspect.isawaitable(said):  # an async function behind a sync one
                said = await self._answer.awaited(said)
        return _reply(self.name, said)

    async def close(self) -> None:
        self._threads.close()


class Batched:
    """A function of several conversations as a model of batches; it waits behind a queue."""

    def __init__(self, name: str, answer: _AnswerFunction, revision: str | None) -> None:
        self.name = name
        self.revision = revision
        self._answer = answer

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """A reply to each, in their order.

        Raises:
            Rejected: the function raised something, or gave no list of as many replies.
        """
        said = self._answer([self._answer.given(loaded(request)) for request in requests])
        n = len(requests)
        if isinstance(said, list | tuple) and len(said) == n:
            return [_reply(self.name, one) for one in said]
        if inspect.iscoroutine(said):
            said.close()  # or Python warns that nobody awaited it
        what = f"a list of {len(said)}" if isinstance(said, list | tuple) else type_of(said)
        raise Rejected(
            f"{self.name} gave {what} to {n} conversation{'s' * (n != 1)}, not a list of as many "
            "replies."
        )


class Files:
    """A function that reads a video's file itself: what it is shown is its own affair."""

    wants_frames = False
    """No frames are decoded for it."""

    def __init__(
        self,
        name: str,
        ask: Callable[..., Any],
        source: str | None,
        revision: str | None,
        threads: int,
    ) -> None:
        self.name = name
        self.revision = revision
        self.concurrency = threads
        self._ask = ask
        self._takes_times = _takes_times(ask)
        self._threads = CallThreads(threads, name)
        self._calls = Calls(name=name, source=source, threads=self._threads)

    async def generate(self, request: Request) -> Reply:
        """What the function says of the one video in the request.

        Raises:
            Rejected: it raised something, or gave no text; or it is not asked about one video, or
                about a part of one and takes no times.
        """
        found = [video for message in request.messages for video in message.videos]
        if len(found) != 1:
            raise Rejected(
                f"{self.name} is asked about one video's file, and there are {len(found)} in the "
                "question.",
                hopeless=True,
            )
        (video,) = found
        times: dict[str, float] = {}
        if video.start or video.end is not None:
            if not self._takes_times:
                raise Rejected(
                    f"{self.name}: its `inference` takes no start_time and end_time, and would see "
                    "the whole video, of which the question is about a part. Add these two, or ask "
                    "it about videos that are cut already.",
                    hopeless=True,
                )
            times = {"start_time": video.start} | (
                {} if video.end is None else {"end_time": video.end}
            )
        text = "\n".join(message.text for message in request.messages)
        said = await self._calls(self._ask, str(video.source), text, **times)
        if isinstance(said, list | tuple) and len(said) == 1:
            (said,) = said
        if said is None:
            raise Rejected(f"{self.name} gave None: it failed, and does not say why.")
        return _reply(self.name, said)

    async def close(self) -> None:
        self._threads.close()


def _takes_times(ask: Callable[..., Any]) -> bool:
    parameters = inspect.signature(ask).parameters
    any_name = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    return any_name or {"start_time", "end_time"} <= set(parameters)


class PythonStream:
    """An object with `open(spec)` as a model that watches streams; `threads` sessions at once."""

    def __init__(
        self, name: str, made: Any, source: str | None, revision: str | None, threads: int
    ) -> None:
        self.name = name
        self.revision = revision
        self.concurrency = threads
        self.silence = _silence(name, made)
        self._made = made
        self._threads = CallThreads(threads, name)
        self._calls = Calls(name=name, source=source, threads=self._threads)

    async def open(self, spec: SessionSpec) -> Session:
        return await opened(self._calls, self._made.open, spec)

    async def close(self) -> None:
        self._threads.close()


def _silence(name: str, model: Any) -> Sequence[str]:
    """The texts that an object returns to stay silent.

    Raises:
        UsageError: that is no list of texts.
    """
    silence = getattr(model, "silence", ())
    is_list = isinstance(silence, Sequence) and not isinstance(silence, str)
    if not is_list or not all(isinstance(text, str) for text in silence):
        raise UsageError(f"{name}: `silence` is {silence!r:.80}, not a list of texts.")
    return tuple(map(str, silence))


class _AnswerFunction:
    """A stranger's function: what it wants, and what it raises told as `Rejected`."""

    def __init__(self, name: str, answer: Callable[[Any], Any], source: str | None) -> None:
        self._wants_request = _wants_request(answer)
        call = type(answer).__call__  # an object may be a function too
        self.is_async = inspect.iscoroutinefunction(answer) or inspect.iscoroutinefunction(call)
        self._name = name
        self._answer = answer
        self._source = source

    def given(self, request: Request) -> object:
        return request if self._wants_request else request.messages

    def __call__(self, given: object) -> Any:
        with told_as(Rejected, self._name, self._source, but=ModelError):
            return self._answer(given)

    async def awaited(self, said: Awaitable[Any]) -> Any:
        """What the function gives in the end, where it is awaited."""
        # A coroutine that is closed is sent a GeneratorExit.
        with told_as(Rejected, self._name, self._source, but=(ModelError, GeneratorExit)):
            return await said


def _ranking(answer: _AnswerFunction) -> Callable[[Request], Coroutine[Any, Any, Sequence[Ranked]]]:
    async def rank(request: Request) -> Sequence[Ranked]:
        ranked: Sequence[Ranked] = await answer.awaited(answer(request))
        return ranked

    return rank


def _wants_request(answer: Callable[[Any], Any]) -> bool:
    try:
        first = next(iter(inspect.signature(answer).parameters.values()), None)
    except (TypeError, ValueError):  # a function in C that says nothing of its parameters
        return False
    if first is None:
        return False
    return first.name in ("request", "requests") or first.annotation in (Request, "Request")


def _unwrapped(made: Any) -> Any:
    """The function that a partial one is made of."""
    while isinstance(made, functools.partial):
        made = made.func
    return made


def _file(made: Any) -> str | None:
    """The file that a function or class stands in, if it is known."""
    try:
        return inspect.getsourcefile(_unwrapped(made))
    except TypeError:  # it is built in, or was typed
        return None


def _digest(made: Any, ask: Any) -> str | None:
    """A digest of the source of a function, or of an object's class; None where it cannot be had,
    and for our own classes, whose changes are this package's."""
    made = _unwrapped(made)
    what = made if inspect.isroutine(made) else type(made)
    if str(what.__module__).partition(".")[0] == "snellen":
        return None
    # The method too: of a class that was typed in a notebook only that is found.
    sources = [source for one in (what, _unwrapped(ask)) for source in _sources(one)]
    return blake2b("".join(sources).encode(), digest_size=16).hexdigest() if sources else None


def _sources(made: Any) -> Iterator[str]:
    with suppress(OSError, TypeError):
        yield inspect.getsource(made)


def _reply(name: str, said: object) -> Reply:
    if isinstance(said, Reply):
        return said
    if isinstance(said, str):
        return Reply(text=said, stop="stop")
    raise Rejected(f"{name} gave {type_of(said)}, not text.")
