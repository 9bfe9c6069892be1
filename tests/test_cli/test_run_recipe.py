"""snellen run --recipe: what is sent, what is stored, and what is refused."""

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import PIL.Image
import pytest

from snellen.core.profile import Profile
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Frame, Image, Video
from snellen.media.layout import laid_out
from snellen.recipes import load
from snellen.registry import models
from snellen.run.recipe_settings import with_recipe
from tests.servers import Server, completion, serving
from tests.test_cli.conftest import Snellen, copied_rows

RUN = ("run", "-b", "pope", "--data", "synthetic", "-m", "openai/m", "--limit", "2")
QWEN = ("--recipe", "qwen2-vl")


def run(snellen: Snellen, server: Server, *words: str, benchmark: str = "pope") -> Any:
    chosen = [benchmark if word == "pope" else word for word in RUN]
    return snellen(*chosen, "--base-url", server.url, *words)


def manifest() -> Any:
    [path] = Path("runs").glob("*/*/*/manifest.json")
    return json.loads(path.read_text())


def bodies(server: Server) -> list[Any]:
    return [request.json for request in server.requests]


def test_prompt_settings_and_pictures_are_the_recipes(snellen: Snellen) -> None:
    with serving(completion("Yes")) as server:
        assert run(snellen, server, *QWEN).code == 0
    for body in bodies(server):
        picture, text = body["messages"][0]["content"]
        assert text["text"].endswith(" Please answer yes or no.")
        data = picture["image_url"]["url"].partition(",")[2]
        with PIL.Image.open(io.BytesIO(base64.b64decode(data))) as image:
            assert image.width * image.height >= 1003520
        assert body["temperature"] == 0.01
        assert body["top_p"] == 0.001
        assert body["top_k"] == 1
        assert 2048 in (body.get("max_tokens"), body.get("max_completion_tokens"))
        assert "custom_prompt" not in body


@pytest.mark.parametrize(
    ("mode", "reply", "noticed"),
    [
        ("off", "<think>It is there.</think>Yes", "reply 1 has thoughts"),
        ("off", "Yes", None),
        ("on", "Yes", "none of the first 2 replies has thoughts"),
        ("on", "It is there.</think>Yes", None),
        ("template", "Yes", None),
    ],
)
def test_thoughts_that_are_not_as_the_recipe_states_are_noticed(
    snellen: Snellen, mode: str, reply: str, noticed: str | None
) -> None:
    Path("mine.toml").write_text(
        'family = "Mine"\nevidence = "maker-card"\nsource = "card"\n'
        f'[prompts]\nplain = "{{{{ question }}}}"\n[defaults]\nthinking = {{ mode = "{mode}" }}\n'
        '[[asks]]\ndata_sets = ["pope"]\nprompt = "plain"\n'
    )
    with serving(completion(reply)) as server:
        done = run(snellen, server, "--recipe", "mine.toml")

    assert done.code == 0, done.err
    shown = [note for note in manifest().get("noticed", {}).values() if "thoughts" in note]
    assert len(shown) == bool(noticed)
    if noticed:
        assert noticed in shown[0]


def test_the_run_says_who_asked_so_and_where_each_value_is_from(snellen: Snellen) -> None:
    with serving(completion("Yes")) as server:
        done = run(snellen, server, *QWEN, "--temperature", "0.5")
    stored = manifest()
    assert any("asked by the recipe qwen2-vl (as pope" in note for note in stored["notes"])
    assert "asked by the recipe qwen2-vl" in done.out
    assert stored["origins"]["max_tokens"] == "recipe"
    assert stored["origins"]["top_p"] == "recipe"
    assert stored["origins"]["images.min_pixels"] == "recipe"
    assert stored["origins"]["temperature"] == "flag"
    assert bodies(server)[0]["temperature"] == 0.5
    assert "note: settings of the recipe that options replaced: temperature\n" in done.out
    assert set(stored["identity"]["recipe"]) == {"prompt"}


