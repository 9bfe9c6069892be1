"""What an author of a benchmark sees, and what the framework keeps on it."""

import ast
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

import snellen.core
from snellen import registry
from snellen.core import Benchmark, Presentation
from snellen.core.benchmark import vary, with_note
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.transforms.probes import probed

CORE = Path(snellen.core.__file__).parent


def benchmark() -> Benchmark:
    return registry.benchmark("eyechart:n=12,seed=3")


def test_an_author_sees_at_most_twelve_fields() -> None:
    assert len([field for field in fields(Benchmark) if not field.name.startswith("_")]) <= 12


def test_a_replaced_benchmark_keeps_its_options_and_is_not_of_the_catalog() -> None:
    variant = replace(benchmark(), max_answer_tokens=3)
    assert variant.provenance.options == benchmark().provenance.options
    assert variant.provenance.options["seed"] == 3
    assert benchmark().provenance.from_catalog
    assert not variant.provenance.from_catalog


def test_a_varied_benchmark_is_of_the_catalog_still() -> None:
    variant = vary(benchmark(), max_answer_tokens=3, frames="fps:1", together=lambda sample: "all")
    assert variant.provenance.from_catalog
    assert (variant.max_answer_tokens, variant.procedure.frames) == (3, "fps:1")
    assert variant.procedure.together is not None
    assert variant.procedure.temperature == benchmark().procedure.temperature
    assert not vary(replace(variant, asks=9), frames=None).provenance.from_catalog


def test_a_field_that_there_is_not_cannot_be_varied() -> None:
    with pytest.raises(TypeError, match="framez"):
        vary(benchmark(), framez="fps:1")


def test_the_authors_notes_come_before_those_of_the_framework() -> None:
    variant = with_note(replace(benchmark(), presentation=Presentation(notes=("first",))), "second")
    assert variant.notes == ("first", "second")
    *_, last = probed(variant, blind="none").notes
    assert last.startswith("blind: ")
    assert probed(variant, blind="none").notes[:2] == ("first", "second")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"id": 7}, "its id is of type int, but must be text"),
        ({"question": None}, "its question is of type NoneType, but must be text"),
        ({"target": ["A"]}, "its target is of type list, but must be text"),
    ],
)
def test_a_row_whose_cell_is_no_text_cannot_be_asked(fields: dict[str, Any], problem: str) -> None:
    sample = Sample(**{"id": "1", "question": "?", "target": "A", **fields})
    variant = replace(benchmark(), sample=lambda index, row: sample)
    with pytest.raises(DataError, match=f"row 1 of .* cannot be read: TypeError: {problem}"):
        variant.read(next(iter(variant.data)))


def types() -> Iterator[tuple[str, ast.ClassDef]]:
    """The public classes in the files of core."""
    for path in sorted(CORE.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield f"{path.name}: {node.name}", node


def test_there_is_a_line_under_each_public_field() -> None:
    without = []
    for name, node in types():
        for field, below in zip(node.body, [*node.body[1:], None], strict=True):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            match below:
                case ast.Expr(value=ast.Constant(value=str(words))) if words.strip():
                    continue
            if not field.target.id.startswith("_"):
                without.append(f"{name}.{field.target.id}")
    assert not without
    assert len([*types()]) > 20
