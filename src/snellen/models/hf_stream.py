"""Runs a Qwen-VL model from a local folder with transformers, to watch a stream. The model
processes each frame only once.

The cache keeps the keys and values of the whole stream, so a question costs only the tokens of the
question and the reply. A fork stores the length of the cache at the time of the fork. For a
question to the fork, the cache is cut back to that length, and the later tokens are put back after
the reply. Each frame is a separate block in the prompt. (The processor repeats the frame, since the
model expects pairs of frames.) Replies are comparable with those of an offline run only if the
offline run also puts each frame in a separate block.

If a question may be answered at any time, it becomes part of the stream. After each later frame,
the model is polled (`snellen.models.polling`): it is asked at the end of the cache whether it has
something to say now. If the model stays silent, the poll is cut from the cache, as from a fork that
is closed, and leaves no trace. If the model speaks, the poll and its message become part of the
stream, so that the model knows what it has said.

Each call of the model gets explicit positions. Without explicit positions, the model would use
`rope_deltas` from its last input, which may belong to another session, and give wrong results
without an error. Decoding is always greedy, regardless of the model's own sampling settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, TypeVarTuple

import orjson

from snellen.core.model import Emission, Query, SessionSpec, Usage
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError
from snellen.media import images
from snellen.media.content import Frame, Image
from snellen.models.hf_common import libraries, stop_tokens
from snellen.models.polling import SILENCE, VERSION, is_silent, poll_about
from snellen.models.threads import CallThreads
from snellen.models.weights import digest

FAMILY = ("qwen2_vl", "qwen2_5_vl")
"""The types of models whose positions and frame blocks this module supports."""
CACHE_BYTES = 8 << 30
"""The maximum size of a session's keys and values, in bytes. Qwen2.5-VL-7B needs 57 kB per token,
so 8 GiB are enough for ten minutes at one frame per second and 256 tokens per frame."""
MAX_TOKENS = 512
"""The default token limit of a reply."""
MARK = "\N{SYMBOL FOR RECORD SEPARATOR}"
"""A placeholder for texts. The rendered chat template is split at this placeholder."""

T = TypeVar("T")
Ts = TypeVarTuple("Ts")


def open_model(name: str, *, profile: Profile, api_key: str | None) -> HfStream:
    """Load the model in the folder `name`. A profile's `extra` can contain `cache_bytes`.

    Raises:
        UsageError: torch or transformers is missing, the folder does not contain a model of a
            supported type, or `extra` has an unknown field.
    """
    settings = {"cache_bytes": CACHE_BYTES, **profile.extra}
    cache_bytes = settings.pop("cache_bytes")
    if settings or type(cache_bytes) is not int or cache_bytes <= 0:
        raise UsageError(
            f"hf-stream/{name}: the profile's `extra` can only set cache_bytes, a number of bytes, "
            f"but it is {dict(profile.extra)}."
        )
    return HfStream(f"hf-stream/{name}", _Qwen(Path(name), cache_bytes), profile.concurrency or 1)


class HfStream:
    """A model that watches streams. At most `sessions` sessions are open at once. A further session
    waits until an open session is closed."""

    silence = (SILENCE,)
    speaking = f"poll after each frame, version {VERSION}"
    """How the model decides when to speak, which is part of the identity of runs in which it
    speaks on its own."""

    def __init__(self, name: str, qwen: _Qwen, sessions: int) -> None:
        self.name = name
        self.revision = qwen.revision
        self.concurrency = sessions
        self._qwen = qwen
        # A single thread makes all calls of the model, so that they neither overlap nor block the
        # event loop.
        self._thread = CallThreads(1, name)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._room = asyncio.Semaphore(sessions)

    async def open(self, spec: SessionSpec) -> HfSession:
        """Open a session.

        Raises:
            Rejected: the temperature is above 0.
        """
        if spec.generation.temperature:
            raise Rejected(
                f"{self.name} decodes greedily. Remove the temperature, or set it to 0.",
                hopeless=True,
            )
        room = self._room_here()
        await room.acquire()
        with ExitStack() as stack:
            stack.callback(room.release)
            past, end = await self.call(self._qwen.begin, spec.system)
            stack.pop_all()
        return HfSession(self, self._qwen, spec, past, end, room)

    async def call(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        return await self._thread.run(function, *args)

    async def close(self) -> None:
        self._thread.close()

    def _room_here(self) -> asyncio.Semaphore:
        """Return the semaphore of this event loop. A new loop gets a new semaphore, since tasks
        that wait for a semaphore end with their loop."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._room = loop, asyncio.Semaphore(self.concurrency)
        return self._room


