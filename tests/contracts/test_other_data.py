"""What every benchmark does with the data of another benchmark, or with data of no benchmark."""

from pathlib import Path

import pytest

from snellen import registry
from snellen.data import verification
from snellen.data.mismatches import is_mismatch
from snellen.errors import SnellenError
from snellen.run import check, chosen, select

BENCHMARKS = [entry.name for entry in registry.entries()]
ROWS = Path(registry.__file__).parents[1] / "benchmarks" / "rows"
OF_OTHERS = {
    "vlmevalkit": "MMStar.tsv",
    "mathvision": "test.jsonl",
    "scienceqa": "problems.json",
    "seed-bench": "SEED-Bench.json",
    "gqa": "testdev_balanced_questions.json",
    "vqav2": "v2_OpenEnded_mscoco_val2014_questions.json",
}
OF_NOBODY = {
    "numbers.jsonl": '[1, 2]\n"x"\n',
    "numbers.json": "[1, 2, 3]",
    "text.json": '"x"',
    "object.json": '{"a": {"b": 1}}',
    "lists.json": '[["a"], ["b"]]',
    "fields.jsonl": '{"x": 1}\n',
    "columns.tsv": "a\tb\n1\t2\n",
    "header.tsv": "index\tquestion\n",
    "list.json": "[]",
    "nothing.json": "{}",
}


def read(name: str, data: Path) -> list[str]:
    """Read rows of a benchmark as a run does, up to the first requests. Returns the notes on the
    data."""
    benchmark = registry.benchmark(name, data=data)
    facts = benchmark.data.facts()
    check(benchmark)
    for limit, sample in ((5, None), (None, 2)):
        selection = select(benchmark, facts.rows, seed=0, limit=limit, sample=sample)
        for row in chosen(benchmark, selection):
            benchmark.request(benchmark.read(row))
    files = benchmark.interop.files
    note = None if files is None else verification.mismatch(files)
    return [note] if note else []


@pytest.mark.parametrize("name", BENCHMARKS)
def test_data_without_the_fields_of_the_benchmark_are_refused(name: str, tmp_path: Path) -> None:
    for file, text in OF_NOBODY.items():
        (tmp_path / file).write_text(text)
        with pytest.raises(SnellenError):
            read(name, tmp_path / file)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_data_of_another_benchmark_are_refused_or_noted(name: str) -> None:
    for other, file in OF_OTHERS.items():
        if other == name:
            continue
        try:
            notes = read(name, ROWS / other.replace("-", "_") / file)
        except SnellenError:
            continue
        assert any(map(is_mismatch, notes)), (name, file)
