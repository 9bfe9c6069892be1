"""A model class in VLMEvalKit's shape, as it is: vlmevalkit:FILE:CLASS.

CLASS in FILE (a path ending in .py, or the name of an installed module) is a class, made once with
the profile's `extra` as keyword arguments, a functools.partial or function that makes one, or an
object. What it may have, all of open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:

- `generate_inner(message, dataset)`, else `generate(message, dataset)`: vlmeval/vlm/base.py. The
  inner one is called, since the public ones of its base classes turn errors into text;
- with `is_api`, `generate_inner(inputs, **kwargs) -> (code, answer, log)`: vlmeval/api/base.py.
  Code 0 is a success, others are HTTP's or nobody's; the runner asks again, not the class;
- `chat_inner(messages, dataset)` for questions of several turns;
- `use_custom_prompt(dataset)` and `build_prompt(line, dataset)`: the questions in its own words;
- `VIDEO_LLM`: videos as their files, with `nframe` or `fps` set by the frame policy. Others get the
  frames as pictures;
- `split_thinking(text) -> (answer, thoughts)`.

`dataset` is what VLMEvalKit calls the benchmark, which no other back end is told. `line` has what
is asked and never what is right: `index`, `question`, `hint`, `A`, `B`, ..., the categories, and
`image_path`, where the pictures lie as files. How it generates is its own affair: temperature and
limits are arguments of the class.
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
from snellen.models.threads import CallThreads
from snellen.models.user_code import told_as
from snellen.models.vlmevalkit_messages import (
    PictureFiles,
    aside,
    class_named,
    made_of,
    ours,
    theirs,
)

T = TypeVar("T")
API_THREADS = 32
"""Its own `--api-nproc`."""
FAILED = ("Failed to obtain answer", "Chat Mode: Failed")
"""What its base classes say in the place of an answer: vlmeval/smp/file.py, INFER_FAIL_MSG, and
vlmeval/vlm/base.py, `chat`."""
QUOTED = 300
SHORTEST_KEY = 8
"""What is shorter may be a word of an error."""
NOT_TAKEN = ("temperature", "top_p", "max_tokens", "token_floor", "base_url", "api_key_env")
"""Fields of a profile that such a class is not told."""


def open_model(name: str, *, profile: Profile, api_key: str | None) -> VlmEvalKit:
    """The model of the class that `FILE:CLASS` means.

    Raises:
        UsageError: there is none, it cannot be made, it has no method to ask, or the profile says
            what it would not be told.
    """
    title = f"vlmevalkit:{name}"
    if given := [field for field in NOT_TAKEN if getattr(profile, field) is not None]:
        raise UsageError(
            f"{title} is not told {', '.join(given)}: how it generates is up to its class. Give "
            "the class's own arguments in the profile's [extra]."
        )
    refuse_keys(title, profile.extra)
    own = class_named(name, "vlmevalkit")
    made = made_of(own, profile.extra, title)
    if not any(callable(getattr(made, way, None)) for way in ("generate_inner", "generate")):
        raise UsageError(
            f"{title} has no method generate_inner(message, dataset): {made!r:.80} is no model."
        )
    return VlmEvalKit(title, made, own.source, own.digest, profile.concurrency)


class VlmEvalKit:
    """An object of such a class. One thread asks it, or as many as the profile says if it is a
    client of a service."""

    def __init__(
        self, name: str, made: Any, source: str | None, revision: str | None, threads: int | None
    ) -> None:
        self.name = name
        self.revision = revision
        self._made = made
        self._source = source
        self._is_api = bool(getattr(made, "is_api", False))
        self._takes_videos = bool(getattr(made, "VIDEO_LLM", False))
        # Its base classes have a method for this, which the class calls by itself.
        self._one_picture = getattr(made, "INTERLEAVE", None) is False and not hasattr(
            made, "message_to_promptimg"
        )
        self.wants_frames = not self._takes_videos
        self._frames = [name for name in ("nframe", "fps") if getattr(made, name, None)]
        self.concurrency = (threads or API_THREADS) if self._is_api else 1
        self.notes = (
            ("the model takes one picture: of several, the first was shown",)
            if self._one_picture
            else ()
        )
        self._threads = CallThreads(self.concurrency, name)
        self._pictures = PictureFiles()
        if hasattr(made, "set_dump_image"):
            made.set_dump_image(_pictures_of)

    def own_prompt(self, benchmark: str) -> bool:
        """Whether the class words this benchmark's questions itself.

        Raises:
            UsageError: it raised something.
        """
        uses = getattr(self._made, "use_custom_prompt", None)
        if uses is None or not hasattr(self._made, "build_prompt"):
            return False
        what = f"{self.name}: use_custom_prompt({benchmark!r}) failed"
        with aside(), told_as(UsageError, what, self._source):
            return bool(uses(benchmark))

    async def prompted(self, request: Request) -> Request:
        """The request in the class's own words, its pictures loaded, but for addresses: who asks
        may fetch them.

        Raises:
            Rejected: `build_prompt` raised something, or gave no prompt.
        """
        return await self._in_a_thread(self._prompted, request)

    async def generate(self, request: Request) -> Reply:
        """What the class says.

        Raises:
            Rejected: it raised something, gave no text, or cannot be asked this; Overloaded: a
                service said that it failed, or could not be reached.
        """
        output = await self._in_a_thread(self._said, loaded(request))
        with told_as(Rejected, self.name, self._source, but=ModelError):
            return self._reply(output)

    async def close(self) -> None:
        self._threads.close()
        self._pictures.close()

    async def _in_a_thread(self, ask: Callable[[Request], T], request: Request) -> T:
        def asked() -> T:
            with aside(), told_as(Rejected, self.name, self._source, but=(ModelError, MediaError)):
                try:
                    return ask(request)
                except OSError as error:  # those of HTTP clients too
                    if self._is_api:
                        raise Overloaded(f"{self.name}: {type(error).__name__}: {error}") from error
                    raise

        def without_keys() -> T:
            try:
                return asked()
            except ModelError as error:
                error.args = (self._without_keys(str(error)),)
                raise

        return await self._threads.run(without_keys)

    # -- what it is told

    def _prompted(self, request: Request) -> Request:
        assert request.origin is not None
        shown = [image for message in request.messages for image in message.images]
        paths = [self._pictures.path(image) for image in shown]
        line = dict(request.origin.columns())
        if paths:
            line["image_path"] = paths[0] if len(paths) == 1 else paths
        said = self._made.build_prompt(line, dataset=request.origin.benchmark)
        worded = replace(request, messages=ours(said, self._pictures.image))
        return worded if has_addresses(worded) else loaded(worded)

    def _said(self, request: Request) -> object:
        dataset = request.origin.benchmark if request.origin else None
        turns = [message for message in request.messages if message.role != "system"]
        rules = [message.text for message in request.messages if message.role == "system"]
        # A client's settings are changed for this question alone, and others are asked meanwhile.
        made = copy.copy(self._made) if self._is_api else self._made
        for film in (film for message in turns for film in message.videos):
            self._set_frames(made, film)
        told: dict[str, Any] = {"dataset": dataset}
        if self._is_api:
            told = {**copy.deepcopy(getattr(made, "default_kwargs", {})), **told}
            if rules:
                had = getattr(made, "system_prompt", None)
                made.system_prompt = "\n".join(filter(None, (had, *rules)))
        if len(turns) > 1:
            return self._chat(made, turns, [] if self._is_api else rules, told)
        parts = self._parts(turns[0])
        if rules and not self._is_api:
            system = [{"type": "text", "value": text, "role": "system"} for text in rules]
            parts = [*system, *({**part, "role": "user"} for part in parts)]
        if not hasattr(made, "generate_inner"):
            return made.generate(parts, **told)
        if not self._is_api:
            return made.generate_inner(parts, dataset)
        return made.generate_inner(parts, **told)

    def _chat(
        self, made: Any, turns: Sequence[Message], rules: Sequence[str], told: Mapping[str, Any]
    ) -> object:
        """All turns so far: an odd number, the last one the user's."""
        if not hasattr(made, "chat_inner"):
            raise Rejected(
                f"{self.name} has no method chat_inner(messages, dataset), and the question has "
                f"{len(turns)} turns.",
                hopeless=True,
            )
        if rules:
            raise Rejected(
                f"{self.name}: chat_inner takes no message of the system, which the question has.",
                hopeless=True,
            )
        said = [{"role": turn.role, "content": self._parts(turn)} for turn in turns]
        return made.chat_inner(said, **told)

    def _parts(self, message: Message) -> list[dict[str, str]]:
        content = message.content
        if self._takes_videos:
            content = tuple(
                replace(part, frames=()) if isinstance(part, Video) else part for part in content
            )
        parts = theirs(content, self._pictures.path)
        texts = [part["value"] for part in parts if part["type"] == "text"]
        media = [part for part in parts if part["type"] != "text"]
        if self._one_picture and media:
            # As message_to_promptimg does: the first picture, and all text in lines.
            return [media[0], {"type": "text", "value": "\n".join(texts)}]
        return parts

    def _set_frames(self, made: Any, film: Video) -> None:
        """Set how many frames the class takes of a video's file, as VLMEvalKit's runner does."""
        if not self._takes_videos:
            return
        if film.start or film.end is not None:
            raise Rejected(
                f"{self.name} opens videos' files itself, and would see the whole video, of which "
                "the question is about a part.",
                hopeless=True,
            )
        policy = video.policy(film.policy or video.DEFAULT)
        if not self._frames:
            return  # what it is shown is its own affair
        named = {"uniform": ("nframe", policy.n), "fps": ("fps", policy.rate)}
        wanted, amount = named.get(policy.kind, ("", None))
        if wanted not in self._frames:
            raise Rejected(
                f"{self.name} is told {' or '.join(self._frames)}, which does not say {policy}: "
                "choose --frames uniform:N for nframe, fps:R for fps.",
                hopeless=True,
            )
        for name in self._frames:
            setattr(made, name, amount if name == wanted else None)

    # -- what it says

    def _reply(self, said: object) -> Reply:
        log: object = None
        if isinstance(said, tuple) and len(said) == 3:
            code, said, log = said
            if code != 0:
                raise self._failure(code, said, log)
        thoughts: str | None = None
        if isinstance(said, Mapping) and "prediction" in said:
            thinking = said.get("thinking")
            said, thoughts = said["prediction"], thinking if isinstance(thinking, str) else None
        if not isinstance(said, str):
            if said is None and self._is_api:
                raise self._failure(0, said, log)
            raise Rejected(f"{self.name} gave {type_of(said)}, not text.")
        fail = getattr(self._made, "fail_msg", None)
        if said.startswith(FAILED) or (isinstance(fail, str) and fail and fail in said):
            raise self._failure(0, said, log)
        if self._is_api and not said:
            raise self._failure(0, "it said nothing", log)
        if splits := getattr(self._made, "split_thinking", None):
            with aside(), told_as(Rejected, f"{self.name}: split_thinking", self._source):
                said, thoughts = splits(said)
            if not isinstance(said, str) or not isinstance(thoughts, str | None):
                both = f"{type_of(said)} and {type_of(thoughts)}"
                raise Rejected(f"{self.name}: split_thinking gave {both}, not two texts.")
        return Reply(text=said, reasoning=thoughts or None, stop="stop")

    def _failure(self, code: object, said: object, log: object) -> ModelError:
        """The error of a code that is not 0, or of a text that stands for one. Codes are those of
        HTTP in the clients of its folder vlmeval/api that send their requests themselves, else -1,
        which says nothing: then the same is asked again, as VLMEvalKit does."""
        status = code if isinstance(code, int) and code > 0 else getattr(log, "status_code", None)
        words = " ".join(
            str(part) for part in (said, getattr(log, "text", log)) if part not in (None, "")
        )
        message = f"{self.name}: code {code}: {self._without_keys(words)[:QUOTED]}"
        if status in (401, 404):
            return Rejected(message, hopeless=True)
        if isinstance(status, int) and status >= 400 and not is_temporary(status):
            return Rejected(message)
        return Overloaded(message, throttled=status == 429)

    def _without_keys(self, words: str) -> str:
        """What it said of a failure, without the keys that it holds: clients tell the address that
        they asked, and some services take the key in it."""
        held = {**vars(type(self._made)), **getattr(self._made, "__dict__", {})}
        for name, value in held.items():
            if KEY.search(name) and isinstance(value, str) and len(value) >= SHORTEST_KEY:
                words = words.replace(value, "[key]")
        return words


def _pictures_of(line: Mapping[str, Any]) -> list[str]:
    """Where a row's pictures lie: what `dump_image` gives."""
    paths = line.get("image_path", [])
    return [paths] if isinstance(paths, str) else [*paths]
