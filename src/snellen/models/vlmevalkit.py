"""Runs an unmodified model class with VLMEvalKit's interface: vlmevalkit:FILE:CLASS.

FILE is a path that ends in .py, or the name of an installed module. CLASS in FILE is one of these:

- A class. Snellen instantiates the class once, with the profile's `extra` as keyword arguments.

- A functools.partial or a function that returns an instance.

- An object.

Snellen uses the following parts of VLMEvalKit's interface, as in
open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:

- `generate_inner(message, dataset)`, or otherwise `generate(message, dataset)`. `generate_inner` is
  preferred, since the public methods of the base classes turn errors into text
  (vlmeval/vlm/base.py).

- `generate_inner(inputs, **kwargs) -> (code, answer, log)` if `is_api` is true. Code 0 means
  success. Any other code is an HTTP status or has no meaning. Failed requests are retried by
  Snellen's runner, not by the class (vlmeval/api/base.py).

- `chat_inner(messages, dataset)`, for questions with several turns.

- `use_custom_prompt(dataset)` and `build_prompt(line, dataset)`, for the class's own prompts.

- `VIDEO_LLM`. If `VIDEO_LLM` is true, the class gets video files, and the frame policy sets
  `nframe` or `fps`. Other classes get frames as pictures.

- `split_thinking(text) -> (answer, thoughts)`.

`dataset` is VLMEvalKit's name for the benchmark. No other back end gets the benchmark's name.
`line` contains the question without the right answer: `index`, `question`, `hint`, `A`, `B`, ...,
the categories, and `image_path`, the files of the pictures. The class controls generation, so set
the temperature and token limit as arguments of the class, in the profile's `extra`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from snellen.core.model import Reply, Request, has_addresses, loaded
from snellen.core.profile import KEY, Profile, refuse_keys
from snellen.errors import (
    MediaError,
    ModelError,
    Overloaded,
    Rejected,
    UsageError,
    is_temporary,
    type_of,
)
from snellen.media import video
from snellen.media.content import Message, Video
from snellen.media.layout import has_texts
from snellen.models.threads import CallThreads
from snellen.models.user_code import errors_as
from snellen.models.vlmevalkit_messages import (
    PictureFiles,
    aside,
    build,
    load_class,
    ours,
    theirs,
)

T = TypeVar("T")
API_THREADS = 32
"""The default of VLMEvalKit's option `--api-nproc`."""
FAILED = ("Failed to obtain answer", "Chat Mode: Failed")
"""Texts that VLMEvalKit's base classes return instead of an answer (vlmeval/smp/file.py,
INFER_FAIL_MSG, and vlmeval/vlm/base.py, `chat`)."""
QUOTED = 300
SHORTEST_KEY = 8
"""The minimum length of a value that counts as a key. A shorter value may be an ordinary word in an
error message."""
NOT_TAKEN = ("temperature", "top_p", "max_tokens", "token_floor", "base_url", "api_key_env")
"""Fields that a profile must not set, because they have no effect on a class with VLMEvalKit's
interface."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> VlmEvalKit:
    """Load the model at `FILE:CLASS`.

    Raises:
        UsageError: the class does not exist, cannot be instantiated, or has no method to answer
            questions, or the profile sets fields that have no effect on the class.
    """
    title = f"vlmevalkit:{name}"
    if unsupported := [field for field in NOT_TAKEN if getattr(profile, field) is not None]:
        raise UsageError(
            f"{title} does not use {', '.join(unsupported)} of its profile: the class controls "
            "generation. Set the class's own arguments in the profile's [extra]."
        )
    refuse_keys(title, profile.extra)
    own = load_class(name, "vlmevalkit")
    model = build(own, profile.extra, title)
    if not any(callable(getattr(model, way, None)) for way in ("generate_inner", "generate")):
        raise UsageError(
            f"{title}: {model!r:.80} is not a model, because it has no method "
            "generate_inner(message, dataset)."
        )
    return VlmEvalKit(title, model, own.source, own.digest, profile.concurrency)


class VlmEvalKit:
    """A model that calls an object with VLMEvalKit's interface, in a single thread. If the object
    is a client of a service, the profile can set the number of threads."""

    def __init__(
        self, name: str, model: Any, source: str | None, revision: str | None, threads: int | None
    ) -> None:
        self.name = name
        self.revision = revision
        self._model = model
        self._source = source
        self._is_api = bool(getattr(model, "is_api", False))
        self._takes_videos = bool(getattr(model, "VIDEO_LLM", False))
        # A class that is derived from VLMEvalKit's base classes calls `message_to_promptimg`
        # itself.
        self._single_picture = getattr(model, "INTERLEAVE", None) is False and not hasattr(
            model, "message_to_promptimg"
        )
        self.wants_frames = not self._takes_videos
        self._frames = [name for name in ("nframe", "fps") if getattr(model, name, None)]
        self.concurrency = (threads or API_THREADS) if self._is_api else 1
        self.notes = (
            ("the model takes one picture: of several, the first was shown",)
            if self._single_picture
            else ()
        )
        self._threads = CallThreads(self.concurrency, name)
        self._pictures = PictureFiles()
        if hasattr(model, "set_dump_image"):
            model.set_dump_image(_pictures_of)

    def own_prompt(self, benchmark: str) -> bool:
        """Return whether the class has its own prompts for this benchmark.

        Raises:
            UsageError: the class raised an exception.
        """
        uses = getattr(self._model, "use_custom_prompt", None)
        if uses is None or not hasattr(self._model, "build_prompt"):
            return False
        what = f"{self.name}: use_custom_prompt({benchmark!r}) failed"
        with aside(), errors_as(UsageError, what, self._source):
            return bool(uses(benchmark))

    async def prompted(self, request: Request) -> Request:
        """Replace the prompt of a request with the class's own prompt. Pictures are loaded, unless
        the prompt contains URLs of pictures, which the caller may download.

        Raises:
            Rejected: `build_prompt` raised an exception, or returned no prompt.
        """
        return await self._in_a_thread(self._prompted, request)

    async def generate(self, request: Request) -> Reply:
        """Return the class's reply to a request.

        Raises:
            Rejected: the class raised an exception, returned no text, or does not support the
                request.
            Overloaded: a service failed or could not be reached.
        """
        output = await self._in_a_thread(self._output, loaded(request))
        with errors_as(Rejected, self.name, self._source, but=ModelError):
            return self._reply(output)

    async def close(self) -> None:
        self._threads.close()
        self._pictures.close()

    async def _in_a_thread(self, ask: Callable[[Request], T], request: Request) -> T:
        def guarded() -> T:
            with (
                aside(),
                errors_as(Rejected, self.name, self._source, but=(ModelError, MediaError)),
            ):
                try:
                    return ask(request)
                except OSError as error:  # includes the errors of HTTP clients
                    if self._is_api:
                        raise Overloaded(f"{self.name}: {type(error).__name__}: {error}") from error
                    raise

        def without_keys() -> T:
            try:
                return guarded()
            except ModelError as error:
                error.args = (self._without_keys(str(error)),)
                raise

        return await self._threads.run(without_keys)

    # -- calls

    def _prompted(self, request: Request) -> Request:
        assert request.origin is not None
        shown = [image for message in request.messages for image in message.images]
        paths = [self._pictures.path(image) for image in shown]
        line = dict(request.origin.columns())
        if paths:
            line["image_path"] = paths[0] if len(paths) == 1 else paths
        prompt = self._model.build_prompt(line, dataset=request.origin.benchmark)
        worded = replace(request, messages=ours(prompt, self._pictures.image))
        return worded if has_addresses(worded) else loaded(worded)

    def _output(self, request: Request) -> object:
        dataset = request.origin.benchmark if request.origin else None
        turns = [message for message in request.messages if message.role != "system"]
        rules = [message.text for message in request.messages if message.role == "system"]
        # A client's settings are changed only for this question, since other questions run at the
        # same time.
        model = copy.copy(self._model) if self._is_api else self._model
        for film in (film for message in turns for film in message.videos):
            self._set_frames(model, film)
        arguments: dict[str, Any] = {"dataset": dataset}
        if self._is_api:
            arguments = {**copy.deepcopy(getattr(model, "default_kwargs", {})), **arguments}
            if rules:
                had = getattr(model, "system_prompt", None)
                model.system_prompt = "\n".join(filter(None, (had, *rules)))
        if len(turns) > 1:
            return self._chat(model, turns, [] if self._is_api else rules, arguments)
        parts = self._parts(turns[0])
        if rules and not self._is_api:
            system = [{"type": "text", "value": text, "role": "system"} for text in rules]
            parts = [*system, *({**part, "role": "user"} for part in parts)]
        if not hasattr(model, "generate_inner"):
            return model.generate(parts, **arguments)
        if not self._is_api:
            return model.generate_inner(parts, dataset)
        return model.generate_inner(parts, **arguments)

    def _chat(
        self,
        model: Any,
        turns: Sequence[Message],
        rules: Sequence[str],
        arguments: Mapping[str, Any],
    ) -> object:
        """Send all turns so far. The number of turns is odd, and the last turn is the user's."""
        if not hasattr(model, "chat_inner"):
            raise Rejected(
                f"{self.name}: the question has {len(turns)} turns, but the class has no method "
                "chat_inner(messages, dataset).",
                hopeless=True,
            )
        if rules:
            raise Rejected(
                f"{self.name}: the question has a system message, which chat_inner does not "
                "support.",
                hopeless=True,
            )
        conversation = [{"role": turn.role, "content": self._parts(turn)} for turn in turns]
        return model.chat_inner(conversation, **arguments)

    def _parts(self, message: Message) -> list[dict[str, str]]:
        content = message.content
        if self._takes_videos:
            if any(map(has_texts, message.videos)):
                raise Rejected(
                    f"{self.name} reads the video's file, so it cannot get texts between the "
                    "frames, such as stamps and subtitles. Ask without these texts.",
                    hopeless=True,
                )
            content = tuple(
                replace(part, frames=()) if isinstance(part, Video) else part for part in content
            )
        parts = theirs(content, self._pictures.path)
        texts = [part["value"] for part in parts if part["type"] == "text"]
        media = [part for part in parts if part["type"] != "text"]
        if self._single_picture and media:
            # As message_to_promptimg does, send the first picture, and all texts on separate lines.
            return [media[0], {"type": "text", "value": "\n".join(texts)}]
        return parts

    def _set_frames(self, model: Any, film: Video) -> None:
        """Set the number of frames that the class reads from a video file, as VLMEvalKit's runner
        does."""
        if not self._takes_videos:
            return
        if film.start or film.end is not None:
            raise Rejected(
                f"{self.name} opens the files of videos itself. The question is about a part of "
                "the video, but the class would see all of it.",
                hopeless=True,
            )
        policy = video.policy(film.policy or video.DEFAULT)
        if not self._frames:
            return  # the class picks its own frames
        settings = {"uniform": ("nframe", policy.n), "fps": ("fps", policy.rate)}
        wanted, amount = settings.get(policy.kind, ("", None))
        if wanted not in self._frames:
            raise Rejected(
                f"{self.name} supports {' or '.join(self._frames)}, which cannot express {policy}. "
                "Use --frames uniform:N for nframe, or fps:R for fps.",
                hopeless=True,
            )
        for name in self._frames:
            setattr(model, name, amount if name == wanted else None)

    # -- replies

    def _reply(self, output: object) -> Reply:
        log: object = None
        if isinstance(output, tuple) and len(output) == 3:
            code, output, log = output
            if code != 0:
                raise self._failure(code, output, log)
        thoughts: str | None = None
        if isinstance(output, Mapping) and "prediction" in output:
            thinking = output.get("thinking")
            output, thoughts = output["prediction"], thinking if isinstance(thinking, str) else None
        if not isinstance(output, str):
            if output is None and self._is_api:
                raise self._failure(0, output, log)
            raise Rejected(f"{self.name} returned {type_of(output)}, not text.")
        fail = getattr(self._model, "fail_msg", None)
        if output.startswith(FAILED) or (isinstance(fail, str) and fail and fail in output):
            raise self._failure(0, output, log)
        if self._is_api and not output:
            raise self._failure(0, "it said nothing", log)
        if splits := getattr(self._model, "split_thinking", None):
            with aside(), errors_as(Rejected, f"{self.name}: split_thinking", self._source):
                output, thoughts = splits(output)
            if not isinstance(output, str) or not isinstance(thoughts, str | None):
                both = f"{type_of(output)} and {type_of(thoughts)}"
                raise Rejected(f"{self.name}: split_thinking returned {both}, not two texts.")
        return Reply(text=output, reasoning=thoughts or None, stop="stop")

    def _failure(self, code: object, output: object, log: object) -> ModelError:
        """Return the error for a code other than 0, or for a text that means a failure. Clients in
        the folder vlmeval/api that send their own requests return HTTP statuses. The other clients
        return -1, which has no meaning, so the request is retried, as in VLMEvalKit."""
        status = code if isinstance(code, int) and code > 0 else getattr(log, "status_code", None)
        words = " ".join(
            str(part) for part in (output, getattr(log, "text", log)) if part not in (None, "")
        )
        message = f"{self.name}: code {code}: {self._without_keys(words)[:QUOTED]}"
        if status in (401, 404):
            return Rejected(message, hopeless=True)
        if isinstance(status, int) and status >= 400 and not is_temporary(status):
            return Rejected(message)
        return Overloaded(message, throttled=status == 429)

    def _without_keys(self, words: str) -> str:
        """Remove the object's keys from an error message. Clients quote the URL of the request, and
        for some services this URL contains the key."""
        held = {**vars(type(self._model)), **getattr(self._model, "__dict__", {})}
        for name, value in held.items():
            if KEY.search(name) and isinstance(value, str) and len(value) >= SHORTEST_KEY:
                words = words.replace(value, "[key]")
        return words


def _pictures_of(line: Mapping[str, Any]) -> list[str]:
    """Return the files of a row's pictures as a list, as VLMEvalKit's `dump_image` does."""
    paths = line.get("image_path", [])
    return [paths] if isinstance(paths, str) else [*paths]
