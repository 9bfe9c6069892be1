"""A Qwen2.5-VL of random weights that watches streams: what it says must be what one forward over
the whole prompt says, computed here by transformers alone."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

from snellen import registry
from snellen.api import Plan, run_plan
from snellen.core.model import Emission, Generation, Query, SessionSpec
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError, install
from snellen.media.content import Frame, Image
from snellen.models.hf_stream import HfSession, open_model
from snellen.models.polling import POLL
from snellen.store import ReplyRecord, Run
from snellen.testing import check_streams

pytestmark = pytest.mark.heavy
CLOSE = 1e-4
WORDS = ["what is in the picture ? one two three", "answer with yes or no : A B C D E 0123456789"]
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]
# As Qwen2.5-VL's does, without its video and numbers of pictures.
TEMPLATE = """\
{% for m in messages %}{% if loop.first and m['role'] != 'system' %}<|im_start|>system
You are a helpful assistant.<|im_end|>
{% endif %}<|im_start|>{{ m['role'] }}
{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for c in m['content'] %}\
{% if c['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>\
{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model_folder = tmp_path_factory.mktemp("model") / "tiny-qwen"
    build(model_folder)
    return model_folder


def build(folder: Path, positions: int = 4096) -> None:
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import (
        PreTrainedTokenizerFast,
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2VLImageProcessorPil,
    )

    torch.manual_seed(0)
    of_bytes = Tokenizer(models.BPE(unk_token=None))
    of_bytes.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    of_bytes.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    of_bytes.train_from_iterator(
        WORDS * 20,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=of_bytes,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        chat_template=TEMPLATE,
    )
    number = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    config = Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 3,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            # Wide, so that the replies depend on what is asked and shown.
            "initializer_range": 0.2,
            "max_position_embeddings": positions,
            "bos_token_id": None,
            "eos_token_id": number["<|im_end|>"],
            "rope_parameters": {"rope_theta": 1e4, "mrope_section": [2, 3, 3]},
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_heads": 2,
            "out_hidden_size": 64,
            "window_size": 56,
            "fullatt_block_indexes": [1],
            "initializer_range": 0.2,
        },
        image_token_id=number["<|image_pad|>"],
        video_token_id=number["<|video_pad|>"],
        vision_start_token_id=number["<|vision_start|>"],
        vision_end_token_id=number["<|vision_end|>"],
    )
    Qwen2_5_VLForConditionalGeneration(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    Qwen2VLImageProcessorPil(
        size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112}
    ).save_pretrained(folder)


# -- the same without a cache


Turn = tuple[Sequence[Frame | str], str, Sequence[int] | None]
"""Frames, with texts between them, a question, and the answer's tokens (None: what is asked
for)."""


