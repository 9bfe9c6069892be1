"""A model of your own: python:FILE:NAME, or an object that you pass to `snellen.evaluate`. The
model's code does not need to import Snellen.

FILE is a path that ends in .py, or the name of an installed module. NAME in FILE, or the object
that you pass, must be one of these:

- A function `answer(messages) -> str`, sync or async. `messages[-1].text` is the question's text.
  `messages[-1].images` are the question's images, with their bytes (`image.source`), type
  (`image.mime`), and size in pixels (`image.width`, `image.height`).

- An object or class with a method `generate(messages) -> str`, which works like the function
  `answer`. A class is instantiated once, without arguments.

- An object or class with a sync method `generate_batch(list of messages) -> list of str`, which
  answers several waiting questions together: at most 8, or the number in the object's attribute
  `batch_size`.

- An object or class with `inference(video_file_name, prompt, start_time, end_time)`, as in
  OVO-Bench. `inference` gets the path of the video file, the question's text, and the start and end
  of the visible part in seconds, and reads the file itself. `inference` returns a text, a list with
  a single text, or None after a failure. If `inference` has no parameters `start_time` and
  `end_time`, it is asked only questions about a whole file; all other questions are refused.

- An object or class with `open(spec)`, which returns a session that watches a stream. The session
  has `feed(frames)` and `ask(query, must_answer)`, and optionally `fork()` and `close()`. `feed`
  and `ask` return text, a `snellen.core.model.Emission`, a list of these, or None.

A sync function gets one question at a time, unless `--concurrency` or the profile sets a higher
number. If this number is above 1, the function must be thread-safe. A call that exceeds the total
timeout is abandoned, and the question fails. The next question runs in another thread. As soon as
the abandoned call executes Python code again, an exception is raised in it.

A function gets the whole request, a `snellen.core.model.Request`, if its first parameter is named
`request` or `requests`, or is annotated as `Request`. The function may return a `Reply` instead of
text. An object is identified by its attribute `revision` (a text) and the digest of its file. If
the revision or the digest changes, Snellen asks the questions again.
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
from snellen.media.layout import has_texts
from snellen.models.threads import CallThreads
from snellen.models.traits import copy_traits
from snellen.models.user_code import Calls, errors_as, load_object, opened


def open_model(
    name: str, *, profile: Profile, api_key: str | None
) -> Python | Batched | Files | PythonStream:
    """Load the model at `FILE:NAME`.

    Raises:
        UsageError: the file or the name does not exist, or the object is not a model.
    """
    own = load_object(name, "python")
    title = f"python:{name}"
    threads = profile.concurrency
    return of_object(own.value, title, threads=threads, source=own.source, digest=own.digest)


def of_object(
    value: Any,
    name: str,
    *,
    threads: int | None = None,
    source: str | None = None,
    digest: str | None = None,
) -> Python | Batched | Files | PythonStream:
    """Wrap a function, an object, or a class as a model with the name `name`.

    `threads` is the number of threads for sync calls. `source` is the file whose line numbers
    appear in error messages. The model's revision consists of the revision that the object declares
    and the file's `digest`. If both are missing, the revision is a digest of the model's source
    code.

    Raises:
        UsageError: the value is not a model, or is a class that cannot be instantiated without
            arguments.
    """
    if inspect.isclass(value):
        source = source or _file(value)
        with errors_as(UsageError, f"{name}: {name_of(value)}() failed", source):
            value = value()
    ask = _entry_point(value)
    if ask is None:
        raise UsageError(
            f"{name}: {value!r:.80} is not a model. A model is a function, or has a method "
            "`generate`, `generate_batch`, `inference`, or `open`."
        )
    source = source or _file(ask if inspect.isroutine(ask) else type(ask))
    answer = _AnswerFunction(name, ask, source)
    declared = _declared(value)
    if digest is None:
        revision = declared or _digest(value, ask)
    else:  # the file can change while the declared revision stays
        revision = f"{declared} {digest}" if declared else digest
    known = getattr(value, "concurrency", None)
    limit = known if isinstance(known, int) and known > 0 else None
    if ask == getattr(value, "generate_batch", None):
        batched = Batched(name, answer, revision, _batch_size(name, value))
        copy_traits(value, batched)
        return batched
    if ask == getattr(value, "inference", None):
        return Files(name, ask, source, revision, threads or limit or 1)
    watching = None
    if callable(getattr(value, "open", None)):
        watching = PythonStream(name, value, source, revision, threads or limit or 1)
        copy_traits(value, watching)
        if ask == value.open:
            return watching
    model = Python(name, answer, revision, threads=threads or limit, limit=limit)
    copy_traits(value, model)
    # A model's methods show what it can do, so the wrapper has only the methods of the value.
    if isinstance(value, Ranks):
        model.rank = _ranking(_AnswerFunction(name, value.rank, source))
    if watching is not None:
        model.open, model.silence = watching.open, watching.silence
    return model


def _entry_point(value: Any) -> Callable[..., Any] | None:
    """Return the method of an object that answers questions, or the object itself if it is
    callable."""
    methods = [getattr(value, name, None) for name in ("generate_batch", "generate", "inference")]
    ways: list[Any] = [*methods, value, getattr(value, "open", None)]
    return next((way for way in ways if callable(way)), None)


def name_of(value: Any) -> str:
    """Return an object's attribute `name`. If it has none, return the name of the function or of
    the object's class."""
    name = getattr(value, "name", None)
    if not inspect.isclass(value) and isinstance(name, str) and name:
        return name
    value = _unwrapped(value)
    return str(getattr(value, "__name__", None) or type(value).__name__)