def test_recipes_that_ask_the_same_are_one_run(snellen: Snellen, tmp_path: Path) -> None:
    folder = Path(load.__code__.co_filename).parent
    copy = tmp_path / "copied.toml"
    copy.write_text((folder / "qwen2-vl.toml").read_text())
    with serving(completion("Yes")) as server:
        assert run(snellen, server, *QWEN).code == 0
        assert run(snellen, server, "--recipe", f"{copy}").code == 0
        assert len(server.requests) == 2
        assert run(snellen, server).code == 0
    assert len(server.requests) == 4


def test_the_system_message_is_sent(snellen: Snellen) -> None:
    words = ("internvl3.5-thinking-vlmevalkit::cot", "--recipe-without", "total_max_num")
    with serving(completion("Yes")) as server:
        done = run(snellen, server, "--recipe", *words)
        assert done.code == 0, done.err
    body = bodies(server)[0]
    assert body["messages"][0]["role"] == "system"
    assert "rigorously follows this response protocol" in body["messages"][0]["content"]
    assert body["mm_processor_kwargs"] == {"max_dynamic_patch": 6}
    assert "without these settings of the recipe: total_max_num" in "".join(manifest()["notes"])
    assert set(manifest()["identity"]["recipe"]) == {"prompt", "system"}


def test_each_benchmark_has_its_own_settings(snellen: Snellen) -> None:
    with serving(completion("A")) as server:
        done = run(snellen, server, "-b", "ocrbench", *QWEN)
        assert done.code == 0, done.err
    limits = {
        path.parts[1]: json.loads(path.read_text())["identity"]["profile"]["images"]
        for path in Path("runs").glob("*/*/*/manifest.json")
    }
    assert limits["pope"]["min_pixels"] == 1003520
    assert limits["ocrbench"]["min_pixels"] == 78400


def test_all_missing_data_are_named_before_the_first_benchmark_is_asked(
    snellen: Snellen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(models, "EXTRAS", {"vllm": ("vllm", ("vllm_that_is_nowhere",))})
    copied_rows(tmp_path / "data", "pope")
    with serving(completion("A")) as server:
        ask = ("-b", "pope", "-b", "ocrbench", "-b", "mmmu", "-m", "openai/m", *QWEN)
        done = snellen("run", *ask, "--data", "data", "--base-url", server.url)
        plain = snellen("run", *ask[:-2], "--data", "data", "--base-url", server.url)
    package = snellen("run", *ask[:6], "-m", "vllm/m", "--data", "data")

    assert "vllm/m needs vllm_that_is_nowhere" in package.err
    for result in (done, plain, package):
        assert result.code == 2
        assert "ocrbench: no " in result.err and "mmmu: no " in result.err
    assert server.requests == []


def test_a_mode_of_the_source_is_named(snellen: Snellen) -> None:
    with serving(completion("A")) as server:
        done = run(snellen, server, "--recipe", "qwen3-vl", benchmark="mmmu")
        assert done.code == 2
        assert "in the modes instruct, think. Name one: --recipe qwen3-vl:mmmu:" in done.err
        done = run(snellen, server, "--recipe", "qwen3-vl::think", benchmark="mmmu")
        assert done.code == 0, done.err
    assert bodies(server)[0]["temperature"] == 1.0
    assert bodies(server)[0]["seed"] == 3407
    assert manifest()["origins"]["seed"] == "recipe"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--recipe", "qwen9"), "There is no recipe qwen9. There are: "),
        (("--recipe", "smolvlm2"), "control words. No back end sends such prompts"),
        (("--recipe", "qwen3-vl"), "The recipe qwen3-vl does not say how pope is asked."),
        ((*QWEN, "--prompt", "llava"), "--recipe sets the prompt. Leave --prompt out."),
        (
            (*QWEN, "--recipe-without", "beams"),
            "--recipe-without beams: the recipe qwen2-vl has no",
        ),
    ],
)
def test_what_cannot_be_asked_so_is_wrong_use(
    snellen: Snellen, words: tuple[str, ...], message: str
) -> None:
    with serving(completion("Yes")) as server:
        done = run(snellen, server, *words)
        assert done.code == 2
        assert message in done.err
        assert not server.requests


