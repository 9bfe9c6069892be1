"""Adds the settings of a recipe to a model's profile.

A recipe contains the settings with which a model's maker calls the model, under the names in the
maker's code. Settings that the back end supports are added to the profile. Any other setting is an
error, unless the user leaves it out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import msgspec

from snellen.core.profile import Profile
from snellen.errors import UsageError
from snellen.media.video import DEFAULT
from snellen.recipes import Ask
from snellen.run.effort import PATHS as THINKING
from snellen.run.effort import kind_of_server

DESCRIPTIONS = frozenset(
    {
        *("command", "custom_prompt", "decoding", "epochs", "lmms_eval_specific_kwargs", "mode"),
        *("max_inp_length", "max_model_len", "max_new_tokens_in_task_file", "note", "setting"),
        *("prompt_templates", "source", "system_prompt_mode", "use_cache", "use_cot"),
        *("use_long_cot", "use_tts_template", "image_size", "do_sample", "sampling"),
        *("use_thumbnail", "dynamic"),
    }
)
"""Settings that only describe the source's code and do not change what is sent."""
LIMITS = ("max_new_tokens", "max_new_tokens_sent", "max_tokens")
"""The names that makers use for the token limit."""
OF_VIDEOS = ("fps", "min_frames", "max_frames", "max_num_frames", "total_pixels", "video", "stamps")
"""Settings of videos. A frame policy can state the frame rate, the maximum number of frames, the
maximum number of pixels per frame, and the form of time stamps. Settings for minimums or for the
total pixels of all frames are errors."""
OF_TOOLS = ("tools", "tool_form", "max_steps", "question_tokens")
"""Settings of tools, which have the names and values of Snellen's options."""
Videos = Literal["", "by recipe", "by user"]
"""Who decides which video frames are shown: the recipe or the user; empty if there are no
videos."""
NEUTRAL: Mapping[str, tuple[object, ...]] = {
    "top_k": (0, -1),
    "top_p": (1,),
    "num_beams": (1,),
    "repetition_penalty": (1,),
    "presence_penalty": (0,),
    "no_repeat_ngram_size": (0,),
    "min_new_tokens": (0, 1),
    "first_image_upscaled_2x": (False,),
    "use_upsize": (False,),
    "use_msac": (False,),
}
"""Values that turn a setting off. They are sent to back ends that have the setting, since a server
or a model may have another default, for example from generation_config.json. Back ends without the
setting already behave as if it were off."""
NO_TOP_K = {"compatible": -1, "vllm": -1, "hf": 0}
"""For each kind of back end, the value of `top_k` that turns it off. SGLang and vLLM before 0.9
refuse 0. The APIs of Anthropic and Google have no such value, so it is not sent."""
THINKING_MODES = ("enable_thinking", "thinking")
"""Settings of a recipe that make a model think if they are true."""
MANY_TOKENS = 16_384
"""The token limit of a reply, if a recipe with tools or thinking states none. The limits of
benchmarks, such as 16 tokens, are for replies that consist of the answer."""
NAMES: Mapping[str, Mapping[str, str]] = {
    "compatible": {
        "top_k": "top_k",
        "repetition_penalty": "repetition_penalty",
        "presence_penalty": "presence_penalty",
        "until": "stop",
        "enable_thinking": "chat_template_kwargs.enable_thinking",
        "thinking": "chat_template_kwargs.thinking",
        "max_num": "mm_processor_kwargs.max_dynamic_patch",
    },
    "vllm": {
        "top_k": "top_k",
        "repetition_penalty": "repetition_penalty",
        "presence_penalty": "presence_penalty",
        "until": "stop",
        "enable_thinking": "chat_template_kwargs.enable_thinking",
        "thinking": "chat_template_kwargs.thinking",
    },
    "openai": {"presence_penalty": "presence_penalty", "until": "stop"},
    "anthropic": {"top_k": "top_k", "until": "stop_sequences"},
    "google": {
        "top_k": "generationConfig.topK",
        "presence_penalty": "generationConfig.presencePenalty",
        "until": "generationConfig.stopSequences",
    },
    "hf": {
        "top_k": "top_k",
        "repetition_penalty": "repetition_penalty",
        "enable_thinking": "template.enable_thinking",
        "thinking": "template.thinking",
    },
}
"""For each kind of back end, the path of each setting in a profile's `extra`."""


