"""Models of four families, of random weights, asked in batches: what they say must be what plain
transformers says when they are asked one by one."""

from __future__ import annotations

import asyncio
import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
import pytest

import snellen
from snellen import registry
from snellen.core.model import Generation, Ranked, Reply, Request
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError
from snellen.media import images
from snellen.media.content import Frame, Image, Message, Part, Video, assistant, system, user
from snellen.models.hf import open_model
from snellen.store import ReplyRecord, Run
from snellen.testing import check_ranks
from tests.heavy.tiny_models import build

pytestmark = pytest.mark.heavy
KINDS = ("llava", "idefics3", "qwen2_5_vl", "internvl")
NATIVE = ("qwen2_5_vl", "internvl")
"""Those whose processors take videos."""
QUESTIONS = [
    "what is in the picture ?",
    "answer with the letter :",
    "one two three four ?",
    "yes ?",
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    there = tmp_path_factory.mktemp("models")
    return {kind: build(kind, there / kind) for kind in KINDS}


@pytest.fixture(scope="module")
def llava(folders: dict[str, Path]) -> Path:
    return folders["llava"]


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Path:
    return folders[request.param]


# -- what is asked


def picture(seed: int, width: int, height: int) -> Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    file = BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return images.load(Image(file.getvalue()))


def video(seed: int, n: int) -> Video:
    """Two frames a second."""
    frames = (Frame(time=k / 2, image=picture(1000 * seed + k, 64, 48)) for k in range(n))
    return Video(Path("clip.mp4"), digest="sha256:0", policy="every", frames=tuple(frames))


def ask(*messages: Message, most: int = 12, **more: Any) -> Request:
    generation = Generation(max_tokens=most, temperature=more.pop("temperature", 0.0))
    return Request(messages=messages, generation=generation, **more)


def ragged(n: int) -> list[Request]:
    """Of none to three pictures of many sizes, in several turns, with limits of their own."""
    created = []
    for k in range(n):
        shown = [
            picture(10 * k + i, 20 + 13 * ((k + i) % 7), 90 - 11 * (k % 6)) for i in range(k % 4)
        ]
        request: list[Part] = [*shown, f"{QUESTIONS[k % 4]} {k} " + "one " * (k % 9)]
        turns = [user(*request)]
        if k % 3 == 1:
            turns = [system("answer yes or no"), *turns]
        if k % 5 == 2:
            turns = [*turns, assistant("four"), user(picture(999 - k, 40, 40), "what happens ?")]
        created.append(ask(*turns, most=4 + k % 9))
    return created


def replies(folder: Path, requests: Sequence[Request], **extra: Any) -> list[Any]:
    """Asked all at once; where one fails, why."""
    return answers_of(registry.model(f"hf/{folder}", Profile(extra=extra)), requests)


def answers_of(opened: registry.Opened, requests: Sequence[Request]) -> list[Any]:
    model: Any = opened.model

    async def body() -> list[Any]:
        try:
            return await asyncio.gather(*map(model.generate, requests), return_exceptions=True)
        finally:
            await model.close()

    return asyncio.run(body())


def texts(replies: Sequence[Reply]) -> list[str]:
    return [reply.text for reply in replies]


# -- plain transformers


class Plain:
    """One request at a time, with nothing of ours."""

    def __init__(self, folder: Path) -> None:
        import torch
        import transformers

        self.torch = torch
        self.native = folder.name in NATIVE
        self.processor = transformers.AutoProcessor.from_pretrained(folder)
        self.model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()

    def inputs(self, request: Request) -> Any:
        chat, n_frames = [], []
        for message in request.messages:
            content: list[dict[str, Any]] = []
            for part in message.content:
                if isinstance(part, str):
                    content.append({"type": "text", "text": part})
                elif isinstance(part, Image):
                    content.append({"type": "image", "image": opened(part)})
                elif self.native:
                    frames = [opened(frame.image) for frame in part.frames]
                    content.append({"type": "video", "video": frames})
                    n_frames.append(len(frames))
                else:
                    content += ({"type": "image", "image": opened(f.image)} for f in part.frames)
            chat.append({"role": message.role, "content": content})
        more: dict[str, Any] = {}
        if n_frames:
            metadata = [
                {"fps": 2.0, "total_num_frames": n, "frames_indices": [*range(n)]} for n in n_frames
            ]
            more = {"do_sample_frames": False, "video_metadata": metadata}
        return self.processor.apply_chat_template(
            chat,
            tokenize=True,
            add_generation_prompt=True,
            return_dict=True,
            return_tensors="pt",
            processor_kwargs=more,
        )

    def tokens(self, request: Request) -> list[int]:
        inputs = self.inputs(request)
        output = self.model.generate(
            **inputs, max_new_tokens=request.generation.max_tokens, do_sample=False
        )
        numbers: list[int] = output[0, inputs["input_ids"].shape[1] :].tolist()
        return numbers

    def text(self, request: Request) -> str:
        return str(self.processor.decode(self.tokens(request), skip_special_tokens=True))

    def logprobs(self, request: Request) -> list[Ranked]:
        """A forward over prompt and choice, for one choice after the other."""
        actual = []
        inputs = self.inputs(request)
        prompt = inputs.pop("input_ids")
        inputs.pop("attention_mask")
        kinds = inputs.pop("mm_token_type_ids", None)
        for choice in request.choices:
            ids = self.processor.tokenizer(choice, add_special_tokens=False)["input_ids"]
            joined = self.torch.cat([prompt, self.torch.tensor([ids])], 1)
            if kinds is not None:
                n = len(ids)
                inputs["mm_token_type_ids"] = self.torch.nn.functional.pad(kinds, (0, n))
            with self.torch.inference_mode():
                logits = self.model(input_ids=joined, **inputs).logits[0].double()
            scores = logits.log_softmax(-1)
            start = prompt.shape[1] - 1
            summed = sum(float(scores[start + k, token]) for k, token in enumerate(ids))
            actual.append(Ranked(summed, len(ids)))
        return actual


def opened(image: Image) -> PIL.Image.Image:
    assert isinstance(image.source, bytes)
    return PIL.Image.open(BytesIO(image.source)).convert("RGB")


# -- batches


def test_ragged_batches_say_what_each_request_alone_does(folder: Path) -> None:
    padding_side = json.loads((folder / "tokenizer_config.json").read_text())["padding_side"]
    assert padding_side == "right", "so that replies are wrong where that is followed"
    requests = ragged(24)
    plain = Plain(folder)
    actual = replies(folder, requests)
    assert texts(actual) == [plain.text(request) for request in requests]
    assert len(set(texts(actual))) >= 0.9 * len(requests)


def test_videos_say_what_each_alone_does(folder: Path) -> None:
    requests = [
        ask(user(video(k, 1 + k % 6), "what happens ?")) if k % 3 else
        ask(user(picture(k, 50, 40), video(k, 4), "and what", video(k + 50, 4), "there ?"))
        for k in range(9)
    ]  # fmt: skip
    requests.append(ask(user("what happens ?")))
    plain = Plain(folder)
    actual = replies(folder, requests)
    assert texts(actual) == [plain.text(request) for request in requests]
    assert len(set(texts(actual))) >= 0.9 * len(requests)


def test_a_video_goes_as_pictures_where_the_profile_says_so(folders: dict[str, Path]) -> None:
    shown = ask(user(video(1, 3), "what happens ?"))
    as_pictures = ask(
        user(*(f.image for f in shown.messages[0].videos[0].frames), "what happens ?")
    )
    native, forced, expected = (
        texts(replies(folders["qwen2_5_vl"], [item], **extra))[0]
        for item, extra in ((shown, {}), (shown, {"video": "frames"}), (as_pictures, {}))
    )
    assert forced == expected != native


def test_frames_keep_their_own_times() -> None:
    from transformers.video_utils import VideoMetadata

    from snellen.models.hf_prompts import video_metadata

    metadata = VideoMetadata(**video_metadata((3.0, 3.5, 4.25, 6.0)))
    assert metadata.timestamps == [3.0, 3.5, 4.25, 6.0]
    assert metadata.sampled_fps == 1.0, "a frame a second, on the average"


def test_tokens_are_counted(folder: Path) -> None:
    request = ragged(4)[3]
    plain = Plain(folder)
    (reply,) = replies(folder, [request])
    assert reply.usage.input == plain.inputs(request)["input_ids"].shape[1]
    assert reply.usage.output == len(plain.tokens(request))


# -- where a reply ends


def test_each_row_ends_at_its_own_end_token(llava: Path, tmp_path: Path) -> None:
    requests = [
        replace(row, generation=Generation(max_tokens=8, temperature=0)) for row in ragged(6)
    ]
    text = Plain(llava).tokens(requests[3])
    ended = tmp_path / "ended"
    shutil.copytree(llava, ended)
    config = json.loads((llava / "generation_config.json").read_text())
    config["eos_token_id"] = [2, text[3]]
    (ended / "generation_config.json").write_text(json.dumps(config))
    plain = Plain(llava)
    actual = replies(ended, requests)
    for request, reply in zip(requests, actual, strict=True):
        tokens = plain.tokens(request)
        end = tokens.index(text[3]) if text[3] in tokens else len(tokens)
        assert reply.text == plain.processor.decode(tokens[:end], skip_special_tokens=True)
        assert reply.stop == ("stop" if end < len(tokens) else "length")
        assert reply.usage.output == end


def test_each_row_ends_at_its_own_stop_string_and_before_it(llava: Path) -> None:
    requests = [ask(*request.messages, most=16) for request in ragged(5)]
    full = texts(replies(llava, requests))
    stop = full[2][5:7]
    stopped = replies(
        llava, [replace(item, stop=(stop,)) if k == 2 else item for k, item in enumerate(requests)]
    )
    expected = [*full[:2], full[2].partition(stop)[0], *full[3:]]
    assert texts(stopped) == expected
    assert [reply.stop for reply in stopped] == ["length", "length", "stop", "length", "length"]
    assert stopped[2].usage.output < 16


# -- sampling


def samples(llava: Path, folder: Path, **config: Any) -> Path:
    shutil.copytree(llava, folder)
    document = json.loads((llava / "generation_config.json").read_text())
    (folder / "generation_config.json").write_text(json.dumps({**document, **config}))
    return folder


def test_a_seed_gives_the_same_reply_again_in_other_company(llava: Path) -> None:
    request = ask(user(picture(1, 40, 40), "what ?"), temperature=1.0, seed=7)
    others = [replace(request, seed=seed) for seed in range(5)]
    (alone,) = texts(replies(llava, [request]))
    *different, again = texts(replies(llava, [*others, request]))
    assert again == alone
    assert len({*different, alone}) == 6


def test_a_seed_gives_the_same_reply_while_a_replica_draws_without_one(llava: Path) -> None:
    request = ask(user(picture(1, 40, 40), "what ?"), temperature=1.0, seed=7, most=40)
    (alone,) = texts(replies(llava, [request]))
    others = [replace(request, seed=None)] * 6
    for _ in range(3):
        *_, again = texts(replies(llava, [*others, request], replicas=2, batch_size=1))
        assert again == alone


def test_temperature_0_is_greedy_whatever_the_model_says(llava: Path, tmp_path: Path) -> None:
    sampling = samples(llava, tmp_path / "sampling", do_sample=True, temperature=5.0, top_k=300)
    requests = ragged(5)
    assert texts(replies(sampling, requests)) == texts(replies(llava, requests))


def test_top_k_and_the_repetition_penalty_of_the_profile_replace_the_models(
    llava: Path, tmp_path: Path
) -> None:
    own = samples(llava, tmp_path / "own", do_sample=True, top_k=300, repetition_penalty=5.0)
    request = ask(user(picture(1, 40, 40), "what ?"), temperature=1.0, seed=7)
    likeliest = replies(llava, [ask(user(picture(1, 40, 40), "what ?"))])
    # Of one token only, the most likely is drawn, and without a penalty it may occur again.
    assert texts(replies(own, [request], top_k=1, repetition_penalty=1.0)) == texts(likeliest)
    assert texts(replies(own, [request], repetition_penalty=1.0)) != texts(likeliest)
    assert texts(replies(own, [request], top_k=1)) != texts(likeliest)


def test_without_a_temperature_the_models_own_settings_hold(llava: Path, tmp_path: Path) -> None:
    sampling = samples(llava, tmp_path / "sampling", do_sample=True, temperature=5.0, top_k=300)
    free = [
        replace(row, generation=Generation(max_tokens=12), seed=seed)
        for row in ragged(1)
        for seed in range(4)
    ]
    assert len(set(texts(replies(sampling, free)))) == 4
    assert len(set(texts(replies(llava, free)))) == 1, "which does not sample"


# -- ranking


def rankable(k: int) -> Request:
    shown = [picture(k + i, 50 + k, 40) for i in range(k % 3)]
    return Request(
        messages=(system("answer"), user(*shown, f"what is in the picture ? {k}")),
        kind="rank",
        choices=("yes", " one two three four", "no way", "A"),
    )


def ranked(folder: Path, requests: Sequence[Request], **extra: Any) -> list[Sequence[Ranked]]:
    model: Any = registry.model(f"hf/{folder}", Profile(extra=extra)).model

    async def body() -> list[Sequence[Ranked]]:
        try:
            return list(await asyncio.gather(*map(model.rank, requests)))
        finally:
            await model.close()

    return asyncio.run(body())


@pytest.mark.parametrize("extra", [{}, {"batch_tokens": 1}], ids=["at once", "one by one"])
def test_choices_have_the_log_probabilities_of_a_forward_for_each(
    folder: Path, extra: dict[str, Any]
) -> None:
    requests = [rankable(k) for k in range(4)]
    requests.append(replace(requests[1], messages=(user(video(1, 3), "what happens ?"),)))
    plain = Plain(folder)
    for request, score in zip(requests, ranked(folder, requests, **extra), strict=True):
        expected = plain.logprobs(request)
        assert [item.tokens for item in score] == [item.tokens for item in expected]
        for item, other in zip(score, expected, strict=True):
            assert math.isclose(item.logprob, other.logprob, rel_tol=1e-5)


def test_it_ranks_by_the_contract(llava: Path) -> None:
    model: Any = registry.model(f"hf/{llava}").model
    check_ranks(model, rankable(1))


def test_seed_bench_is_ranked_as_by_a_plain_loop(llava: Path, tmp_path: Path) -> None:
    result = snellen.evaluate(
        "seed-bench:ask=rank", f"hf/{llava}", data="synthetic", out=tmp_path / "runs"
    )
    assert result.run is not None and result.failed == 0
    benchmark = registry.benchmark("seed-bench:ask=rank", data=Path("synthetic"))
    plain = Plain(llava)
    chosen, right = {}, 0
    for row in benchmark.data:
        sample = benchmark.read(row)
        request = benchmark.request(sample, (), generation=Generation(), seed=None)
        assert request is not None and request.choices == sample.choices
        loaded = tuple(
            Message(m.role, tuple(images.load(p) if isinstance(p, Image) else p for p in m.content))
            for m in request.messages
        )
        losses = [-reply.logprob for reply in plain.logprobs(replace(request, messages=loaded))]
        chosen[sample.id] = "ABCD"[losses.index(min(losses))]
        right += chosen[sample.id] == sample.target
    stored = {
        reply.key[0]: reply for reply in Run(result.run).replies() if isinstance(reply, ReplyRecord)
    }
    official = benchmark.scorings["official"]
    samples = {(sample := benchmark.read(row)).id: sample for row in benchmark.data}
    read = {name: official.parse(stored[name].as_reply(), samples[name]).answer for name in samples}
    assert read == chosen
    assert len(set(chosen.values())) > 1, "a model that always takes one letter tells little"
    assert result.headline.value == right / len(chosen)


# -- what goes wrong


def test_a_damaged_picture_fails_its_own_request(llava: Path) -> None:
    good = ragged(4)
    full = picture(1, 40, 40)
    assert isinstance(full.source, bytes)
    cut = replace(full, source=full.source[:60] + b"\0" * 200 + full.source[260:], label="cut.png")
    *actual, failed = replies(llava, [*good, ask(user(cut, "what ?"))])
    assert texts(actual) == texts(replies(llava, good))
    assert isinstance(failed, Rejected)
    assert "cut.png" in str(failed)


def test_a_prompt_beyond_the_models_positions_fails_alone(llava: Path) -> None:
    actual, failed = replies(llava, [ask(user("what ?")), ask(user("one " * 4096))])
    assert isinstance(actual, Reply)
    assert isinstance(failed, Rejected)
    assert "context has only 4,096 positions" in str(failed)


class Small:
    """A model that has memory for so many rows at once."""

    def __init__(self, folder: Path, rows: int, **extra: Any) -> None:
        import torch

        model = open_model(str(folder), profile=Profile(extra=extra), api_key=None)
        self.seen: list[int] = []

        def check(_: object, __: object, inputs: Any) -> None:
            n = len(inputs["input_ids"])
            if inputs["input_ids"].shape[1] > 1:
                self.seen.append(n)
            if n > rows:
                raise torch.OutOfMemoryError("CUDA out of memory (made up)")

        model.replicas[0].model.register_forward_pre_hook(check, with_kwargs=True)
        self.opened = registry.wrap(model, model.name, model.revision, None)


def test_a_batch_beyond_the_memory_is_halved_and_none_so_large_made_again(llava: Path) -> None:
    requests = [ask(user(picture(k, 40, 40), "what is in the picture ?")) for k in range(24)]
    small = Small(llava, 3, batch_size=8)
    actual = answers_of(small.opened, requests)
    assert texts(actual) == texts(replies(llava, requests))
    assert small.seen.count(8) <= 2, "the one that failed, and one that was being prepared"
    assert max(small.seen[-3:]) <= 3


def test_a_request_beyond_the_memory_fails_with_what_to_do(llava: Path) -> None:
    (failed,) = answers_of(Small(llava, 0).opened, ragged(1))
    assert isinstance(failed, Rejected)
    assert "does not fit into memory, even alone" in str(failed)


def test_choices_beyond_the_memory_are_ranked_in_parts(llava: Path) -> None:
    small = Small(llava, 1)
    model: Any = small.opened.model
    result = asyncio.run(model.rank(rankable(1)))
    assert [item.tokens for item in result] == [
        item.tokens for item in ranked(llava, [rankable(1)])[0]
    ]
    assert small.seen == [4, 2, 1, 1, 1, 1]


@pytest.mark.parametrize("kind", ["asked", "ranked"])
def test_an_allocator_that_has_no_memory_is_out_of_memory(llava: Path, kind: str) -> None:
    import torch

    created = open_model(str(llava), profile=Profile(), api_key=None)
    rows: list[int] = []

    def take(_: object, __: object, inputs: Any) -> None:
        rows.append(len(inputs["input_ids"]))
        if rows[-1] > 1:
            torch.empty(1 << 50)  # RuntimeError, and no OutOfMemoryError

    created.replicas[0].model.register_forward_pre_hook(take, with_kwargs=True)
    opened = registry.wrap(created, created.name, created.revision, None)
    if kind == "asked":
        alike = [ask(user(f"{k} what ?")) for k in range(4)]
        assert texts(answers_of(opened, alike)) == texts(replies(llava, alike))
    else:
        model: Any = opened.model
        assert len(asyncio.run(model.rank(rankable(1)))) == 4
    assert rows[:3] == [4, 2, 1], "halved, and not asked one by one"


@pytest.mark.parametrize("kind", [AssertionError, AttributeError])
def test_what_a_models_code_raises_fails_its_request(llava: Path, kind: type[Exception]) -> None:
    model = open_model(str(llava), profile=Profile(), api_key=None)

    def fail(*_: object) -> None:
        raise kind("not so")

    model.replicas[0].model.register_forward_pre_hook(fail)
    (failed,) = answers_of(registry.wrap(model, model.name, model.revision, None), ragged(1))
    assert isinstance(failed, Rejected)
    assert f"{kind.__name__}: not so" in str(failed)


def test_scores_that_are_no_numbers_make_no_reply(llava: Path) -> None:
    requests = [ask(user("what ?")), ask(user("one " * 200)), ask(user("yes or no ?"))]
    created = open_model(str(llava), profile=Profile(), api_key=None)
    model = created.replicas[0].model
    padding = model.generation_config.pad_token_id

    def spoil(_: object, __: object, inputs: Any, out: Any) -> None:
        out.logits[inputs["input_ids"].ne(padding).sum(-1) > 150] = math.nan

    model.register_forward_hook(spoil, with_kwargs=True)
    opened = registry.wrap(created, created.name, created.revision, None)
    first, spoilt, last = answers_of(opened, requests)
    assert isinstance(spoilt, Rejected)
    assert "scores are NaN" in str(spoilt)
    assert texts([first, last]) == texts(replies(llava, requests)[::2])


# -- how it is opened


def test_replicas_share_the_requests(llava: Path) -> None:
    model = open_model(
        str(llava), profile=Profile(extra={"replicas": 2, "batch_size": 2}), api_key=None
    )
    calls = [0, 0]
    for number, replica in enumerate(model.replicas):

        def count(*_: object, number: int = number) -> None:
            calls[number] += 1

        replica.model.register_forward_hook(count)
    requests = ragged(16)
    opened = registry.wrap(model, model.name, model.revision, None)
    assert texts(answers_of(opened, requests)) == texts(replies(llava, requests))
    assert min(calls) > 0


def test_its_revision_tells_weights_numbers_attention_and_processor(llava: Path) -> None:
    def revision(**extra: Any) -> str:
        actual = registry.model(f"hf/{llava}", Profile(extra=extra)).revision
        assert actual is not None
        return actual

    import transformers

    words = revision(dtype="bfloat16", attention="eager", image_processor="pil").split()
    expected = [
        "transformers",
        transformers.__version__,
        "bfloat16",
        "eager",
        "CLIPImageProcessorPil",
    ]
    assert words[:-1] == expected
    assert len(words[-1]) == 16, "the digest of its files"


def test_what_changes_speed_alone_makes_no_other_run(llava: Path, tmp_path: Path) -> None:
    def run(**extra: Any) -> Path:
        result = snellen.evaluate(
            "pope", f"hf/{llava}", data="synthetic", out=tmp_path, limit=2, max_tokens=2,
            profile=Profile(extra=extra),
        )  # fmt: skip
        assert result.run is not None
        return result.run

    first = run()
    assert run(batch_size=3, device="cpu") == first
    assert run(dtype="float16") != first
    manifest = json.loads((first / "manifest.json").read_text())
    assert manifest["sessions"][0]["runs_on"]["devices"] == ["cpu"]


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({"batch": 3}, "batch_size"),
        ({"dtype": "int3"}, "dtype"),
        ({"device": "toaster"}, "no device 'toaster'"),
        ({"device": "cuda"}, "torch finds no GPU on this machine"),
        ({"processor": {"padding_side": "right"}}, "pads prompts on the right"),
    ],
)
def test_a_wrong_profile_is_said_at_once(llava: Path, extra: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        registry.model(f"hf/{llava}", Profile(extra=extra))


def test_a_folder_that_is_not_there_is_looked_for_nowhere_else(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        registry.model(f"hf/{tmp_path}/nothing")


def test_weights_that_break_off_are_said_at_once(llava: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(llava, tmp_path / "broken")
    (weights,) = folder.glob("*.safetensors")
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(UsageError, match=r"it cannot be loaded: .*header"):
        registry.model(f"hf/{folder}")


def test_an_image_processor_that_is_not_there_is_not_replaced(
    llava: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    monkeypatch.setattr(transformers.utils, "is_torchvision_available", lambda: False)
    with pytest.raises(UsageError, match="'torchvision', but torchvision is not installed"):
        registry.model(f"hf/{llava}", Profile(extra={"image_processor": "torchvision"}))


def test_a_folder_without_a_model_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="it cannot be loaded"):
        registry.model(f"hf/{tmp_path}")


CODE = """\
from transformers import LlavaConfig, LlavaForConditionalGeneration
print("own code runs")
class Config(LlavaConfig):
    model_type = "mine"
class Model(LlavaForConditionalGeneration):
    config_class = Config
"""


def test_code_in_a_models_folder_runs_only_where_that_is_allowed(
    llava: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    shutil.copytree(llava, own)
    (own / "mine.py").write_text(CODE)
    config = json.loads((own / "config.json").read_text())
    config["model_type"] = "mine"
    config["auto_map"] = {"AutoConfig": "mine.Config", "AutoModelForImageTextToText": "mine.Model"}
    (own / "config.json").write_text(json.dumps(config))
    with pytest.raises(UsageError, match="--trust-remote-code"):
        registry.model(f"hf/{own}")
    command = [sys.executable, "-m", "snellen", "run", "-m", f"hf/{own}", "-b", "pope"]
    command += ["--data", "synthetic", "--limit", "1", "--out", str(tmp_path / "runs")]
    allowed = subprocess.run(
        [*command, "--trust-remote-code"],
        env={**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
    )
    assert allowed.returncode == 0, allowed.stderr
    assert "own code runs" in allowed.stdout