@pytest.mark.parametrize("model", ["openai/m", "baseline/reader"])
def test_a_setting_that_the_model_cannot_take_is_refused(model: str) -> None:
    ask = load("qwen2-vl").ask("pope")
    with pytest.raises(UsageError, match=r"not support .*: top_k = 1\. .* --recipe-without top_k;"):
        with_recipe(Profile(), ask, model)
    assert with_recipe(Profile(), ask, model, ["top_k"]).profile.top_p == 0.001


@pytest.mark.parametrize(
    ("recipe", "data_set", "refused"),
    [
        ("minicpm-v-4.5", "mmstar", r"thinking\.begins = '<think>\\nI'"),
        ("internvl", "mmmu", r"tiles\.first_doubled = True, tiles\.others = 1"),
        ("internvl", "mmiu", r"tiles\.divided = True"),
    ],
)
def test_what_no_back_end_can_do_is_refused_and_not_dropped(
    recipe: str, data_set: str, refused: str
) -> None:
    ask = load(recipe).ask(data_set)
    profile = Profile(base_url="http://localhost/v1")
    with pytest.raises(UsageError, match=refused) as error:
        with_recipe(profile, ask, "openai/m")
    without = re.findall(r"--recipe-without (\S+?)[;.]? ", str(error.value))
    assert with_recipe(profile, ask, "openai/m", without).profile.max_tokens


@pytest.mark.parametrize(
    "profile",
    [
        Profile(base_url="https://api.openai.com/v1"),
        Profile(base_url="https://mine.openai.azure.com/v1", server="openai"),
    ],
)
def test_openais_own_service_is_known_by_its_address_or_by_the_profile(profile: Profile) -> None:
    with pytest.raises(UsageError, match=r"does not support .*: top_k = 1"):
        with_recipe(profile, load("qwen2-vl").ask("pope"), "openai/m")


def test_greedy_decoding_has_no_sampling_settings() -> None:
    settings = with_recipe(
        Profile(temperature=0.7),
        load("internvl3-vlmevalkit").ask("pope"),
        "vllm/m",
        ["max_num", "total_max_num"],
    )
    assert settings.profile.temperature == 0.0
    assert settings.profile.top_p is None
    assert settings.profile.max_tokens == 4096


def test_settings_have_the_names_of_the_back_end() -> None:
    ask = load("ovis2.5").ask("hallusionbench")
    without = ["thinking_budget"]
    profile = with_recipe(Profile(extra={"seed": 1}), ask, "vllm/m", without).profile
    assert profile.extra == {
        "seed": 1,
        "top_k": 20,
        "repetition_penalty": 1.05,
        "chat_template_kwargs": {"enable_thinking": True},
    }
    with pytest.raises(UsageError, match="enable_thinking = True, repetition_penalty"):
        with_recipe(Profile(), ask, "google/m", without)


@pytest.mark.parametrize(
    ("model", "extra"),
    [
        ("openai/m", {"presence_penalty": 0.0}),
        ("google/m", {"generationConfig": {"presencePenalty": 0.0}}),
        ("anthropic/m", {}),
        ("vllm/m", {"top_k": -1, "repetition_penalty": 1.0, "presence_penalty": 0.0}),
        ("hf/m", {"top_k": 0, "repetition_penalty": 1.0}),
    ],
)
def test_settings_that_are_turned_off_are_sent_where_the_model_may_have_others(
    tmp_path: Path, model: str, extra: dict[str, Any]
) -> None:
    for top_k in (0, -1):
        off = f"top_p = 1, top_k = {top_k}, repetition_penalty = 1.0, presence_penalty = 0.0"
        path = own_recipe(tmp_path, f"{off}, num_beams = 1")
        profile = with_recipe(Profile(), load(path).ask("pope"), model).profile
        assert profile.top_p == 1
        assert profile.extra == extra


