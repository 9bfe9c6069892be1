"""How much a model thinks before it answers: `--effort` in the fields of each back end.

The fields go into the profile's `extra`, which back ends send or read as it is. What a back end
cannot do is refused. `docs/thinking.md` has a table of the fields. A new back end is an entry of
`DIALECTS`.

Sources: openai/openai-python@1c3180c: src/openai/types/shared/reasoning_effort.py;
anthropics/anthropic-sdk-python@124ed4b: src/anthropic/types/thinking_config_enabled_param.py,
@0c20cf4: thinking_config_adaptive_param.py, @458a645: output_config_param.py;
googleapis/python-genai@6680718: google/genai/types.py (ThinkingConfig);
vllm-project/vllm@002032e: vllm/entrypoints/openai/chat_completion/protocol.py (reasoning_effort,
thinking_token_budget, build_chat_params); sgl-project/sglang@f6d79b8:
python/sglang/srt/entrypoints/openai/reasoning_request.py, and the page Thinking Budget of its
documentation (custom_params, --enable-strict-thinking).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import msgspec

from snellen.core.profile import Effort, Profile
from snellen.errors import UsageError
from snellen.registry import keys

CHOSEN: Final = "<effort>"
"""Stands for the level, or the number of tokens, in the fields of a dialect."""
STRICT = "--enable-strict-thinking"
"""SGLang's server ignores a number of tokens if it was started without this argument."""
Fields = Mapping[str, object]
"""Fields of `extra` by their paths: `a.b` is the field b of the table a."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The fields in which one kind of back end is told how much to think."""

    service: str
    """The name of the back end in messages."""
    off: Fields
    """The fields that turn thinking off."""
    level: Fields | None = None
    """The fields of a level; None if it has none."""
    tokens: Fields | None = None
    """The fields of a number of tokens; None if it has none."""
    least: int = 1
    """The least number of tokens."""
    only_temperature: float | None = None
    """The only temperature that goes with thinking; None if any does."""
    hint: str = ""
    """What else to do about an effort that it cannot have."""
    level_note: str = ""
    """A note for the result of a run with a level."""
    tokens_note: str = ""
    """A note for the result of a run with a number of tokens."""

    @property
    def efforts(self) -> str:
        """The efforts that it can have, in words."""
        known = ["none", *(["low", "medium", "high"] if self.level else [])]
        if self.tokens:
            known.append(f"a number of tokens from {self.least:,} on")
        return f"{', '.join(known[:-1])}, or {known[-1]}" if len(known) > 1 else known[0]


