"""Whatever transformers' AutoModelForImageTextToText and AutoProcessor load, from a local folder or
from the hub, run here: replies, and log-probabilities of choices.

Prompts are padded on the left and end where the chat template has the model begin. A row ends at
its own end token, limit or stop string, whatever else is in its batch; its text is decoded without
special tokens, and thinking stays in it.

Temperature None is the model's own generation_config.json, 0 the likeliest token each time; beams
are never searched. What neither it nor the request says is as transformers has it: sampling is
among the 50 likeliest tokens. A request that is sampled with a seed is a batch of its own, since
rows of one batch draw from one generator: asked again it gets the same reply.

A choice's log-probability is the sum over its own tokens, behind those of the prompt: it is split
into tokens by itself, with the space that it begins with or not, and no end token is counted.

A video goes as one where the processor takes videos, with its frames' own times, else as its
frames, an image each.

A profile's `extra` holds `Settings`.
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec

from snellen.core.model import Ranked, Reply, Request, Usage
from snellen.core.profile import Checked, Count, Profile
from snellen.errors import MediaError, Rejected, UsageError
from snellen.media import images
from snellen.media.content import Message, Part, Video
from snellen.models._hf import libraries, stop_tokens
from snellen.models.batch import TooMuch, image_size, text_size
from snellen.models.weights import digest

MAX_TOKENS = 1024
"""Of a reply to which nobody set a limit."""
PREPARED = 3
"""Batches that are prepared while one is answered, if there are as many cores."""
TICKS = 1000
"""Parts of a second in which processors are told the times of frames."""
BROKEN = (ValueError, TypeError, LookupError, RuntimeError, AttributeError, AssertionError)
"""What processors and models raise about inputs that they do not take."""
SHORT = ("out of memory", "ALLOC_FAILED", "can't allocate memory", "not enough memory")
"""Words of errors that say that there is no memory, where it is not OutOfMemoryError that says so:
those of CUDA's and its libraries', of the CPU's allocator."""


