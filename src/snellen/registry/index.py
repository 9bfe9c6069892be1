"""Lists everything by name, without importing any of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

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
    "baseline/random": ("baseline", "a choice drawn blindly, by a seed"),
    "baseline/first": ("baseline", "the first choice, blindly"),
    "baseline/longest": ("baseline", "the longest choice, blindly"),
    "baseline/most-frequent": ("recorded", "the data set's most frequent answer, blindly"),
    "baseline/silent": ("baseline", "watches streams, and says nothing"),
    "baseline/eager": ("baseline", "speaks as soon as it is asked, blindly"),
    "baseline/after:SECONDS": ("baseline", "speaks so long after it was asked, blindly"),
    "baseline/blind-history": ("baseline", "answers by how often it was asked, blindly"),
    "baseline/reader": ("reader", "a small classical reader of letters, colors and counts"),
    "hf/PATH_OR_NAME": ("hf", "what transformers loads, from a folder or the hub, run here"),
    "hf-stream/PATH": ("hf_stream", "a Qwen-VL in a folder, run here, that watches streams"),
    "vllm/NAME": ("vllm", "a folder or a model of the hub, run here by vLLM, without a server"),
    "python:FILE:NAME": ("python", "a function or class of your own"),
    "vlmevalkit:FILE:CLASS": ("vlmevalkit", "a model class written for VLMEvalKit, as it is"),
    "worker:FILE:NAME": ("worker", "sessions of your own, each in a process that is told no more"),
}
"""Models by the pattern of their names: the file that opens them, and what they are."""
MEASURES = ("Estimate", "Metric", "Mapping[str, Metric]", "float")
"""The return types of metrics, of functions that make metrics, and of scores of one answer."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A benchmark, as its file describes it."""

    name: str
    """Canonical, with dashes: what runs store."""
    title: str
    """The first line of its sheet."""
    sheet: str
    """Where its data, prompt, and scorings come from: the docstring of its file."""
    aliases: Mapping[str, Mapping[str, Any]]
    """Names that others know it by, with the options that they stand for."""
    tags: tuple[str, ...] = ()
    """Its subjects, as its file says in `TAGS`."""
    license: str = ""
    """The license of its data, as its file says in `LICENSE`; empty: see the sheet."""
    size: int | None = None
    """Its number of samples, as its file says in `SIZE`."""
    reads_data: bool
    """Whether it reads files; one that draws its own rows refuses `data`."""
    bundled: Path | None
    """The folder of its bundled rows: `rows/NAME/` beside its file, if there is one."""
    function: str
    """The name, in its file, of the function that makes it."""
    plugin: Plugin | None = None
    """The entry point that offers it; None for those of this package."""

    def file(self) -> Path | None:
        """The file that defines it; None where that is not a Python file."""
        return FOLDER / f"{self.function}.py" if self.plugin is None else self.plugin.file()

    @property
    def defined_in(self) -> str:
        """Where it comes from, for messages."""
        return f"snellen/benchmarks/{self.function}.py" if self.plugin is None else f"{self.plugin}"


def entries() -> list[Entry]:
    """Every benchmark: those of this package, then those of plug-ins."""
    own = [
        entry_in(kebab(path.stem), path.stem, path, content)
        for path, content in outlines(sorted(FOLDER.glob("[!_]*.py")))
    ]
    files = [(plugin, plugin.file()) for plugin in plugins("snellen.benchmarks")]
    known = dict(outlines(file for _, file in files if file is not None))
    return own + [
        entry_in(plugin.name, plugin.attribute, file, known.get(file or Path(), Outline()), plugin)
        for plugin, file in files
    ]


def list_benchmarks() -> Iterator[tuple[str, str]]:
    """Every benchmark, with its title; those of plug-ins with their package."""
    for entry in entries():
        yield entry.name, _with_package(entry.title, entry.plugin)


def own_metrics() -> Iterator[tuple[str, str]]:
    """Every metric of this package, and every score of one answer, by its name in `snellen.metrics`
    (`mean`, `acuity.threshold`), with the first sentence of its documentation."""
    folder = PACKAGE / "metrics"
    for path, content in outlines(sorted(folder.rglob("*.py"))):
        module = path.relative_to(folder).parts[0].removesuffix(".py")
        start = "" if module.startswith("_") else f"{module}."
        for name, definition in content.definitions.items():
            if definition.returns in MEASURES:
                yield f"{start}{name}", first_sentence(definition.docstring)


def list_metrics() -> Iterator[tuple[str, str]]:
    """Every metric with its description: those of this package, then those of plug-ins."""
    yield from own_metrics()
    for plugin in plugins("snellen.metrics"):
        yield plugin.name, _title(plugin)


def list_models() -> Iterator[tuple[str, str]]:
    """Every model, or the pattern of its names, with its description; then those of plug-ins."""
    for name, (_, words) in MODELS.items():
        yield name, words
    for plugin in plugins("snellen.models"):
        yield plugin.name, _title(plugin)


def kebab(stem: str) -> str:
    """A canonical name: `my_bench` is `my-bench`."""
    return stem.replace("_", "-")


def normalized(name: str) -> str:
    """A name without differences of case and separators."""
    return kebab(name).lower()


def bundled(stem: str) -> Path | None:
    """The folder of a benchmark's bundled rows; None if it draws its own."""
    return bundled_rows(FOLDER / f"{stem}.py", stem)


def bundled_rows(file: Path, name: str) -> Path | None:
    """The folder of the rows that are bundled with a benchmark, beside its file."""
    folder = file.parent / "rows" / name
    return folder if folder.is_dir() else None


def first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.sub(r"(?<=[.]) .*", "", paragraph)


def entry_in(
    name: str, function: str, file: Path | None, content: Outline, plugin: Plugin | None = None
) -> Entry:
    """The benchmark that a function of a file makes, by the file's outline."""
    definition = content.definitions.get(function)
    own = file is not None and file.stem == function
    docstrings = [content.docstring, "" if definition is None else definition.docstring]
    if not own:
        docstrings.reverse()  # a module may offer several
    sheet = next(filter(None, docstrings), "")
    constants = content.constants
    return Entry(
        name=name,
        title=sheet.partition("\n")[0],
        sheet=sheet,
        aliases=constants.get("ALIASES", {}) if own else {},
        tags=tuple(constants.get("TAGS", ())),
        license=constants.get("LICENSE", ""),
        size=constants.get("SIZE"),
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
