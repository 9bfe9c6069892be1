"""Models in their makers' own form: what is refused, and how."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.core.model import Reply
from snellen.core.profile import Profile
from snellen.errors import Rejected
from snellen.media.content import assistant, system, user
from tests.heavy.own_code_models import build_own, edit
from tests.heavy.own_code_requests import (
    FORMS,
    KINDS,
    START,
    ask,
    changed,
    clip,
    picture,
    refusal,
    refused,
    replies,
)

pytestmark = [
    pytest.mark.heavy,
    # MiniCPM's code passes a penalty and embeddings, which transformers warns about.
    pytest.mark.filterwarnings("ignore:Passing .repetition_penalty.:UserWarning"),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    there = tmp_path_factory.mktemp("own")
    return {kind: build_own(kind, there / kind) for kind in KINDS}


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
    assert "does not support several pictures" in refusal(older, ask(user(image, image, "what ?")))
    turns = (user("what ?"), assistant("four"), user("what ?"))
    assert "no `history`" in refusal(older, ask(*turns))
    assert "does not support system messages" in refusal(older, ask(system("yes"), user("what ?")))
    assert "the text contains <image>" in refusal(folder, ask(user(image, "an <image> ?")))
    assert "the text contains <IMG_CONTEXT>" in refusal(folder, ask(user("<IMG_CONTEXT> ?")))
    assert "user, user" in refusal(folder, ask(user("what ?"), user("what ?")))
    drawn = (user("draw"), assistant(image), user("what ?"))
    assert "a message with the role assistant has one" in refusal(folder, ask(*drawn))


def test_what_minicpms_chat_cannot_be_given_is_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder, image = folders["minicpm"], picture(1, 60, 60)
    marked = ask(user(image, "a (<image>./</image>) ?"))
    assert "the text contains (<image>./</image>)" in refusal(folder, marked)
    long = ask(user(image, "what ? " * 50))
    words = refusal(folder, long, chat={"max_inp_length": 32})
    assert "the prompt reaches the limit of 32 tokens (`max_inp_length`)" in words
    code = "modeling_minicpmv.py"
    strict = changed(
        folder, tmp_path / "strict", code,
        ("        **kwargs,\n    ):", "    ):"), ("settings.keys() & kwargs.keys()", "()"),
    )  # fmt: skip
    assert "does not accept num_beams" in refusal(strict, ask(user("what ?")))
    assert "does not accept temperature" in refusal(strict, ask(user("what ?"), temperature=0.5))
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
    assert "does not support videos" in refusal(folder, ask(user(clip(1, 2), "what ?")))
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
    assert "Snellen does not know how to call modeling_molmo.MolmoForCausalLM" in words
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


def test_a_chat_with_a_further_required_argument_is_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = changed(
        folders["minicpm"], tmp_path / "further", "modeling_minicpmv.py",
        ("        **kwargs,\n    ):", "        *,\n        voice,\n        **kwargs,\n    ):"),
    )  # fmt: skip
    assert "Snellen does not know how to call modeling_minicpmv.MiniCPMV" in refused(folder)


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
        ("[]", "config.json does not contain a JSON object"),
        ("{", "config.json cannot be read as JSON"),
        ('{"auto_map": 3}', "`auto_map` in its files is 3"),
        ('{"auto_map": {"AutoModel": "../../x"}}', "does not have the form FILE.CLASS"),
        ('{"auto_map": {"AutoModel": ["a.B"]}}', "does not have the form FILE.CLASS"),
        ('{"model_type": ["llava"]}', "it cannot be loaded"),
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
