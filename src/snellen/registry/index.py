"""Lists benchmarks, models, and metrics by name, without importing them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from snellen.registry.facts import BenchmarkFacts, facts_of
from snellen.registry.outlines import Outline, outline, outlines
from snellen.registry.plugins import Plugin, plugins

PACKAGE = Path(__file__).parents[1]
FOLDER = PACKAGE / "benchmarks"
ROWS = FOLDER / "rows"
MODELS: Mapping[str, tuple[str, str]] = {
    "openai/NAME": ("openai", "any OpenAI-compatible server (--base-url)"),
    "openai-responses/NAME": ("openai_responses", "OpenAI's Responses API"),
    "anthropic/NAME": ("anthropic", "Anthropic's Messages API"),
    "google/NAME": ("google", "Google's Gemini API"),
    "recorded/RUN": ("recorded", "the replies of a run folder, again"),
    "baseline/random": ("baseline", "a choice drawn blindly with a seed"),
    "baseline/first": ("baseline", "the first choice, blindly"),
    "baseline/longest": ("baseline", "the longest choice, blindly"),
    "baseline/most-frequent": ("recorded", "the data set's most frequent answer, blindly"),
    "baseline/silent": ("baseline", "watches streams and says nothing"),
    "baseline/eager": ("baseline", "answers as soon as it is asked, blindly"),
    "baseline/after:SECONDS": ("baseline", "answers SECONDS after it was asked, blindly"),
    "baseline/blind-history": ("baseline", "answers by how often it was asked, blindly"),
    "baseline/reader": (
        "reader",
        "a small classical reader of letters, shapes, places, and tables",
    ),
    "baseline/zoomer": ("reader", "the reader, which zooms into small letters (--tools zoom)"),
    "hf/PATH_OR_NAME": ("hf", "a model in a folder or on the hub, run here by transformers"),
    "hf-stream/PATH": ("hf_stream", "a Qwen-VL model in a folder, run here, that watches streams"),
    "vllm/NAME": ("vllm", "a model in a folder or on the hub, run here by vLLM, without a server"),
    "python:FILE:NAME": ("python", "your own function or class"),
    "vlmevalkit:FILE:CLASS": ("vlmevalkit", "a model class written for VLMEvalKit, unchanged"),
    "worker:FILE:NAME": ("worker", "your own sessions, each in an isolated process"),
}
"""Maps each pattern of model names to the module that opens such models, and to a description."""
MEASURES = ("Estimate", "Metric", "Mapping[str, Metric]", "float")
"""The return types of metrics, of functions that return metrics, and of functions that score one
answer."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The catalog entry of a benchmark, with the facts from the benchmark's file."""

    name: str
    """The canonical name, with dashes, as stored in runs."""
    title: str
    """The first line of the benchmark's `sheet`."""
    sheet: str
    """The docstring of the benchmark's file, which states the sources of data, prompt, and
    scorings."""
    aliases: Mapping[str, Mapping[str, Any]]
    """The names that other tools use for the benchmark, with the options that each name stands
    for."""
    facts: BenchmarkFacts = BenchmarkFacts()
    """Kind, languages, license, proof, and size, from the constants in the benchmark's file."""
    reads_data: bool
    """Whether the benchmark reads files. A benchmark that generates its own rows rejects `data`."""
    bundled: Path | None
    """The folder of the bundled rows, `rows/NAME/` next to the benchmark's file; None if there is
    no such folder."""
    function: str
    """The name of the function that returns the benchmark."""
    plugin: Plugin | None = None
    """The entry point that offers the benchmark; None for Snellen's own benchmarks."""

    def file(self) -> Path | None:
        """Return the Python file that defines the benchmark, or None if there is no such file."""
        return FOLDER / f"{self.function}.py" if self.plugin is None else self.plugin.file()

    @property
    def full_title(self) -> str:
        """The title, followed by the package of a plug-in's benchmark."""
        return _with_package(self.title, self.plugin)

    @property
    def defined_in(self) -> str:
        """The origin of the benchmark, for messages."""
        return f"snellen/benchmarks/{self.function}.py" if self.plugin is None else f"{self.plugin}"


_own_entries: dict[Path, tuple[Outline, Entry]] = {}