def test_a_misspelled_setting_is_named_with_the_right_one(tmp_path: Path) -> None:
    path = own_recipe(tmp_path, "temprature = 0.0")
    with pytest.raises(UsageError, match=r"Did you mean temperature instead of temprature\?"):
        with_recipe(Profile(), load(path).ask("pope"), "vllm/m")


def test_a_recipe_that_thinks_without_a_token_limit_has_one_with_a_note(snellen: Snellen) -> None:
    path = own_recipe(Path(), "enable_thinking = true")
    with serving(completion("Yes")) as server:
        done = run(snellen, server, "--recipe", path)
        assert done.code == 0
        assert "the recipe states no token limit of a reply" in done.out + done.err
        body = bodies(server)[0]
        assert 16384 in (body.get("max_tokens"), body.get("max_completion_tokens"))
        server.requests.clear()
        assert run(snellen, server, "--recipe", path, "--max-tokens", "99").code == 0
        body = bodies(server)[0]
        assert 99 in (body.get("max_tokens"), body.get("max_completion_tokens"))


def own_recipe(folder: Path, generation: str) -> str:
    """Write a recipe that asks POPE with these settings, and return its path."""
    path = folder / "own.toml"
    path.write_text(
        'family = "Own"\ncheckpoints = ["own/*"]\nevidence = "maker-card"\nsource = "by hand"\n'
        '[prompts]\np = "{{ question }}"\n[[asks]]\ndata_sets = ["pope"]\nprompt = "p"\n'
        f"generation = {{ {generation} }}\n"
    )
    return str(path)


def test_frames_of_a_recipe_become_the_frame_policy() -> None:
    ask = load("mimo-vl").ask("videomme_boxed")
    settings = with_recipe(Profile(), ask, "openai/m", ["total_pixels"], "by recipe")
    assert settings.frames == "fps:2,max=256,pixels=3211264"
    assert "frames" in settings.fields
    assert settings.profile.images.max_pixels is None
    llava = load("llava-onevision-1.5").ask("videomme")
    frames = with_recipe(Profile(), llava, "openai/m", ["min_pixels"], "by recipe").frames
    assert frames == "uniform:32,pixels=3240000"


def test_what_a_frame_policy_cannot_state_is_refused_by_name() -> None:
    ask = load("qwen3-vl").ask("videomme_wo_sub", "instruct")
    with pytest.raises(UsageError, match=r"min_frames = 4, min_pixels = 3584, .*total_pixels ="):
        with_recipe(Profile(base_url="http://localhost/v1"), ask, "openai/m", (), "by recipe")
    molmo = load("molmo2").ask("video_mme")
    with pytest.raises(UsageError, match=r"video = \{'frame_sample_mode'"):
        with_recipe(Profile(), molmo, "openai/m", (), "by recipe")
    assert with_recipe(Profile(), molmo, "openai/m", (), "by user").frames is None


def test_time_stamps_of_a_recipe_are_part_of_the_frame_policy() -> None:
    qwen = load("qwen3-vl").ask("videomme_wo_sub", "instruct")
    without = ["min_frames", "min_pixels", "total_pixels"]
    server = Profile(base_url="http://localhost/v1")
    frames = with_recipe(server, qwen, "openai/m", without, "by recipe").frames
    assert frames == "fps:2,max=512,pixels=401408,stamps=qwen3-vl"
    bare = with_recipe(server, qwen, "openai/m", [*without, "stamps"], "by recipe").frames
    assert bare == "fps:2,max=512,pixels=401408"
    assert with_recipe(server, qwen, "openai/m", [], "by user").frames is None


def test_a_recipe_with_only_time_stamps_takes_the_benchmarks_frames(snellen: Snellen) -> None:
    words = ("-b", "video-mme", "--data", "synthetic", "-m", "baseline/first", "--limit", "1")
    left_out = [
        word for name in ("max_num", "total_max_num") for word in ("--recipe-without", name)
    ]
    done = snellen("run", *words, *left_out, "--recipe", "internvl3-vlmevalkit")
    assert done.code == 0, done.err
    identity = manifest()["identity"]
    assert identity["media"]["frames"] == "uniform:64,stamps=internvl-vlmevalkit"
    assert manifest()["origins"]["frames"] == "recipe"


