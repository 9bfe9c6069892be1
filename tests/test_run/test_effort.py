"""How much a model thinks: what each service is sent, what is refused, and which source decides."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from snellen.api import Finished, Plan, run_plan
from snellen.core.profile import Profile, Serve
from snellen.errors import UsageError
from snellen.models.hf_prompts import HfPrompts
from snellen.models.hf_settings import HfSettings
from snellen.recipes import load
from snellen.run.effort import expects_thoughts, with_sent_fields
from snellen.run.recipe_settings import with_recipe
from tests.servers import serving
from tests.test_cli.conftest import Snellen, snellen, written
from tests.tiny import benchmark
from tests.vendors import ANTHROPIC, GOOGLE, OPENAI, RESPONSES, Vendor

__all__ = ["snellen"]

PAGE = Path(__file__).parents[2] / "docs" / "thinking.md"
EFFORTS = ("none", "low", "high", 2048)
OFF = {"chat_template_kwargs": {"enable_thinking": False}}
ON = {"chat_template_kwargs": {"enable_thinking": True}}


def thinking(**config: object) -> dict[str, Any]:
    return {"generationConfig": {"thinkingConfig": config}}


def levels(fields: Any) -> dict[Any, Any]:
    return {level: fields(level) for level in ("low", "high")}


# The fields by the services' own documentation; the sources are in src/snellen/run/effort.py.
SENT: dict[str, tuple[Vendor, dict[str, Any], dict[Any, dict[str, Any]]]] = {
    "OpenAI, chat completions": (
        OPENAI,
        {"server": "openai"},
        {level: {"reasoning_effort": level} for level in ("none", "low", "high")},
    ),
    "OpenAI, Responses": (
        RESPONSES,
        {},
        {level: {"reasoning": {"effort": level}} for level in ("none", "low", "high")},
    ),
    "Anthropic": (
        ANTHROPIC,
        {},
        {
            "none": {"thinking": {"type": "disabled"}},
            **levels(
                lambda level: {"thinking": {"type": "adaptive"}, "output_config": {"effort": level}}
            ),
            2048: {"thinking": {"type": "enabled", "budget_tokens": 2048}},
        },
    ),
    "Google": (
        GOOGLE,
        {},
        {
            "none": thinking(thinkingBudget=0),
            **levels(lambda level: thinking(thinkingLevel=level)),
            2048: thinking(thinkingBudget=2048),
        },
    ),
    "vLLM": (
        OPENAI,
        {"server": "vllm"},
        {
            "none": OFF,
            **levels(lambda level: {"reasoning_effort": level, **ON}),
            2048: {"thinking_token_budget": 2048, **ON},
        },
    ),
    "SGLang": (
        OPENAI,
        {"server": "sglang"},
        {
            "none": OFF,
            **levels(lambda level: {"reasoning_effort": level, **ON}),
            2048: {"custom_params": {"thinking_budget": 2048}, **ON},
        },
    ),
    "another compatible server": (
        OPENAI,
        {},
        {"none": OFF, **levels(lambda level: {"reasoning_effort": level, **ON})},
    ),
}


def body_and_run(
    vendor: Vendor, out: Path, effort: Any, profile: dict[str, Any], **options: Any
) -> tuple[dict[str, Any], Finished]:
    """The body of a request with this effort, and the run."""
    with serving(vendor.answered("yes")) as server:
        plan = Plan(
            benchmarks=[benchmark(1, max_answer_tokens=64)],
            models=[f"{vendor.kind}/m"],
            profile=Profile(base_url=server.url, **profile),
            out=out,
            **(options if effort is None else {**options, "effort": effort}),
        )
        finished = run_plan(plan)[0]
        return server.requests[0].json, finished


def added(body: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """The fields that a body has and a plain one does not, besides limits of sampling."""
    fields = {}
    for name, value in body.items():
        if isinstance(value, dict) and isinstance(plain.get(name), dict):
            if inner := added(value, plain[name]):
                fields[name] = inner
        elif name not in plain:
            fields[name] = value
    return fields


@pytest.mark.parametrize("service", SENT)
def test_each_service_is_sent_its_own_fields_and_what_it_cannot_do_is_refused(
    service: str, tmp_path: Path
) -> None:
    vendor, profile, by_effort = SENT[service]
    plain, _ = body_and_run(vendor, tmp_path / "plain", None, profile)
    rows = []
    for effort in EFFORTS:
        if effort not in by_effort:
            with pytest.raises(UsageError, match="only none"):
                body_and_run(vendor, tmp_path / f"{effort}", effort, profile)
            rows.append(f"| {service} | `{effort}` | refused |")
            continue
        body, finished = body_and_run(vendor, tmp_path / f"{effort}", effort, profile)
        assert added(body, plain) == by_effort[effort]
        identity = json.loads((finished.run / "manifest.json").read_text())["identity"]
        assert identity["generation"]["effort"] == effort
        assert identity["thinking"] == by_effort[effort]
        rows.append(f"| {service} | `{effort}` | `{json.dumps(by_effort[effort])}` |")
    assert [row for row in rows if row not in PAGE.read_text().splitlines()] == []


def test_a_service_that_refuses_an_effort_ends_the_run(tmp_path: Path) -> None:
    refusal = "thinking.type.enabled is not supported for this model"
    with serving(ANTHROPIC.error(400, refusal)) as server:
        plan = Plan(
            benchmarks=[benchmark(9)],
            models=["anthropic/m"],
            profile=Profile(base_url=server.url, concurrency=1),
            out=tmp_path,
            effort=2048,
        )
        finished = run_plan(plan)[0]
        assert len(server.requests) == 3
    assert finished.stopped is not None
    assert refusal in finished.stopped and "use another --effort" in finished.stopped


def test_a_run_without_an_effort_has_the_identity_of_earlier_versions(tmp_path: Path) -> None:
    _, finished = body_and_run(OPENAI, tmp_path, None, {})
    identity = json.loads((finished.run / "manifest.json").read_text())["identity"]
    assert "thinking" not in identity
    assert set(identity["generation"]) == {"max_tokens", "temperature", "top_p", "seed"}


def test_thoughts_get_room_besides_that_of_the_answer(tmp_path: Path) -> None:
    body, finished = body_and_run(ANTHROPIC, tmp_path, 2048, {})
    assert body["max_tokens"] == 64 + 2048
    origins = json.loads((finished.run / "manifest.json").read_text())["origins"]
    assert (origins["effort"], origins["max_tokens"]) == ("argument", "argument")
    with pytest.raises(UsageError, match="leaves no tokens for the answer"):
        body_and_run(ANTHROPIC, tmp_path, 2048, {}, max_tokens=2048)
    body, _ = body_and_run(ANTHROPIC, tmp_path, 2048, {"max_tokens": 3000})
    assert body["max_tokens"] == 3000


def test_a_service_that_thinks_at_one_temperature_is_sent_no_other(tmp_path: Path) -> None:
    assert body_and_run(ANTHROPIC, tmp_path, None, {})[0]["temperature"] == 0
    assert body_and_run(ANTHROPIC, tmp_path, "none", {})[0]["temperature"] == 0
    assert "temperature" not in body_and_run(ANTHROPIC, tmp_path, "low", {})[0]
    assert body_and_run(ANTHROPIC, tmp_path, "low", {"temperature": 1.0})[0]["temperature"] == 1
    with pytest.raises(UsageError, match="accepts only temperature 1"):
        body_and_run(ANTHROPIC, tmp_path, "low", {}, temperature=0.5)
    assert body_and_run(GOOGLE, tmp_path, "low", {})[0]["generationConfig"]["temperature"] == 0


def test_the_rest_of_a_table_in_extra_stays(tmp_path: Path) -> None:
    extra = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}, "topK": 5}}
    body, _ = body_and_run(GOOGLE, tmp_path, "low", {"extra": extra})
    config = body["generationConfig"]
    assert config["thinkingConfig"] == {"includeThoughts": True, "thinkingLevel": "low"}
    assert config["topK"] == 5


@pytest.mark.parametrize(
    ("model", "profile", "effort", "message"),
    [
        (
            "openai/m",
            {},
            2048,
            "OpenAI's service does not support --effort 2048, only none",
        ),
        ("openai/m", {"base_url": "http://h/v1"}, 9, 'server = "vllm" or server = "sglang"'),
        ("anthropic/m", {}, 100, "a number of tokens of at least 1,024"),
        ("hf/m", {}, "high", r"hf/ does not support .*, only none\. To turn thinking on, set"),
        ("baseline/first", {}, "low", "baseline/first does not support --effort"),
        ("python:file.py:f", {}, "low", "python:file.py:f does not support --effort"),
        ("openai/m", {"serve": Serve(kind="transformers")}, "low", "does not support --effort"),
        ("openai/m", {"serve": Serve(kind="sglang")}, 9, "--serve-arg=--enable-strict-thinking"),
        ("openai/m", {"extra": {"reasoning_effort": "low"}, "effort": "high"}, None, "Remove one"),
    ],
)
def test_an_effort_that_a_model_cannot_have_is_refused_with_what_it_can(
    model: str, profile: dict[str, Any], effort: Any, message: str
) -> None:
    options: dict[str, Any] = {} if effort is None else {"effort": effort}
    with pytest.raises(UsageError, match=message):
        Plan(benchmarks=[], models=[model], profile=Profile(**profile), **options)


@pytest.mark.parametrize(
    ("ways", "effort", "origin"),
    [
        (("--effort=low", 'effort = "medium"', 'effort = "high"'), "low", "flag"),
        (("", 'effort = "medium"', 'effort = "high"'), "medium", "plan"),
        (("", "", 'effort = "high"'), "high", "profile"),
        (("--effort=low", "", "extra = {reasoning_effort = 'high', top_k = 1}"), "low", "flag"),
    ],
)
def test_the_nearest_source_of_an_effort_decides(
    snellen: Snellen, tmp_path: Path, ways: tuple[str, str, str], effort: str, origin: str
) -> None:
    flag, plan, profile = ways
    Path("plan.toml").write_text(plan)
    rows = written(tmp_path / "mine.jsonl", "A")
    with serving(OPENAI.answered("A")) as server:
        Path("model.toml").write_text(f"base_url = '{server.url}'\n{profile}\n")
        done = snellen(
            *("run", "plan.toml", "-m", "openai/m", "-b", rows, "--profile", "model.toml"),
            *([flag] if flag else []),
            "--json",
        )
        sent = server.requests[0].json
    assert done.code == 0, done.err
    manifest = json.loads(Path(done.json["run"], "manifest.json").read_text())
    assert sent["reasoning_effort"] == effort == manifest["identity"]["generation"]["effort"]
    assert manifest["origins"]["effort"] == origin
    assert any("its chat template" in note for note in manifest["notes"])


def test_a_recipe_comes_before_the_profile_and_after_the_flag() -> None:
    ask = load("ovis2.5").ask("hallusionbench")
    settings = with_recipe(Profile(effort="low"), ask, "vllm/m", ["thinking_budget"])
    assert settings.profile.effort is None and "effort" in settings.fields
    assert settings.profile.extra["chat_template_kwargs"] == {"enable_thinking": True}
    assert expects_thoughts(settings.profile)

    plan = Plan(benchmarks=[], models=["vllm/m"], profile=settings.profile, effort="none")
    sent = with_sent_fields("vllm/m", plan.profile_of("vllm/m"))
    assert sent.extra["chat_template_kwargs"] == {"enable_thinking": False}
    assert not expects_thoughts(sent)


@pytest.mark.parametrize(
    ("extra", "expected"),
    [
        ({}, None),
        ({"top_k": 1}, None),
        ({"chat_template_kwargs": {"enable_thinking": False}}, False),
        ({"chat_template_kwargs": {"thinking": True}}, True),
        ({"thinking": {"type": "enabled", "budget_tokens": 8000}}, True),
        ({"thinking": {"type": "disabled"}}, False),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, False),
        ({"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}}, True),
        ({"reasoning_effort": "none"}, False),
        ({"reasoning": {"effort": "low", "summary": "auto"}}, True),
    ],
)
def test_own_fields_of_a_profile_say_whether_thoughts_are_expected(
    extra: dict[str, Any], expected: bool | None
) -> None:
    assert expects_thoughts(Profile(extra=extra)) is expected


def test_a_chat_template_that_cannot_turn_thinking_off_is_refused() -> None:
    def check(template: str) -> None:
        tokenizer = SimpleNamespace(chat_template=template)
        processor = SimpleNamespace(tokenizer=tokenizer)
        settings = HfSettings(template={"enable_thinking": False})
        HfPrompts("hf/m", processor, settings).check()

    with pytest.raises(UsageError, match="hf/m: its chat template has no enable_thinking"):
        check("{% if thinking %}{% endif %}")
    with pytest.raises(UsageError, match="its processor does not accept"):  # the next check
        check("{% if enable_thinking is false %}{% endif %}")
