"""A Benchmark object is never scored by the rules of a catalog benchmark that shares its name."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import api, registry
from snellen.core.benchmark import Benchmark
from snellen.core.sample import Sample
from snellen.core.scoring import Reading, Scoring
from snellen.data import Drawn
from snellen.errors import CatalogError, UsageError
from snellen.media.content import Message, user
from snellen.metrics import mean
from snellen.report import export
from snellen.transforms.probes import probed
from snellen.transforms.shots import with_shots
from tests.test_cli.conftest import Snellen
from tests.test_cli.conftest import snellen as snellen_fixture
from tests.viewers import viewing

command_line = snellen_fixture
N = 40
NAMES = ("pope", "POPE", "vstarbench", "VStarBench", "V-Star-Bench", "blink", "BLINK", "ok_vqa")
"""Names and aliases of the catalog, in several spellings."""


def own(name: str, **fields: Any) -> Benchmark:
    """Questions that POPE's rules score 100 % and the object's own rules 25 %."""
    rows = [{"id": f"s{n}", "right": n % 4 == 0} for n in range(N)]

    def sample(_: int, row: Any) -> Sample:
        return Sample(
            id=row["id"],
            question=f"question {row['id']}",
            choices=("yes", "no"),
            target="no",
            data={"image": row["id"], "right": row["right"]},
        )

    return Benchmark(
        name=name,
        asks=1,
        data=Drawn(name, lambda: iter(rows)),
        sample=sample,
        prompt=lambda sample, history: (user(sample.question),),
        scorings={
            "official": Scoring(
                version=1,
                source="ours",
                parse=lambda reply, sample: Reading(answer=reply.text, rule="all"),
                score=lambda reading, sample: float(
                    bool(sample.data["right"]) == (reading.answer == "no")
                ),
                metrics={"accuracy": mean},
            )
        },
        **fields,
    )


def no(messages: Sequence[Message]) -> str:
    return "no"


def second(messages: Sequence[Message]) -> str:
    """Says yes to every fifth question: to 2 of those where no scores, to 6 of the others."""
    return "yes" if int(messages[-1].text.split("s")[-1]) % 5 == 0 else "no"


def folder_of(result: snellen.api.Finished | Any) -> Path:
    assert result.run is not None
    return Path(result.run)


def stored(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in ("report.json", "scores.jsonl")}


def manifest(run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((run / "manifest.json").read_text())
    return content


@pytest.mark.parametrize("name", NAMES)
def test_an_object_with_a_name_of_the_catalog_keeps_its_score(
    command_line: Snellen, tmp_path: Path, name: str
) -> None:
    run = folder_of(snellen.evaluate(own(name), no, out=tmp_path / "runs"))
    before = stored(run)
    done = command_line("score", run)
    assert done.code == 2
    assert f"{name!r} was a Python object" in done.err
    assert "snellen.score(run, benchmark)" in done.err
    assert stored(run) == before
    assert snellen.load_run(run).headline.value == 0.25
    assert snellen.score(run, own(name)).headline.value == 0.25


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs of an object called `pope`."""
    first = folder_of(snellen.evaluate(own("pope"), no, out=tmp_path / "runs"))
    return first, folder_of(snellen.evaluate(own("pope"), second, out=tmp_path / "runs"))


@pytest.mark.parametrize(
    "words",
    [
        "score {0}",
        "score {0} --scoring official",
        "score {0} --explain s1",
        "judge {0} --judge baseline/first",
        "compare {0} {1}",
        *(f"export {{0}} --to {kind}" for kind in export.FORMATS),
        "power pope --data synthetic --from {0} {1}",
        "contamination pope --data synthetic --corpus {2} --run {0}",
    ],
)
def test_every_command_refuses_to_score_an_object_by_other_rules(
    command_line: Snellen, tmp_path: Path, runs: tuple[Path, Path], words: str
) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("question s1\n")
    before = stored(runs[0])
    done = command_line(*words.format(*runs, corpus).split())
    assert done.code == 2, done
    assert "Python object" in done.err
    assert "Traceback" not in done.err
    assert stored(runs[0]) == before