class HfSession:
    """A session for one stream. The session keeps its own questions and answers, but not those of
    its forks."""

    def __init__(
        self,
        model: HfStream,
        qwen: _Qwen,
        spec: SessionSpec,
        past: _Past,
        end: _StreamPosition,
        room: asyncio.Semaphore,
    ) -> None:
        self._model = model
        self._qwen = qwen
        self._spec = spec
        self._past = past
        self._end = end
        self._room: asyncio.Semaphore | None = room
        self._open_queries: list[Query] = []

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        """Add frames to the stream. If there are open questions, the model is polled after each
        frame; the result has what it says.

        Raises:
            Rejected: the frames or the polls do not fit into the cache or the model's context.
            MediaError: a frame is damaged.
        """
        emissions: list[Emission] = []
        for frame in frames:
            self._end = await self._model.call(self._qwen.see, self._past, frame.image)
            if self._open_queries and (emission := await self._poll()) is not None:
                emissions.append(emission)
        return emissions

    async def _poll(self) -> Emission | None:
        """Ask the model whether it has something to say; None if it has not."""
        query = poll_about(self._open_queries)
        limit = _limit(self._spec, query)
        emission, self._end = await self._model.call(self._qwen.poll, self._past, query, limit)
        return emission

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        """Return the reply to a question, with greedy decoding. If `must_answer` is false, the
        question stays open, and the result is empty.

        Raises:
            Rejected: the question does not fit into the cache or the model's context.
        """
        if not must_answer:
            self._end = await self._model.call(self._qwen.read, self._past, query)
            self._open_queries.append(query)
            return []
        limit = _limit(self._spec, query)
        emission, self._end = await self._model.call(self._qwen.converse, self._past, query, limit)
        return [emission]

    async def fork(self) -> HfFork:
        # The fork starts at `_end`, not at the cache's current length, since the cache may contain
        # part of another fork's question.
        return HfFork(self._model, self._qwen, self._spec, self._past, self._end, ())

    async def close(self) -> None:
        room, self._room = self._room, None
        if room is not None:
            room.release()


class HfFork:
    """A fork: the stream up to a position, and the fork's own input, which the model processes
    again for every question. A fork is not polled."""

    def __init__(
        self,
        model: HfStream,
        qwen: _Qwen,
        spec: SessionSpec,
        past: _Past,
        start: _StreamPosition,
        own: tuple[_Piece, ...],
    ) -> None:
        self._model = model
        self._qwen = qwen
        self._spec = spec
        self._past = past
        self._start = start
        self._own = own

    async def feed(self, frames: Sequence[Frame]) -> Sequence[Emission]:
        for frame in frames:
            self._own += (await self._model.call(self._qwen.block, frame.image),)
        return []

    async def ask(self, query: Query, *, must_answer: bool) -> Sequence[Emission]:
        """Return the reply to a question. This raises the same errors as `HfSession.ask`.

        Raises:
            Rejected: `must_answer` is false.
        """
        if not must_answer:
            raise Rejected(
                f"{self._model.name}: a fork of a session answers questions at once. Send a "
                "question that stays open to the session itself.",
                hopeless=True,
            )
        limit = _limit(self._spec, query)
        emission, turn = await self._model.call(
            self._qwen.answer, self._past, self._start, self._own, query, limit
        )
        self._own += (turn,)
        return [emission]

    async def fork(self) -> HfFork:
        return HfFork(self._model, self._qwen, self._spec, self._past, self._start, self._own)

    async def close(self) -> None:
        self._own = ()