class UnsupportedSettings(UsageError):
    """Raised if a model does not support some settings of a recipe."""

    def __init__(self, message: str, settings: Sequence[str]) -> None:
        super().__init__(message)
        self.settings = settings
        """The recipe's names for the unsupported settings."""


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """The values that a recipe sets for a model."""

    profile: Profile
    """The model's profile with the recipe's settings."""
    seed: int | None
    """The sampling seed; None if the recipe has none."""
    frames: str | None
    """The frame policy of videos; None if the recipe has none."""
    tools: Mapping[str, Any]
    """The options about tools that the recipe sets, by name."""
    fields: frozenset[str]
    """The names of the values that the recipe sets, as in the keys of `RunConfig.origins`."""


def with_recipe(
    profile: Profile,
    ask: Ask,
    model: str,
    without: Collection[str] = (),
    videos: Videos = "",
    usual_frames: str = DEFAULT,
    usual_limit: int = 0,
) -> RecipeSettings:
    """Add the settings of a recipe to a model's profile.

    Args:
        profile: The model's own profile.
        ask: How the recipe asks the questions of the data set.
        model: The name of the model.
        without: The names of settings that are left out.
        videos: Who decides which video frames are shown.
        usual_frames: The frame policy of the benchmark, for a recipe that sets only time stamps.
        usual_limit: The benchmark's token limit of a reply.

    Raises:
        UnsupportedSettings: the model does not support a setting.
        UsageError: `without` names a setting that the recipe lacks.
    """
    kind = _kind(model, profile)
    names = NAMES.get(kind, {})
    left = _stated(ask, without, names)
    if left.get("top_k") in NEUTRAL["top_k"]:
        del left["top_k"]
        if kind in NO_TOP_K:
            left["top_k"] = NO_TOP_K[kind]
    frames = _taken_frames(left, videos, usual_frames)
    tools = {name: left.pop(name) for name in OF_TOOLS if name in left}
    changes: dict[str, Any] = {"temperature": 0.0} if _is_greedy(ask.model_settings()) else {}
    for name in ("temperature", "top_p", "coordinates"):
        if name in left:
            changes[name] = left.pop(name)
    for name in LIMITS:
        if name in left:
            changes["max_tokens"] = left.pop(name)
    if lacks_limit(ask) and profile.max_tokens is None:
        changes["max_tokens"] = max(MANY_TOKENS, usual_limit)
    limits = () if videos else ("min_pixels", "max_pixels")
    images = {name: left.pop(name) for name in limits if name in left}
    if images:
        changes["images"] = msgspec.structs.replace(profile.images, **images)
    seed = left.pop("engine_seed", None)
    if seed is not None and not isinstance(seed, int):
        raise UsageError(
            f"The recipe {ask.recipe} has the seed {seed!r}, but a seed must be a whole number."
        )
    extra = _extra(left, ask, model, profile)
    if any(names[name] in THINKING for name in left):
        changes["effort"] = None  # a recipe takes precedence over the profile
    return RecipeSettings(
        profile=msgspec.structs.replace(profile, **changes, **({"extra": extra} if left else {})),
        seed=seed,
        frames=frames,
        tools=tools,
        fields=frozenset(
            {
                *("prompt", *(["system"] if ask.manner.system else [])),
                *(name for name in changes if name != "images"),
                *(f"images.{name}" for name in images),
                *(f"extra.{name}" for name in left),
                *(() if seed is None else ("seed",)),
                *(() if frames is None else ("frames",)),
                *tools,
            }
        ),
    )


def lacks_limit(ask: Ask) -> bool:
    """Whether a recipe gives a model tools or makes it think, so that a reply is longer than its
    answer, and states no token limit."""
    settings = ask.model_settings()
    is_long = settings.get("tools") or any(settings.get(name) for name in THINKING_MODES)
    return bool(is_long) and all(settings.get(name) is None for name in LIMITS)


def _is_greedy(settings: Mapping[str, object]) -> bool:
    is_described = str(settings.get("decoding", "")).startswith("greedy")
    return settings.get("do_sample") is False or settings.get("sampling") is False or is_described


