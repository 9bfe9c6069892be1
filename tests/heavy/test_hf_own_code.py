"""Models in their makers' own form, with remote code and random weights: what runs, and what is
refused. Replies must be those of the calls on the models' cards, with nothing of ours."""

from __future__ import annotations

import asyncio
import json
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

from snellen import registry
from snellen.core.model import Generation, Reply, Request
from snellen.core.profile import Profile
from snellen.errors import Rejected, UsageError
from snellen.media import images
from snellen.media.content import Frame, Image, Message, Video, assistant, system, user
from snellen.store import ReplyRecord, Run
from tests.heavy.own_code_models import TILE, build_own, edit

pytestmark = [
    pytest.mark.heavy,
    # MiniCPM's code passes a penalty and embeddings, which transformers warns about.
    pytest.mark.filterwarnings("ignore:Passing .repetition_penalty.:UserWarning"),
]
KINDS = ("internvl", "minicpm", "glm", "kimi", "molmo")
FORMS = ("internvl", "minicpm", "glm")
"""Those whose cards have a form of their own."""
START = "        messages, pictures = deepcopy(msgs), []\n"
"""The first line of what MiniCPM's `chat` does."""
MEAN = np.array((0.485, 0.456, 0.406), np.float32)
DEVIATION = np.array((0.229, 0.224, 0.225), np.float32)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    there = tmp_path_factory.mktemp("own")
    return {kind: build_own(kind, there / kind) for kind in KINDS}


def changed(folder: Path, to: Path, file: str, *swaps: tuple[str, str]) -> Path:
    """A copy of a model, with other words in its code."""
    shutil.copytree(folder, to)
    text = (to / file).read_text()
    for before, after in swaps:
        assert before in text
        text = text.replace(before, after)
    (to / file).write_text(text)
    return to


# -- what is asked


def picture(seed: int, width: int, height: int) -> Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    file = BytesIO()
    PIL.Image.fromarray(pixels).save(file, "PNG")
    return images.load(Image(file.getvalue()))


def opened(image: Image) -> PIL.Image.Image:
    assert isinstance(image.source, bytes)
    return PIL.Image.open(BytesIO(image.source)).convert("RGB")


def clip(seed: int, n: int) -> Video:
    frames = tuple(Frame(time=k / 2, image=picture(100 * seed + k, 80, 40)) for k in range(n))
    return Video(Path("clip.mp4"), digest="sha256:0", policy="every", frames=frames)


def ask(
    *messages: Message, most: int = 10, temperature: float | None = 0.0, **more: Any
) -> Request:
    generation = Generation(max_tokens=most, temperature=temperature, top_p=more.pop("top_p", None))
    return Request(messages=messages, generation=generation, **more)


def replies(folder: Path, *requests: Request, trusted: bool = True, **extra: Any) -> list[Any]:
    """Sent all at once; an error in place of a reply that there is not."""
    profile = Profile(trust_remote_code=trusted, extra=extra)
    model: Any = registry.model(f"hf/{folder}", profile).model

    async def body() -> list[Any]:
        try:
            return await asyncio.gather(*map(model.generate, requests), return_exceptions=True)
        finally:
            await model.close()

    return asyncio.run(body())


def refusal(folder: Path, request: Request, **extra: Any) -> str:
    (error,) = replies(folder, request, **extra)
    assert isinstance(error, Rejected), error
    return str(error)


def refused(folder: Path, *, trusted: bool = True, **extra: Any) -> str:
    with pytest.raises(UsageError) as error:
        registry.model(f"hf/{folder}", Profile(trust_remote_code=trusted, extra=extra))
    return str(error.value)


# -- the calls of the cards


def loaded(folder: Path, kind: str = "AutoModel") -> tuple[Any, Any]:
    import transformers

    model = getattr(transformers, kind).from_pretrained(folder, trust_remote_code=True).eval()
    return model, transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=True)


def card_tiles(image: Image, columns: int, rows: int) -> Any:
    """The tiles of a picture whose grid is known, one by one."""
    import torch

    scaled = opened(image).resize((columns * TILE, rows * TILE))
    boxes = [(TILE * x, TILE * y, TILE * x + TILE, TILE * y + TILE)
             for y in range(rows) for x in range(columns)]  # fmt: skip
    tiles = [scaled.crop(box) for box in boxes]
    if len(tiles) > 1:
        tiles.append(opened(image).resize((TILE, TILE)))
    arrays = [(np.asarray(tile, np.float32) / 255 - MEAN) / DEVIATION
              for tile in tiles]  # fmt: skip
    return torch.tensor(np.stack(arrays)).permute(0, 3, 1, 2)


