"""Opens models by name, and wraps models that the caller passes as objects."""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from snellen.core.model import Generates, Model, Ranks
from snellen.core.profile import ImageLimits, Profile
from snellen.errors import CatalogError, UsageError, install
from snellen.models.executors.replicas import Replicas, check_installed
from snellen.models.limited import limited
from snellen.models.python import name_of, of_object
from snellen.registry import keys
from snellen.registry.digests import digest_of_plugin
from snellen.registry.index import MODELS
from snellen.registry.names import ambiguous, is_same_name, plugins_by_name
from snellen.registry.plugins import Plugin, plugins
from snellen.registry.sources import load_plugin

IN_THIS_PROCESS = ("python", "worker", "vlmevalkit", "recorded", "hf", "hf-stream", "vllm")
REPLICATED = ("python", "hf", "vllm", "baseline")
"""The kinds of models that can have replicas, because they need no server and answer one request at
a time."""
EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "hf": ("hf", ("torch", "transformers")),
    "hf-stream": ("hf", ("torch", "transformers")),
    "vllm": ("vllm", ("vllm",)),
}
"""For each back end that needs one of Snellen's extras, the extra and the packages in it."""
IN_PROCESS = 32
"""The number of concurrent requests to a model that runs on this machine, unless the model's back
end sets a number."""


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A model that is ready to be asked."""

    model: Model
    """The model itself, which generates, ranks, or watches streams."""
    name: str
    """The model's name in runs and reports, such as `openai/NAME`."""
    server: str
    """The address of the model's server or, without a server, the model's name. Runs with the same
    value share a concurrency limit."""
    revision: str | None = None
    """The version of the model's weights or code, which is part of a run's identity; None if not
    known."""
    concurrency: int | None = None
    """A suitable number of concurrent requests; None if the run must determine the number."""
    timed: bool = False
    """Whether the model enforces the profile's timeouts itself."""
    served: Mapping[str, Any] | None = None
    """Facts about the server that the model's first request starts; None if no server is
    started."""
    replicated: Mapping[str, Any] | None = None
    """Facts about the model's replicas; None if there are no replicas."""
    speed: tuple[str, ...] = ()
    """The fields of the profile's `extra` that affect only speed, not replies."""
    runs_on: Mapping[str, Any] = field(default_factory=dict)
    """The devices and packages of a model that runs on this machine."""
    listeners: list[Callable[[str], object]] = field(default_factory=list)
    """Functions that are called with messages for the user while the model is asked."""


def model(
    spec: str,
    profile: Profile | None = None,
    *,
    logs: Path = Path("runs"),
    replicas: Replicas | None = None,
) -> Opened:
    """Open the model with this name, which matches a pattern in `MODELS` or belongs to a plug-in.
    If a server is started for the model, the server's logs go to the folder `logs`. If `replicas`
    is passed, the model runs in Ray workers.

    Raises:
        CatalogError: there is no model with that name.
        UsageError: the model cannot be opened with this profile or with replicas.
    """
    profile = profile or Profile()
    if replicas is not None:
        return _replicated(spec, profile, replicas)
    opened = _open(spec, profile) if profile.serve is None else _served(spec, profile, logs)
    # `recorded/` looks replies up by the original request, so its pictures must not be scaled.
    return opened if spec.startswith("recorded/") else _within_limits(opened, profile)


def runs_in_this_process(spec: str) -> bool:
    """Whether a model of this name runs in the process that asks it, so that each process would
    load the model."""
    return re.split("[:/]", spec)[0] in IN_THIS_PROCESS


def check_replicated(spec: str, profile: Profile) -> None:
    """Check that a model can have replicas, without opening the model.

    Raises:
        UsageError: the model cannot have replicas, or Ray is not installed.
    """
    kind = re.split("[:/]", spec)[0]
    if kind in keys.SERVERS or profile.serve is not None:
        raise UsageError(
            f"{spec}: replicas are only for models that run here. To send a server more requests "
            "at once, use --concurrency. If you have several servers, put a load balancer in front "
            "of them."
        )
    if kind in ("hf-stream", "worker"):
        raise UsageError(
            f"{spec} watches streams, so it cannot have replicas: a session stays in one process. "
            "Leave out --replicas."
        )
    if kind not in REPLICATED or _with_no_seconds(spec) == "baseline/most-frequent":
        raise UsageError(
            f"{spec} cannot have replicas. Leave out --replicas. Models that can have replicas: "
            f"{', '.join(f'{name}…' for name in REPLICATED)}."
        )
    check_installed()