TEMPLATE = "chat_template_kwargs.enable_thinking"
COMPATIBLE = Dialect(
    service="a compatible server",
    off={TEMPLATE: False},
    level={"reasoning_effort": CHOSEN, TEMPLATE: True},
    hint=(
        "Each server has its own field for a number of tokens: name the server in the profile, "
        'server = "vllm" or server = "sglang".'
    ),
    level_note=(
        "the level of --effort reaches the model through its chat template; a template that does "
        "not read reasoning_effort ignores it"
    ),
)
DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect(
        service="OpenAI's service",
        off={"reasoning_effort": CHOSEN},
        level={"reasoning_effort": CHOSEN},
    ),
    "openai-responses": Dialect(
        service="the Responses API",
        off={"reasoning.effort": CHOSEN},
        level={"reasoning.effort": CHOSEN},
    ),
    "anthropic": Dialect(
        service="Anthropic's service",
        off={"thinking.type": "disabled"},
        level={"thinking.type": "adaptive", "output_config.effort": CHOSEN},
        tokens={"thinking.type": "enabled", "thinking.budget_tokens": CHOSEN},
        least=1024,
        only_temperature=1.0,
    ),
    "google": Dialect(
        service="Google's service",
        off={"generationConfig.thinkingConfig.thinkingBudget": 0},
        level={"generationConfig.thinkingConfig.thinkingLevel": CHOSEN},
        tokens={"generationConfig.thinkingConfig.thinkingBudget": CHOSEN},
    ),
    "compatible": COMPATIBLE,
    "vllm server": replace(
        COMPATIBLE,
        service="a vLLM server",
        tokens={"thinking_token_budget": CHOSEN, TEMPLATE: True},
    ),
    "sglang server": replace(
        COMPATIBLE,
        service="an SGLang server",
        tokens={"custom_params.thinking_budget": CHOSEN, TEMPLATE: True},
        tokens_note=(
            f"an SGLang server that was started without {STRICT} ignores the number of tokens of "
            "--effort"
        ),
    ),
    "vllm": replace(
        COMPATIBLE,
        service="vllm/",
        level={"chat_template_kwargs.reasoning_effort": CHOSEN, TEMPLATE: True},
        tokens={"thinking_token_budget": CHOSEN, TEMPLATE: True},
    ),
    "hf": Dialect(
        service="hf/",
        off={"template.enable_thinking": False},
        hint="To turn thinking on, set template = { enable_thinking = true } in its `extra`.",
    ),
}
"""By the kind of back end. That of an `openai/` model depends on its server."""
OTHERS = (
    *("chat_template_kwargs.thinking", "chat_template_kwargs.thinking_budget"),
    *("template.thinking", "thinking"),
)
"""Further fields of `extra` that set a model's thinking."""
PATHS = frozenset(
    {
        *OTHERS,
        *(
            path
            for dialect in DIALECTS.values()
            for fields in (dialect.off, dialect.level, dialect.tokens)
            for path in fields or ()
        ),
    }
)
"""All fields of `extra` that set a model's thinking."""


def sent_fields(model: str, profile: Profile) -> dict[str, Any]:
    """The fields of `extra` in which a model is told the effort of its profile; empty without one.

    Raises:
        UsageError: the model cannot have this effort, or the profile's `extra` sets thinking too.
    """
    effort = profile.effort
    if effort is None:
        return {}
    fields: dict[str, Any] = {}
    for path, value in _chosen(model, profile, effort).items():
        _put(fields, path, effort if value is CHOSEN else value)
    if rivals := [path for path in sorted(PATHS) if _value(profile.extra, path) is not None]:
        raise UsageError(
            f"{model}: the profile has an effort, and `extra` sets {', '.join(rivals)}. Remove one "
            "of the two."
        )
    return fields


def with_sent_fields(model: str, profile: Profile) -> Profile:
    """The profile as the back end of a model gets it: with the fields of its effort in `extra`.

    Raises:
        UsageError: as in `sent_fields`.
    """
    fields = sent_fields(model, profile)
    if not fields:
        return profile
    return msgspec.structs.replace(profile, extra=_merged(profile.extra, fields))


def without_thinking(extra: Mapping[str, Any]) -> dict[str, Any]:
    """An `extra` without the fields that set a model's thinking."""
    kept = dict(extra)
    for path in PATHS:
        if _value(extra, path) is not None:
            _remove(kept, path.split("."))
    return kept


def fitted(
    model: str,
    profile: Profile,
    most: int,
    temperature: float | Literal["default"] | None,
    origins: MutableMapping[str, Any],
) -> tuple[int, float | Literal["default"] | None]:
    """The token limit and the temperature that go with the effort of a profile.

    A number of tokens is added to the benchmark's token limit, since all services count thoughts as
    tokens of the reply. A limit or a temperature that the user has chosen stays as it is.

    Raises:
        UsageError: what the user has chosen does not go with the effort.
    """
    effort = profile.effort
    if effort is None or effort == "none":
        return most, temperature
    if isinstance(effort, int):
        if origins["max_tokens"] == "benchmark":
            most, origins["max_tokens"] = most + effort, origins["effort"]
        elif most <= effort:
            raise UsageError(
                f"{model}: --effort {effort:,} leaves no tokens for the answer, since a reply may "
                f"have {most:,} tokens with its thoughts. Raise --max-tokens, or lower --effort."
            )
    only = _dialect(model, profile).only_temperature
    if only is not None and temperature not in (None, "default", only):
        if origins["temperature"] != "benchmark":
            raise UsageError(
                f"{model}: its service thinks at temperature {only:g} alone. Leave --temperature "
                "out, or use --effort none."
            )
        temperature, origins["temperature"] = None, origins["effort"]
    return most, temperature


