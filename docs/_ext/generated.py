"""Generates pages when the documentation is built: benchmarks, metrics, options, and changes.

The pages are in `docs/generated`, which git ignores. Only pages that have changed are written
again.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import benchmark_table
import recipe_pages

from snellen import registry
from snellen.analysis import capabilities
from snellen.cli import show
from snellen.core.benchmark import Benchmark
from snellen.core.presentation import UNMAPPED
from snellen.media import images
from snellen.media.content import Image
from snellen.run.declarations import declarations

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
SECTION = re.compile(r"^(Paper|Data|Prompt|Scoring|Proof)\b\s*")
TITLES = {"Prompt": "The prompt", "Scoring": "Scoring", "Proof": "Proof"}
SIGNS = re.compile(r"([\\*_{}\[\]<>#|$~])")
AT = re.compile(
    r"(?P<repo>[\w.-]+/[\w.-]+)@(?P<commit>[0-9a-f]{40})"
    r"(?::\s?(?P<path>[\w./-]*[\w/-]))?(?P<lines>\s?#L\d+(?:-L?\d+)?)?"
)
URL = re.compile(r"https?://[^\s)>;,]*[^\s)>;,.:]")
HEADINGS = ("Scores that move", "Added", "Changed", "Fixed", "Removed")
OPTIONS = """# Options of a run

`snellen run` takes each option as a flag, and `snellen.evaluate` takes it as a keyword. A plan file
uses the flag's name, with underscores for hyphens. If a value is set in several places, the first
of these takes precedence: a flag (or a keyword), the plan file, the model's profile, the benchmark.
`origins` in a run's `manifest.json` records which one was used.

The role says what a different value does. *identity*: it makes a new run. *amount*: the same run
asks more or fewer questions. *environment*: the same run asks the same questions in a different
way.
"""
SUFFIX = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}


# -- text


def text(plain: str) -> str:
    """Convert plain text to Markdown: addresses and places in repositories become links, text in
    backticks is code, and all other characters are escaped."""
    created: list[str] = []
    at = 0
    for match in re.finditer(f"`[^`]+`|{AT.pattern}|{URL.pattern}", plain):
        created.append(_escaped(plain[at : match.start()]))
        if match["repo"]:
            created.append(_linked_source(match))
        else:
            created.append(match[0] if match[0].startswith("`") else f"<{match[0]}>")
        at = match.end()
    return "".join([*created, _escaped(plain[at:])])


def _escaped(plain: str) -> str:
    # Escape characters that would begin a list or a quotation in Markdown.
    escaped = SIGNS.sub(r"\\\1", plain.replace("`", r"\`"))
    return re.sub(r"^(\s*)([-+]|\d+(?=\.))", r"\1\\\2", escaped) if escaped[:1] in "-+" else escaped


def _linked_source(match: re.Match[str]) -> str:
    repo, commit, path = match["repo"], match["commit"], match["path"]
    lines = (match["lines"] or "").strip()
    shown = f"{repo}@{commit[:7]}" + (f":{path}" if path else "") + lines
    if not path:
        return f"[`{shown}`](https://github.com/{repo}/tree/{commit})"
    kind = "tree" if path.endswith("/") else "blob"
    return f"[`{shown}`](https://github.com/{repo}/{kind}/{commit}/{path}{lines})"


def fenced(block: str, language: str = "text") -> str:
    """A block that is shown as it is, whatever it contains."""
    ticks = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", block))])
    return f"{ticks}{language}\n{block.rstrip()}\n{ticks}\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Format a table; the cells must already be Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


# -- a benchmark


def sections(sheet: str) -> Mapping[str, Sequence[str]]:
    """The parts of a benchmark's fact sheet, keyed by their first word, without indentation."""
    actual: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in sheet.splitlines()[1:]:
        if begins := SECTION.match(line):
            lines = actual.setdefault(begins[1], [])
            lines.append(line[begins.end() :])
        elif line.strip():
            lines.append(line[9:] if line.startswith(" " * 9) else line.strip())
    return actual


def flowing(lines: Sequence[str]) -> str:
    """Join wrapped lines into a paragraph; keep a list or table as it is."""
    if any(line.startswith(" ") or "   " in line for line in lines):
        return fenced("\n".join(lines))
    full = ""
    for line in lines:
        # A place in a repository may continue on the next line; no space is inserted.
        joint = "" if re.search(r"@[0-9a-f]{40}:$|/$", full) or not full else " "
        full += joint + line
    return text(full) + "\n"


