"""Converts `--effort`, which sets how much a model thinks, to the fields of each back end.

The fields are added to the profile's `extra`, which back ends send or read unchanged. An effort
that a back end does not support is an error. `docs/thinking.md` has a table of the fields. To
support a new back end, add an entry to `DIALECTS`.

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
"""The placeholder for the level or the number of tokens in the fields of a dialect."""
STRICT = "--enable-strict-thinking"
"""The argument without which an SGLang server ignores a limit on thinking tokens."""
Fields = Mapping[str, object]
"""Fields of `extra`, keyed by path: `a.b` is the field b of the table a."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The fields that set how much a model thinks, for one kind of back end."""

    service: str
    """The name of the back end in messages."""
    off: Fields
    """The fields that turn thinking off."""
    level: Fields | None = None
    """The fields that set a level of thinking; None if the back end supports no levels."""
    tokens: Fields | None = None
    """The fields that limit the number of thinking tokens; None if the back end has no such
    limit."""
    least: int = 1
    """The minimum number of thinking tokens."""
    only_temperature: float | None = None
    """The only temperature that is allowed with thinking; None if all are allowed."""
    hint: str = ""
    """Advice that is added to the error message about an unsupported effort."""
    level_note: str = ""
    """A note for results of runs whose effort is a level."""
    tokens_note: str = ""
    """A note for results of runs whose effort is a number of thinking tokens."""

    @property
    def efforts(self) -> str:
        """A list of the efforts that the back end supports, as text for messages."""
        known = ["none", *(["low", "medium", "high"] if self.level else [])]
        if self.tokens:
            known.append(f"a number of tokens of at least {self.least:,}")
        return f"{', '.join(known[:-1])}, or {known[-1]}" if len(known) > 1 else known[0]


TEMPLATE = "chat_template_kwargs.enable_thinking"
COMPATIBLE = Dialect(
    service="a compatible server",
    off={TEMPLATE: False},
    level={"reasoning_effort": CHOSEN, TEMPLATE: True},
    hint=(
        'To use a number of tokens, name the server in the profile (server = "vllm" or '
        'server = "sglang"), since each server has its own field for it.'
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
        hint=(
            "To turn thinking on, set template = { enable_thinking = true } in the profile's "
            "`extra`."
        ),
    ),
}
"""The dialects, keyed by kind of back end. For an `openai/` model, the kind depends on the model's
server."""
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
    """The fields of `extra` that set the effort of a model's profile; empty if the profile has no
    effort.

    Raises:
        UsageError: the model does not support this effort, or the profile's `extra` also sets
            thinking.
    """
    effort = profile.effort
    if effort is None:
        return {}
    fields: dict[str, Any] = {}
    for path, value in _chosen(model, profile, effort).items():
        _put(fields, path, effort if value is CHOSEN else value)
    if rivals := [path for path in sorted(PATHS) if _value(profile.extra, path) is not None]:
        raise UsageError(
            f"{model}: the profile has an effort, and `extra` also sets {', '.join(rivals)}. "
            "Remove one of these settings."
        )
    return fields


def with_sent_fields(model: str, profile: Profile) -> Profile:
    """Add the fields of a profile's effort to its `extra`, for the back end of the model.

    Raises:
        UsageError: as in `sent_fields`.
    """
    fields = sent_fields(model, profile)
    if not fields:
        return profile
    return msgspec.structs.replace(profile, extra=_merged(profile.extra, fields))