def _declared(value: Any) -> str | None:
    """Return the revision that an object declares, if any."""
    revision = getattr(value, "revision", None)
    return revision if isinstance(revision, str) and revision else None


def _batch_size(name: str, value: Any) -> int | None:
    """Return the maximum batch size that an object declares, if any.

    Raises:
        UsageError: the attribute `batch_size` is not a whole number above 0.
    """
    size = getattr(value, "batch_size", None)
    if size is None or (type(size) is int and size > 0):
        return size
    raise UsageError(
        f"{name}: batch_size is {size!r:.80}. batch_size must be a whole number above 0."
    )


class Python:
    """A model that calls a function with messages. A sync function runs in `threads` threads (None:
    one thread). `limit` is the number of concurrent requests for an async function (None: Snellen
    adapts the number during the run)."""

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
        """Return the function's reply.

        Raises:
            Rejected: the function raised an exception. The message contains the exception and the
                number of the line that raised it.
        """
        argument = self._answer.argument(loaded(request))
        if self._answer.is_async:
            output = await self._answer.awaited(self._answer(argument))
        else:
            output = await self._threads.run(self._answer, argument)
            if inspect.isawaitable(output):  # a sync function that returned a coroutine
                output = await self._answer.awaited(output)
        return _reply(self.name, output)

    async def close(self) -> None:
        self._threads.close()


class Batched:
    """A model that calls a function with several conversations. `models.batching` makes batches of
    at most `size` conversations (None: the default of `models.batching`)."""

    def __init__(
        self, name: str, answer: _AnswerFunction, revision: str | None, size: int | None = None
    ) -> None:
        self.name = name
        self.revision = revision
        self.batches = {} if size is None else {"most": size}
        self._answer = answer

    def generate_batch(self, requests: Sequence[Request]) -> Sequence[Reply]:
        """Return one reply per request, in the order of the requests.

        Raises:
            Rejected: the function raised an exception, or did not return a list with one reply per
                request.
        """
        output = self._answer([self._answer.argument(loaded(request)) for request in requests])
        n = len(requests)
        if isinstance(output, list | tuple) and len(output) == n:
            return [_reply(self.name, item) for item in output]
        if inspect.iscoroutine(output):
            output.close()  # avoids Python's warning that it was never awaited
        what = f"a list of {len(output)}" if isinstance(output, list | tuple) else type_of(output)
        raise Rejected(
            f"{self.name} returned {what} for {n} conversation{'s' * (n != 1)}. The function must "
            "return a list with one reply per conversation."
        )


class Files:
    """A model that calls a function that reads the video file and picks the frames itself."""

    wants_frames = False
    """The model needs no decoded frames."""

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
        """Return the function's reply to a question about a single video.

        Raises:
            Rejected: the function raised an exception or did not return text, the request does not
                have exactly one video, or the request is about a part of the video and the function
                has no parameters for times.
        """
        videos = [video for message in request.messages for video in message.videos]
        if len(videos) != 1:
            raise Rejected(
                f"{self.name} answers only questions about one video, but the question has "
                f"{len(videos)}.",
                hopeless=True,
            )
        (video,) = videos
        if has_texts(video):
            raise Rejected(
                f"{self.name} reads the video's file, so it cannot get texts between the frames, "
                "such as stamps and subtitles. Ask without these texts.",
                hopeless=True,
            )
        times: dict[str, float] = {}
        if video.start or video.end is not None:
            if not self._takes_times:
                raise Rejected(
                    f"{self.name}: the question is about a part of the video, but `inference` "
                    "would see all of it. Add the parameters start_time and end_time to it, or use "
                    "videos that are already cut.",
                    hopeless=True,
                )
            times = {"start_time": video.start} | (
                {} if video.end is None else {"end_time": video.end}
            )
        text = "\n".join(message.text for message in request.messages)
        output = await self._calls(self._ask, str(video.source), text, **times)
        if isinstance(output, list | tuple) and len(output) == 1:
            (output,) = output
        if output is None:
            raise Rejected(f"{self.name} returned None, so it failed without giving a reason.")
        return _reply(self.name, output)

    async def close(self) -> None:
        self._threads.close()