def benchmark_page(entry: registry.Entry, pictures: Path) -> str:
    """Write a benchmark's page; the pictures of its example go to the folder `pictures`."""
    benchmark = registry.benchmark(entry.name)
    few = registry.benchmark(entry.name, data=Path(registry.SYNTHETIC))
    document = show.sheet(entry.name, Path(registry.SYNTHETIC))
    sheet = sections(entry.sheet)
    title = entry.title.partition(":")
    asks = title[2].strip() or title[0]
    parts = [f"# {text(title[0])}\n", text(asks[:1].upper() + asks[1:]) + "\n"]
    parts.append(f"`-b {entry.name}`\n")
    for name in ("Paper", "Data"):
        parts += [f"## {name}\n", flowing(sheet[name])]
    parts += [_files(benchmark), _commands(entry.name, benchmark)]
    parts += ["## Prompt\n", flowing(sheet["Prompt"]), _example(few, pictures, entry.name)]
    parts += ["## Scoring\n", flowing(sheet["Scoring"]), _scorings(document)]
    parts += ["## Proof\n", flowing(sheet["Proof"])]
    parts.append(
        "Figures, published and ours: [parity](../../parity.md). "
        "What else is known: [why scores differ](../../why-scores-differ.md).\n"
    )
    parts += [
        _options(document),
        _facts(document, benchmark),
        _capabilities(benchmark),
        _names(entry),
    ]
    return "\n".join(part for part in parts if part)


def _files(benchmark: Benchmark) -> str:
    published = benchmark.interop.files.published if benchmark.interop.files else ()
    if not published:
        return ""
    rows = []
    for file in published:
        known = f"`sha256:{file.sha256[:12]}…`" if file.sha256 else ""
        known = known or (f"`md5:{file.md5[:12]}…`" if file.md5 else "not published")
        url = f"<{file.url}>" if file.url.startswith("http") else f"`{file.url}`"
        size = f"{file.size / 1e6:,.1f} MB" if file.size else "not published"
        rows.append([f"`{file.name}`", url, size, known])
    head = ["published file", "where", "size", "digest"]
    return "`snellen data get` downloads these files:\n\n" + table(head, rows)


def _commands(name: str, benchmark: Benchmark) -> str:
    published = benchmark.interop.files.published if benchmark.interop.files else ()
    data = "" if published or not registry.reads_data(name) else " --data PATH"
    lines = [f"snellen data get {name}"] if published else []
    lines.append(f"snellen run -m openai/NAME --base-url http://localhost:8000/v1 -b {name}{data}")
    lines.append(f"snellen score PREDICTIONS -b {name}{data}")
    if registry.reads_data(name):
        lines.append(
            f"snellen run -m baseline/first -b {name} --data synthetic   # offline, on bundled rows"
        )
    lines.append(f"snellen check {name}")
    return "## Run it\n\n" + fenced("\n".join(lines), "sh")


def _example(few: Benchmark, pictures: Path, name: str) -> str:
    sample = next((few.sample(row.position, row) for row in few.data), None)
    request = few.request(sample) if sample else None
    if sample is None or request is None:
        return ""
    parts = ["This is one question as a model gets it. Like all bundled rows, it is made up.\n"]
    number = 0
    for message in request.messages:
        parts.append(f"**{message.role}**\n")
        for part in message.content:
            if isinstance(part, str):
                parts.append(fenced(part))
            elif isinstance(part, Image):
                number += 1
                loaded = images.load(part)
                assert isinstance(loaded.source, bytes)
                file = pictures / f"{name}-{number}.{SUFFIX[loaded.mime or '']}"
                file.write_bytes(loaded.source)
                position = text(part.label or "picture")
                size = f"{loaded.width} x {loaded.height} pixels"
                parts.append(f"![{size}](../pictures/{file.name})\n")
                parts.append(f"{position}, {size}\n")
            else:
                position = part.label or "video"
                end = f"{part.end:g}" if part.end is not None else "its end"
                shown = part.policy or few.procedure.frames or "the default policy"
                parts.append(
                    f"A video, {text(position)}, from {part.start:g} to {end} s, "
                    f"by {text(shown)}.\n"
                )
    right = sample.target if sample.target is not None else " | ".join(sample.references)
    parts.append(f"The right answer: {text(right) if right else 'unknown'}\n")
    return "\n".join(parts)


