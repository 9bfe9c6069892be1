"""What `docs/_ext` makes of sheets, docstrings and built pages."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

from snellen import recipes, registry
from snellen.registry.facts import KINDS, LICENSES, PROOFS
from tests.pages import FENCE

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SHA = "3df3ba1b110ecce25696989577fad583b67d4239"


def extension(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / "_ext" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    extension_module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = extension_module
    spec.loader.exec_module(extension_module)
    return extension_module


sys.path.append(str(DOCS / "_ext"))  # as docs/conf.py does
benchmark_table = extension("benchmark_table")
generated = extension("generated")
docstrings = extension("docstrings")
closed = extension("closed")
looks = extension("looks")
rooms = extension("rooms")


@pytest.mark.parametrize("name", ["pope", "eyechart", "ovo-bench", "vlmevalkit", "coco-captions"])
def test_a_benchmarks_page_has_its_sheet_commands_scorings_and_example(
    name: str, tmp_path: Path
) -> None:
    entry = next(candidate for candidate in registry.entries() if candidate.name == name)
    page = generated.benchmark_page(entry, tmp_path)

    headings = re.findall(r"^## (.+)$", page, re.MULTILINE)
    assert headings[:2] == ["Paper", "Data"]
    assert {"Run it", "Prompt", "Scoring", "Proof"} <= set(headings)
    assert f"-b {name}" in page
    for scoring in registry.benchmark(name).scorings:
        assert f"**{scoring}**, version " in page
    for picture in re.findall(r"\]\(\.\./pictures/([^)]+)\)", page):
        assert (tmp_path / picture).stat().st_size > 0


def test_each_recipe_has_a_page_with_its_evidence_data_sets_and_figures() -> None:
    pages = dict(generated.recipe_pages.pages(generated.text, generated.table, generated.fenced))
    assert set(pages) == {"recipes.md", *(f"recipes/{name}.md" for name in recipes.names())}
    for name in recipes.names():
        recipe = recipes.load(name)
        page = pages[f"recipes/{name}.md"]
        assert f"Evidence: `{recipe.evidence}`" in page
        assert f"(recipes/{name}.md)" in pages["recipes.md"]
        for data_set, variant in recipe.asks:
            assert variant or f"| `{data_set}` |" in page
        for line in (*recipe.notes, *recipe.conflicts, *recipe.unknown):
            assert f"- {generated.text(line)}" in page
        for figure in recipe.figures:
            assert f"| {figure.value:g} | " in page


def test_every_word_of_a_sheet_is_on_its_page(tmp_path: Path) -> None:
    for entry in registry.entries():
        parts = generated.sections(entry.sheet)
        assert list(parts) == ["Paper", "Data", "Prompt", "Scoring", "Proof"], entry.name
        page_words = " ".join(" ".join(lines) for lines in parts.values()).split()
        sheet = re.sub(r"^(Paper|Data|Prompt|Scoring|Proof)\b", "", entry.sheet, flags=re.MULTILINE)
        assert page_words == sheet.partition("\n")[2].split(), entry.name


def test_signs_of_markdown_in_a_sheet_mean_themselves() -> None:
    assert generated.text("a_b *c* [d] <e> | `f_g`") == r"a\_b \*c\* \[d\] \<e\> \| `f_g`"
    assert generated.text("<script>alert(1)</script>").startswith(r"\<script\>")


def test_a_place_in_a_repository_is_a_link_to_that_commit() -> None:
    where = f"RUCAIBox/POPE@{SHA}:evaluate.py#L9-L34"
    assert generated.text(f"see {where}, there") == (
        f"see [`RUCAIBox/POPE@3df3ba1:evaluate.py#L9-L34`]"
        f"(https://github.com/RUCAIBox/POPE/blob/{SHA}/evaluate.py#L9-L34), there"
    )


def test_a_block_that_holds_a_fence_is_fenced_with_more() -> None:
    assert generated.fenced("```\nx\n```") == "````text\n```\nx\n```\n````\n"


def test_every_leaf_has_the_benchmarks_whose_files_name_it() -> None:
    page = generated.measures_page(list(registry.entries()))
    (row,) = re.findall(r"^\| counting \| (.*) \|$", page, re.MULTILINE)
    assert "[eyechart](benchmarks/eyechart.md)" in row and "pope" not in row


def test_every_public_metric_has_a_place_on_the_page_of_metrics() -> None:
    page = generated.metrics_page()
    modules = set(re.findall(r"automodule:: (\S+)", page))
    assert set(metrics_modules()) == modules


def metrics_modules() -> Iterator[str]:
    """The public modules of `snellen.metrics`, those of its packages too."""
    for path in sorted((ROOT / "src/snellen").glob("metrics/**/*.py")):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        name = ".".join(parts)
        if name != "snellen.metrics" and not any(part.startswith("_") for part in parts):
            yield name


def test_every_option_of_a_run_is_on_the_page_of_options() -> None:
    page = generated.options_page()
    run = importlib.import_module("snellen.cli.run").command
    flags = {
        max(parameter.opts, key=len)
        for parameter in run.params
        if isinstance(parameter, click.Option)
    }
    listed = set(re.findall(r"^\| `(--[a-z-]+)` ", page, re.MULTILINE))
    of_the_command = {"--model", "--benchmark", "--estimate", "--no-score", "--fail-under"}
    of_the_command |= {"--fail-over", "--quiet", "--also"}
    assert listed == flags - of_the_command - {"--json"}


def test_all_fragments_of_the_changelog_are_on_one_page() -> None:
    page = generated.changes_page()
    lines = [
        line
        for path in (ROOT / "changelog").glob("[0-9]*.*.md")
        for line in path.read_text().splitlines()
        if line.startswith("- ") and line != "- None."
    ]
    assert lines and all(line.replace("](../docs/", "](../") in page for line in lines)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("`a` is *not* b_", r"``a`` is \*not\* b\_"),
        ("the sum |T|:\n\n    s = max_r |a|", "the sum \\|T\\|:\n\n::\n\n        s = max_r |a|"),
        ("Of these:\n- a\n- b", "Of these:\n\n- a\n\n- b"),
        (">>> f(`1`)\n2", ">>> f(`1`)\n2"),
        ("Raises:\n    ValueError: `x`.", "Raises:\n    ValueError: ``x``."),
        ("`list`s", "``list``\\ s"),
    ],
)
def test_a_docstring_means_what_it_says(ours: str, theirs: str) -> None:
    assert "\n".join(docstrings.restructured(ours.split("\n"))) == theirs


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example/x.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/a.css">',
        '<img src="http://example.org/a.png">',
        '<img srcset="a.png 1x, https://example.org/b.png 2x">',
        '<iframe src="HTTPS://example.org"></iframe>',
        '<p style="background: url(https://example.org/a.png)">',
        "<style>@import 'https://example.org/a.css';</style>",
    ],
)
def test_a_page_that_loads_something_from_elsewhere_is_found(page: str) -> None:
    assert list(closed.loaded(page))


def test_links_and_what_lies_beside_a_page_are_let_through() -> None:
    page = (
        '<a href="https://arxiv.org">x</a><script src="_static/a.js"></script>'
        '<link rel="stylesheet" href="../a.css"><img src="data:image/png;base64,AA">'
    )
    assert list(closed.loaded(page)) == []
    assert list(closed.styled("a { background: url(../a.png) }")) == []


FOLDERS = (".", "docs", "docs/reference", "docs/decisions", "perf")


@pytest.mark.parametrize(
    "path",
    [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.md"))],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_the_links_of_a_page_lead_to_what_a_checkout_has(path: Path) -> None:
    """What `make docs` makes is not there for a reader of the files, nor for most."""
    assert dead_links(path) == []


def dead_links(path: Path) -> list[str]:
    """Links to other files, and to headings, that are not there."""
    dead = []
    for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, heading = link.partition("#")
        to = path.parent / name if name else path
        is_generated = (ROOT / "docs/generated") in to.resolve().parents
        if is_generated or not to.exists() or (heading and heading not in headings(to)):
            dead.append(link)
    return dead


def headings(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and the site make them."""
    page = FENCE.sub("", path.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_a_dead_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# A b-c: d?\n\n[a](#a-b-c-d) [b](page.md#a-b-c-d) [c](https://x.example/)\n"
        "[d](#e) [f](no.md)\n"
        "```\n[g](no.md)\n```\n"
    )
    assert dead_links(page) == ["#e", "no.md"]


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("64.51 %", "64.51~%"),
        ("< 0.0001", "<~0.0001"),
        ("[-8.55, -1.72]", "[-8.55,~-1.72]"),
        ("+2.57 pp", "+2.57~pp"),
        ("-1.8 [-6.0, 2.4] *", "-1.8~[-6.0,~2.4]~*"),
        ("half of 64 %", "half of 64 %"),
        ("GPT 4", "GPT 4"),
        ("", ""),
    ],
)
def test_a_cell_of_numbers_stays_on_one_line(cell: str, shown: str) -> None:
    nodes = pytest.importorskip("docutils.nodes")
    table = nodes.table("", nodes.entry("", nodes.paragraph(text=cell)))
    looks.unbroken(None, table)
    assert table.astext().replace(looks.NO_BREAK, "~") == shown


