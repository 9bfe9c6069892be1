"""What a scoring needs is missed before a model is asked, not after."""

from pathlib import Path

import pytest

from snellen import api, registry
from snellen.benchmarks.families import olympiad_judge, wups
from snellen.core.model import Generates
from snellen.errors import UsageError
from snellen.models.scripted import Scripted


class Counting:
    """Counts the requests."""

    def __init__(self) -> None:
        self.requests = 0
        self.name = "counting"

    async def generate(self, request: object) -> object:
        self.requests += 1
        return await Scripted("7").generate(request)  # type: ignore[arg-type]


def plan(spec: str, model: Generates, out: Path, *, score: bool = True) -> api.Plan:
    opened = registry.Opened(model=model, name="counting", server="counting", concurrency=4)
    benchmark = registry.benchmark(spec, data=Path(registry.SYNTHETIC))
    return api.Plan(benchmarks=[benchmark], models=[opened], out=out, score=score)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation without data of nltk, and without sympy."""
    nltk = pytest.importorskip("nltk.data")
    monkeypatch.setattr(nltk, "path", [])
    wups.tagger.cache_clear()
    (tmp_path / "sympy.py").write_text("raise ImportError('sympy is not installed')")
    monkeypatch.syspath_prepend(tmp_path)  # where the process that runs sympy looks for it
    olympiad_judge.SYMPY.close()


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("spec", "remedy"),
    [
        ("next-qa:task=open", "`official`.*WordNet.*Run `python -m nltk.downloader wordnet"),
        ("ocrbench-v2", "`official`.*WordNet.*Run `python -m nltk.downloader wordnet`"),
        ("olympiadbench", r"`official`.*sympy is not installed.*Run `pip install .*latex"),
    ],
)
def test_a_run_that_could_not_be_scored_asks_nothing_and_says_what_to_install(
    spec: str, remedy: str, tmp_path: Path
) -> None:
    model = Counting()
    with pytest.raises(UsageError, match=f"(?s){spec.partition(':')[0]}: .*{remedy}.*--no-score"):
        api.run_plan(plan(spec, model, tmp_path))  # type: ignore[arg-type]
    assert model.requests == 0


@pytest.mark.usefixtures("bare")
def test_what_several_benchmarks_need_is_named_at_once(tmp_path: Path) -> None:
    specs = ("next-qa:task=open", "olympiadbench")
    benchmarks = [registry.benchmark(spec, data=Path(registry.SYNTHETIC)) for spec in specs]
    both = api.Plan(benchmarks=benchmarks, models=["baseline/first"], out=tmp_path)
    with pytest.raises(UsageError, match=r"(?s)^next-qa: .*WordNet.*\nolympiadbench: .*sympy"):
        api.run_plan(both)


@pytest.mark.usefixtures("bare")
def test_replies_are_stored_without_what_only_scores_need(tmp_path: Path) -> None:
    model = Counting()
    without_scores = plan("next-qa:task=open", model, tmp_path, score=False)  # type: ignore[arg-type]
    (finished,) = api.run_plan(without_scores)
    assert finished.result is None
    assert model.requests == finished.progress.done > 0