def _scorings(document: Mapping[str, Any]) -> str:
    lines = []
    for name, scoring in document["scorings"].items():
        metrics = ", ".join(f"`{metric}`" for metric in scoring["metrics"])
        source = text(scoring["source"])
        lines.append(f"- **{name}**, version {scoring['version']}: {source}. Gives {metrics}.")
    return "\n".join(lines) + "\n"


def _options(document: Mapping[str, Any]) -> str:
    if not document["options"]:
        return ""
    rows = []
    for name, option in document["options"].items():
        choices = ", ".join(f"`{item}`" for item in option["choices"] or [])
        rows.append([f"`{name}`", f"`{option['default']}`", choices])
    name = document["benchmark"]
    first, option = next(iter(document["options"].items()))
    value = (option["choices"] or [option["default"]])[-1]
    return (
        f"## Options\n\nWrite options after the name: `-b {name}:{first}={value}`. Put commas "
        "between several options.\n\n" + table(["option", "default", "one of"], rows)
    )


def _facts(document: Mapping[str, Any], benchmark: Benchmark) -> str:
    lines = [
        f"- Kind of reply: `{benchmark.procedure.kind}`, with up to "
        f"{benchmark.max_answer_tokens:,} tokens."
    ]
    if benchmark.presentation.break_down_by:
        tags = ", ".join(f"`{tag}`" for tag in benchmark.presentation.break_down_by)
        lines.append(f"- Results are broken down by {tags}.")
    if benchmark.cluster_by is not None:
        lines.append(
            "- Samples share pictures or videos; intervals account for this "
            "([intervals](../../decisions/intervals.md))."
        )
    lines += [f"- {text(note)}" for note in benchmark.notes]
    return "## More\n\n" + "\n".join(lines) + "\n"


def _capabilities(benchmark: Benchmark) -> str:
    if benchmark.presentation.capabilities is None:
        return ""
    source = benchmark.presentation.capabilities.source
    whose = "We assigned them" if source == "ours" else f"Source: {text(source)}"
    parts = ["## Capabilities it requires\n", f"{whose}.\n"]
    leaves = benchmark.presentation.capabilities.leaves
    if benchmark.presentation.capabilities.tag:
        by_leaf: dict[str, list[str]] = {}
        for category, leaf in leaves.items():
            by_leaf.setdefault(leaf, []).append(category)
        order = [leaf for leaf in (*capabilities.LEAVES, UNMAPPED) if leaf in by_leaf]
        rows = [[f"`{leaf}`", text(", ".join(by_leaf[leaf]))] for leaf in order]
        parts.append(table(["capability", text(benchmark.presentation.capabilities.tag)], rows))
    else:
        parts.append(f"All samples: `{leaves['']}`.\n")
    return "\n".join(parts)


def _names(entry: registry.Entry) -> str:
    """The benchmark's names in other tools. Names are assigned to tools as in `snellen export`."""
    theirs: dict[str, list[str]] = {"VLMEvalKit": [], "lmms-eval": []}
    for alias, options in entry.aliases.items():
        own = alias[0].isupper() or alias == options.get("name") or not alias.islower()
        theirs["VLMEvalKit" if own else "lmms-eval"].append(alias)
    rows = [
        [tool, ", ".join(f"`{name}`" for name in names)] for tool, names in theirs.items() if names
    ]
    if not rows:
        return ""
    return "## Names in other tools\n\nThese names also work with `-b`.\n\n" + table(
        ["tool", "names"], rows
    )


def measures_page(entries: Sequence[registry.Entry]) -> str:
    """Which benchmark measures what: the tree of capabilities, with the benchmarks at each leaf."""
    of: dict[str, list[str]] = {}
    for entry in entries:
        text = registry.benchmark(entry.name).presentation.capabilities
        for leaf in dict.fromkeys(text.leaves.values() if text else ()):
            of.setdefault(leaf, []).append(entry.name)
    parts = [
        "# Which benchmark measures what\n",
        "The capabilities that benchmarks require of a model form one tree. A benchmark's file "
        "says which leaf of the tree each of its categories belongs to, and where its authors "
        "define the categories. A category that fits no leaf is `unmapped`. A run's report has the "
        "mean score for each leaf, and `snellen report runs/` shows these scores over several "
        "benchmarks.\n",
    ]
    for branch, leaves in capabilities.TREE.items():
        rows = [
            [leaf, ", ".join(_linked(name) for name in of.get(f"{branch}/{leaf}", [])) or "none"]
            for leaf in leaves
        ]
        parts += [f"## {branch}\n", table(["capability", "benchmarks"], rows)]
    parts += ["## unmapped\n", ", ".join(map(_linked, of.get(UNMAPPED, []))) + "\n"]
    return "\n".join(parts)