class Settings(Checked, frozen=True):
    """What a profile's `extra` says. `batch_tokens` bounds the rows of a batch times the longest,
    in tokens of prompts; `processor` and `template` are handed to the processor and to the chat
    template (`processor = {max_pixels = 1003520}`, `template = {enable_thinking = false}`)."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    attention: Literal["sdpa", "eager", "flash_attention_2"] | None = None
    device: str = "auto"
    replicas: Count = 1
    batch_size: Count = 16
    batch_tokens: Count = 16384
    image_processor: Literal["pil", "torchvision"] | None = None
    video: Literal["native", "frames"] = "native"
    processor: dict[str, Any] = msgspec.field(default_factory=dict)
    template: dict[str, Any] = msgspec.field(default_factory=dict)


def open_model(name: str, *, profile: Profile, api_key: str | None) -> Hf:
    """The model in the folder `name`, or of that name on the hub, in the profile's `revision`.

    Raises:
        UsageError: torch or transformers is missing, the model cannot be loaded or takes no chat,
            or `extra` holds something else.
    """
    spec = f"hf/{name}"
    try:
        settings = msgspec.convert(profile.extra, Settings)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{spec}: the profile's `extra`: {error}. It has the fields "
            f"{', '.join(Settings.__struct_fields__)}."
        ) from error
    torch, transformers = libraries(spec)
    from safetensors import SafetensorError

    devices = _devices(spec, settings, torch)
    there = transformers.utils.is_torchvision_available()
    if settings.image_processor == "torchvision" and not there:
        # transformers would take PIL's, and say nothing.
        raise UsageError(
            f"{spec}: image_processor is 'torchvision', and torchvision is not here. Install the "
            "version that goes with torch, or leave it out."
        )
    load: dict[str, Any] = {"trust_remote_code": profile.trust_remote_code}
    if not Path(name).is_dir():
        if name.startswith((".", "/", "~")) or name.count("/") > 1:
            raise UsageError(f"{spec}: there is no folder {name}.")  # and no such name on the hub
        load["revision"] = profile.revision or "main"
    try:
        processor = _load_processor(name, settings, load, transformers)
        models = [_load_model(name, settings, load, transformers).to(device) for device in devices]
    except ImportError as error:
        raise UsageError(
            f"{spec}: a package that it needs is not here, or cannot be imported: "
            f"{' '.join(str(error).split())} (Many models that take videos need torchvision, of "
            "the version that goes with torch.)"
        ) from error
    except (OSError, SafetensorError, *BROKEN) as error:
        raise UsageError(
            f"{spec}: it cannot be loaded: {error} (A model that comes with code of its own needs "
            "--trust-remote-code.)"
        ) from error
    prompts = _Prompts(spec, processor, settings)
    prompts.check()
    replicas = [_Replica(spec, prompts, model, settings, torch, transformers) for model in models]
    first = models[0]
    where = Path(name)
    weights = digest(where) if where.is_dir() else first.config._commit_hash or ""
    described = {
        "transformers": transformers.__version__,
        "dtype": str(first.dtype).removeprefix("torch."),
        "attention": first.config._attn_implementation,
        "image_processor": type(processor.image_processor).__name__,
    }
    return Hf(
        name=spec,
        revision=" ".join(filter(None, (*_versioned(described), weights))),
        runs_on={
            **described,
            "torch": torch.__version__,
            "devices": [_called(device, torch) for device in devices],
            "sampling": _plain(first.generation_config.to_diff_dict()),
        },
        replicas=replicas,
        batches={
            "most": settings.batch_size,
            "budget": settings.batch_tokens,
            "ahead": max(1, min(PREPARED, (os.cpu_count() or 1) - 1)),
        },
    )


@dataclass(frozen=True, kw_only=True)
class Hf:
    """A loaded model. `batches` says how its requests are gathered, `runs_on` what it runs on;
    the fields `speed` of a profile's `extra` change no reply."""

    name: str
    revision: str
    runs_on: Mapping[str, Any]
    replicas: Sequence[_Replica]
    batches: Mapping[str, int]
    speed = ("device", "replicas", "batch_size", "batch_tokens")

    @property
    def concurrency(self) -> int:
        """So many that the next batches can be chosen among more than they hold."""
        return self.batches["most"] * (len(self.replicas) + self.batches["ahead"] + 1)


def _devices(spec: str, settings: Settings, torch: Any) -> Sequence[str]:
    """Where each replica goes."""
    device = settings.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"{spec}: there is no device {device!r}: {error}") from error
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"{spec}: device is {device!r}, and torch finds no GPU here.")
    if device != "cuda" or settings.replicas == 1:
        return [device] * settings.replicas
    if (there := torch.cuda.device_count()) < settings.replicas:
        raise UsageError(f"{spec}: {settings.replicas} replicas, and there are {there} GPUs.")
    return [f"cuda:{number}" for number in range(settings.replicas)]


def _load_processor(name: str, settings: Settings, load: Mapping[str, Any], library: Any) -> Any:
    processor = library.AutoProcessor.from_pretrained(name, **load)
    if settings.image_processor is not None:
        processor.image_processor = library.AutoImageProcessor.from_pretrained(
            name, backend=settings.image_processor, **load
        )
    # With the padding behind them prompts would end in the middle of their rows.
    processor.tokenizer.padding_side = "left"
    if processor.tokenizer.pad_token is None:
        processor.tokenizer.pad_token = processor.tokenizer.eos_token
    return processor


def _load_model(name: str, settings: Settings, load: Mapping[str, Any], library: Any) -> Any:
    model = library.AutoModelForImageTextToText.from_pretrained(
        name,
        dtype=settings.dtype,
        attn_implementation=settings.attention,
        use_safetensors=True,  # other formats run code when they are read
        **load,
    )
    if model.config.is_encoder_decoder:
        raise ValueError("it is an encoder and a decoder; models that continue a chat are run")
    return model.eval()


def _versioned(described: Mapping[str, str]) -> Sequence[str]:
    version, *rest = described.values()
    return [f"transformers {version}", *rest]


def _called(device: str, torch: Any) -> str:
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in said.items() if isinstance(value, (int, float, str))}


# -- from requests to tensors; several threads at once