class SingleForward:
    """One forward over a whole prompt, with nothing of ours."""

    def __init__(self, folder: Path) -> None:
        import transformers

        self.torch = __import__("torch")
        self.model = transformers.Qwen2_5_VLForConditionalGeneration.from_pretrained(folder).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self.processor = transformers.Qwen2VLImageProcessorPil.from_pretrained(folder)

    def logits(self, turns: Sequence[Turn], tokens: Sequence[int] = ()) -> np.ndarray:
        """Behind the last question and what was said of its answer."""
        pictures: list[np.ndarray] = []
        chat = []
        answers = [answer for *_, answer in turns if answer is not None]
        for shown_before, question, answer in turns:
            pictures += (shown(part) for part in shown_before if isinstance(part, Frame))
            parts: list[dict[str, str]] = [
                {"type": "image"} if isinstance(part, Frame) else {"type": "text", "text": part}
                for part in shown_before
            ]
            chat.append({"role": "user", "content": [*parts, {"type": "text", "text": question}]})
            if answer is not None:
                chat.append({"role": "assistant", "content": "@@"})
        text = self.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        more: dict[str, Any] = {}
        if pictures:
            more = dict(self.processor(images=pictures, return_tensors="pt"))
            first, *rest = text.split("<|image_pad|>")
            pads = (more["image_grid_thw"].prod(-1) // 4).tolist()
            text = first + "".join(
                "<|image_pad|>" * n + part for n, part in zip(pads, rest, strict=True)
            )
        message: list[int] = []
        for part, then in zip(text.split("@@"), [*answers, tokens], strict=True):
            message += [*self.tokenizer(part, add_special_tokens=False)["input_ids"], *then]
        ids = self.torch.tensor([message])
        kinds = (ids == self.model.config.image_token_id).int()
        self.model.model.rope_deltas = None
        with self.torch.inference_mode():
            model = self.model(input_ids=ids, mm_token_type_ids=kinds, use_cache=False, **more)
        return np.asarray(model.logits[0, -1])

    def answer(self, turns: Sequence[Turn], limit: int) -> list[int]:
        """Greedily, with a forward over everything for each token."""
        text: list[int] = []
        while len(text) < limit:
            token = int(self.logits(turns, text).argmax())
            if token == self.tokenizer.eos_token_id:
                break
            text.append(token)
        return text

    def text(self, tokens: Sequence[int]) -> str:
        return str(self.tokenizer.decode(tokens, skip_special_tokens=True))


@pytest.fixture(scope="module")
def reference(folder: Path) -> SingleForward:
    return SingleForward(folder)


def frames(seed: int, n: int, width: int = 112, height: int = 84) -> list[Frame]:
    created = []
    for k, pixels in enumerate(
        np.random.default_rng(seed).integers(0, 256, (n, height, width, 3), dtype=np.uint8)
    ):
        file = BytesIO()
        PIL.Image.fromarray(pixels).save(file, "PNG")
        created.append(Frame(time=float(k), image=Image(file.getvalue())))
    return created


def shown(frame: Frame) -> np.ndarray:
    assert isinstance(frame.image.source, bytes)
    return np.asarray(PIL.Image.open(BytesIO(frame.image.source)))


class Watched:
    """A model, and the logits of everything that went through it."""

    def __init__(self, folder: Path, **profile: Any) -> None:
        self.model = open_model(str(folder), profile=Profile(**profile), api_key=None)
        self.logits: list[np.ndarray] = []

        def keep(_: object, __: object, created: Any) -> None:
            self.logits.append(created[0, -1].numpy().copy())

        self.model._qwen._model.lm_head.register_forward_hook(keep)

    async def open(self) -> HfSession:
        return await self.model.open(SessionSpec())

    async def logits_of(self, session: Any, question: str) -> np.ndarray:
        """Behind the question, before any token of the reply."""
        query = Query(id="q", text=question, max_tokens=1)
        before = len(self.logits)
        own = len(getattr(session, "_own", ()))
        await session.ask(query, must_answer=True)
        return self.logits[before + own]


@pytest.fixture
def watched(folder: Path) -> Watched:
    return Watched(folder, concurrency=2)


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    assert np.abs(actual - expected).max() < CLOSE
    assert actual.argmax() == expected.argmax()


async def emission_of(session: Any, question: str, limit: int = 12, **more: Any) -> Emission:
    (emission,) = await session.ask(
        Query(id="q", text=question, max_tokens=limit, **more), must_answer=True
    )
    assert isinstance(emission, Emission)
    return emission


# -- the same as one forward


async def test_after_each_of_six_frames_a_question_has_the_logits_of_one_forward(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(1, 6)
    session = await watched.open()
    for k in range(6):
        assert not await session.feed([stream[k]])
        logits = await watched.logits_of(await session.fork(), "what is in the picture ?")
        assert_same(logits, reference.logits([(stream[: k + 1], "what is in the picture ?", None)]))


async def test_a_question_before_any_frame_is_answered_too(
    watched: Watched, reference: SingleForward
) -> None:
    session = await watched.open()
    logits = await watched.logits_of(session, "yes or no")
    assert_same(logits, reference.logits([((), "yes or no", None)]))


async def test_the_second_question_is_answered_as_if_the_first_had_not_been_asked(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(2, 6)
    session = await watched.open()
    await session.feed(stream)
    await emission_of(await session.fork(), "what is in the picture ?")
    logits = await watched.logits_of(await session.fork(), "one two three")
    assert_same(logits, reference.logits([(stream, "one two three", None)]))


async def test_a_fork_sees_its_own_frames_and_none_that_came_to_the_session_since(
    watched: Watched, reference: SingleForward
) -> None:
    stream, (latest,) = frames(3, 6), frames(4, 1, 84, 112)
    session = await watched.open()
    await session.feed(stream[:3])
    outer = await session.fork()
    await session.feed(stream[3:5])
    inner = await outer.fork()
    await inner.feed([latest])
    logits = await watched.logits_of(inner, "one two")
    assert_same(logits, reference.logits([([*stream[:3], latest], "one two", None)]))
    assert_same(
        await watched.logits_of(outer, "one two"), reference.logits([(stream[:3], "one two", None)])
    )
    await session.feed(stream[5:])
    assert_same(
        await watched.logits_of(session, "one two"), reference.logits([(stream, "one two", None)])
    )


async def test_two_sessions_on_one_model_do_not_disturb_each_other(
    watched: Watched, reference: SingleForward
) -> None:
    streams = [frames(5, 6), frames(6, 6, 56, 112)]
    sessions = [await watched.open(), await watched.open()]
    for pair in zip(*streams, strict=True):
        for session, frame in zip(sessions, pair, strict=True):
            await session.feed([frame])
    for question in ("what is in the picture ?", "yes or no"):
        for session, stream in zip(sessions, streams, strict=True):
            logits = await watched.logits_of(await session.fork(), question)
            assert_same(logits, reference.logits([(stream, question, None)]))


async def test_a_reply_is_the_one_that_is_computed_anew_for_each_token(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(7, 6)
    session = await watched.open()
    actual = []
    for k in range(6):
        await session.feed([stream[k]])
        emission = await emission_of(await session.fork(), "what is in the picture ?")
        expected = reference.answer([(stream[: k + 1], "what is in the picture ?", None)], 12)
        assert emission.text == reference.text(expected)
        actual.append(emission.text)
    assert len(set(actual)) > 3, "replies that do not depend on the frames tell nothing"


async def test_forks_that_answer_while_the_stream_goes_on_say_the_same(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(13, 8)
    session = await watched.open()
    asking = []
    for frame in stream:
        await session.feed([frame])
        for question in ("one", "yes or no"):
            asking.append(asyncio.create_task(emission_of(await session.fork(), question, 4)))
    actual = [emission.text for emission in await asyncio.gather(*asking)]
    turns = [(stream[: k + 1], request) for k in range(8) for request in ("one", "yes or no")]
    assert actual == [reference.text(reference.answer([(*turn, None)], 4)) for turn in turns]


@pytest.mark.parametrize("forked", [False, True])
async def test_what_was_asked_before_and_not_of_a_fork_stays(
    watched: Watched, reference: SingleForward, forked: bool
) -> None:
    stream = frames(8, 4)
    question, second = "what is in the picture ?", "yes or no"
    answer = reference.answer([(stream[:2], question, None)], 3)
    session: Any = await watched.open()
    await session.feed(stream[:2])
    if forked:
        session = await session.fork()
    assert (await emission_of(session, question, 3)).text == reference.text(answer)
    await session.feed(stream[2:])
    logits = await watched.logits_of(session, second)
    assert_same(
        logits, reference.logits([(stream[:2], question, answer), (stream[2:], second, None)])
    )


def test_it_keeps_the_contract_of_models_that_watch(watched: Watched) -> None:
    check_streams(watched.model, frames(14, 4))


# -- it speaks on its own

STANDING = "what is in the picture ?"


def polled(reference: SingleForward, turns: Sequence[Turn], stop: str) -> tuple[str, list[int]]:
    """What is said to the last question before a stop, and its tokens; at most four."""
    tokens: list[int] = []
    text = ""
    while len(tokens) < 4:
        token = int(reference.logits(turns, tokens).argmax())
        if token == reference.tokenizer.eos_token_id:
            break
        tokens.append(token)
        text = reference.text(tokens)
        if stop in text:
            return text[: text.index(stop)], tokens
    return text, tokens


async def test_polls_in_which_it_stays_silent_leave_no_trace(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(16, 6)
    session = await watched.open()
    await session.feed(stream[:2])
    # Each reply is cut before its first sign, and an empty reply is silence.
    query = Query(id="q", text=STANDING, stop=("",))
    assert await session.ask(query, must_answer=False) == []
    before = len(watched.logits)
    assert await session.feed(stream[2:]) == []
    assert len(watched.logits) == before + 4 * 2, "a forward for each frame, and one for each poll"
    logits = await watched.logits_of(await session.fork(), "yes or no")
    turns: list[Turn] = [([*stream[:2], STANDING, *stream[2:]], "yes or no", None)]
    assert_same(logits, reference.logits(turns))


async def test_after_each_frame_it_says_what_one_forward_over_everything_says(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(17, 8)
    first, _ = polled(reference, [([STANDING, stream[0]], POLL, None)], "no such text")
    stop = first[0]  # in reply to the first frame, nothing is left
    session = await watched.open()
    await session.ask(Query(id="q", text=STANDING, max_tokens=4, stop=(stop,)), must_answer=False)
    turns: list[Turn] = []
    parts: list[Frame | str] = [STANDING]
    spoken = []
    for frame in stream:
        parts = [*parts, frame]
        text, tokens = polled(reference, [*turns, (parts, POLL, None)], stop)
        emissions = await session.feed([frame])
        if text.strip():
            assert [(emission.text, emission.query) for emission in emissions] == [(text, "q")]
            turns, parts = [*turns, (parts, POLL, tokens)], []
        else:
            assert emissions == []
        spoken.append(bool(text.strip()))
    assert {*spoken} == {True, False}
    logits = await watched.logits_of(await session.fork(), "yes or no")
    assert_same(logits, reference.logits([*turns, (parts, "yes or no", None)]))


async def test_of_several_open_questions_a_message_names_none(watched: Watched) -> None:
    session = await watched.open()
    for name in ("a", "b"):
        await session.ask(Query(id=name, text=STANDING, max_tokens=4), must_answer=False)
    emissions = await session.feed(frames(18, 3))
    assert {emission.query for emission in emissions} == {None}


# -- what a reply tells


async def test_a_reply_ends_at_the_limit_or_before_what_stops_it(watched: Watched) -> None:
    session = await watched.open()
    await session.feed(frames(9, 2))
    long = await emission_of(await session.fork(), "one", 6)
    assert long.stop == "length"
    assert long.usage is not None and long.usage.output == 6
    # The head of the prompt and two frames of 3 × 4 tokens, with a mark on either side, are kept.
    assert long.usage.cached == session._past.length
    assert long.usage.input is not None and long.usage.input > long.usage.cached
    stop = long.text[1]
    short = await emission_of(await session.fork(), "one", 6, stop=(stop,))
    assert (short.text, short.stop) == (long.text[: long.text.index(stop)], "stop")


async def test_marks_of_the_template_in_a_question_are_text(watched: Watched) -> None:
    session = await watched.open()
    tokens = []
    for question in ("is or seen ?", "is <|image_pad|> or <|im_end|> seen ?"):
        usage = (await emission_of(await session.fork(), question, 1)).usage
        assert usage is not None and usage.input is not None
        tokens.append(usage.input)
    assert tokens[1] - tokens[0] > 10, "two tokens each, if they were marks"


# -- refused


async def test_a_stream_is_refused_beyond_the_bytes_it_may_have(folder: Path) -> None:
    # 2 (keys, values) × 3 layers × 2 heads × 16 × 4 bytes = 768 for a token.
    watched = Watched(folder, extra={"cache_bytes": 768 * 70})
    session = await watched.open()
    first, *more = frames(10, 6)
    await session.feed([first])
    with pytest.raises(Rejected, match=r"context: .* a session's limit is 53,760.*cache_bytes"):
        await session.feed(more)
    length = session._past.length
    assert 70 - 14 < length <= 70, "as many frames as there is room for"
    with pytest.raises(Rejected, match="context"):
        await emission_of(await session.fork(), "what is in the picture ?" * 5)
    assert session._past.length == length


async def test_a_stream_is_refused_beyond_the_positions_of_the_model(tmp_path: Path) -> None:
    build(tmp_path / "short", positions=80)
    session = await Watched(tmp_path / "short").open()
    with pytest.raises(Rejected, match=r"context: .* the model has only 80"):
        await session.feed(frames(11, 20))


async def test_a_reply_ends_where_the_model_does(tmp_path: Path) -> None:
    build(tmp_path / "short", positions=140)
    session = await Watched(tmp_path / "short").open()
    emission = await emission_of(session, "one", 500)
    assert emission.stop == "length"
    # All of the turn, with the marks that close it, is in the last position.
    assert session._past.length == session._past.position == 140
    with pytest.raises(Rejected, match="context"):
        await emission_of(session, "two")


async def test_a_frame_for_which_memory_is_short_leaves_nothing(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(15, 3)
    session = await watched.open()
    await session.feed(stream[:2])

    def short(*_: object) -> None:
        raise reference.torch.OutOfMemoryError("no memory")

    last = watched.model._qwen._model.model.language_model.layers[2]
    hook = last.register_forward_pre_hook(short)  # when two layers have it already
    for request in (session, await session.fork()):
        with pytest.raises(Rejected, match="context: out of memory"):
            await request.feed(stream[2:])
            await emission_of(request, "one")
    hook.remove()
    logits = await watched.logits_of(session, "one")
    assert_same(logits, reference.logits([(stream[:2], "one", None)]))


async def test_scores_that_are_not_numbers_give_no_reply(
    watched: Watched, reference: SingleForward
) -> None:
    stream = frames(16, 2)
    session = await watched.open()
    await session.feed(stream[:1])
    head = watched.model._qwen._model.lm_head
    hook = head.register_forward_hook(lambda _, __, scores: scores * float("nan"))
    for request in (session, await session.fork()):
        with pytest.raises(Rejected, match="scores are NaN"):
            await emission_of(request, "one")
    await session.ask(Query(id="q", text="two", max_tokens=4), must_answer=False)
    with pytest.raises(Rejected, match="scores are NaN"):
        await session.feed(stream[1:])
    hook.remove()


async def test_it_does_not_sample(watched: Watched) -> None:
    with pytest.raises(Rejected, match="greedily"):
        await watched.model.open(SessionSpec(generation=Generation(temperature=0.7)))


async def test_a_fork_keeps_no_question_open(watched: Watched) -> None:
    session = await watched.model.open(SessionSpec(generation=Generation(temperature=0.0)))
    fork = await session.fork()
    with pytest.raises(Rejected, match="to the session itself") as refused:
        await fork.ask(Query(id="q", text="speak"), must_answer=False)
    assert refused.value.hopeless


async def test_one_session_more_than_there_is_room_for_waits(folder: Path) -> None:
    watched = Watched(folder)
    first = await watched.open()
    second = asyncio.create_task(watched.open())
    await first.feed(frames(12, 1))
    assert not second.done()
    await first.close()
    assert await second is not first


async def test_the_loop_goes_on_while_the_model_computes(watched: Watched) -> None:
    session = await watched.open()
    asking = asyncio.create_task(emission_of(session, "what is in the picture ?", 100))
    turns = 0
    while not asking.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10


# -- opened


def test_without_the_extra_it_says_which(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(UsageError, match=re.escape(install("hf"))):
        registry.model(f"hf-stream/{folder}")


def test_a_folder_that_is_no_model_of_the_family_is_turned_down(
    folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="not the folder of a model"):
        registry.model(f"hf-stream/{tmp_path}/nothing")
    (tmp_path / "config.json").write_text('{"model_type": "llava"}', encoding="utf-8")
    with pytest.raises(UsageError, match=r"'llava'.*--adapter window:4"):
        registry.model(f"hf-stream/{tmp_path}")
    (tmp_path / "config.json").write_bytes((folder / "config.json").read_bytes())
    with pytest.raises(UsageError, match="cannot be loaded"):
        registry.model(f"hf-stream/{tmp_path}")
    with pytest.raises(UsageError, match="cache_bytes"):
        registry.model(f"hf-stream/{folder}", Profile(extra={"top_k": 4}))


def test_other_weights_are_another_revision(tmp_path: Path) -> None:
    build(tmp_path / "a")
    first = registry.model(f"hf-stream/{tmp_path}/a").revision
    assert first == registry.model(f"hf-stream/{tmp_path}/a").revision
    weights = tmp_path / "a" / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    assert registry.model(f"hf-stream/{tmp_path}/a").revision != first


# -- a run


def replies(folder: Path, out: Path, options: str = "") -> dict[str, str]:
    benchmark = registry.benchmark(f"ovo-bench:mode=polled{options}", data=Path("synthetic"))
    plan = Plan(
        benchmarks=[benchmark], models=[f"hf-stream/{folder}"], out=out, max_tokens=8, concurrency=1
    )
    (finished,) = run_plan(plan)
    assert finished.result is not None
    states = finished.result.report.replies
    assert not {"failed", "missing"} & {*states}
    assert sum(states.values()) == 21  # nine questions at one time, 3 + 4 + 5 test points
    records = [reply for reply in Run(finished.run).replies() if isinstance(reply, ReplyRecord)]
    assert len(records) == 21
    return {reply.key[0]: reply.reply or "" for reply in records}


@pytest.fixture(scope="module")
def first(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    pytest.importorskip("av")
    return replies(folder, tmp_path_factory.mktemp("first"))


def test_ovo_bench_is_answered_at_all_points(first: dict[str, str]) -> None:
    assert len(set(first.values())) > 10, json.dumps(first)


@pytest.mark.parametrize("options", ["", ",scope=video", ",scope=point"])
def test_another_run_says_the_same_in_whatever_sessions(
    folder: Path, tmp_path: Path, first: dict[str, str], options: str
) -> None:
    assert replies(folder, tmp_path, options) == first


# -- a run in which it speaks on its own

PROACTIVE = "ovo-bench:mode=proactive,task=SSR"


def proactive_command(folder: Path, out: Path) -> list[str]:
    command = [sys.executable, "-m", "snellen", "run", "-b", PROACTIVE, "--data", "synthetic"]
    command += ["-m", f"hf-stream/{folder}", "--max-tokens", "8", "--concurrency", "1"]
    return [*command, "--out", str(out)]


def run_proactive(folder: Path, out: Path) -> Path:
    benchmark = registry.benchmark(PROACTIVE, data=Path("synthetic"))
    plan = Plan(
        benchmarks=[benchmark], models=[f"hf-stream/{folder}"], out=out, max_tokens=8, concurrency=1
    )
    (finished,) = run_plan(plan)
    return finished.run


def stored(run: Path, kind: str) -> dict[tuple[Any, ...], Any]:
    """The lines of the journal of a kind, by their keys."""
    lines = (run / "replies.jsonl").read_bytes().splitlines(keepends=True)
    records = [json.loads(line) for line in lines if line.endswith(b"}\n")]
    of_kind = [record for record in records if record["kind"] == kind]
    by_key = {tuple(record["key"]): record for record in of_kind}
    assert len(by_key) == len(of_kind), "each is stored once"
    return by_key


def test_killed_after_a_window_a_run_ends_as_one_that_was_left_alone(
    folder: Path, tmp_path: Path
) -> None:
    pytest.importorskip("av")
    unbroken, out = run_proactive(folder, tmp_path / "unbroken"), tmp_path / "broken"
    expected = stored(unbroken, "window")
    assert len(expected) > 1
    with subprocess.Popen(
        proactive_command(folder, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        journals: list[Path] = []
        while not any(stored(path.parent, "window") for path in journals):
            assert process.poll() is None
            time.sleep(0.01)
            journals = [*out.glob("*/*/*/replies.jsonl")]
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert stored(journals[0].parent, "reply") == {}
    broken = run_proactive(folder, out)
    assert broken == journals[0].parent
    (reply,) = stored(broken, "reply").values()
    (reply_unbroken,) = stored(unbroken, "reply").values()
    assert reply["reply"] == reply_unbroken["reply"]
    assert json.loads(reply["reply"])["messages"]
    assert stored(broken, "window").keys() == expected.keys()
    identity = json.loads((broken / "manifest.json").read_bytes())["identity"]
    assert identity["speaking"] == "poll after each frame, version 1"
    events = [event for event in Run(broken).events() if event.ev == "resume"]
    assert [event.data["differing"] for event in events] == [0], "greedy decoding repeats itself"