def _linked(name: str) -> str:
    return f"[{name}](benchmarks/{name}.md)"


# -- metrics, changes


def metrics_page() -> str:
    """Every module of `snellen.metrics`, with the formulas in its docstrings."""
    folder = ROOT / "src/snellen/metrics"
    modules = sorted({path.stem for path in folder.glob("[!_]*")})
    parts = [
        "# Metrics\n",
        "A metric takes the columns of a whole data set and returns an estimate: a value with n, "
        "its standard error, and its interval. Functions that score a single answer are listed "
        "here too. `snellen list metrics` lists all metrics.\n",
        "## Means\n",
        _directive("autofunction", "snellen.metrics.mean"),
        _directive("autofunction", "snellen.metrics.macro_average"),
        _directive("autoclass", "snellen.metrics.Columns"),
        _directive("autoclass", "snellen.metrics.Category"),
    ]
    for module in modules:
        parts += [f"## {module}\n", _directive("automodule", f"snellen.metrics.{module}")]
        parts += [
            _directive("automodule", f"snellen.metrics.{module}.{path.stem}")
            for path in sorted((folder / module).glob("[!_]*.py"))
        ]
    return "\n".join(parts)


def _directive(kind: str, name: str) -> str:
    return f"```{{eval-rst}}\n.. {kind}:: {name}\n```\n"


def changes_page() -> str:
    """The changelog: fragments since the last release under one heading, then the releases."""
    folder = ROOT / "changelog"
    by_heading: dict[str, list[str]] = {heading: [] for heading in HEADINGS}
    for path in sorted(folder.glob("[0-9]*.*.md")):
        heading = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("## "):
                heading = line.removeprefix("## ")
            elif line.strip() and line != "- None.":
                by_heading[heading].append(line)
    parts = ["# Changes\n"]
    if any(by_heading.values()):
        parts.append("## Since the last release\n")
    for heading, lines in by_heading.items():
        if lines:
            parts += [f"### {heading}\n", "\n".join(lines) + "\n"]
    for path in sorted(folder.glob("v*.md"), reverse=True):
        body = path.read_text(encoding="utf-8")
        parts.append(re.sub(r"^(#+ )", r"#\1", body, flags=re.MULTILINE))
    # The fragments' links are relative to a folder next to `docs`; this page is inside `docs`.
    return "\n".join(parts).replace("](../docs/", "](../")


# -- options


def options_page() -> str:
    """The options of `snellen run` in groups, as the source declares them."""
    groups: dict[str, list[list[str]]] = {}
    for name, declared in declarations().items():
        option = declared.option
        flag = f"--{declared.flag.replace('_', '-')}"
        default = option.default_text or option.default
        row = [
            f"`{flag}`",
            f"`{name}`",
            text(declared.expected),
            "" if default is None or default is False or default == () else f"`{default}`",
            option.group.role,
            text(option.help),
        ]
        groups.setdefault(option.group.title, []).append(row)
    head = ["flag", "in Python", "value", "default", "role", "meaning"]
    tables = [f"## {group}\n\n{table(head, rows)}" for group, rows in groups.items()]
    return "\n".join([OPTIONS, *tables])


def pages(pictures: Path) -> Iterator[tuple[str, str]]:
    """Every page's name under `docs/generated`, and its text."""
    entries = list(registry.entries())
    for entry in entries:
        yield f"benchmarks/{entry.name}.md", benchmark_page(entry, pictures)
    yield "benchmarks.md", benchmark_table.page(entries, text, table)
    yield "measures.md", measures_page(entries)
    yield "metrics.md", metrics_page()
    yield "changes.md", changes_page()
    yield "options.md", options_page()
    yield from recipe_pages.pages(text, table, fenced)


def write(folder: Path) -> None:
    """Write all pages to `folder`. Unchanged pages are not touched, so they are not built again."""
    pictures = folder / "pictures"
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    written = set()
    for name, page in pages(pictures):
        path = folder / name
        written.add(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            path.write_text(page, encoding="utf-8")
    for old in set(folder.rglob("*.md")) - written:
        old.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", lambda app: write(Path(app.srcdir) / "generated"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
