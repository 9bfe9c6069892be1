"""Creates the identity of a run and the other contents of its manifest."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from snellen import __version__, registry
from snellen.core.benchmark import Benchmark
from snellen.core.model import Model
from snellen.core.profile import ImageLimits, Profile
from snellen.core.scoring import model_coordinates
from snellen.data import Facts, Noted
from snellen.media import video
from snellen.run import Settings, own_prompt
from snellen.run.data_notes import data_notes
from snellen.run.effort import effort_notes, sent_fields
from snellen.run.run_config import RunConfig
from snellen.run.token_limit import raised_to

if TYPE_CHECKING:
    from snellen.run.tool_use import ToolUse

RECORDED_PACKAGES = ("numpy", "pillow", "aiohttp", "msgspec", "orjson", "rapidfuzz")

OWN_PROMPT = "the model's own"


def run_identity(
    benchmark: Benchmark,
    facts: Facts,
    opened: registry.Opened,
    profile: Profile,
    settings: Settings,
    adapter: str | None,
    tools: ToolUse | None = None,
) -> dict[str, Any]:
    """The identity of a run, which consists of everything that can change a reply or what it
    means."""
    generation = settings.generation
    source = registry.source_of(benchmark)
    coordinates = model_coordinates(benchmark.scorings)
    return {
        "benchmark": benchmark.name,
        "asks": benchmark.asks,
        **({"benchmark_object": True} if registry.is_mistakable(benchmark) else {}),
        **({"source": source.digest} if source is not None and source.digest else {}),
        "options": {
            name: _plain(value)
            for name, value in benchmark.provenance.options.items()
            # So that a new option of Snellen's own benchmark does not change the identity.
            if value is not None or source is not None
        },
        **({"shots": dict(benchmark.provenance.shots)} if benchmark.provenance.shots else {}),
        **({"probe": dict(benchmark.provenance.probe)} if benchmark.provenance.probe else {}),
        **({"recipe": dict(benchmark.provenance.recipe)} if benchmark.provenance.recipe else {}),
        "media": {
            "images": _scaling(profile.images),
            **(
                {"frames": str(video.policy(benchmark.procedure.frames))}
                if benchmark.procedure.frames
                else {}
            ),
        },
        "data": {"digest": facts.digest, "revision": benchmark.data.revision},
        "model": opened.name,
        "model_revision": opened.revision,
        **({"called": benchmark.provenance.called} if benchmark.provenance.called else {}),
        **({"prompt": OWN_PROMPT} if own_prompt(benchmark, opened.model) else {}),
        **({"adapter": adapter} if adapter else {}),
        **_speaking(benchmark, opened.model),
        **({} if tools is None else tools.identity),
        "profile": profile.changes_answers(but=opened.speed),
        **({} if coordinates is None else {"coordinates": str(coordinates)}),
        "generation": {
            "max_tokens": generation.max_tokens,
            "temperature": None
            if generation.temperature is None
            else float(generation.temperature),
            "top_p": generation.top_p,
            "seed": settings.seed,
            **({} if profile.effort is None else {"effort": profile.effort}),
            **(
                {"on_truncation": settings.on_truncation}
                if raised_to(settings.on_truncation)
                else {}
            ),
        },
        **({} if profile.effort is None else {"thinking": sent_fields(opened.name, profile)}),
    }


def _speaking(benchmark: Benchmark, model: Model) -> dict[str, Any]:
    """How the model decides when to speak, if questions may be answered at any time and Snellen's
    code makes the model speak."""
    streaming = benchmark.procedure.streaming
    speaking = getattr(model, "speaking", None)
    if streaming is None or streaming.until is None or not isinstance(speaking, str):
        return {}
    return {"speaking": speaking}


def manifest_of(
    config: RunConfig,
    facts: Facts,
    opened: registry.Opened,
    identity: Mapping[str, Any],
    command: Sequence[str],
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """Create the manifest of a run: its identity and everything else that is needed to repeat it.
    `before` is the run's earlier manifest, or empty. The manifest contains no API keys, since
    profiles never contain them."""
    benchmark, profile, options = config.benchmark, config.profile, config.options
    session = {
        "started": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "command": [_without_secrets(word) for word in command],
        "server": _without_secrets(opened.server),
        **({"served": opened.served} if opened.served else {}),
        **({"replicated": opened.replicated} if opened.replicated else {}),
        "profile": _stored(profile),
        **({"retry_truncated": retried} if (retried := options["retry_truncated"]) else {}),
        "limit": options["limit"],
        "sample": options["sample"],
        **(
            {"until_stderr": options["until_stderr"], "order_seed": options["sample_seed"]}
            if options["until_stderr"] is not None
            else {}
        ),
        "concurrency": profile.concurrency or opened.concurrency or "auto",
        "snellen": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        **({"runs_on": opened.runs_on} if opened.runs_on else {}),
        "packages": dict(_versions()),
    }
    notes = [*benchmark.notes, *data_notes(benchmark), *_prompt_notes(benchmark)]
    notes += getattr(opened.model, "notes", ())
    if "prompt" in identity:
        notes.append("asked with the model's own prompt (use_custom_prompt), not the benchmark's")
    notes += profile.images.words
    notes += effort_notes(opened.name, profile)
    source = registry.source_of(benchmark)
    return {
        **before,
        "benchmark": benchmark.name,
        "benchmark_object": not benchmark.provenance.from_catalog,
        **({} if source is None else {"benchmark_source": source.stored()}),
        "model": opened.name,
        "identity": identity,
        **({"recipe": dict(benchmark.provenance.recipe_source)} if "recipe" in identity else {}),
        "data": benchmark.data.where,
        "rows": facts.rows,
        "repeats": max(options["repeats"], before.get("repeats", 1)),
        "missing": options["missing"],
        "origins": dict(sorted(config.origins.items())),
        "notes": notes,
        "sessions": [*before.get("sessions", []), session],
    }


@cache
def _versions() -> Mapping[str, str]:
    """Look up the versions of the packages that manifests record. They stay the same in a
    process, and each look-up parses the description of a package."""
    return {name: metadata.version(name) for name in RECORDED_PACKAGES}


def _prompt_notes(benchmark: Benchmark) -> list[str]:
    """Notes about files that only the prompt uses. They say nothing about other people's
    predictions."""
    note = benchmark.data.run_note() if isinstance(benchmark.data, Noted) else None
    return [] if note is None else [note]


def _plain(value: object) -> object:
    return str(value) if isinstance(value, Path) else value


def _stored(profile: Profile) -> dict[str, Any]:
    """Convert a profile to the form in which it is stored: only the fields that are set, without
    secrets in URLs."""
    fields: dict[str, Any] = msgspec.to_builtins(profile)
    if profile.base_url is not None:
        fields["base_url"] = _without_secrets(profile.base_url)
    return {name: value for name, value in fields.items() if value not in (None, {})}


def _without_secrets(text: str) -> str:
    """Remove the parts of URLs in a command-line argument that may be secret: user, password,
    query, and fragment.

    >>> _without_secrets("--base-url=https://me:secret@host/v1?key=secret")
    '--base-url=https://host/v1'
    """
    if "://" not in text:
        return text
    return re.sub(r"[?#]\S*", "", re.sub(r"//[^/\s]*@", "//", text))


def _scaling(limits: ImageLimits) -> str:
    if limits.min_pixels is not None:
        return "scaled into limits"
    return "smaller beyond limits" if limits.per_picture else "original"
