"""Models in their makers' own form, with remote code and random weights: what runs, and what is
refused. Replies must be those of the calls on the models' cards, with nothing of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from snellen import registry
from snellen.core.model import Request
from snellen.core.profile import Profile
from snellen.media.content import Frame, Image, assistant, system, user
from snellen.store import ReplyRecord, Run
from tests.heavy.own_code_models import TILE, build_own
from tests.heavy.own_code_requests import (
    FORMS,
    KINDS,
    START,
    ask,
    changed,
    clip,
    opened,
    picture,
    refused,
    replies,
)

pytestmark = [
    pytest.mark.heavy,
    # MiniCPM's code passes a penalty and embeddings, which transformers warns about.
    pytest.mark.filterwarnings("ignore:Passing .repetition_penalty.:UserWarning"),
]
MEAN = np.array((0.485, 0.456, 0.406), np.float32)
DEVIATION = np.array((0.229, 0.224, 0.225), np.float32)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    there = tmp_path_factory.mktemp("own")
    return {kind: build_own(kind, there / kind) for kind in KINDS}


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