def effort_notes(model: str, profile: Profile) -> list[str]:
    """Notes for the result of a run with the effort of this profile."""
    effort = profile.effort
    if effort is None or effort == "none":
        return []
    dialect = _dialect(model, profile)
    note = dialect.tokens_note if isinstance(effort, int) else dialect.level_note
    return [note] if note else []


def expects_thoughts(profile: Profile, mode: str | None = None) -> bool | None:
    """Whether a model is asked to think, or not to think, by the profile's effort, by the profile's
    or the recipe's own fields, or else by what the recipe states of its prompt and model (`mode`:
    `on`, `off`, or `template`). None if nothing says so."""
    if profile.effort is not None:
        return profile.effort != "none"
    values = [value for path in sorted(PATHS) if (value := _value(profile.extra, path)) is not None]
    if not values:
        return {"on": True, "off": False}.get(mode or "")
    return not any(value in (False, 0, "none", "disabled") for value in values)


def _chosen(model: str, profile: Profile, effort: Effort) -> Fields:
    """The fields for an effort, by their paths.

    Raises:
        UsageError: the model cannot have it.
    """
    dialect = _dialect(model, profile)
    if effort == "none":
        return dialect.off
    fields = dialect.tokens if isinstance(effort, int) else dialect.level
    if fields is None or (isinstance(effort, int) and effort < dialect.least):
        raise UsageError(
            f"{model}: {dialect.service} cannot be asked with --effort {effort}. It takes "
            f"{dialect.efforts}. {dialect.hint}".rstrip()
        )
    serve = profile.serve
    if "custom_params.thinking_budget" in fields and serve and STRICT not in serve.args:
        raise UsageError(
            f"{model}: SGLang ignores a number of tokens without {STRICT}. Add "
            f"--serve-arg={STRICT}."
        )
    return fields


def _dialect(model: str, profile: Profile) -> Dialect:
    """
    Raises:
        UsageError: no back end of this kind can be told how much to think.
    """
    kind = re.split("[:/]", model)[0]
    if kind == "openai":
        kind = kind_of_server(profile)
    dialect = DIALECTS.get(kind)
    if dialect is None:
        known = "openai/, openai-responses/, anthropic/, google/, vllm/, and hf/"
        raise UsageError(
            f"{model} has no setting for --effort. Models with one are {known}. Leave --effort out."
        )
    return dialect


def kind_of_server(profile: Profile) -> str:
    """The kind of the server that an `openai/` model is on."""
    name = profile.serve.kind if profile.serve else profile.server
    if name == "transformers":
        return name
    if name in ("vllm", "sglang"):
        return f"{name} server"
    official = urlsplit(keys.SERVERS["openai"][0]).netloc
    is_official = profile.base_url is None or urlsplit(profile.base_url).netloc == official
    return "openai" if is_official or name == "openai" else "compatible"


def _value(table: Mapping[str, Any], path: str) -> Any:
    """The value at a path; None if there is none, or a table."""
    value: Any = table
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return None if isinstance(value, Mapping) else value


def _put(table: dict[str, Any], path: str, value: object) -> None:
    *tables, name = path.split(".")
    for inner in tables:
        table = table.setdefault(inner, {})
    table[name] = value


def _remove(table: dict[str, Any], names: list[str]) -> None:
    """Remove the value at a path, and the tables that are then empty."""
    name, *rest = names
    if rest:
        table[name] = dict(table[name])
        _remove(table[name], rest)
    if not rest or not table[name]:
        del table[name]


def _merged(extra: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Both tables, and their inner tables; values of `fields` win."""
    both = dict(extra)
    for name, value in fields.items():
        before = both.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            value = _merged(before, value)
        both[name] = value
    return both