def _replicated(spec: str, profile: Profile, replicas: Replicas) -> Opened:
    """Create a model that runs in Ray workers. Each worker opens the model itself."""
    check_replicated(spec, profile)
    from snellen.models.executors.cluster import SETTINGS
    from snellen.models.executors.ray import THREADS, Pool

    def opening(n: int) -> Callable[[], Opened]:
        share = None if profile.concurrency is None else -(-profile.concurrency // n)
        return partial(model, spec, msgspec.structs.replace(profile, concurrency=share))

    pool = Pool(
        spec,
        opening,
        replace(replicas, address=keys.cluster_address(replicas.address, SETTINGS)),
        devices=not spec.startswith("baseline/"),
        threads=keys.setting(THREADS[0]),
    )
    return Opened(
        model=pool,
        name=spec,
        server=spec,
        revision=pool.model.revision,
        concurrency=profile.concurrency or pool.concurrency,
        replicated=pool.facts,
        speed=pool.model.speed,
        runs_on=pool.model.runs_on,
        listeners=pool.listeners,
    )


def cluster_for_drivers(address: str | None) -> str:
    """Return the address of the Ray cluster on which drivers are placed. `address` takes precedence
    over the environment.

    Raises:
        UsageError: Ray is not installed, or there is no address.
    """
    check_installed("drivers on a Ray cluster")
    from snellen.models.executors.cluster import SETTINGS

    cluster = keys.known_cluster(address, SETTINGS)
    if cluster is None:
        raise UsageError(
            "--executor ray with --drivers needs the address of a Ray cluster. Pass --ray-address "
            "HOST:PORT, or set RAY_ADDRESS. On this machine alone, leave out --executor."
        )
    # The same check as for replicas.
    Replicas(address=cluster)
    return cluster


def check_extra(spec: str) -> None:
    """Check that the packages that a model needs are installed, without importing the packages.
    Callers make this check first, so that a missing package is reported before rows are read.

    Raises:
        UsageError: a package is missing.
    """
    extra, packages = EXTRAS.get(spec.partition("/")[0], ("", ()))
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"{spec} needs {' and '.join(missing)}: {install(extra)}.")


def from_object(model: object, *, threads: int | None = None) -> Opened:
    """Wrap a model that the caller passes. The model can be anything that `python:FILE:NAME` may
    name, or an object with the methods of one of the model protocols. A synchronous model runs in
    `threads` threads.

    Raises:
        UsageError: the object cannot be used as a model.
    """
    if isinstance(model, Ranks) and not isinstance(model, Generates):
        return Opened(model=model, name=model.name, server=model.name)
    name = name_of(model)
    wrapped = of_object(model, name, threads=threads)
    return wrap(wrapped, name, wrapped.revision, getattr(wrapped, "concurrency", IN_PROCESS))


def with_profile(opened: Opened, profile: Profile) -> Opened:
    """Apply the settings of a profile to a model that the caller has opened."""
    changed = replace(
        opened,
        revision=_revision(profile, opened.revision),
        concurrency=profile.concurrency or opened.concurrency,
    )
    return _within_limits(changed, profile)


def _revision(profile: Profile, own: str | None) -> str | None:
    """Combine the profile's revision with the model's own. If either revision changes, the weights
    or the code have changed."""
    return " ".join(filter(None, (profile.revision, own))) or None


def _within_limits(opened: Opened, profile: Profile) -> Opened:
    """Wrap a model so that it gets pictures scaled to the profile's limits."""
    if profile.images == ImageLimits():
        return opened
    return replace(opened, model=limited(opened.model, profile.images))


def _open(spec: str, profile: Profile) -> Opened:
    kind, slash, name = spec.partition("/")
    if spec.startswith(("python:", "worker:", "vlmevalkit:")):
        kind, _, name = spec.partition(":")
    elif (plugin := _plugin(spec)) is not None:
        return _of_plugin(plugin, spec, profile)
    elif not slash or not name:
        known = (*MODELS, *(plugin.name for plugin in plugins("snellen.models")))
        raise CatalogError(
            f"there is no model {spec!r}. The names of models are {', '.join(known)}."
        )
    if kind in keys.SERVERS:
        return _on_a_server(spec, kind, name, profile)
    if kind in IN_THIS_PROCESS or _with_no_seconds(spec) in MODELS:
        return _in_process(spec, kind, name, profile)
    close = difflib.get_close_matches(spec, MODELS, n=2, cutoff=0.4)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"Models: {', '.join(MODELS)}."
    raise CatalogError(f"there is no model {spec!r}. {hint}")


def _served(spec: str, profile: Profile, logs: Path) -> Opened:
    """Open a model on a server that Snellen starts. The server's environment has no secrets except
    those of the Hugging Face hub.

    Raises:
        UsageError: the model cannot be served, the profile names another server, or there is no
            such kind of server.
    """
    assert profile.serve is not None
    kind, _, name = spec.partition("/")
    if kind != "openai" or not name:
        raise UsageError(
            f"{spec}: Snellen starts a server only for models named openai/NAME. Use such a name."
        )
    if profile.base_url or profile.api_key_env:
        raise UsageError(
            f"{spec}: the server that Snellen starts has its own address and needs no key. Leave "
            "out base_url and api_key_env."
        )
    from snellen.models.executors.serve import ModelServer, Served
    from snellen.models.weights import digest

    server = ModelServer(
        name,
        profile.serve,
        logs=logs,
        environment=keys.without_keys(),
        trust_remote_code=profile.trust_remote_code,
    )
    opened = _open(spec, msgspec.structs.replace(profile, base_url=server.url, serve=None))
    weights = digest(Path(name)) if Path(name).is_dir() else None
    return replace(
        opened,
        model=Served(opened.model, server),
        revision=_revision(profile, weights),
        served=server.facts,
    )