def _takes_times(ask: Callable[..., Any]) -> bool:
    parameters = inspect.signature(ask).parameters
    any_name = any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    return any_name or {"start_time", "end_time"} <= set(parameters)


class PythonStream:
    """A model that watches streams with an object's `open(spec)`. At most `threads` streams are
    open at once."""

    def __init__(
        self, name: str, model: Any, source: str | None, revision: str | None, threads: int
    ) -> None:
        self.name = name
        self.revision = revision
        self.concurrency = threads
        self.silence = _silence(name, model)
        self._model = model
        self._threads = CallThreads(threads, name)
        self._calls = Calls(name=name, source=source, threads=self._threads)

    async def open(self, spec: SessionSpec) -> Session:
        return await opened(self._calls, self._model.open, spec)

    async def close(self) -> None:
        self._threads.close()


def _silence(name: str, model: Any) -> Sequence[str]:
    """Return the texts with which the object indicates that it stays silent.

    Raises:
        UsageError: `silence` is not a list of texts.
    """
    silence = getattr(model, "silence", ())
    is_list = isinstance(silence, Sequence) and not isinstance(silence, str)
    if not is_list or not all(isinstance(text, str) for text in silence):
        raise UsageError(f"{name}: `silence` is {silence!r:.80}, not a list of texts.")
    return tuple(map(str, silence))


class _AnswerFunction:
    """Calls a user's function with a converted argument. The function's exceptions are raised as
    `Rejected`."""

    def __init__(self, name: str, answer: Callable[[Any], Any], source: str | None) -> None:
        self._wants_request = _wants_request(answer)
        call = type(answer).__call__  # for an object with an async method `__call__`
        self.is_async = inspect.iscoroutinefunction(answer) or inspect.iscoroutinefunction(call)
        self._name = name
        self._answer = answer
        self._source = source

    def argument(self, request: Request) -> object:
        return request if self._wants_request else request.messages

    def __call__(self, argument: object) -> Any:
        with errors_as(Rejected, self._name, self._source, but=ModelError):
            return self._answer(argument)

    async def awaited(self, output: Awaitable[Any]) -> Any:
        """Wait for an async function, and return its result."""
        # Closing a coroutine raises GeneratorExit in it.
        with errors_as(Rejected, self._name, self._source, but=(ModelError, GeneratorExit)):
            return await output


def _ranking(answer: _AnswerFunction) -> Callable[[Request], Coroutine[Any, Any, Sequence[Ranked]]]:
    async def rank(request: Request) -> Sequence[Ranked]:
        ranked: Sequence[Ranked] = await answer.awaited(answer(request))
        return ranked

    return rank


def _wants_request(answer: Callable[[Any], Any]) -> bool:
    try:
        first = next(iter(inspect.signature(answer).parameters.values()), None)
    except (TypeError, ValueError):  # for example, a function in C without a signature
        return False
    if first is None:
        return False
    return first.name in ("request", "requests") or first.annotation in (Request, "Request")


def _unwrapped(value: Any) -> Any:
    """Unwrap the function inside a functools.partial."""
    while isinstance(value, functools.partial):
        value = value.func
    return value


def _file(value: Any) -> str | None:
    """Return the file that defines a function or class, or None if the file is not known."""
    try:
        return inspect.getsourcefile(_unwrapped(value))
    except TypeError:  # it is built in, or it was typed at a prompt
        return None


def _digest(value: Any, ask: Any) -> str | None:
    """Return a digest of the source code of a function or of an object's class. Return None if the
    source is not available, or if it is Snellen's own code, which changes only with this
    package."""
    value = _unwrapped(value)
    what = value if inspect.isroutine(value) else type(value)
    if str(what.__module__).partition(".")[0] == "snellen":
        return None
    # Include the method: for a class in a notebook, `inspect` finds only the source of methods.
    sources = [source for function in (what, _unwrapped(ask)) for source in _sources(function)]
    return blake2b("".join(sources).encode(), digest_size=16).hexdigest() if sources else None


def _sources(value: Any) -> Iterator[str]:
    with suppress(OSError, TypeError):
        yield inspect.getsource(value)


def _reply(name: str, output: object) -> Reply:
    if isinstance(output, Reply):
        return output
    if isinstance(output, str):
        return Reply(text=output, stop="stop")
    raise Rejected(f"{name} returned {type_of(output)}, not text.")