def test_internvls_frames_are_numbered_as_in_vlmevalkits_adapter() -> None:
    """open-compass/VLMEvalKit@e8e78f0: vlmeval/vlm/internvl/utils.py#L185-L240 and
    vlmeval/dataset/videomme.py#L46-L50"""
    frames = [Frame(time=second, image=Image(bytes([second]))) for second in range(2)]
    ask = load("internvl3-vlmevalkit").ask("video-mme")
    policy = f"uniform:2,stamps={ask.manner.stamps}"
    film = Video(Path("v.mp4"), policy=policy, frames=tuple(frames))
    sample = Sample(id="1", question="Who?", choices=("A cat.", "A dog."), media=(film,))
    (message,) = ask.messages(sample)
    parts = [
        piece
        for part in message.content
        for piece in (laid_out(part) if isinstance(part, Video) else [part])
    ]
    assert "".join(part if isinstance(part, str) else "<image>" for part in parts) == (
        "Frame-1: <image>\nFrame-2: <image>\n\nThese are the frames of a video. Select the best "
        "answer to the following multiple-choice question based on the video. Respond with only "
        "the letter (A, B, C, or D) of the correct option.\nQuestion: Who?\nA. A cat.\nB. A dog. "
        "\nAnswer with the option's letter from the given choices directly."
    )


def test_the_sheet_names_the_form_of_time_stamps(snellen: Snellen) -> None:
    shown = snellen("show", "--recipe", "molmo2:video_mme")
    assert re.search(r"^  stamps +molmo2$", shown.out, re.MULTILINE)
    assert "stamps" not in snellen("show", "--recipe", "mimo-vl:videomme_boxed").out


def test_the_manifest_names_the_frames_and_their_origin(snellen: Snellen) -> None:
    words = ("-b", "video-mme", "--data", "synthetic", "-m", "baseline/first", "--limit", "1")
    left_out = ("--recipe-without", "total_pixels", "--recipe", "mimo-vl")
    done = snellen("run", *words, *left_out)
    assert done.code == 0, done.err
    assert manifest()["identity"]["media"]["frames"] == "fps:2,max=256,pixels=3211264"
    origins = manifest()["origins"]
    assert (origins["frames"], origins["prompt"], origins["system"]) == ("recipe",) * 3


def test_frames_of_the_user_win(snellen: Snellen) -> None:
    words = ("-b", "video-mme", "--data", "synthetic", "-m", "baseline/first", "--limit", "1")
    done = snellen("run", *words, "--recipe", "mimo-vl", "--frames", "uniform:4")
    assert done.code == 0, done.err
    assert manifest()["identity"]["media"]["frames"] == "uniform:4"
    assert manifest()["origins"]["frames"] == "flag"
    assert "settings of the recipe that options replaced: frames" in manifest()["notes"]


@pytest.mark.parametrize("recipe", ["qwen3-vl::instruct", "lmms-eval"])
@pytest.mark.parametrize("subtitles", ["all", "frames"])
def test_a_recipe_does_not_silently_drop_subtitles(
    snellen: Snellen, recipe: str, subtitles: str
) -> None:
    spec = f"video-mme:subtitles={subtitles}"
    with serving(completion("A")) as server:
        done = run(snellen, server, "--recipe", recipe, benchmark=spec)

    assert done.code == 2
    assert f"{spec} would have no effect" in " ".join(done.err.split())
    assert not server.requests


def test_a_recipe_with_subtitles_is_not_asked_without_them(snellen: Snellen) -> None:
    recipe = "qwen3-vl:videomme_w_sub:instruct"
    with serving(completion("A")) as server:
        done = run(snellen, server, "--recipe", recipe, benchmark="video-mme")

    assert done.code == 2
    assert "with the subtitles at the frames that are shown, which" in " ".join(done.err.split())
    assert not server.requests
