"""The facts in the benchmarks' files: present, from the vocabularies, and true where code can
check."""

import importlib

import msgspec
import pytest

from snellen import registry
from snellen.registry.facts import KINDS, LANGUAGES, LICENSES, PROOFS, BenchmarkFacts, facts_of
from snellen.registry.outlines import CONSTANTS, outline
from tests.parity.test_page import ROOT

ENTRIES = [entry for entry in registry.entries() if entry.plugin is None]
UNCOUNTED = {"crpe", "mmbench", "mmt-bench", "mtvqa", "ocr-vqa", "omnispatial"}
"""The benchmarks whose authors state no exact number of samples for the default options."""
JUDGED_KINDS = {"chat"}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_bundled_benchmark_states_its_facts_in_the_known_words(
    entry: registry.Entry,
) -> None:
    facts = entry.facts

    assert facts.kind in KINDS
    assert facts.languages
    assert {*facts.languages} <= {*LANGUAGES}
    assert facts.license in LICENSES
    assert facts.proof in PROOFS
    assert (facts.size is None) == (entry.name in UNCOUNTED)
    if facts.kind in JUDGED_KINDS:
        assert facts.needs_judge


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_constant_of_a_benchmark_is_a_literal_that_can_be_read_without_an_import(
    entry: registry.Entry,
) -> None:
    module = importlib.import_module(f"snellen.benchmarks.{entry.function}")
    constants = {name: getattr(module, name) for name in CONSTANTS if hasattr(module, name)}

    file = entry.file()
    assert file is not None
    assert msgspec.json.encode(outline(file).constants, order="sorted") == msgspec.json.encode(
        constants, order="sorted"
    )


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_a_benchmark_needs_a_judge_if_its_headline_scoring_has_one(entry: registry.Entry) -> None:
    headline = next(iter(registry.benchmark(entry.name).scorings.values()))
    assert entry.facts.needs_judge == (headline.judge is not None)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_other_sizes_are_of_options_that_the_benchmark_has(entry: registry.Entry) -> None:
    options = registry.options_of(entry.name)
    for text in entry.facts.other_sizes:
        for name, value in (word.split("=") for word in text.split(",")):
            assert value in options[name]["choices"]
            assert value != options[name]["default"]


def test_sizes_of_drawn_benchmarks_are_counted() -> None:
    for name in ("eyechart", "eyechart-video"):
        entry = registry.entry_of(name)
        assert entry is not None
        assert entry.facts.size == sum(1 for _ in registry.benchmark(name).data)


def test_published_outputs_are_in_a_pack_or_on_the_page_of_parity() -> None:
    page = (ROOT / "docs/parity.md").read_text(encoding="utf-8")
    compared = {
        section.partition("\n")[0].partition(":")[0]
        for section in page.split("\n### ")
        if "| published outputs |" in section
    }
    packs = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests/parity/packs").glob("*.py")
    )
    for entry in ENTRIES:
        if entry.facts.proof == "published outputs":
            assert entry.name in compared or f'"{entry.name}"' in packs, entry.name


@pytest.mark.parametrize(
    ("options", "size"),
    [
        ({}, 3000),
        ({"prompt": "other"}, 3000),
        ({"subtitles": "frames"}, 3000),
        ({"split": "mini"}, 300),
        ({"split": "mini", "prompt": "other"}, 300),
        ({"split": "mini", "lang": "zh"}, None),
        ({"split": "test"}, None),
        ({"split": "val", "lang": "zh"}, 20),
    ],
)
def test_a_size_is_known_only_for_exactly_these_options(
    options: dict[str, str], size: int | None
) -> None:
    facts = BenchmarkFacts(size=3000, other_sizes={"split=mini": 300, "split=val,lang=zh": 20})
    assert facts.size_with(options) == size


@pytest.mark.parametrize(("options", "size"), [("", 2700), (",duration=long", 900)])
def test_subtitles_do_not_change_the_number_of_questions(options: str, size: int) -> None:
    for subtitles in ("off", "all", "frames"):
        benchmark = registry.benchmark(f"video-mme:subtitles={subtitles}{options}")
        assert registry.published_size(benchmark) == size


@pytest.mark.parametrize(
    "constants",
    [
        {},
        {"KIND": 3, "LANGUAGES": "en", "LICENSE": None, "PROOF": [], "SIZE": "many"},
        {"NEEDS_JUDGE": "yes", "SIZE": True, "OTHER_SIZES": [1]},
        {"SIZE": -1, "OTHER_SIZES": {"split=a": 0, "b": "c"}, "LANGUAGES": {"en": 1}},
    ],
)
def test_constants_of_other_types_are_ignored(constants: dict[str, object]) -> None:
    assert facts_of(constants) == BenchmarkFacts()