def test_a_page_says_that_it_is_chinese() -> None:
    context = {"language": "en"}
    looks.language(None, "start", "page.html", context, None)
    assert context["language"] == "en"
    looks.language(None, "start.zh-CN", "page.html", context, None)
    assert context["language"] == "zh-CN"


def test_the_picture_of_rooms_shows_every_room_and_the_shortest_ways_down() -> None:
    svg = rooms.picture()
    assert (DOCS / "assets" / "rooms.svg").read_text() == svg, "the picture is old: make docs"
    listed = {room for row in rooms.levels() for room in row} - {"__main__"}
    assert set(re.findall(r"<text [^>]*>([^<]+)</text>", svg)) == listed
    ways = {"a": {"b", "c"}, "b": {"c"}, "c": set()}
    assert rooms.shortest(ways) == {"a": {"b"}, "b": {"c"}, "c": set()}
    assert "store" in rooms.imported_rooms("run")


# -- the table of benchmarks


def test_the_table_of_benchmarks_has_the_facts_of_each_file() -> None:
    page = benchmark_table.page(list(registry.entries()), generated.text, generated.table)
    (row,) = [line for line in page.splitlines() if line.startswith("| [mathvista]")]
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert cells[2:] == [
        *("1,000", "mixed, with a judge", "English, Chinese, Persian", "CC-BY-SA-4.0"),
        "published outputs",
    ]
    for entry in registry.entries():
        assert page.count(f"| [{generated.text(entry.name)}](benchmarks/{entry.name}.md) |") == 1


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_search_box_shows_the_rows_that_contain_all_words() -> None:
    """The script runs on a stand-in for the page with three rows."""
    page = """
    const texts = ["MathVista mixed Chinese", "MMStar choice English", "MMBench choice Chinese"];
    const rows = texts.map((textContent) => ({ textContent, hidden: false }));
    const created = [];
    const element = () => ({ append() {}, addEventListener(_, call) { this.call = call; },
                             dataset: {}, value: "" });
    const box = { ...element(), dataset: { label: "Search", hint: "" },
                  parentElement: { querySelector: () => ({ tBodies: [{ rows }] }) } };
    globalThis.document = {
      querySelectorAll: () => [box],
      createElement: (tag) => { const made = { ...element(), tag }; created.push(made);
                                return made; },
    };
    """
    steps = """
    const input = created.find((element) => element.tag === "input");
    const count = created.find((element) => element.tag === "output");
    const states = [];
    for (const value of ["", "chinese CHOICE", "nothing", "mm"]) {
      input.value = value;
      input.call();
      states.push([rows.map((row) => !row.hidden), count.textContent.trim()]);
    }
    console.log(JSON.stringify(states));
    """
    script = (
        (DOCS / "assets/benchmarks.js").read_text(encoding="utf-8").replace('"use strict";', "")
    )
    done = subprocess.run(["node", "-e", page + script + steps], capture_output=True, check=True)
    assert json.loads(done.stdout) == [
        [[True, True, True], "3 of 3"],
        [[False, False, True], "1 of 3"],
        [[False, False, False], "0 of 3"],
        [[False, True, True], "2 of 3"],
    ]


def test_the_guide_explains_every_word_of_the_table() -> None:
    guide = (DOCS / "benchmarks.md").read_text(encoding="utf-8")
    plain_licenses = {license for license, meaning in LICENSES.items() if not meaning}
    assert set(re.findall(r"^\| `([^`]+)` \|", guide, re.MULTILINE)) == {
        *KINDS,
        *PROOFS,
        *(set(LICENSES) - plain_licenses),
    }