def without_thinking(extra: Mapping[str, Any]) -> dict[str, Any]:
    """Remove the fields that set a model's thinking from an `extra`."""
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
    """Adjust the token limit and the temperature to the effort of a profile.

    If the effort is a number of tokens, it is added to the benchmark's token limit, since all
    services count thoughts as tokens of the reply. A limit or a temperature that the user has
    chosen is not changed.

    Raises:
        UsageError: the limit or the temperature that the user has chosen does not allow the effort.
    """
    effort = profile.effort
    if effort is None or effort == "none":
        return most, temperature
    if isinstance(effort, int):
        if origins["max_tokens"] == "benchmark":
            most, origins["max_tokens"] = most + effort, origins["effort"]
        elif most <= effort:
            raise UsageError(
                f"{model}: --effort {effort:,} leaves no tokens for the answer, since the token "
                f"limit of {most:,} includes thoughts. Raise --max-tokens, or lower --effort."
            )
    only = _dialect(model, profile).only_temperature
    if only is not None and temperature not in (None, "default", only):
        if origins["temperature"] != "benchmark":
            raise UsageError(
                f"{model}: with thinking, the service accepts only temperature {only:g}. Leave "
                "--temperature out, or turn thinking off with --effort none."
            )
        temperature, origins["temperature"] = None, origins["effort"]
    return most, temperature


def effort_notes(model: str, profile: Profile) -> list[str]:
    """Notes about the profile's effort, for the result of a run."""
    effort = profile.effort
    if effort is None or effort == "none":
        return []
    dialect = _dialect(model, profile)
    note = dialect.tokens_note if isinstance(effort, int) else dialect.level_note
    return [note] if note else []


def expects_thoughts(profile: Profile, mode: str | None = None) -> bool | None:
    """Whether a model is asked to think; None if this is not known.

    The profile's effort takes precedence, followed by the fields in `extra`. If neither is set,
    `mode` decides: the recipe's statement about thinking, which is `on`, `off`, or `template` (not
    known).
    """
    if profile.effort is not None:
        return profile.effort != "none"
    values = [value for path in sorted(PATHS) if (value := _value(profile.extra, path)) is not None]
    if not values:
        return {"on": True, "off": False}.get(mode or "")
    return not any(value in (False, 0, "none", "disabled") for value in values)


def _chosen(model: str, profile: Profile, effort: Effort) -> Fields:
    """The fields for an effort, keyed by path.

    Raises:
        UsageError: the model does not support the effort.
    """
    dialect = _dialect(model, profile)
    if effort == "none":
        return dialect.off
    fields = dialect.tokens if isinstance(effort, int) else dialect.level
    if fields is None or (isinstance(effort, int) and effort < dialect.least):
        raise UsageError(
            f"{model}: {dialect.service} does not support --effort {effort}, only "
            f"{dialect.efforts}. {dialect.hint}".rstrip()
        )
    serve = profile.serve
    if "custom_params.thinking_budget" in fields and serve and STRICT not in serve.args:
        raise UsageError(
            f"{model}: SGLang ignores a number of tokens unless it is started with {STRICT}. Add "
            f"--serve-arg={STRICT}."
        )
    return fields


def _dialect(model: str, profile: Profile) -> Dialect:
    """
    Raises:
        UsageError: this kind of back end does not support any effort.
    """
    kind = re.split("[:/]", model)[0]
    if kind == "openai":
        kind = kind_of_server(profile)
    dialect = DIALECTS.get(kind)
    if dialect is None:
        known = "openai/, openai-responses/, anthropic/, google/, vllm/, and hf/"
        raise UsageError(
            f"{model} does not support --effort. Models that do are {known}. Leave --effort out."
        )
    return dialect


def kind_of_server(profile: Profile) -> str:
    """The kind of server that runs an `openai/` model."""
    name = profile.serve.kind if profile.serve else profile.server
    if name == "transformers":
        return name
    if name in ("vllm", "sglang"):
        return f"{name} server"
    official = urlsplit(keys.SERVERS["openai"][0]).netloc
    is_official = profile.base_url is None or urlsplit(profile.base_url).netloc == official
    return "openai" if is_official or name == "openai" else "compatible"


def _value(table: Mapping[str, Any], path: str) -> Any:
    """The value at a path; None if there is no value, or if the value is a table."""
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
    """Remove the value at a path, and tables that become empty as a result."""
    name, *rest = names
    if rest:
        table[name] = dict(table[name])
        _remove(table[name], rest)
    if not rest or not table[name]:
        del table[name]


def _merged(extra: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two tables, including their inner tables. Values in `fields` take precedence."""
    both = dict(extra)
    for name, value in fields.items():
        before = both.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            value = _merged(before, value)
        both[name] = value
    return both
