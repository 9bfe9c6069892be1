"""The letters that BLINK, EmbSpatial-Bench, and MMSI-Bench find in generated replies, compared with
those of MMSI-Bench's, lmms-eval's, and VLMEvalKit's code (scripts/draw_spatial_letters.py)."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from snellen.benchmarks.blink import blink
from snellen.benchmarks.embspatial_bench import embspatial_bench
from snellen.benchmarks.mmsi_bench import mmsi_bench
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample

LINES = gzip.decompress(Path(__file__).with_name("spatial_letters.jsonl.gz").read_bytes())
ROWS = [json.loads(line) for line in LINES.decode().split("\n") if line]
QUESTION = Sample(id="1", question="Where?", choices=("left", "right", "above", "below"))


@pytest.mark.parametrize(
    ("benchmark", "scoring", "column"),
    [
        (mmsi_bench(), "official", "mmsi"),
        (mmsi_bench(), "lmms-eval", "mmsi lmms-eval"),
        (mmsi_bench(), "vlmevalkit", "settled"),
        (embspatial_bench(), "vlmevalkit", "settled"),
        (embspatial_bench(), "lmms-eval", "first"),
        (blink(), "lmms-eval", "first"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_every_letter_is_that_of_the_other_code(
    benchmark: Benchmark, scoring: str, column: str
) -> None:
    parse = benchmark.scorings[scoring].parse
    differences = [
        row for row in ROWS if parse(Reply(text=row["reply"]), QUESTION).answer != row[column]
    ]
    assert differences == []


def test_the_replies_are_many_and_reach_every_rule() -> None:
    assert len(ROWS) == 720
    parse = embspatial_bench().scorings["vlmevalkit"].parse
    rules = Counter(parse(Reply(text=row["reply"]), QUESTION).rule for row in ROWS)
    assert len(rules) == 7
    assert min(rules.values()) >= 5