def _limit(spec: SessionSpec, query: Query) -> int:
    return query.max_tokens or spec.generation.max_tokens or MAX_TOKENS


# -- the model; everything below runs in its thread


@dataclass(frozen=True)
class _Piece:
    """A sequence of tokens. For a frame, `pixels` contains the frame's pixels, and `grid` the
    frame's size in patches (1, height, width)."""

    ids: Sequence[int]
    pixels: Any = None
    grid: Any = None


@dataclass(frozen=True)
class _Layout:
    """The chat template's tokens before the first frame (`head`), between a question and its answer
    (`ask`), and after an answer (`close`)."""

    head: Sequence[int]
    ask: Sequence[int]
    close: Sequence[int]


@dataclass(frozen=True)
class _StreamPosition:
    """A point in a stream: the number of tokens before the point, and the position of the next
    token."""

    length: int
    position: int


@dataclass
class _Past:
    """The cache of a stream, and the position of the stream's next token."""

    layout: _Layout
    cache: Any
    position: int = 0

    @property
    def length(self) -> int:
        return int(self.cache.get_seq_length())

    @property
    def end(self) -> _StreamPosition:
        return _StreamPosition(self.length, self.position)


class _Qwen:
    """The model with its tokenizer and its image processor."""

    def __init__(self, folder: Path, cache_bytes: int) -> None:
        torch, transformers = libraries(f"hf-stream/{folder}")
        _check_family(folder)
        try:
            here: dict[str, Any] = {"local_files_only": True}
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **here)
            # The torchvision backend scales slightly differently and is not always installed.
            self._processor = transformers.AutoImageProcessor.from_pretrained(
                folder, backend="pil", **here
            )
            model = transformers.AutoModelForImageTextToText.from_pretrained(
                folder, dtype="auto", use_safetensors=True, **here
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"hf-stream/{folder}: the model cannot be loaded: {error}") from error
        self._torch = torch
        self._new_cache = transformers.DynamicCache
        self._model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        self._cache_bytes = cache_bytes
        config, text = model.config, model.config.get_text_config()
        self._start, self._image = config.vision_start_token_id, config.image_token_id
        self._end = config.vision_end_token_id
        self._positions: int = text.max_position_embeddings
        head_size = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
        heads = text.num_hidden_layers * text.num_key_value_heads
        self._token_bytes: int = 2 * heads * head_size * model.dtype.itemsize
        self._stops = stop_tokens(model, self._tokenizer)
        dtype = str(model.dtype).removeprefix("torch.")
        self.revision = f"transformers {transformers.__version__} {dtype} {digest(folder)}"
        self._layout("")  # so that an unusable template is reported before the first video

    # -- what happens to a stream

    def begin(self, system: str) -> tuple[_Past, _StreamPosition]:
        past = _Past(self._layout(system), self._new_cache())
        self._append(past, _Piece(past.layout.head))
        return past, past.end

    def see(self, past: _Past, image: Image) -> _StreamPosition:
        self._append(past, self.block(image))
        return past.end

    def block(self, image: Image) -> _Piece:
        """Return the tokens and pixels of a frame."""
        inputs = self._processor(
            images=[images.pixels(image)], input_data_format="channels_last", return_tensors="pt"
        )
        grid = inputs["image_grid_thw"]
        n = int(grid.prod()) // self._processor.merge_size**2
        return _Piece((self._start, *[self._image] * n, self._end), inputs["pixel_values"], grid)

    def converse(self, past: _Past, query: Query, limit: int) -> tuple[Emission, _StreamPosition]:
        """Return the reply to a question. The question and the reply become part of the stream."""
        emission, _, left = self._ask(past, query, limit, past.length)
        self._append(past, _Piece(left))
        return emission, past.end

    def read(self, past: _Past, query: Query) -> _StreamPosition:
        """Add a question that stays open to the stream."""
        if tokens := self._tokens(query.text, plain=True):
            self._append(past, _Piece(tokens))
        return past.end

    def poll(
        self, past: _Past, query: Query, limit: int
    ) -> tuple[Emission | None, _StreamPosition]:
        """Return the reply to a poll, which then becomes part of the stream. If the reply means
        silence, return None, and leave the stream as it was."""
        start, is_spoken = past.end, False
        try:
            emission, _, left = self._ask(past, query, limit, past.length)
            if not is_silent(emission.text):
                self._append(past, _Piece(left))
                is_spoken = True
        finally:
            if not is_spoken:
                _cut(past.cache, start.length)
                past.position = start.position
        return (emission if is_spoken else None), past.end

    def answer(
        self, past: _Past, start: _StreamPosition, own: Sequence[_Piece], query: Query, limit: int
    ) -> tuple[Emission, _Piece]:
        """Return the reply to a fork's question, and the tokens that the fork keeps from this turn.

        The model gets the stream up to `start`, the fork's own input, and the question. The stream
        itself does not change.
        """
        with self._back_at(past, start):
            for piece in own:
                self._append(past, piece)
            emission, turn, _ = self._ask(past, query, limit, start.length)
        return emission, _Piece(turn)

    # -- tokens

    def _ask(
        self, past: _Past, query: Query, limit: int, cached: int
    ) -> tuple[Emission, Sequence[int], Sequence[int]]:
        """Return the reply, the tokens of the turn, and the last of these tokens, which the model
        has not processed yet."""
        question = [*self._tokens(query.text, plain=True), *past.layout.ask]
        before, close = past.length, past.layout.close
        least = len(question) + 1 + len(close)
        self._check_room(before + least, past.position + least)
        scores = self._append(past, _Piece(question))
        room = min(
            self._positions - past.position - len(close),
            self._cache_bytes // self._token_bytes - past.length - len(close),
        )
        tokens: list[int] = []
        text, stop = "", "length"
        while len(tokens) < min(limit, room):
            if tokens:
                scores = self._append(past, _Piece(tokens[-1:]))
            if scores.isnan().any():
                raise Rejected(
                    f"{self._tokenizer.name_or_path}: the model's scores are NaN, so its reply "
                    f"would be meaningless. Its values may exceed the range of {scores.dtype}. "
                    "Change `dtype` in the config.json of a copy of the model."
                )
            token = int(scores.argmax())
            if token in self._stops:
                stop = "stop"
                break
            tokens.append(token)
            text = self._tokenizer.decode(tokens, skip_special_tokens=True)
            cut = min((text.find(end) for end in query.stop if end in text), default=None)
            if cut is not None:
                text, stop = text[:cut], "stop"
                break
        turn = [*question, *tokens, *close]
        usage = Usage(input=before + len(question), output=len(tokens), cached=cached)
        emission = Emission(text=text, query=query.id or None, stop=stop, usage=usage)
        return emission, turn, turn[past.length - before :]

    def _tokens(self, text: str, *, plain: bool = False) -> Sequence[int]:
        """Tokenize a text independently of the text before it. If `plain` is true, special tokens
        in the text are treated as ordinary text."""
        encoding = self._tokenizer(text, add_special_tokens=False, split_special_tokens=plain)
        return list(encoding["input_ids"])

    def _layout(self, system: str) -> _Layout:
        """Return the tokens that the model's chat template puts around frames, questions, and
        answers.

        Raises:
            UsageError: the template does not keep the parts of a message in order.
        """
        question = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": MARK}]}
        first = [{"role": "system", "content": system}] if system else []
        chat = [*first, question, {"role": "assistant", "content": MARK}, question]
        frame = "".join(
            self._tokenizer.convert_ids_to_tokens([self._start, self._image, self._end])
        )
        parts = self._tokenizer.apply_chat_template(
            chat, tokenize=False, add_generation_prompt=True
        ).split(MARK)
        before = all(part.endswith(frame) and part != frame for part in parts[::2])
        if len(parts) != 4 or not before or parts[1] != parts[3]:
            raise UsageError(
                f"{self._tokenizer.name_or_path}: the model's chat template does not keep frames "
                "and questions in order, so they cannot be sent one by one. Use another model."
            )
        head, ask, close, _ = (self._tokens(part.removesuffix(frame)) for part in parts)
        return _Layout(head, ask, close)

    # -- the cache

    def _append(self, past: _Past, piece: _Piece) -> Any:
        """Append a piece to a stream, and return the scores of the next token, as a tensor of shape
        (vocabulary,). After an error, the stream is unchanged.

        Raises:
            Rejected: the piece does not fit into the cache or the model's context.
        """
        torch, model = self._torch, self._model
        ids = torch.tensor([piece.ids], device=model.device)
        frame = {}
        kinds = torch.zeros_like(ids)  # text, even if the model wrote an image token
        if piece.grid is not None:
            kinds[ids == self._image] = 1
            frame = {"pixel_values": piece.pixels, "image_grid_thw": piece.grid}
            frame = {name: tensor.to(model.device) for name, tensor in frame.items()}
        # Each piece ends with text, and the positions of the next piece continue from its last
        # position. The result is the same as if the model numbered all pieces together.
        positions, _ = model.model.get_rope_index(
            ids,
            mm_token_type_ids=kinds,
            image_grid_thw=frame.get("image_grid_thw"),
        )
        positions += past.position
        length = past.length
        self._check_room(length + ids.shape[1], int(positions.max()) + 1)
        try:
            with torch.inference_mode():
                output = model(
                    input_ids=ids,
                    position_ids=positions,
                    past_key_values=past.cache,
                    use_cache=True,
                    logits_to_keep=1,
                    **frame,
                )
        except torch.OutOfMemoryError as error:
            _cut(past.cache, length)
            raise Rejected(f"context: out of memory after {length:,} tokens: {error}") from error
        past.position = int(positions[0, 0, -1]) + 1
        return output.logits[0, -1]

    def _check_room(self, length: int, position: int) -> None:
        if position > self._positions:
            raise Rejected(
                f"context: the stream reaches position {position:,}, but the model has only "
                f"{self._positions:,}. Use fewer or smaller frames (--frames)."
            )
        if (taken := length * self._token_bytes) > self._cache_bytes:
            raise Rejected(
                f"context: the keys and values of {length:,} tokens take {taken:,} bytes, but a "
                f"session's limit is {self._cache_bytes:,}. Increase cache_bytes in the profile's "
                "`extra`, or use fewer or smaller frames (--frames)."
            )

    @contextmanager
    def _back_at(self, past: _Past, start: _StreamPosition) -> Iterator[None]:
        """Restore the stream to its state at `start` inside a `with` block. After the block, the
        stream loses the tokens that were added inside the block, and gets back its later tokens."""
        layers, end = past.cache.layers, past.end
        later = [
            tuple(of[..., start.length :, :].clone() for of in (layer.keys, layer.values))
            for layer in layers
            if end.length > start.length
        ]
        _cut(past.cache, start.length)
        past.position = start.position
        try:
            yield
        finally:
            _cut(past.cache, start.length)
            past.position = end.position
            if later:
                for layer, (keys, values) in zip(layers, later, strict=True):
                    layer.update(keys, values)


def _cut(cache: Any, length: int) -> None:
    """Cut the cache to a length. Each layer is cut separately, since a failed call may have
    extended only some of the layers."""
    for layer in cache.layers:
        layer.crop(min(0, length - layer.get_seq_length()))


def _check_family(folder: Path) -> None:
    try:
        kind = orjson.loads((folder / "config.json").read_bytes()).get("model_type")
    except OSError as error:
        raise UsageError(
            f"hf-stream/{folder}: this is not the folder of a model (config.json: "
            f"{error.strerror}). The model must be on this machine."
        ) from error
    if kind not in FAMILY:
        raise UsageError(
            f"hf-stream/{folder}: the model's type is {kind!r}, but only the caches of models of "
            f"type {' or '.join(FAMILY)} can be forked, which watching a stream needs. Use one of "
            f"these models, or hf/{folder} with --adapter window:4 and the option mode=polled."
        )