@pytest.mark.parametrize("form", ["terminal", "md", "html", "json", "csv", "latex"])
def test_a_report_shows_what_is_stored(
    command_line: Snellen, runs: tuple[Path, Path], form: str
) -> None:
    done = command_line("report", runs[0], "--format", form)
    assert done.code == 0
    assert ("0.25" if form in ("json", "csv") else "25.00") in done.out.replace("\\", "")
    assert "mean_f1" not in done.out  # POPE's metric


def test_a_report_tells_an_object_from_the_benchmark_of_that_name(
    command_line: Snellen, runs: tuple[Path, Path]
) -> None:
    assert "pope (Python object)" in command_line("report", runs[0]).out


def test_the_viewer_shows_what_is_stored_and_no_rows_of_the_catalog(
    runs: tuple[Path, Path],
) -> None:
    with viewing(runs[0].parents[2]) as viewer:
        page = viewer.get("/").body.decode()
    assert "pope (Python object)" in page
    assert "25.00 %" in page


def test_python_takes_the_object_again(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    benchmark = own("pope")
    assert snellen.score(runs[0], benchmark).headline.value == 0.25
    readings = api.explain(runs[0], "s1", benchmark)[0].readings
    assert [reading.score for reading in readings] == [0.0]
    compared = snellen.compare(*runs, benchmark=benchmark).comparisons.comparisons[0]
    assert compared.metrics["accuracy"].difference.value == pytest.approx(4 / N)
    path, _ = export.export(runs[0], "csv", tmp_path / "out.csv", benchmark=benchmark)
    assert path.read_text().count('"no","ok"') == N
    power = api.power(benchmark, runs=runs, difference=0.1)
    assert power.observed is not None


def test_the_catalogs_benchmark_is_not_taken_for_the_object(runs: tuple[Path, Path]) -> None:
    pope = replace(registry.benchmark("pope", data=Path("synthetic")), asks=1)
    with pytest.raises(UsageError, match="Pass the object that the run was made with"):
        snellen.score(runs[0], registry.benchmark("pope", data=Path("synthetic")))
    assert not pope.provenance.from_catalog


def test_an_object_and_the_catalogs_benchmark_never_share_a_folder(tmp_path: Path) -> None:
    benchmark = registry.benchmark("eyechart:n=12")
    changed = replace(
        benchmark, prompt=lambda sample, history: (user(*sample.media, "What is it?"),)
    )
    theirs = folder_of(snellen.evaluate(benchmark, "baseline/first", out=tmp_path))
    ours = folder_of(snellen.evaluate(changed, "baseline/first", out=tmp_path))
    assert theirs != ours
    assert manifest(theirs)["benchmark_object"] is False
    assert "benchmark_object" not in manifest(theirs)["identity"]
    assert manifest(ours)["benchmark_object"] is True
    assert manifest(ours)["identity"]["benchmark_object"] is True


def test_an_object_made_from_a_file_of_rows_does_not_share_its_folder(tmp_path: Path) -> None:
    benchmark = registry.benchmark(str(rows_in(tmp_path)), task="vqa")
    changed = replace(benchmark, prompt=lambda sample, history: (user("Say something."),))
    theirs = folder_of(snellen.evaluate(benchmark, no, out=tmp_path / "runs"))
    ours = folder_of(snellen.evaluate(changed, no, out=tmp_path / "runs"))
    assert theirs != ours
    assert snellen.score(theirs).report.n == 3
    with pytest.raises(CatalogError, match="was a Python object"):
        snellen.score(ours)


def test_an_object_with_a_name_of_its_own_is_known_by_its_source(tmp_path: Path) -> None:
    run = folder_of(snellen.evaluate(own("nobody-elses"), no, out=tmp_path))
    assert manifest(run)["benchmark_object"] is True
    assert "benchmark_object" not in manifest(run)["identity"]
    source = manifest(run)["benchmark_source"]
    assert source == {"kind": "object", "digest": manifest(run)["identity"]["source"]}
    assert folder_of(snellen.evaluate(own("nobody-elses"), no, out=tmp_path)) == run


def rows_in(folder: Path) -> Path:
    path = folder / "words.jsonl"
    rows = [{"id": f"q{n}", "question": f"What is {n}?", "answer": "no"} for n in range(3)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def test_a_benchmark_of_the_catalog_is_scored_by_its_folder_whatever_was_asked(
    command_line: Snellen, tmp_path: Path
) -> None:
    eyechart = registry.benchmark("eyechart:n=12")
    shown = with_shots(registry.benchmark("eyechart:n=12,seed=1"), 1, source=eyechart)
    for benchmark in (
        eyechart,
        probed(eyechart, blind="none"),
        shown,
        registry.benchmark(str(rows_in(tmp_path)), task="vqa"),
    ):
        result = snellen.evaluate(benchmark, no, out=tmp_path / "runs")
        run = folder_of(result)
        before = stored(run)["scores.jsonl"]
        assert command_line("score", run).code == 0
        assert stored(run)["scores.jsonl"] == before
        assert snellen.load_run(run).headline == result.headline


def test_a_run_of_the_catalog_scored_by_an_object_says_so(tmp_path: Path) -> None:
    benchmark = registry.benchmark("eyechart:n=12")
    run = folder_of(snellen.evaluate(benchmark, "baseline/first", out=tmp_path))
    result = snellen.score(
        run, replace(benchmark, presentation=replace(benchmark.presentation, notes=("mine",)))
    )
    assert any("scored by a Benchmark object" in note for note in result.report.notes)
    again = snellen.score(run)
    assert not any("scored by a Benchmark object" in note for note in again.report.notes)


@pytest.mark.parametrize("name", ["POPE", "vstarbench", "VStarBench", "BLINK"])
def test_an_older_manifest_with_a_name_that_the_catalog_never_stores_is_refused(
    tmp_path: Path, name: str
) -> None:
    run = folder_of(snellen.evaluate(own(name), no, out=tmp_path))
    older = {key: value for key, value in manifest(run).items() if key != "benchmark_object"}
    (run / "manifest.json").write_text(json.dumps(older))
    before = stored(run)
    with pytest.raises(CatalogError, match=r"no benchmark .*score\(run, benchmark\)"):
        snellen.score(run)
    assert stored(run) == before


def test_replies_of_an_object_are_taken_only_for_the_same_requests(
    command_line: Snellen, tmp_path: Path, runs: tuple[Path, Path]
) -> None:
    """`recorded/RUN` and `--reuse` go by the request; the score is that of what is asked now."""
    result = snellen.evaluate(own("pope"), f"recorded/{runs[0]}", out=tmp_path / "again")
    assert (result.headline.value, result.report.replies) == (0.25, {"ok": N})
    file = rows_in(tmp_path)
    other = command_line("run", "-b", file, "-m", f"recorded/{runs[0]}", "--json", "--task", "vqa")
    assert other.json["replies"] == {"failed": 3}


def test_a_model_that_writes_its_own_prompts_is_not_told_the_catalogs_name(tmp_path: Path) -> None:
    """A VLMEvalKit model would ask POPE's question its own way."""
    model = tmp_path / "kit.py"
    model.write_text(
        "class Kit:\n"
        "    def use_custom_prompt(self, dataset):\n"
        "        return dataset == 'POPE'\n"
        "    def build_prompt(self, line, dataset=None):\n"
        "        return [dict(type='text', value='my words')]\n"
        "    def generate(self, message, dataset=None):\n"
        "        return f'{dataset}'\n"
    )
    run = folder_of(snellen.evaluate(own("pope"), f"vlmevalkit:{model}:Kit", out=tmp_path / "runs"))
    assert manifest(run)["identity"]["called"] == "pope"
    assert "prompt" not in manifest(run)["identity"]
