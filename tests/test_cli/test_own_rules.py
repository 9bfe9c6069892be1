"""The command line with a benchmark file whose parse function raises an exception."""

from pathlib import Path

from tests.test_cli.conftest import Snellen


def test_other_runs_of_the_plan_are_scored(tmp_path: Path, snellen: Snellen) -> None:
    rules = """
from snellen.core import Benchmark, Reading, Sample, Scoring, user
from snellen.data import Drawn
from snellen.metrics import mean

def parse(reply, sample):
    assert reply.text == "A", "no letter"
    return Reading(answer=reply.text, rule="whole")

def mine(data=None) -> Benchmark:
    return Benchmark(
        name="mine", asks=1, data=Drawn("mine", lambda: ({"id": f"{n}"} for n in range(3))),
        sample=lambda index, row: Sample(id=row["id"], question="?", target="A"),
        prompt=lambda sample, history: (user(sample.question),),
        scorings={"official": Scoring(
            version=1, source="ours", parse=parse,
            score=lambda reading, sample: float(reading.answer == "A"), metrics={"accuracy": mean},
        )},
    )
"""
    (tmp_path / "mine.py").write_text(rules)
    (tmp_path / "model.py").write_text(
        "def good(messages):\n    return 'A'\n\ndef bad(messages):\n    return 'B'\n"
    )

    done = snellen(
        *("run", "-b", "mine.py", "-m", "python:model.py:bad", "-m", "python:model.py:good")
    )

    assert done.code == 2
    assert "Traceback" not in done.err
    assert "failed with AssertionError: no letter (mine.py:7, in parse)" in done.err
    assert len([*Path("runs").glob("mine/*/*/replies.jsonl")]) == 2
    (report,) = Path("runs").glob("mine/*/*/report.json")
    (tmp_path / "mine.py").write_text(
        rules.replace('assert reply.text == "A", "no letter"', "pass")
    )
    (failed,) = [path for path in Path("runs").glob("mine/*/*") if path != report.parent]

    scored = snellen("score", str(failed), "-b", "mine.py", "--json")

    assert scored.json["replies"] == {"ok": 3}
