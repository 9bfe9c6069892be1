"""Lists benchmarks, models, and metrics by name, without importing them."""

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
    "baseline/random": ("baseline", "a choice drawn blindly with a seed"),
    "baseline/first": ("baseline", "the first choice, blindly"),
    "baseline/longest": ("baseline", "the longest choice, blindly"),
    "baseline/most-frequent": ("recorded", "the data set's most frequent answer, blindly"),
    "baseline/silent": ("baseline", "watches streams and says nothing"),
    "baseline/eager": ("baseline", "answers as soon as it is asked, blindly"),
    "baseline/after:SECONDS": ("baseline", "answers SECONDS after it was asked, blindly"),
    "baseline/blind-history": ("baseline", "answers by how often it was asked, blindly"),
    "baseline/reader": ("reader", "a small classical reader of letters, colors, and counts"),
    "hf/PATH_OR_NAME": ("hf", "a model in a folder or on the hub, run here by transformers"),
    "hf-stream/PATH": ("hf_stream", "a Qwen-VL model in a folder, run here, that watches streams"),
    "vllm/NAME": ("vllm", "a model in a folder or on the hub, run here by vLLM, without a server"),
    "python:FILE:NAME": ("python", "your own function or class"),
    "vlmevalkit:FILE:CLASS": ("vlmevalkit", "a model class written for VLMEvalKit, unchanged"),
    "worker:FILE:NAME": ("worker", "your own sessions, each in an isolated process"),
}
"""Maps patterns of model names to the module that opens the models and to a description."""
MEASURES = ("Estimate", "Metric", "Mapping[str, Metric]", "float")
"""The return types of metrics, of functions that return metrics, and of functions that score one
answer."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """The catalog entry of a benchmark, with what its file says about it."""

    name: str
    """The canonical name, with dashes. This is the name that runs store."""
    title: str
    """The first line of its sheet."""
    sheet: str
    """The docstring of its file, which says where its data, prompt, and scorings come from."""
    aliases: Mapping[str, Mapping[str, Any]]
    """Names that other tools use for it, with the options that each name stands for."""
    tags: tuple[str, ...] = ()
    """Its subjects, from the constant `TAGS` in its file."""
    license: str = ""
    """The license of its data, from the constant `LICENSE` in its file. If it is empty, see the
    sheet."""
    size: int | None = None
    """Its number of samples, from the constant `SIZE` in its file."""
    reads_data: bool
    """Whether it reads files. A benchmark that draws its own rows rejects `data`."""
    bundled: Path | None
    """The folder of its bundled rows, `rows/NAME/` next to its file; None if there is none."""
    function: str
    """The name of the function in its file that returns it."""
    plugin: Plugin | None = None
    """The entry point that offers it; None for Snellen's own benchmarks."""

    def file(self) -> Path | None:
        """The Python file that defines it; None if there is no such file."""
        return FOLDER / f"{self.function}.py" if self.plugin is None else self.plugin.file()

    @property
    def defined_in(self) -> str:
        """Where it comes from, for messages."""
        return f"snellen/benchmarks/{self.function}.py" if self.plugin is None else f"{self.plugin}"


def entries() -> list[Entry]:
    """All benchmarks: first Snellen's own, then those of plug-ins."""
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
    """All benchmarks with their titles. Titles of plug-ins also name the package."""
    for entry in entries():
        yield entry.name, _with_package(entry.title, entry.plugin)


def own_metrics() -> Iterator[tuple[str, str]]:
    """All of Snellen's own metrics and functions that score one answer, by their names in
    `snellen.metrics` (`mean`, `acuity.threshold`), each with the first sentence of its
    docstring."""
    folder = PACKAGE / "metrics"
    for path, content in outlines(sorted(folder.rglob("*.py"))):
        module = path.relative_to(folder).parts[0].removesuffix(".py")
        start = "" if module.startswith("_") else f"{module}."
        for name, definition in content.definitions.items():
            if definition.returns in MEASURES:
                yield f"{start}{name}", first_sentence(definition.docstring)


def list_metrics() -> Iterator[tuple[str, str]]:
    """All metrics with their descriptions: first Snellen's own, then those of plug-ins."""
    yield from own_metrics()
    for plugin in plugins("snellen.metrics"):
        yield plugin.name, _title(plugin)


def list_models() -> Iterator[tuple[str, str]]:
    """All models with their descriptions: first Snellen's own, as names or patterns of names, then
    those of plug-ins."""
    for name, (_, words) in MODELS.items():
        yield name, words
    for plugin in plugins("snellen.models"):
        yield plugin.name, _title(plugin)


def kebab(stem: str) -> str:
    """The canonical form of a name: `my_bench` becomes `my-bench`."""
    return stem.replace("_", "-")


def normalized(name: str) -> str:
    """A form of a name that is the same for all cases and separators."""
    return kebab(name).lower()


def bundled(stem: str) -> Path | None:
    """The folder of a benchmark's bundled rows; None if the benchmark draws its own rows."""
    return bundled_rows(FOLDER / f"{stem}.py", stem)


def bundled_rows(file: Path, name: str) -> Path | None:
    """The folder of the rows that are bundled with a benchmark, next to its file; None if it does
    not exist."""
    folder = file.parent / "rows" / name
    return folder if folder.is_dir() else None


def first_sentence(docstring: str) -> str:
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.sub(r"(?<=[.]) .*", "", paragraph)


def entry_in(
    name: str, function: str, file: Path | None, content: Outline, plugin: Plugin | None = None
) -> Entry:
    """The entry of the benchmark that a function in a file returns, from the file's outline."""
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