def test_internvl_says_what_its_cards_call_says(folders: dict[str, Path]) -> None:
    import torch

    square, wide, tall = picture(1, 60, 60), picture(2, 240, 60), picture(3, 50, 150)
    model, tokenizer = loaded(folders["internvl"])
    pixels = [card_tiles(square, 1, 1), card_tiles(wide, 4, 1), card_tiles(tall, 1, 3)]
    counts = [len(tiles) for tiles in pixels]
    assert counts == [1, 5, 4]
    settings = {"max_new_tokens": 10, "do_sample": False}

    def card(tiles: Sequence[Any], question: str, **more: Any) -> str:
        values = torch.cat(list(tiles)) if tiles else None
        counts = [len(tile) for tile in tiles]
        return str(model.chat(tokenizer, values, question, dict(settings), None, False, counts)
                   if not more else
                   model.chat(tokenizer, values, question, dict(settings),
                              num_patches_list=counts, **more))  # fmt: skip

    expected = [
        card([], "what ?"),
        card(pixels[:1], "<image>\nwhat is in the picture ?"),
        card(pixels, "Image-1: <image>\nImage-2: <image>\n<image>\none or two ?"),
        card(
            pixels[:2],
            "and now ?\n<image>",
            history=[("<image>\nwhat is in the picture ?", "four")],
        ),
    ]
    model.system_message = "answer yes or no"
    expected.append(card(pixels[:1], "<image>\nwhat is in the picture ?"))
    actual = replies(
        folders["internvl"],
        ask(user("what ?")),
        ask(user(square, "what is in the picture ?")),
        ask(user("Image-1: ", square, "\nImage-2: ", wide, tall, "one or two ?")),
        ask(user(square, "what is in the picture ?"), assistant("four"), user("and now ?", wide)),
        ask(system("answer yes or no"), user(square, "what is in the picture ?")),
    )
    assert [reply.text for reply in actual] == expected
    assert len(set(expected)) == len(expected)


def test_frames_of_a_video_are_a_tile_each_for_internvl(folders: dict[str, Path]) -> None:
    import torch

    shown = clip(1, 3)
    model, tokenizer = loaded(folders["internvl"])
    values = torch.cat([card_tiles(frame.image, 1, 1) for frame in shown.frames])
    question = "Frame-1: <image>\nFrame-2: <image>\nFrame-3: <image>\nwhat happens ?"
    expected = model.chat(
        tokenizer, values, question, {"max_new_tokens": 10}, num_patches_list=[1, 1, 1]
    )
    (reply,) = replies(folders["internvl"], ask(user(shown, "what happens ?")))
    assert reply.text == expected


def test_the_profile_limits_the_tiles(folders: dict[str, Path]) -> None:
    wide = picture(2, 240, 60)
    model, tokenizer = loaded(folders["internvl"])
    expected = model.chat(
        tokenizer, card_tiles(wide, 2, 1), "<image>\nwhat ?", {"max_new_tokens": 10}
    )
    (reply,) = replies(folders["internvl"], ask(user(wide, "what ?")), tiles=2)
    assert reply.text == expected


def test_minicpm_says_what_its_cards_call_says(folders: dict[str, Path]) -> None:
    first, second = picture(1, 60, 60), picture(2, 240, 60)
    model, tokenizer = loaded(folders["minicpm"])

    def card(*messages: tuple[str, list[Any]], **more: Any) -> str:
        shown = [{"role": role, "content": content} for role, content in messages]
        return str(model.chat(image=None, msgs=shown, tokenizer=tokenizer, max_new_tokens=10,
                              sampling=False, num_beams=1, **more))  # fmt: skip

    a, b = opened(first), opened(second)
    expected = [
        card(("user", ["what ?"])),
        card(("user", [a, b, "what is in the picture ?"])),
        card(("user", [a, "what ?"]), ("assistant", ["four"]), ("user", ["and", b, "now ?"])),
        card(("user", [a, "what ?"]), system_prompt="answer yes or no"),
        card(("user", [a, b, "what happens ?"]), use_image_id=False),
    ]
    folder = folders["minicpm"]
    actual = replies(
        folder,
        ask(user("what ?")),
        ask(user(first, second, "what is in the picture ?")),
        ask(user(first, "what ?"), assistant("four"), user("and", second, "now ?")),
        ask(system("answer yes or no"), user(first, "what ?")),
    )
    frames = tuple(Frame(time=k, image=image) for k, image in enumerate((first, second)))
    video = replace(clip(1, 2), frames=frames)
    request = ask(user(video, "what happens ?"))
    actual += replies(folder, request, chat={"use_image_id": False})
    assert [reply.text for reply in actual] == expected
    assert len(set(expected)) == len(expected)


