"""What there is, by name: benchmarks (a file each, the folder is the registry) and models.

Nothing is imported until it is named. The only place that reads keys from the environment.
"""

from __future__ import annotations

import ast
import difflib
import importlib.util
import inspect
import os
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from snellen.core.benchmark import Benchmark, mark_from_catalog, vary, with_note
from snellen.core.model import Generates, Model, Ranks, Streams
from snellen.core.profile import ImageLimits, Profile
from snellen.errors import CatalogError, DataError, UsageError, install
from snellen.models.executors.replicas import Replicas, check_installed
from snellen.store import data_at, is_address, is_object_run

FOLDER = Path(__file__).parents[1] / "benchmarks"
ROWS = FOLDER / "rows"
TEXT = (".jsonl", ".json", ".tsv", ".csv")
OWN_DATA = (*TEXT, *(f"{ending}.gz" for ending in TEXT), ".parquet")
MODELS: Mapping[str, tuple[str, str]] = {
    "openai/NAME": ("openai", "any OpenAI-compatible server (--base-url)"),
    "openai-responses/NAME": ("openai_responses", "OpenAI's Responses API"),
    "anthropic/NAME": ("anthropic", "Anthropic's Messages API"),
    "google/NAME": ("google", "Google's Gemini API"),
    "recorded/RUN": ("recorded", "the replies of a run folder, again"),
    "baseline/random": ("baseline", "a choice drawn blindly, by a seed"),
    "baseline/first": ("baseline", "the first choice, blindly"),
    "baseline/longest": ("baseline", "the longest choice, blindly"),
    "baseline/most-frequent": ("recorded", "the data set's most frequent answer, blindly"),
    "baseline/silent": ("baseline", "watches streams, and says nothing"),
    "baseline/eager": ("baseline", "speaks as soon as it is asked, blindly"),
    "baseline/after:SECONDS": ("baseline", "speaks so long after it was asked, blindly"),
    "baseline/blind-history": ("baseline", "answers by how often it was asked, blindly"),
    "baseline/reader": ("reader", "a small classical reader of letters, colours and counts"),
    "hf/PATH_OR_NAME": ("hf", "what transformers loads, from a folder or the hub, run here"),
    "hf-stream/PATH": ("hf_stream", "a Qwen-VL in a folder, run here, that watches streams"),
    "vllm/NAME": ("vllm", "a folder or a model of the hub, run here by vLLM, without a server"),
    "python:FILE:NAME": ("python", "a function or class of your own"),
    "vlmevalkit:FILE:CLASS": ("vlmevalkit", "a model class written for VLMEvalKit, as it is"),
    "worker:FILE:NAME": ("worker", "sessions of your own, each in a process that is told no more"),
}
IN_THIS_PROCESS = ("python", "worker", "vlmevalkit", "recorded", "hf", "hf-stream", "vllm")
REPLICATED = ("python", "hf", "vllm", "baseline")
"""What can be had several times: kinds that run here and answer one request at a time."""
EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "hf": ("hf", ("torch", "transformers")),
    "hf-stream": ("hf", ("torch", "transformers")),
    "vllm": ("vllm", ("vllm",)),
}
"""What back ends need beyond the core: an extra, and its packages."""
PASSED = ("PATH", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
"""What `worker:`'s processes get of the environment: what finds programs, libraries and devices."""
KEYS = ("KEY", "KEYS", "TOKEN", "SECRET", "PASSWORD")
"""How the names of variables end that hold what nobody else is to know."""
HUB = ("HF_", "HUGGING_FACE_")
"""How the hub's begin, which a server that is started may need."""
WINDOW = "window:4"
"""How a model that does not watch streams is shown them."""
IN_PROCESS = 32
"""Requests at once to a model that runs here and says nothing else."""
MEASURES = ("Estimate", "Metric", "Mapping[str, Metric]", "float")
"""What metrics, those that make metrics, and scores of one answer give back."""
BUNDLED = "the data are the few bundled rows: this is no result"
OF_CLASS = "vlmevalkit-class:"
"""Before `FILE:CLASS`, a data set class written for VLMEvalKit."""
SYNTHETIC = "synthetic"
"""As `data`: the few rows that are bundled with a benchmark."""
SERVERS: Mapping[str, tuple[str, Sequence[str]]] = {
    "openai": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "openai-responses": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "anthropic": ("https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",)),
    "google": (
        "https://generativelanguage.googleapis.com/v1beta",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}
"""The official server of each kind, and the variables in which its key is looked for."""


# -- benchmarks


@dataclass(frozen=True)
class Entry:
    """A benchmark's file: its canonical name, the first line of its sheet, and the names that
    others know it by."""

    name: str
    title: str
    sheet: str
    aliases: Mapping[str, Mapping[str, Any]]


def entries() -> Iterator[Entry]:
    """Every benchmark, read from its file without importing it."""
    return map(_entry, sorted(FOLDER.glob("[!_]*.py")))


@cache
def _entry(path: Path) -> Entry:
    tree = ast.parse(_top(path.read_text(encoding="utf-8")))
    sheet = ast.get_docstring(tree) or ""
    return Entry(_kebab(path.stem), sheet.partition("\n")[0], sheet, _aliases(tree))


def benchmark(
    spec: str,
    *,
    data: Path | None = None,
    task: str | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Benchmark:
    """The benchmark that a name with options (`mathvision:split=testmini`), or a file of rows,
    means.

    `data` is the folder or file with its rows, `synthetic` the few that are bundled. `task` and
    `columns` are for files of rows alone.

    Raises:
        CatalogError: no benchmark of that name. UsageError: an option that it has not.
    """
    if spec.startswith(OF_CLASS):
        if data or task or columns or options:
            raise UsageError(f"{spec}: the class has its own rows and prompts; leave the rest out.")
        return _of_class(*spec.removeprefix(OF_CLASS).split(":"))
    given = {**_split_options(spec)[1], **(options or {})}
    name = _split_options(spec)[0]
    if name.endswith(OWN_DATA) or "/" in name:
        return own(data_at(name), data, task, columns, given)
    if task or columns:
        raise UsageError(f"--task and --map are for files of rows; {name} is a benchmark.")
    stem, implied = _resolve(name)
    make = getattr(importlib.import_module(f"snellen.benchmarks.{stem}"), stem)
    values = _typed(make, {**implied, **given}, _kebab(stem))
    if str(data) == SYNTHETIC:
        values["data"] = bundled(stem)
        if values["data"] is None and _reads_data(stem):
            raise DataError(
                f"{_kebab(stem)} has no bundled rows: benchmarks/rows/{stem}/ is missing."
            )
    elif data is not None:
        values["data"] = data
    made: Benchmark = make(**values)
    if str(data) == SYNTHETIC and values["data"] is not None:
        made = with_note(vary(made, files=None), BUNDLED)
    shown = {key: value for key, value in values.items() if key != "data"}
    defaults = {
        key: parameter.default
        for key, parameter in inspect.signature(make).parameters.items()
        if key != "data"
    }
    return mark_from_catalog(vary(made, options={**defaults, **shown}))


def few_shot(
    spec: str,
    made: Benchmark,
    n: int,
    *,
    source: str | None = None,
    seed: int = 0,
    data: Path | None = None,
    columns: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Benchmark:
    """A benchmark (`made` of a spec, and of what else `benchmark` was given) with n examples before
    each question.

    `source` is where they come from: a file of rows in the same form, or for a benchmark of ours
    its other options (`split=dev`, or `dev` alone). For a file of rows it may be None: the examples
    are rows of it that are then not asked.

    Raises:
        UsageError: there must be a source, or no examples can be had.
    """
    from snellen.transforms.shots import with_shots

    name, asked = _split_options(spec)
    of: Benchmark | None = None
    if name.endswith(OWN_DATA) or "/" in name:
        if source is not None:
            of = own(data_at(source), data, str(made.options["task"]), columns, {})
    elif source is None:
        raise UsageError(
            f"{spec}: --shots needs rows that are not asked: name them with --shots-from, a file "
            "in the same form, or other options (split=dev)."
        )
    elif "=" not in source and data_at(source).exists():
        of = benchmark(spec, data=data_at(source), options=options)
    else:
        others = _split_options(f"{name}:{source if '=' in source else f'split={source}'}")[1]
        of = benchmark(name, data=data, options={**asked, **(options or {}), **others})
    return with_shots(made, n, source=of, seed=seed)


def of_run(manifest: Mapping[str, Any]) -> Benchmark:
    """The benchmark of a run, as it was asked, by its manifest; its data need not be there.

    Raises:
        CatalogError: it is none of ours, nor a file of rows, or it was a Python object.
    """
    from snellen.transforms.probes import again

    return again(_of_run(manifest), manifest["identity"].get("probe", {}))


def _of_run(manifest: Mapping[str, Any]) -> Benchmark:
    name = manifest.get("benchmark", "")
    options = manifest.get("identity", {}).get("options", {})
    if is_object_run(manifest):
        raise CatalogError(
            f"the run's benchmark {name!r} was a Python object. It cannot be rebuilt from the "
            "run's manifest."
        )
    if runs_a_program(manifest):
        return _of_class(*str(options["class"]).split(":"), options.get("dataset", ""))
    if _is_own(options):
        from snellen.benchmarks.families.own_rows import stored

        return mark_from_catalog(stored(name, options))
    if not _is_canonical(name):
        # Runs store canonical names alone. A name in another spelling is a caller's own, and
        # nothing but `options` may lead to a program or a file.
        raise CatalogError(f"the catalog has no benchmark {name!r}.")
    return benchmark(name, options=options)


def is_mistakable(benchmark: Benchmark) -> bool:
    """Whether a caller's Python object has the name, or the options, of a benchmark that the
    catalog makes, so that a run's identity must tell the two apart."""
    if benchmark.from_catalog:
        return False
    options = benchmark.options
    return "class" in options or _is_own(options) or _is_canonical(benchmark.name)


def runs_a_program(manifest: Mapping[str, Any]) -> bool:
    """Whether `of_run` would run a program that the manifest names, a class for VLMEvalKit."""
    options = manifest.get("identity", {}).get("options", {})
    return "class" in options and not is_object_run(manifest)


def _is_own(options: Mapping[str, object]) -> bool:
    """Whether these are the options of a file of rows."""
    return {"task", "columns"} <= set(options)


def _is_canonical(name: str) -> bool:
    return any(entry.name == name for entry in entries())


def vlmevalkit_name(manifest: Mapping[str, Any]) -> str:
    """What VLMEvalKit calls a run's benchmark with its options; our name where it has none."""
    return _name_elsewhere(
        manifest, lambda alias, options: alias[0].isupper() or alias == options.get("name")
    )


def lmms_eval_name(manifest: Mapping[str, Any]) -> str:
    """What lmms-eval calls a run's benchmark with its options; our name where it has none.

    Its names are those in small letters that are not VLMEvalKit's own, which `name` holds.
    """
    return _name_elsewhere(
        manifest, lambda alias, options: alias.islower() and alias != options.get("name")
    )


def _name_elsewhere(
    manifest: Mapping[str, Any], theirs: Callable[[str, Mapping[str, Any]], bool]
) -> str:
    """The alias that means what the run asked, best with the same prompt."""
    name, options = manifest["benchmark"], manifest["identity"]["options"]
    if is_object_run(manifest):
        return str(name)
    aliases = next((entry.aliases for entry in entries() if entry.name == name), {})
    known = {alias: implied for alias, implied in aliases.items() if theirs(alias, implied)}
    for but in ((), ("prompt",)):
        for alias, implied in known.items():
            if all(options.get(k) == v for k, v in implied.items() if k not in but):
                return alias
    return str(name)


def options(name: str) -> dict[str, dict[str, Any]]:
    """Each option's default, and what it may be where that is a list.

    Raises:
        CatalogError: no benchmark of that name.
    """
    stem = _resolve(name)[0]
    make = getattr(importlib.import_module(f"snellen.benchmarks.{stem}"), stem)
    hints = get_type_hints(make)
    found = {}
    for option, parameter in inspect.signature(make).parameters.items():
        if option != "data":
            literal = get_origin(hints[option]) is Literal
            choices = list(get_args(hints[option])) if literal else None
            found[option] = {"default": parameter.default, "choices": choices}
    return found


def bundled(stem: str) -> Path | None:
    """The folder of a benchmark's bundled rows; None where it draws its own."""
    return ROWS / stem if (ROWS / stem).is_dir() else None


def reads_data(spec: str) -> bool:
    """Whether `data` means anything to what is named: a file of rows, or a benchmark of files.

    Raises:
        CatalogError: no benchmark of that name.
    """
    if spec.startswith(OF_CLASS):
        return False
    name = _split_options(spec)[0]
    return name.endswith(OWN_DATA) or "/" in name or _reads_data(_resolve(name)[0])


def _reads_data(stem: str) -> bool:
    """Whether a benchmark reads files; one that draws its own rows does no more with `data` than
    refuse it."""
    tree = ast.parse((FOLDER / f"{stem}.py").read_bytes())
    waiting: list[ast.AST] = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == stem
    ]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and node.id == "data":
            return True
        if not (isinstance(node, ast.If) and isinstance(node.body[-1], ast.Raise)):
            waiting += ast.iter_child_nodes(node)
    return False


def metrics() -> Iterator[tuple[str, str]]:
    """Every metric, and what one answer is worth, by the name under which `snellen.metrics` has it
    (`mean`, `acuity.threshold`), with the first sentence of what it is; read without importing it.
    """
    folder = FOLDER.parent / "metrics"
    for path in sorted(folder.glob("*.py")):
        start = "" if path.stem.startswith("_") else f"{path.stem}."
        for node in ast.parse(path.read_bytes()).body:
            if (
                isinstance(node, ast.FunctionDef)
                and not node.name.startswith("_")
                and node.returns is not None
                and ast.unparse(node.returns) in MEASURES
            ):
                said = " ".join((ast.get_docstring(node) or "").partition("\n\n")[0].split())
                yield f"{start}{node.name}", re.sub(r"(?<=[.]) .*", "", said)


def _resolve(name: str) -> tuple[str, Mapping[str, Any]]:
    """The file's stem and the options that a name stands for; other toolkits' names are known
    too.

    As another toolkit writes it, a name is that toolkit's, though it be ours in small letters:
    A-OKVQA is VLMEvalKit's set.
    """
    everything = list(entries())
    for entry in everything:
        if name in entry.aliases:
            return entry.name.replace("-", "_"), entry.aliases[name]
    stem = name.lower().replace("-", "_")
    if any(stem == entry.name.replace("-", "_") for entry in everything):
        return stem, {}
    alike = [
        (alias, (entry.name.replace("-", "_"), options))
        for entry in everything
        for alias, options in entry.aliases.items()
        if alias.lower() == name.lower()
    ]
    if alike and all(meant == alike[0][1] for _, meant in alike):
        return alike[0][1]
    names = [entry.name for entry in everything]
    known = [*names, *(alias for entry in everything for alias in entry.aliases)]
    if os.path.isfile(name):
        hint = f"a file of rows ends in {', '.join((*TEXT, '.parquet'))}: save it as one of these."
        raise CatalogError(f"no benchmark {name!r}; {hint}")
    here = [f"./{name}"] if os.path.isdir(name) else []
    here += [f"{name}{ending}" for ending in OWN_DATA if os.path.isfile(f"{name}{ending}")]
    close = here or [alias for alias, _ in alike]
    close = close or difflib.get_close_matches(name, known, 3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}."
    raise CatalogError(f"no benchmark {name!r}; {hint}")


def own(
    path: Path,
    data: Path | None,
    task: str | None,
    columns: Mapping[str, str] | None,
    options: Mapping[str, Any],
) -> Benchmark:
    """The benchmark that a file of rows is; `data` is the folder of what the rows name.

    Raises:
        CatalogError: there is no such file. UsageError: it is given what only benchmarks have.
    """
    if not path.exists():
        raise CatalogError(f"{path}: there is no such file of rows.")
    if options:
        raise UsageError(f"{path.name}: a file of rows has no options ({', '.join(options)}).")
    if str(data) == SYNTHETIC:
        raise UsageError(f"{path.name}: a file of rows of your own has no bundled rows.")
    from snellen.benchmarks.families.own_rows import own_data

    return mark_from_catalog(own_data(path, task=task, columns=columns or {}, data=data))


def _of_class(*named: str) -> Benchmark:
    """The benchmark of a data set class written for VLMEvalKit."""
    if len(named) not in (2, 3) or not all(named):
        raise UsageError(f"write {OF_CLASS}FILE:CLASS or {OF_CLASS}FILE:CLASS:DATASET.")
    from snellen.benchmarks.families.vlmevalkit_class import vlmevalkit_class

    return mark_from_catalog(vlmevalkit_class(":".join(named[:2]), *named[2:]))


def _split_options(spec: str) -> tuple[str, dict[str, str]]:
    if is_address(spec):
        return spec, {}
    name, _, rest = spec.partition(":")
    options = {}
    for pair in filter(None, rest.split(",")):
        key, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(
                f"{spec}: {pair!r} is no option; options are written name=value, with commas "
                "between."
            )
        options[key.strip().replace("-", "_")] = value.strip()
    return name, options


def _typed(make: Callable[..., Benchmark], given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Options as the benchmark's function wants them."""
    hints = get_type_hints(make)
    known = [key for key in inspect.signature(make).parameters if key != "data"]
    values = {}
    for key, value in given.items():
        if key not in known:
            raise UsageError(f"{name} has no option {key!r}; it has {', '.join(known) or 'none'}.")
        values[key] = _value(value, hints[key], f"{name}:{key}")
    return values


def _value(value: Any, hint: Any, what: str) -> Any:
    if get_origin(hint) is Literal:
        allowed = get_args(hint)
        for one in allowed:
            if str(one) == str(value):
                return one
        raise UsageError(f"{what} is one of {', '.join(map(str, allowed))}, not {value!r}.")
    if get_origin(hint) in (Union, types.UnionType):
        return _value(value, next(arg for arg in get_args(hint) if arg is not type(None)), what)
    if hint is bool and not isinstance(value, bool):
        if str(value).lower() in ("true", "yes", "1", "false", "no", "0"):
            return str(value).lower() in ("true", "yes", "1")
        raise UsageError(f"{what} is true or false, not {value!r}.")
    try:
        return hint(value)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{what} is a {hint.__name__}, not {value!r}.") from error


def _top(source: str) -> str:
    """A file up to the end of its ALIASES: parsing all of every file would take `list` too long."""
    lines = source.splitlines(keepends=True)
    start = next((n for n, line in enumerate(lines) if line.startswith("ALIASES")), None)
    if start is None:
        return source
    if lines[start].rstrip().endswith("}"):
        return "".join(lines[: start + 1])
    end = next((n for n in range(start, len(lines)) if lines[n].startswith("}")), len(lines))
    return "".join(lines[: end + 1])


def _aliases(tree: ast.Module) -> Mapping[str, Mapping[str, Any]]:
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id == "ALIASES" and value is not None:
            found = ast.literal_eval(value)
            return dict(found)
    return {}


def _kebab(stem: str) -> str:
    return stem.replace("_", "-")


# -- models


@dataclass(frozen=True, kw_only=True)
class Opened:
    """A model ready to be asked. `server` is what runs share a limit on; `concurrency` is what
    suits it (None: find out); `timed` says that it keeps the profile's time-outs itself; `served`
    tells of the server that its first question starts, `replicated` of its replicas. `speed` are
    the fields of the profile's `extra` that change no reply; `runs_on` is what a model that runs
    here runs on. `listeners` are told what a person is to know while it is asked."""

    model: Model
    name: str
    server: str
    revision: str | None = None
    concurrency: int | None = None
    timed: bool = False
    served: Mapping[str, Any] | None = None
    replicated: Mapping[str, Any] | None = None
    speed: tuple[str, ...] = ()
    runs_on: Mapping[str, Any] = field(default_factory=dict)
    listeners: list[Callable[[str], object]] = field(default_factory=list)


def model(
    spec: str,
    profile: Profile | None = None,
    *,
    logs: Path = Path("runs"),
    replicas: Replicas | None = None,
) -> Opened:
    """The model that a name means, opened: one of `MODELS`. `logs` is for what a server writes that
    is started for it; `replicas` are those that it is to have, in workers of Ray.

    Raises:
        CatalogError: no model of that name. UsageError: it cannot be opened so.
    """
    profile = profile or Profile()
    if replicas is not None:
        return _replicated(spec, profile, replicas)
    opened = _open(spec, profile) if profile.serve is None else _served(spec, profile, logs)
    # A run's replies are found by the requests as they were before a picture was made smaller.
    return opened if spec.startswith("recorded/") else _within_limits(opened, profile)


def check_replicated(spec: str, profile: Profile) -> None:
    """That a model can have replicas, without opening it.

    Raises:
        UsageError: it cannot, or there is no Ray.
    """
    kind = re.split("[:/]", spec)[0]
    if kind in SERVERS or profile.serve is not None:
        raise UsageError(
            f"{spec}: replicas are for models that run here. A server is asked more at once with "
            "--concurrency; of several put a load balancer before them."
        )
    if kind in ("hf-stream", "worker"):
        raise UsageError(
            f"{spec} watches streams, and a session stays in one process: it has no replicas. Ask "
            "it without --replicas."
        )
    if kind not in REPLICATED or _with_no_seconds(spec) == "baseline/most-frequent":
        raise UsageError(
            f"{spec} has no replicas; {', '.join(f'{one}…' for one in REPLICATED)} can have them."
        )
    check_installed()


def _replicated(spec: str, profile: Profile, replicas: Replicas) -> Opened:
    """A model in workers of Ray, which open it themselves."""
    check_replicated(spec, profile)
    import secrets

    from snellen.models.executors.cluster import SETTINGS
    from snellen.models.executors.ray import THREADS, Pool

    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    address = replicas.address or os.environ.get("RAY_ADDRESS") or None
    if address is None and not any(name.startswith("RAY_AUTH_") for name in os.environ):
        # Ray runs what it is sent by whoever reaches its ports: of this cluster, nobody else.
        os.environ.update(RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=secrets.token_hex(32))

    def opening(n: int) -> Callable[[], Opened]:
        each = None if profile.concurrency is None else -(-profile.concurrency // n)
        return partial(model, spec, msgspec.structs.replace(profile, concurrency=each))

    pool = Pool(
        spec,
        opening,
        replace(replicas, address=address),
        devices=not spec.startswith("baseline/"),
        threads=os.environ.get(THREADS[0]),
    )
    return Opened(
        model=pool,
        name=spec,
        server=spec,
        revision=pool.model.revision,
        concurrency=profile.concurrency or pool.concurrency,
        replicated=pool.told,
        speed=pool.model.speed,
        runs_on=pool.model.runs_on,
        listeners=pool.listeners,
    )


def check_extra(spec: str) -> None:
    """That the packages which a model needs are installed, without importing them: so that nobody
    waits for rows to be read before this is said.

    Raises:
        UsageError: one is missing.
    """
    extra, packages = EXTRAS.get(spec.partition("/")[0], ("", ()))
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"{spec} needs {' and '.join(missing)}: {install(extra)}.")


def given(model: object, *, threads: int | None = None) -> Opened:
    """A model that the caller made: what `python:FILE:NAME` may name, or an object that
    keeps a protocol; `threads` are those of a sync one.

    Raises:
        UsageError: it cannot be asked.
    """
    from snellen.models.python import name_of, of_object

    if isinstance(model, Ranks) and not isinstance(model, Generates):
        return Opened(model=model, name=model.name, server=model.name)
    name = name_of(model)
    made = of_object(model, name, threads=threads)
    return _opened(made, name, made.revision, getattr(made, "concurrency", IN_PROCESS))


def with_profile(opened: Opened, profile: Profile) -> Opened:
    """A model that the caller opened, with what its profile says of it."""
    told = replace(
        opened,
        revision=_revision(profile, opened.revision),
        concurrency=profile.concurrency or opened.concurrency,
    )
    return _within_limits(told, profile)


def watching(opened: Opened, adapter: str | None) -> tuple[Opened, str | None]:
    """The model as one that watches streams, and through which adapter: itself if it does and none
    is named; else asked with the newest frames (`window:N`, `window:all`), or with those that a
    frame policy picks of all so far (`reask:POLICY`). Without a name it is `WINDOW`. The adapter's
    name is given in its one form, so that `window:04` is no other run than `window:4`.

    Raises:
        UsageError: there is no such adapter, or the model does not answer in text.
    """
    if adapter is None and isinstance(opened.model, Streams):
        return opened, None
    adapter = adapter or WINDOW
    from snellen.media.video import policy
    from snellen.models.sliding_window import SlidingWindow

    kind, _, amount = adapter.partition(":")
    whole = amount.isascii() and amount.isdigit() and len(amount) < 7 and int(amount) > 0
    if not (kind == "window" and (whole or amount == "all")) and not (kind == "reask" and amount):
        raise UsageError(
            f"no adapter {adapter!r}; there are window:N, window:all and reask:POLICY "
            "(reask:uniform:64)."
        )
    if not isinstance(opened.model, Generates):
        raise UsageError(f"{opened.name} does not answer in text, which {adapter} asks it for.")
    if kind == "reask":
        picked = policy(amount)
        made, named = SlidingWindow(opened.model, None, picked), f"reask:{picked}"
    else:
        n = int(amount) if whole else None
        made, named = SlidingWindow(opened.model, n), f"window:{n or 'all'}"
    return replace(opened, model=made), named


def _revision(profile: Profile, own: str | None) -> str | None:
    """The profile's revision and the model's own: either may be other weights or other words."""
    return " ".join(filter(None, (profile.revision, own))) or None


def _within_limits(opened: Opened, profile: Profile) -> Opened:
    """A model that is asked with pictures within the profile's limits."""
    if profile.images == ImageLimits():
        return opened
    from snellen.models.limited import limited

    return replace(opened, model=limited(opened.model, profile.images))


def _open(spec: str, profile: Profile) -> Opened:
    kind, slash, name = spec.partition("/")
    if spec.startswith(("python:", "worker:", "vlmevalkit:")):
        kind, _, name = spec.partition(":")
    elif not slash or not name:
        raise CatalogError(f"no model {spec!r}; models are named {', '.join(MODELS)}.")
    if kind in SERVERS:
        return _on_a_server(spec, kind, name, profile)
    if kind in IN_THIS_PROCESS or _with_no_seconds(spec) in MODELS:
        return _in_process(spec, kind, name, profile)
    close = difflib.get_close_matches(spec, MODELS, n=2, cutoff=0.4)
    hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(MODELS)}."
    raise CatalogError(f"no model {spec!r}; {hint}")


def _served(spec: str, profile: Profile, logs: Path) -> Opened:
    """A model behind a server of its own, which gets no keys but the hub's.

    Raises:
        UsageError: it is none to be served, or said to be elsewhere, or there is no such server.
    """
    assert profile.serve is not None
    kind, _, name = spec.partition("/")
    if kind != "openai" or not name:
        raise UsageError(f"{spec}: a server is started for openai/NAME, which serves NAME.")
    if profile.base_url or profile.api_key_env:
        raise UsageError(
            f"{spec}: the server that is started for it has its own address, and wants no key; "
            "leave out base_url and api_key_env."
        )
    from snellen.models.executors.serve import ModelServer, Served
    from snellen.models.weights import digest

    environment = {k: v for k, v in os.environ.items() if k.startswith(HUB) or not k.endswith(KEYS)}
    server = ModelServer(
        name,
        profile.serve,
        logs=logs,
        environment=environment,
        trust_remote_code=profile.trust_remote_code,
    )
    opened = _open(spec, msgspec.structs.replace(profile, base_url=server.url, serve=None))
    weights = digest(Path(name)) if Path(name).is_dir() else None
    return replace(
        opened,
        model=Served(opened.model, server),
        revision=_revision(profile, weights),
        served=server.told,
    )


def _in_process(spec: str, kind: str, name: str, profile: Profile) -> Opened:
    """A model of ours, or of a file, that runs here."""
    file = kind.replace("-", "_") if kind != "baseline" else MODELS[_with_no_seconds(spec)][0]
    more = {"environment": _passed()} if kind == "worker" else {}
    if kind == "vllm":
        # It would write its log to standard output, where a report, or JSON, is to be read.
        os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")
    made = importlib.import_module(f"snellen.models.{file}").open_model(
        name, profile=profile, api_key=None, **more
    )
    suits = getattr(made, "concurrency", IN_PROCESS)
    revision = _revision(profile, getattr(made, "revision", None))
    return _opened(made, spec, revision, profile.concurrency or suits)


def _with_no_seconds(spec: str) -> str:
    """As `MODELS` has it: `baseline/after:SECONDS` for `baseline/after:5`."""
    return re.sub(r"^(baseline/after)(:.*)?$", r"\1:SECONDS", spec)


def _passed() -> dict[str, str]:
    return {name: value for name in PASSED if (value := os.environ.get(name))}


def _opened(made: Any, name: str, revision: str | None, concurrency: int | None) -> Opened:
    """A model that was made; one that answers batches gets its queue."""
    model: Model = made
    if hasattr(made, "generate_batch") or hasattr(made, "replicas"):
        from snellen.models.batching import Batching

        model = Batching(*getattr(made, "replicas", [made]), **getattr(made, "batches", {}))
    return Opened(
        model=model,
        name=name,
        server=name,
        revision=revision,
        concurrency=concurrency,
        speed=getattr(made, "speed", ()),
        runs_on=getattr(made, "runs_on", {}),
    )


def _on_a_server(spec: str, kind: str, name: str, profile: Profile) -> Opened:
    """A model of a service, or of a server that speaks as one. A service's own variables are looked
    into for its official server, and go nowhere else."""
    official, variables = SERVERS[kind]
    url = profile.base_url or official
    named = [profile.api_key_env] if profile.api_key_env else [] if profile.base_url else variables
    found = next((one for one in named if os.environ.get(one, "").strip()), None)
    if named and found is None:
        variable = " or ".join(named)
        if profile.api_key_env and not variable.isidentifier():
            raise UsageError(
                f"{spec}: what stands for the key (--api-key-env) is no name of a variable, and is "
                "not shown, for it may be the key. Put the key into an environment variable, and "
                "give that one's name."
            )
        if profile.base_url:
            raise UsageError(
                f"{spec}: the environment variable {variable} is not set; it is to hold the key."
            )
        raise UsageError(
            f"{spec}: no --base-url, and no key in {variable} for the official service. "
            "Name a server with --base-url, or set the key."
        )
    opened = importlib.import_module(f"snellen.models.{MODELS[f'{kind}/NAME'][0]}").open_model(
        name,
        profile=msgspec.structs.replace(profile, base_url=url, api_key_env=found),
        # A key read from a file often ends in a line break, which no header can carry.
        api_key=os.environ[found].strip() if found else None,
    )
    return Opened(
        model=opened,
        name=spec,
        server=url,
        revision=profile.revision,
        concurrency=profile.concurrency,
        timed=True,
    )


def hub_token() -> str | None:
    """The key of the hub that data sets are fetched from, if there is one."""
    return os.environ.get("HF_TOKEN", "").strip() or None


def keys_set() -> Mapping[str, bool]:
    """The variables in which keys are looked for by themselves, and whether they are set."""
    names = [name for _, variables in SERVERS.values() for name in variables]
    return {name: bool(os.environ.get(name)) for name in (*names, "HF_TOKEN")}