def _in_process(spec: str, kind: str, name: str, profile: Profile) -> Opened:
    """Open a model that runs on this machine: one of Snellen's own, or one from a user's file."""
    file = kind.replace("-", "_") if kind != "baseline" else MODELS[_with_no_seconds(spec)][0]
    more = {"environment": keys.for_workers()} if kind == "worker" else {}
    if kind == "vllm":
        keys.log_to_stderr()
    back_end = importlib.import_module(f"snellen.models.{file}").open_model(
        name, profile=profile, api_key=None, **more
    )
    return _of_back_end(back_end, spec, profile)


def _of_back_end(back_end: Any, spec: str, profile: Profile) -> Opened:
    suits = getattr(back_end, "concurrency", IN_PROCESS)
    revision = _revision(profile, getattr(back_end, "revision", None))
    return wrap(back_end, spec, revision, profile.concurrency or suits)


def _plugin(spec: str) -> Plugin | None:
    """Return the plug-in that a model's name refers to, or None if there is none. The model's name
    is `PLUGIN` or `PLUGIN/NAME`.

    Raises:
        CatalogError: several packages offer a model with that name.
    """
    kind = spec.partition("/")[0]
    offers = plugins_by_name("snellen.models", kind)
    kinds = {re.split("[:/]", pattern)[0] for pattern in MODELS}
    origins = [f"Snellen's own {known}" for known in kinds if is_same_name(known, kind)]
    if len(origins) + len(offers) > 1:
        raise ambiguous(kind, [*origins, *map(str, offers)], kind="model")
    return offers[0] if offers and offers[0].name == kind else None


def _of_plugin(plugin: Plugin, spec: str, profile: Profile) -> Opened:
    """Open a plug-in's model. A plug-in that is a function with the parameter `api_key` is a back
    end, which opens the models `PLUGIN/NAME`. Any other plug-in is treated like a `python:`
    model."""
    value = load_plugin(plugin)
    name = spec.partition("/")[2]
    is_back_end = inspect.isfunction(value) and "api_key" in inspect.signature(value).parameters
    if is_back_end != bool(name):
        form = f"{plugin.name}/NAME" if is_back_end else plugin.name
        raise UsageError(f"{spec}: write {form} for a model of the plug-in {plugin}.")
    if is_back_end:
        back_end = value(name, profile=profile, api_key=keys.key_of_profile(spec, profile))
        own = " ".join(
            filter(None, (getattr(back_end, "revision", None), digest_of_plugin(plugin)))
        )
        return replace(_of_back_end(back_end, spec, profile), revision=_revision(profile, own))
    file = plugin.file()
    wrapped = of_object(
        value,
        spec,
        threads=profile.concurrency,
        source=None if file is None else f"{file}",
        digest=digest_of_plugin(plugin),
    )
    return _of_back_end(wrapped, spec, profile)


def _with_no_seconds(spec: str) -> str:
    """Replace the number of seconds in a model's name with the word that stands for it in `MODELS`:
    `baseline/after:5` becomes `baseline/after:SECONDS`."""
    return re.sub(r"^(baseline/after)(:.*)?$", r"\1:SECONDS", spec)


def wrap(back_end: Any, name: str, revision: str | None, concurrency: int | None) -> Opened:
    """Wrap a back end in a model that is ready to be asked. If the back end answers batches, a
    queue collects requests into batches."""
    model: Model = back_end
    if hasattr(back_end, "generate_batch") or hasattr(back_end, "replicas"):
        replicas = getattr(back_end, "replicas", [back_end])
        from snellen.models.batching import Batching  # few models are asked in batches

        model = Batching(*replicas, **getattr(back_end, "batches", {}))
    return Opened(
        model=model,
        name=name,
        server=name,
        revision=revision,
        concurrency=concurrency,
        speed=getattr(back_end, "speed", ()),
        runs_on=getattr(back_end, "runs_on", {}),
    )


def _on_a_server(spec: str, kind: str, name: str, profile: Profile) -> Opened:
    """Open a model on a service, or on a server with the same protocol."""
    url = profile.base_url or keys.SERVERS[kind][0]
    variable = keys.key_variable(spec, kind, profile)
    module = importlib.import_module(f"snellen.models.{MODELS[f'{kind}/NAME'][0]}")
    return Opened(
        model=module.open_model(
            name,
            profile=msgspec.structs.replace(profile, base_url=url, api_key_env=variable),
            api_key=keys.key_in(variable),
        ),
        name=spec,
        server=url,
        revision=profile.revision,
        concurrency=profile.concurrency,
        timed=True,
    )