def test_glm_says_what_its_cards_call_says(folders: dict[str, Path]) -> None:
    first, second = picture(1, 60, 60), picture(2, 240, 60)
    model, tokenizer = loaded(folders["glm"], "AutoModelForCausalLM")

    def card(*turns: dict[str, Any]) -> str:
        inputs = tokenizer.apply_chat_template(
            list(turns), add_generation_prompt=True, tokenize=True, return_tensors="pt",
            return_dict=True,
        )  # fmt: skip
        output = model.generate(**inputs, max_new_tokens=10, do_sample=False)
        tokens = output[0, inputs["input_ids"].shape[1] :]
        return str(tokenizer.decode(tokens, skip_special_tokens=True))

    expected = [
        card({"role": "user", "image": opened(first), "content": "what ?"}),
        card({"role": "user", "image": opened(second), "content": "what ?"}),
        card({"role": "user", "content": "what ?"}),
        card(
            {"role": "system", "content": "answer yes or no"},
            {"role": "user", "image": opened(first), "content": "what ?"},
            {"role": "assistant", "content": "four"},
            {"role": "user", "content": "and now ?"},
        ),
    ]
    actual = replies(
        folders["glm"],
        ask(user(first, "what ?")),
        ask(user(second, "what ?")),
        ask(user("what ?")),
        ask(
            system("answer yes or no"), user(first, "what ?"), assistant("four"), user("and now ?")
        ),
    )
    assert [reply.text for reply in actual] == expected
    assert len(set(expected)) == len(expected)


def test_own_code_with_a_processor_is_asked_as_usual(folders: dict[str, Path]) -> None:
    import transformers

    folder, image = folders["kimi"], picture(1, 60, 60)
    model, _ = loaded(folder, "AutoModelForCausalLM")
    processor = transformers.AutoProcessor.from_pretrained(folder, trust_remote_code=True)
    content = [{"type": "image", "image": opened(image)}, {"type": "text", "text": "what ?"}]
    inputs = processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True, tokenize=True,
        return_dict=True, return_tensors="pt",
    )  # fmt: skip
    output = model.generate(**inputs, max_new_tokens=10, do_sample=False)
    expected = processor.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    assert [reply.text for reply in replies(folder, ask(user(image, "what ?")))] == [expected]


# -- replies


@pytest.mark.parametrize("kind", FORMS)
def test_a_reply_at_its_limit_is_truncated_and_its_tokens_are_counted(
    folders: dict[str, Path], kind: str
) -> None:
    short, long = replies(
        folders[kind],
        ask(user(picture(1, 60, 60), "what ?"), most=4),
        ask(user(picture(1, 60, 60), "what ?" * 9), most=4),
    )
    assert (short.state, short.usage.output) == ("truncated", 4)
    # A byte is at least a token in these vocabularies of few words.
    assert long.usage.input > short.usage.input > 0


def test_a_reply_that_ends_is_not_truncated(folders: dict[str, Path], tmp_path: Path) -> None:
    """Here, each token ends a reply."""
    (full,) = replies(folders["minicpm"], ask(user("what ?"), most=12))
    assert full.state == "truncated"
    ends = changed(
        folders["minicpm"], tmp_path / "ends", "modeling_minicpmv.py",
        ("[tokenizer.convert_tokens_to_ids(word) for word in self.terminators]", "[*range(400)]"),
    )  # fmt: skip
    (reply,) = replies(ends, ask(user("what ?"), most=12))
    assert reply.stop == "stop" and reply.usage.output == 0