def entries() -> list[Entry]:
    """Return all benchmarks: first Snellen's own, then those of plug-ins."""
    own = [_own_entry(path, content) for path, content in outlines(sorted(FOLDER.glob("[!_]*.py")))]
    files = [(plugin, plugin.file()) for plugin in plugins("snellen.benchmarks")]
    known = dict(outlines(file for _, file in files if file is not None))
    return own + [
        entry_in(plugin.name, plugin.attribute, file, known.get(file or Path(), Outline()), plugin)
        for plugin, file in files
    ]


def _own_entry(path: Path, content: Outline) -> Entry:
    """Return the entry of one of Snellen's own benchmarks. The entry is created again only if the
    outline of the file has changed."""
    outline_before, entry = _own_entries.get(path, (None, None))
    if entry is None or outline_before is not content:
        entry = entry_in(kebab(path.stem), path.stem, path, content)
        _own_entries[path] = (content, entry)
    return entry


def list_benchmarks() -> Iterator[tuple[str, str]]:
    """Yield all benchmarks with their titles. The title of a plug-in's benchmark also names the
    package."""
    for entry in entries():
        yield entry.name, entry.full_title


def own_metrics() -> Iterator[tuple[str, str]]:
    """Yield Snellen's own metrics and functions that score one answer. Each item consists of the
    name in `snellen.metrics` (`mean`, `acuity.threshold`) and the first sentence of the
    docstring."""
    folder = PACKAGE / "metrics"
    for path, content in outlines(sorted(folder.rglob("*.py"))):
        module = path.relative_to(folder).parts[0].removesuffix(".py")
        start = "" if module.startswith("_") else f"{module}."
        for name, definition in content.definitions.items():
            if definition.returns in MEASURES:
                yield f"{start}{name}", first_sentence(definition.docstring)


def list_metrics() -> Iterator[tuple[str, str]]:
    """Yield all metrics with their descriptions: first Snellen's own, then those of plug-ins."""
    yield from own_metrics()
    for plugin in plugins("snellen.metrics"):
        yield plugin.name, _title(plugin)


def list_models() -> Iterator[tuple[str, str]]:
    """Yield all models with their descriptions: first Snellen's own, as names or name patterns,
    then those of plug-ins."""
    for name, (_, words) in MODELS.items():
        yield name, words
    for plugin in plugins("snellen.models"):
        yield plugin.name, _title(plugin)


def kebab(stem: str) -> str:
    """Return the canonical form of a name: `my_bench` becomes `my-bench`."""
    return stem.replace("_", "-")


def normalized(name: str) -> str:
    """Return a form of a name that ignores case and separators."""
    return kebab(name).lower()


def bundled(stem: str) -> Path | None:
    """Return the folder of a benchmark's bundled rows, or None if the benchmark generates its own
    rows."""
    return bundled_rows(FOLDER / f"{stem}.py", stem)


def bundled_rows(file: Path, name: str) -> Path | None:
    """Return the folder of the bundled rows next to a benchmark's file, or None if there is no such
    folder."""
    folder = file.parent / "rows" / name
    return folder if folder.is_dir() else None


def first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.sub(r"(?<=[.]) .*", "", paragraph)


def entry_in(
    name: str, function: str, file: Path | None, content: Outline, plugin: Plugin | None = None
) -> Entry:
    """Create a benchmark's catalog entry from the outline of the benchmark's file."""
    definition = content.definitions.get(function)
    own = file is not None and file.stem == function
    docstrings = [content.docstring, "" if definition is None else definition.docstring]
    if not own:
        docstrings.reverse()  # a module may define several benchmarks
    sheet = next(filter(None, docstrings), "")
    constants = content.constants
    return Entry(
        name=name,
        title=sheet.partition("\n")[0],
        sheet=sheet,
        aliases=constants.get("ALIASES", {}) if own else {},
        facts=facts_of(constants),
        reads_data=definition is not None and definition.reads_data,
        bundled=None if file is None else bundled_rows(file, function),
        function=function,
        plugin=plugin,
    )


def _title(plugin: Plugin) -> str:
    file = plugin.file()
    definitions = outline(file).definitions if file is not None else {}
    definition = definitions.get(plugin.attribute)
    return _with_package(first_sentence(definition.docstring) if definition else "", plugin)


def _with_package(title: str, plugin: Plugin | None) -> str:
    package = "" if plugin is None else f"({plugin.distribution} {plugin.version})"
    return f"{title} {package}".strip()