@dataclass(frozen=True)
class _Prepared:
    """Requests, their tensors as the model takes them, and the tokens of each prompt."""

    requests: Sequence[Request]
    inputs: Mapping[str, Any]
    lengths: Sequence[int]
    choices: Sequence[Sequence[int]] = ()


class _Prompts:
    """A processor with its chat template."""

    def __init__(self, spec: str, processor: Any, settings: Settings) -> None:
        self._spec = spec
        self._processor = processor
        self._settings = settings
        self._of_thread = threading.local()
        self._copying = threading.Lock()
        video = getattr(processor, "video_processor", None)
        self._videos = video is not None and settings.video == "native"
        self._alike = False
        # The frame size that Qwen3-VL's authors have; without it there is but a warning.
        capped = video is not None and hasattr(video, "cap_pixels_per_frame")
        self._video_options = {"cap_pixels_per_frame": True} if capped else {}
        # Words that look like the mark of a picture stay words, where the processor can do it.
        self._plain_words = {"sanitize_control_tokens": True}
        self.tokenizer = copy.deepcopy(processor.tokenizer)
        self.image_tokens = lru_cache(maxsize=4096)(self._image_tokens)

    def check(self) -> None:
        """That a chat with a picture can be prepared; and find out what else can.

        Raises:
            UsageError: it cannot.
        """
        import numpy as np

        black = np.zeros((64, 64, 3), np.uint8)
        chats = [
            [_said("user", [{"type": "image", "image": black}, _text(text)])]
            for text in ("What is this?", "What?")  # of two lengths, to see where padding goes
        ]
        try:
            try:
                self._made(chats, [])
            except Rejected:
                self._plain_words = {}
                self._made(chats, [])
        except Rejected as error:
            raise UsageError(f"{error}. Are `processor` and `template` right?") from error
        clips = [[black] * 2, [black] * 4] if self._videos else []
        chats = [[_said("user", [{"type": "video", "video": clip}])] for clip in clips]
        try:
            self._made(chats, [video_metadata(range(len(clip))) for clip in clips])
        except Rejected:
            self._alike = True

    def lengths(self, request: Request) -> Hashable:
        """Of its videos, in frames, where videos of one batch must be of one length."""
        if not self._alike:
            return None
        return tuple(len(video.frames) for message in request.messages for video in message.videos)

    def size(self, request: Request) -> int:
        """About how many tokens a request has: its pictures' as the processor counts them, where it
        does."""
        shown = (image for message in request.messages for image in message.images)
        return text_size(request) + sum(
            self.image_tokens(image.width, image.height)
            if image.width and image.height
            else image_size(image)
            for image in shown
        )

    def _image_tokens(self, width: int, height: int) -> int:
        try:
            counted = self._processor._get_num_multimodal_tokens(
                image_sizes=[[height, width]], **self._settings.processor
            )
            return int(counted.num_image_tokens[0])
        except BROKEN:
            return width * height // 28**2

    def prepared(self, requests: Sequence[Request]) -> _Prepared:
        """The tensors of a batch.

        Raises:
            Rejected: the processor does not take it, or a picture is damaged.
        """
        try:
            chats = [
                [_said(message.role, self._content(message)) for message in request.messages]
                for request in requests
            ]
        except MediaError as error:
            raise Rejected(str(error)) from error
        times = [
            [frame.time for frame in video.frames]
            for request in requests
            for message in request.messages
            for video in message.videos
        ]
        inputs = self._made(chats, list(map(video_metadata, times)) if self._videos else [])
        lengths = inputs["attention_mask"].sum(-1).tolist()
        if requests[0].kind != "rank":
            return _Prepared(requests, inputs, lengths)
        tokenizer = self._mine().tokenizer
        choices = [
            tokenizer(choice, add_special_tokens=False)["input_ids"]
            for choice in requests[0].choices
        ]
        if not all(choices):
            raise Rejected(f"{self._spec}: a choice without a token cannot be ranked.")
        return _Prepared(requests, inputs, lengths, choices)

    def _made(self, chats: Sequence[Any], videos: Sequence[Any]) -> Mapping[str, Any]:
        import jinja2

        options: dict[str, Any] = {"padding": True, **self._settings.processor}
        if videos:
            told = {"do_sample_frames": False, "video_metadata": videos}
            options = {**self._video_options, **options, **told}
        try:
            made: Mapping[str, Any] = self._mine().apply_chat_template(
                chats,
                tokenize=True,
                add_generation_prompt=True,
                return_dict=True,
                return_tensors="pt",
                processor_kwargs=options,
                **self._plain_words,
                **self._settings.template,
            )
        except (jinja2.TemplateError, *BROKEN) as error:
            hint = ' With video = "frames" in the profile\'s `extra` frames go as pictures.'
            raise Rejected(
                f"{self._spec}: its processor does not take the request: "
                f"{type(error).__name__}: {error}{hint if videos else ''}"
            ) from error
        mask = made.get("attention_mask")
        if mask is None or not mask[:, -1].all():
            raise Rejected(
                f"{self._spec}: its processor pads prompts behind them, or does not say where, so "
                "that a reply would follow the padding.",
                hopeless=True,
            )
        return made

    def _mine(self) -> Any:
        """This thread's own processor: a tokenizer that two threads use at once fails."""
        if not hasattr(self._of_thread, "processor"):
            with self._copying:
                self._of_thread.processor = copy.deepcopy(self._processor)
        return self._of_thread.processor

    def _content(self, message: Message) -> Sequence[Any]:
        if all(isinstance(part, str) for part in message.content):
            return [_text(message.text)]
        return [one for part in message.content for one in self._parts(part)]

    def _parts(self, part: Part) -> Sequence[Any]:
        if isinstance(part, str):
            return [_text(part)]
        if not isinstance(part, Video):
            return [{"type": "image", "image": images.pixels(part)}]
        if not part.frames:
            raise Rejected(f"{part.place or part.source}: no frames of it were decoded.")
        frames = [images.pixels(frame.image) for frame in part.frames]
        if not self._videos:
            return [{"type": "image", "image": pixels} for pixels in frames]
        return [{"type": "video", "video": frames}]