def _stated(ask: Ask, without: Collection[str], names: Mapping[str, str]) -> dict[str, Any]:
    """Select the settings that change what is sent, except those in `without`. `names` are the
    settings that the back end has.

    Raises:
        UsageError: `without` names a setting that the recipe lacks.
    """
    settings = {**ask.model_settings(), **ask.manner.picture, **_unsendable(ask)}
    if ask.manner.coordinates:
        settings["coordinates"] = ask.manner.coordinates
    if ask.manner.stamps:
        settings["stamps"] = ask.manner.stamps
    for name in without:
        if name not in settings:
            known = ", ".join(sorted(settings.keys() - DESCRIPTIONS))
            raise UsageError(
                f"--recipe-without {name}: the recipe {ask.recipe} has no such setting. It has: "
                f"{known}."
            )
    idle = {"temperature", "top_p", "top_k"} if _is_greedy(settings) else set()
    sent = {"top_p", *names}
    return {
        name: value
        for name, value in settings.items()
        if value is not None
        and name not in DESCRIPTIONS | idle | {*without}
        and (name in sent or value not in NEUTRAL.get(name, ()))
    }


def _unsendable(ask: Ask) -> dict[str, Any]:
    """The recipe's values that no back end supports: the text with which a reply begins, and tiling
    rules that differ between pictures. A recipe states these values separately from the settings of
    the model call."""
    thinking, tiles = ask.manner.thinking, ask.manner.tiles
    values = {
        "thinking.begins": thinking and thinking.begins,
        "tiles.divided": tiles and tiles.divided,
        "tiles.others": tiles and tiles.others,
        # VLMEvalKit's adapter has its own setting for this.
        "tiles.first_doubled": tiles
        and tiles.first_doubled
        and "first_image_upscaled_2x" not in ask.model_settings(),
    }
    return {name: value for name, value in values.items() if value}


def _taken_frames(left: dict[str, Any], videos: Videos, usual: str) -> str | None:
    """Convert settings of videos to a frame policy, and remove them from `left`. Settings that no
    frame policy can state remain in `left`."""
    if videos != "by recipe":
        for name in OF_VIDEOS:
            left.pop(name, None)
        if videos:
            left.pop("min_pixels", None)
            left.pop("max_pixels", None)
        return None
    stamps = f",stamps={left.pop('stamps')}" if "stamps" in left else ""
    if "max_num_frames" in left:
        return f"uniform:{left.pop('max_num_frames')}{_most_pixels(left)}{stamps}"
    if "fps" not in left:
        return f"{usual}{stamps}" if stamps else None
    most = f",max={left.pop('max_frames')}" if "max_frames" in left else ""
    return f"fps:{left.pop('fps'):g}{most}{_most_pixels(left)}{stamps}"


def _most_pixels(left: dict[str, Any]) -> str:
    return f",pixels={left.pop('max_pixels')}" if "max_pixels" in left else ""


def _extra(left: Mapping[str, Any], ask: Ask, model: str, profile: Profile) -> dict[str, Any]:
    """Add these settings to the profile's `extra`.

    Raises:
        UnsupportedSettings: the model does not support some of the settings.
    """
    names = NAMES.get(_kind(model, profile), {})
    refused = sorted(left.keys() - names.keys())
    if refused:
        listed = ", ".join(f"{name} = {left[name]!r}" for name in refused)
        words = " ".join(f"--recipe-without {name}" for name in refused)
        raise UnsupportedSettings(
            f"{model} does not support these settings of the recipe {ask.recipe}: {listed}. "
            f"{_hint(refused)}To leave them out, use {words}; the result will have a note about "
            "this.",
            refused,
        )
    extra = dict(profile.extra)
    for name, value in left.items():
        _put(extra, names[name], value)
    return extra


def _hint(refused: Sequence[str]) -> str:
    """A hint about names that may be misspelled: known names that differ in few letters."""
    known = {name for names in NAMES.values() for name in names}
    known |= {"temperature", "top_p", "coordinates", *LIMITS, *OF_VIDEOS, *OF_TOOLS, *NEUTRAL}
    known |= {*DESCRIPTIONS, "min_pixels", "max_pixels", "engine_seed"}
    close = {name: get_close_matches(name, known - {name}, n=1, cutoff=0.85) for name in refused}
    pairs = [f"{names[0]} instead of {name}" for name, names in close.items() if names]
    return f"Did you mean {' and '.join(pairs)}? " if pairs else ""


def _kind(model: str, profile: Profile) -> str:
    """The kind of back end: the prefix of the model's name, or `compatible` for an `openai/` model
    on a server other than the official one."""
    kind = model.partition("/")[0]
    return "compatible" if kind == "openai" and kind_of_server(profile) != kind else kind


def _put(extra: dict[str, Any], path: str, value: object) -> None:
    """Set a field of `extra`. The path `a.b` means the field b of the table a."""
    table, _, name = path.rpartition(".")
    if table:
        extra[table] = {**extra.get(table, {}), name: value}
    else:
        extra[name] = value