def test_counts_are_estimates_where_own_code_does_not_use_generate(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    says = changed(
        folders["minicpm"], tmp_path / "says", "modeling_minicpmv.py",
        ("self.llm = Qwen2ForCausalLM(config)", "self.llm = Qwen2ForCausalLM(config).model"),
        (START, "        return 'one two three four'\n"),
    )  # fmt: skip
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(says)
    n = len(tokenizer("one two three four")["input_ids"])
    cut, full = replies(says, ask(user("what ?"), most=n), ask(user("what ?"), most=n + 1))
    assert (cut.state, full.state, full.usage.output) == ("truncated", "ok", n)
    opened_model = registry.model(f"hf/{says}", Profile(trust_remote_code=True))
    assert "are estimates" in " ".join(getattr(opened_model.model, "notes", ()))


@pytest.mark.parametrize("kind", FORMS)
def test_a_seed_repeats_a_sampled_reply(folders: dict[str, Path], kind: str) -> None:
    def sampled(seed: int) -> Request:
        shown = user(picture(1, 60, 60), "what ?")
        return ask(shown, most=20, temperature=1.5, top_p=0.95, seed=seed)

    first, other, again = replies(folders[kind], sampled(1), sampled(2), sampled(1))
    assert first.text == again.text != other.text


@pytest.mark.parametrize("kind", FORMS)
def test_a_reply_ends_before_a_stop_string(folders: dict[str, Path], kind: str) -> None:
    request = ask(user(picture(1, 60, 60), "what ?"), most=12)
    (full,) = replies(folders[kind], request)
    mark = full.text[5:7]
    (cut,) = replies(folders[kind], replace(request, stop=(mark,)))
    assert (cut.text, cut.state) == (full.text[: full.text.index(mark)], "ok")


@pytest.mark.parametrize("kind", FORMS)
def test_copies_of_a_model_share_the_requests(folders: dict[str, Path], kind: str) -> None:
    requests = [ask(user(picture(k, 60, 60), f"what ? {k}")) for k in range(6)]
    alone, shared = replies(folders[kind], *requests), replies(folders[kind], *requests, replicas=2)
    assert [reply.text for reply in shared] == [reply.text for reply in alone]


# -- runs


@pytest.mark.parametrize("kind", FORMS)
def test_a_run_needs_the_flag_and_keeps_every_reply(
    folders: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    file = next(folders[kind].glob("modeling_*.py")).name
    marker = tmp_path / "ran"
    mark = f"import torch\nopen({str(marker)!r}, 'w').close()\n"
    folder = changed(folders[kind], tmp_path / kind, file, ("import torch\n", mark))
    words = refused(folder, trusted=False)
    assert "runs only with --trust-remote-code" in words
    assert not marker.exists(), "nothing of the folder ran"
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "snellen", "run", "-m", f"hf/{folder}", "-b", "mmbench"]
    command += ["--data", "synthetic", "--limit", "3", "--max-tokens", "6", "--out", str(runs)]
    environment = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    allowed = subprocess.run(
        [*command, "--trust-remote-code"], env=environment, capture_output=True, text=True
    )
    assert allowed.returncode == 0, allowed.stderr
    assert marker.exists()
    (manifest,) = runs.rglob("manifest.json")
    records = [r for r in Run(manifest.parent).replies() if isinstance(r, ReplyRecord)]
    stored = [record.as_reply() for record in records]
    assert len(stored) >= 3 and {reply.state for reply in stored} == {"truncated"}
    assert all(reply.usage is not None and reply.usage.output == 6 for reply in stored)
    assert len({reply.text for reply in stored}) > 1


# -- what is refused


def test_what_internvls_chat_cannot_be_given_is_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder, image = folders["internvl"], picture(1, 60, 60)
    older = changed(
        folder, tmp_path / "older", "modeling_internvl_chat.py",
        ("        num_patches_list=None,\n", ""),
        ("        history=None,\n", ""),
        ("        if history is None and", "        num_patches_list = history = None\n        if"),
        ("        self.system_message = get_conv", "        self.system = get_conv"),
        ("= self.system_message", "= self.system"),
    )  # fmt: skip
    assert isinstance(replies(older, ask(user(image, "what ?")))[0], Reply)
    assert "takes no several pictures" in refusal(older, ask(user(image, image, "what ?")))
    turns = (user("what ?"), assistant("four"), user("what ?"))
    assert "no `history`" in refusal(older, ask(*turns))
    assert "no system message" in refusal(older, ask(system("yes"), user("what ?")))
    assert "the text has <image>" in refusal(folder, ask(user(image, "an <image> ?")))
    assert "the text has <IMG_CONTEXT>" in refusal(folder, ask(user("<IMG_CONTEXT> ?")))
    assert "user, user" in refusal(folder, ask(user("what ?"), user("what ?")))
    drawn = (user("draw"), assistant(image), user("what ?"))
    assert "a message of the assistant has one" in refusal(folder, ask(*drawn))


def test_what_minicpms_chat_cannot_be_given_is_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder, image = folders["minicpm"], picture(1, 60, 60)
    marked = ask(user(image, "a (<image>./</image>) ?"))
    assert "the text has (<image>./</image>)" in refusal(folder, marked)
    long = ask(user(image, "what ? " * 50))
    words = refusal(folder, long, chat={"max_inp_length": 32})
    assert "the prompt fills the 32 tokens of `max_inp_length`" in words
    code = "modeling_minicpmv.py"
    strict = changed(
        folder, tmp_path / "strict", code,
        ("        **kwargs,\n    ):", "    ):"), ("settings.keys() & kwargs.keys()", "()"),
    )  # fmt: skip
    assert "does not take num_beams" in refusal(strict, ask(user("what ?")))
    assert "does not take temperature" in refusal(strict, ask(user("what ?"), temperature=0.5))
    (reply,) = replies(strict, ask(user("what ?"), temperature=None))
    assert isinstance(reply, Reply), "the model's own settings need no argument"


def test_a_setting_that_own_code_ignores_is_noticed(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    deaf = changed(
        folders["minicpm"], tmp_path / "deaf", "modeling_minicpmv.py",
        ("settings.keys() & kwargs.keys()", "()"),
    )  # fmt: skip
    assert "num_beams is 3 instead of 1" in refusal(deaf, ask(user("what ?")))
    words = refusal(deaf, ask(user("what ?"), temperature=0.5))
    assert "temperature is 0.7 instead of 0.5" in words


def test_what_glms_template_cannot_be_given_is_refused(folders: dict[str, Path]) -> None:
    folder, image = folders["glm"], picture(1, 60, 60)
    assert "several pictures in a message" in refusal(folder, ask(user(image, image, "what ?")))
    assert "a picture after text" in refusal(folder, ask(user("what ?", image)))
    assert "no videos" in refusal(folder, ask(user(clip(1, 2), "what ?")))
    two = (user(image, "what ?"), assistant("four"), user(image, "and now ?"))
    assert "Multiple images are not supported" in refusal(folder, ask(*two))


def test_a_damaged_picture_fails_its_own_request(folders: dict[str, Path]) -> None:
    full = picture(1, 40, 40)
    assert isinstance(full.source, bytes)
    cut = replace(full, source=full.source[:60] + b"\0" * 200 + full.source[260:], label="cut.png")
    for kind in FORMS:
        failed, reply = replies(folders[kind], ask(user(cut, "what ?")), ask(user(full, "what ?")))
        assert isinstance(failed, Rejected) and "cut.png" in str(failed)
        assert isinstance(reply, Reply)


@pytest.mark.parametrize("kind", ["internvl", "minicpm"])
def test_a_prompt_beyond_the_models_positions_fails(folders: dict[str, Path], kind: str) -> None:
    short, long = replies(folders[kind], ask(user("what ?")), ask(user("one " * 4096)))
    assert isinstance(short, Reply)
    assert isinstance(long, Rejected) and "the model has 4,096 positions" in str(long)


@pytest.mark.parametrize("kind", FORMS)
def test_no_own_form_ranks_choices(folders: dict[str, Path], kind: str) -> None:
    opened_model = registry.model(f"hf/{folders[kind]}", Profile(trust_remote_code=True))
    assert not hasattr(opened_model.model, "rank")


@pytest.mark.parametrize(
    ("kind", "extra", "words"),
    [
        ("internvl", {"processor": {"max_pixels": 9}}, "`processor` in the profile's"),
        ("minicpm", {"tiles": 3}, "`tiles` in the profile's"),
        ("glm", {"chat": {"a": 1}}, "`chat` in the profile's"),
        ("kimi", {"chat": {"a": 1}, "tiles": 3}, "`chat`, `tiles` in the profile's"),
        ("internvl", {"chat": {"num_beams": 3}}, "has num_beams, which the model's chat()"),
        ("internvl", {"chat": {"history": []}}, "sets history, which Snellen sets"),
        ("minicpm", {"chat": {"sampling": True}}, "sets sampling, which Snellen sets"),
    ],
)
def test_a_setting_without_effect_is_refused(
    folders: dict[str, Path], kind: str, extra: dict[str, Any], words: str
) -> None:
    assert words in refused(folders[kind], **extra)


def test_an_unknown_form_is_refused_with_what_runs_it(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    words = refused(folders["molmo"])
    assert "Snellen knows no general way to ask modeling_molmo.MolmoForCausalLM" in words
    assert "does not have a chat template" in words
    assert f"-m vllm/{folders['molmo']}" in words and "--serve vllm" in words
    assert "vlmevalkit:vlmeval.vlm:molmo" in words
    assert "--trust-remote-code" not in words, "the flag was given"
    other = changed(
        folders["internvl"], tmp_path / "other", "modeling_internvl_chat.py",
        ("    def chat(", "    def chat(self, image, query):\n        pass\n\n    def answer("),
    )  # fmt: skip
    edit(other / "config.json", architectures=["Other"])
    words = refused(other)
    assert "the chat template of its tokenizer" in words
    assert "It was written" not in words and "may run it" in words
    assert "written for transformers 4.37.2" in words
    assert "--trust-remote-code" not in words


def test_a_converted_checkpoint_is_advised_without_the_flag(folders: dict[str, Path]) -> None:
    words = refused(folders["internvl"], trusted=False)
    assert "add the flag if you trust it" in words and "InternVL3-…-hf" in words


def test_an_error_of_own_code_does_not_advise_the_flag(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    broken = changed(
        folders["minicpm"], tmp_path / "broken", "modeling_minicpmv.py",
        ("        self.processor = None\n", "        self.processor = config.gone\n"),
    )  # fmt: skip
    words = refused(broken)
    assert "it cannot be loaded: AttributeError" in words
    assert "written for transformers 4.40.0" in words and "-m vllm/" in words
    assert "--trust-remote-code" not in words
    raises = changed(
        folders["minicpm"], tmp_path / "raises", "modeling_minicpmv.py",
        (START, "        raise KeyError('not so')\n"),
    )  # fmt: skip
    assert "its own code raises an exception: KeyError" in refusal(raises, ask(user("what ?")))
    lists = changed(
        folders["minicpm"], tmp_path / "lists", "modeling_minicpmv.py",
        (START, "        return [1]\n"),
    )  # fmt: skip
    assert "its chat() returns list, not text" in refusal(lists, ask(user("what ?")))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", "config.json holds no JSON object"),
        ("{", "config.json cannot be read as JSON"),
        ('{"auto_map": 3}', "`auto_map` in its files is 3"),
        ('{"auto_map": {"AutoModel": "../../x"}}', "not FILE.CLASS"),
        ('{"auto_map": {"AutoModel": ["a.B"]}}', "not FILE.CLASS"),
    ],
)
def test_a_hostile_configuration_is_refused(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "config.json").write_text(content)
    assert words in refused(tmp_path)


def test_tiles_that_config_json_does_not_describe_are_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    for number, (fields, words) in enumerate(
        [
            ({"force_image_size": None, "vision_config": {}}, "no `force_image_size`"),
            ({"pad2square": True}, "`pad2square`"),
            ({"max_dynamic_patch": "many"}, "asks for 1 to 'many' tiles"),
        ]
    ):
        folder = tmp_path / str(number)
        shutil.copytree(folders["internvl"], folder)
        edit(folder / "config.json", **fields)  # type: ignore[arg-type]
        assert words in refused(folder)


def test_the_manifest_names_the_form(folders: dict[str, Path]) -> None:
    opened_model = registry.model(f"hf/{folders['internvl']}", Profile(trust_remote_code=True))
    assert opened_model.runs_on["interface"] == "chat-tiles"
    assert opened_model.revision is not None and " chat-tiles " in opened_model.revision
    assert json.dumps(dict(opened_model.runs_on))