def _said(role: str, content: Sequence[Any]) -> dict[str, Any]:
    return {"role": role, "content": list(content)}


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def video_metadata(times: Sequence[float]) -> dict[str, Any]:
    """The times of a video's frames, to the millisecond: a frame's number in a video of that many
    frames a second. The frames' mean distance makes the rate at which they were picked."""
    ticks = [round(time * TICKS) for time in times]
    step = (ticks[-1] - ticks[0]) / (len(ticks) - 1) if len(ticks) > 1 else TICKS
    total = max(1, round(len(ticks) * step))
    return {
        "fps": float(TICKS),
        "frames_indices": ticks,
        "total_num_frames": total,
        "duration": total / TICKS,
    }


# -- from tensors to replies; one thread for each replica


class _Replica:
    """A model on one device."""

    ranks = True
    _generators: ClassVar[dict[str, threading.Lock]] = {}
    """A lock for each device's generator, from which all draw that are on it."""

    def __init__(
        self, name: str, prompts: _Prompts, model: Any, settings: Settings, torch: Any, library: Any
    ) -> None:
        self.name = name
        self.model = model
        self._prompts = prompts
        self._tokenizer = prompts.tokenizer
        self._settings = settings
        self._torch = torch
        self._library = library
        self._drawing = self._generators.setdefault(str(model.device), threading.Lock())
        self._stops = stop_tokens(model, self._tokenizer)
        self._positions = getattr(model.config.get_text_config(), "max_position_embeddings", None)

    # -- as `models.batching` asks

    def size(self, request: Request) -> int:
        return self._prompts.size(request)

    def rows(self, request: Request) -> int:
        return 1

    def group(self, request: Request) -> Hashable:
        """What may be generated together; an object of its own where nothing may."""
        generation = request.generation
        if request.kind == "rank":
            return object()
        lengths = self._prompts.lengths(request)
        if not self._samples(request):
            return "greedy", lengths
        if request.seed is not None:
            return object()
        return generation.temperature, generation.top_p, lengths

    def prepare(self, requests: Sequence[Request]) -> _Prepared:
        try:
            return self._prompts.prepared(requests)
        except MemoryError:
            pass  # what it holds is let go before more is tried, here and below
        raise TooMuch

    def answer(self, prepared: _Prepared) -> Sequence[Reply]:
        """A reply for each request.

        Raises:
            TooMuch: there was no memory for it. Rejected: the model does not take it.
        """
        torch = self._torch
        try:
            with torch.inference_mode():
                if prepared.choices:
                    return [self._ranked(prepared)]
                return self._generated(prepared)
        except (MemoryError, *BROKEN) as error:
            is_short = self._is_short(error)
            why = f"{self.name}: {type(error).__name__}: {error}"
        if not is_short:
            raise Rejected(why, hopeless="CUDA error" in why)
        torch.cuda.empty_cache()
        raise TooMuch

    def _is_short(self, error: Exception) -> bool:
        """Whether an error says that there is no memory."""
        kinds = (MemoryError, self._torch.OutOfMemoryError)
        return isinstance(error, kinds) or any(words in str(error) for words in SHORT)

    # -- generating

    def _samples(self, request: Request) -> bool:
        temperature = request.generation.temperature
        return bool(self.model.generation_config.do_sample if temperature is None else temperature)

    def _config(self, request: Request, most: int) -> Any:
        """How a batch is generated, by its first request."""
        generation = request.generation
        config = copy.deepcopy(self.model.generation_config)
        config.max_length, config.max_new_tokens, config.num_beams = None, most, 1
        config.eos_token_id = sorted(self._stops) or None
        config.pad_token_id = self._tokenizer.pad_token_id
        config.do_sample = self._samples(request)
        if not config.do_sample:
            config.temperature = config.top_p = config.top_k = None
        elif generation.temperature is not None:
            config.temperature = generation.temperature
        if config.do_sample and generation.top_p is not None:
            config.top_p = generation.top_p
        return config

    def _generated(self, prepared: _Prepared) -> Sequence[Reply]:
        inputs = self._here(prepared.inputs)
        start = inputs["input_ids"].shape[1]
        requests = prepared.requests
        limits = [
            self._limit(request, length)
            for request, length in zip(requests, prepared.lengths, strict=True)
        ]
        ends = _Ends(self._torch, self._tokenizer, start, limits, [r.stop for r in requests])
        numbers = _Numbers()
        call = {
            **inputs,
            "generation_config": self._config(requests[0], max(limits)),
            "stopping_criteria": self._library.StoppingCriteriaList([ends]),
            "logits_processor": self._library.LogitsProcessorList([numbers]),
        }
        if self._samples(requests[0]):
            with self._drawing:
                self._seed(requests[0].seed)
                made = self.model.generate(**call)
        else:
            made = self.model.generate(**call)
        if numbers.lacking:
            raise Rejected(
                f"{self.name}: the model's scores are no numbers (NaN), so that its reply would "
                f"mean nothing: {self.model.dtype} may not hold them. Set another `dtype` in the "
                "profile's `extra`."
            )
        return [
            self._reply(said[:end], length, request.stop)
            for said, end, length, request in zip(
                made[:, start:].tolist(), ends.lengths, prepared.lengths, requests, strict=True
            )
        ]

    def _seed(self, seed: int | None) -> None:
        """Seed the generator of this device: those of other GPUs may be drawn from meanwhile."""
        if seed is None:
            return
        if self.model.device.type == "cuda":
            with self._torch.cuda.device(self.model.device):
                self._torch.cuda.manual_seed(seed)
        else:
            self._torch.manual_seed(seed)

    def _limit(self, request: Request, length: int) -> int:
        """Tokens that a reply may have.

        Raises:
            Rejected: there is no room for any.
        """
        limit = request.generation.max_tokens or MAX_TOKENS
        room = limit if self._positions is None else self._positions - length
        if room <= 0:
            raise Rejected(
                f"{self.name}: the prompt has {length:,} tokens, and the model has "
                f"{self._positions:,} positions. Make pictures or frames smaller or fewer (the "
                "profile's [images], --frames)."
            )
        return min(limit, room)

    def _reply(self, said: Sequence[int], length: int, stops: Sequence[str]) -> Reply:
        end = next((place for place, token in enumerate(said) if token in self._stops), None)
        text = self._tokenizer.decode(said[:end], skip_special_tokens=True)
        stop = "length" if end is None else "stop"
        if found := [text.index(one) for one in stops if one in text]:
            text, stop = text[: min(found)], "stop"
        n = len(said) if end is None else end
        return Reply(text=text, stop=stop, usage=Usage(input=length, output=n))

    def _here(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The tensors on the model's device, pixels in its type of number."""
        here = {}
        for name, value in inputs.items():
            if isinstance(value, self._torch.Tensor):
                is_pixels = name.startswith("pixel_values")
                value = value.to(self.model.device, self.model.dtype if is_pixels else None)
            here[name] = value
        return here

    # -- ranking

    def _ranked(self, prepared: _Prepared) -> Reply:
        """All choices in one batch, the prompt in each row: with it as keys and values of the rows
        some models would place what follows by what they last saw."""
        length, choices = prepared.lengths[0], prepared.choices
        longest = length + max(map(len, choices))
        if self._positions is not None and longest > self._positions:
            self._limit(prepared.requests[0], longest)
        inputs = self._here(prepared.inputs)
        at_once = max(1, min(len(choices), self._settings.batch_tokens // longest))
        found: list[Ranked] = []
        while len(found) < len(choices):
            part = choices[len(found) : len(found) + at_once]
            try:
                found += self._rows(inputs, length, part)
            except RuntimeError as error:
                if at_once == 1 or not self._is_short(error):
                    raise
                at_once //= 2
        return Reply(choices=tuple(found), stop="stop")

    def _rows(
        self, inputs: Mapping[str, Any], length: int, choices: Sequence[Sequence[int]]
    ) -> Sequence[Ranked]:
        """Log-probabilities of choices behind one prompt; padding, behind them, is seen by none."""
        torch = self._torch
        n, most = len(choices), max(map(len, choices))
        rows: dict[str, Any] = {}
        for name, value in inputs.items():
            if not isinstance(value, torch.Tensor):
                rows[name] = list(value) * n if isinstance(value, list) else value
                continue
            rows[name] = torch.cat([value] * n)  # also where it is a row for each image
            if value.shape == inputs["input_ids"].shape:
                # Kinds of tokens, all text; the first two are filled in below.
                rows[name] = torch.nn.functional.pad(rows[name], (0, most))
        for row, choice in enumerate(choices):
            end = length + len(choice)
            rows["input_ids"][row, length:end] = torch.tensor(choice)
            rows["attention_mask"][row, length:end] = 1
        logits = self.model(**rows, use_cache=False, logits_to_keep=most + 1).logits
        # The last `most` + 1 places of each row begin with the prompt's last token.
        scores = logits[:, -most - 1 :].float().log_softmax(-1)
        return [
            Ranked(
                sum(scores[row, place, token].item() for place, token in enumerate(choice)),
                len(choice),
            )
            for row, choice in enumerate(choices)
        ]


class _Numbers:
    """Sees whether scores are ever no numbers (NaN): the likeliest token would then be the first of
    the vocabulary, time and again."""

    lacking: Any = False

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        self.lacking = scores.isnan().any() | self.lacking  # stays there: nobody waits for it here
        return scores


class _Ends:
    """Says which rows of a batch have said all that they may: as many tokens as their limit, or one
    of their stop strings. `lengths`: of what each has said then."""

    def __init__(
        self,
        torch: Any,
        tokenizer: Any,
        start: int,
        limits: Sequence[int],
        stops: Sequence[Sequence[str]],
    ) -> None:
        self._torch = torch
        self._tokenizer = tokenizer
        self._start = start
        self._stops = stops
        self.lengths = [*limits]

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:
        n = input_ids.shape[1] - self._start
        for row, stops in enumerate(self._stops):
            if stops and n < self.lengths[row]:
                text = self._tokenizer.decode(
                    input_ids[row, self._start :], skip_special_tokens=True
                )
                if any(stop in text for stop in stops):
                    self.lengths[row] = n
        done = [n >= length for length in self.lengths]
        return self._torch.tensor(done, device=input_ids.device)
