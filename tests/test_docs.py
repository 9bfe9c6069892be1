"""The guides' code, taken out of them and run."""

import importlib.util
import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import msgspec
import orjson
import pytest

from snellen.analysis.result import Result
from snellen.api import evaluate
from snellen.core.answer import AnswerKind
from snellen.core.model import Reply, Request
from snellen.core.profile import Profile, read_profile
from snellen.core.sample import Sample
from snellen.errors import Overloaded, Rejected
from snellen.media.content import Image, ToolCall, user
from snellen.media.drawing import Canvas
from snellen.models.hf_settings import HfSettings
from snellen.store import ScoreRow
from snellen.testing import check_benchmark, check_metric, check_model
from snellen.tools import Shown, Toolbox, tool_of
from tests import tiny
from tests.servers import Answer, serving
from tests.test_cli.conftest import Snellen
from tests.test_cli.conftest import snellen as snellen_fixture

snellen = snellen_fixture

DOCS = Path(__file__).parents[1] / "docs"


def code(guide: str, block: int = 0) -> str:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / guide).read_text(), re.DOTALL)
    return str(blocks[block])


def module(guide: str, name: str, folder: Path, block: int = 0) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(code(guide, block))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    guide_module = importlib.util.module_from_spec(spec)
    sys.modules[name] = guide_module
    spec.loader.exec_module(guide_module)
    return guide_module


def test_the_guide_lists_the_fields_of_every_class_of_answers() -> None:
    guide = (DOCS / "add-a-benchmark.md").read_text()
    rows = re.findall(r"^ *\| `(\w+Answers?)` \| (.*) \|$", guide, re.MULTILINE)

    assert {name: set(re.findall(r"`(\w+)`", fields)) for name, fields in rows} == {
        kind.__name__: set(kind.__struct_fields__) - {"medium"}
        for kind in AnswerKind.__subclasses__()
    }


IMPORTS = re.findall(r"`(from snellen.*? import .*?)`", (DOCS / "reference/index.md").read_text())


def test_the_table_of_imports_is_read() -> None:
    assert len(IMPORTS) > 10


@pytest.mark.parametrize("statement", IMPORTS)
def test_each_import_of_the_table_works(statement: str) -> None:
    if "snellen.training" in statement:
        pytest.importorskip("transformers")
    exec(compile(statement, "docs/reference/index.md", "exec"), {})


def test_the_benchmark_of_the_guide_keeps_to_the_contract(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images/1.png").write_bytes(Canvas(8, 8).png())
    rows = [
        {
            "id": str(i),
            "image": "images/1.png",
            "question": f"What is {i}?",
            "choices": ["a cat", "a dog", "a horse", "a cow"],
            "answer": "ABCD"[i % 4],
        }
        for i in range(20)
    ]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    report = check_benchmark(module("add-a-benchmark.md", "my_bench", tmp_path).my_bench(tmp_path))

    assert report.passed, report.rows
    assert len(code("add-a-benchmark.md").splitlines()) <= 60


def test_the_metric_of_the_guide_keeps_to_the_contract_and_is_reported(tmp_path: Path) -> None:
    metric = module("add-a-metric.md", "balanced", tmp_path).balanced_accuracy
    check_metric(metric)
    official = tiny.benchmark().scorings["official"]
    official = replace(official, metrics={"balanced_accuracy": metric})
    benchmark = tiny.benchmark(4, scorings={"official": official})
    done = tiny.run(tmp_path / "runs", tiny.Says(lambda request: "yes"), benchmark)

    assert done.result is not None
    # All four are right, and have one target.
    assert (done.result.headline.value, done.result.headline.better) == (1.0, "higher")


def test_the_back_end_of_the_guide_answers_and_names_errors(tmp_path: Path) -> None:
    acme = module("add-a-backend.md", "acme", tmp_path)
    body = {"text": "A", "end": "done", "tokens_in": 3, "tokens_out": 1}
    request = Request(messages=(user(Image(Canvas(8, 8).png()), "What is this?"),))
    with serving(Answer(body=orjson.dumps(body))) as server:
        model = acme.open_model("m", profile=Profile(base_url=server.url), api_key="a-secret-key")
        assert check_model(model, request).text == "A"
        assert server.requests[0].headers["x-key"] == "a-secret-key"
    for status, error in ((429, Overloaded), (500, Overloaded), (400, Rejected), (401, Rejected)):
        with serving(Answer(status, b"no")) as server:
            model = acme.open_model("m", profile=Profile(base_url=server.url), api_key=None)
            with pytest.raises(error, match=str(status)):
                check_model(model, request)
    assert len(code("add-a-backend.md").splitlines()) <= 90


def test_the_tool_of_the_guide_measures_what_it_says(tmp_path: Path) -> None:
    brightness = module("tools.md", "own_tools", tmp_path).brightness
    canvas = Canvas(100, 100, (0, 0, 0))
    canvas.pixels[:, 50:] = 200
    picture = Image(canvas.png())
    arguments = '{"box": [250, 0, 750, 1000]}'
    calls = [ToolCall(id="1", name="brightness", arguments=arguments)]
    calls.append(ToolCall(id="2", name="brightness", arguments='{"box": [500, 0, 250, 1000]}'))

    results, _ = Toolbox([tool_of(brightness, version="1")]).results(
        Reply(tool_calls=tuple(calls)), Shown(pictures=(picture,))
    )

    assert [result.parts for result in results] == [
        ("100.0",),
        ("Error: the box must be [left, top, right, bottom], from 0 to 1000.",),
    ]


def test_the_agent_of_the_guide_hands_over_its_steps(tmp_path: Path) -> None:
    agent = module("tools.md", "own_agent", tmp_path, block=1).Halves()

    result = evaluate("eyechart:tasks=letters,n=2", agent, out=tmp_path / "runs")

    tools = result.report.tools
    assert tools is not None and tools.steps is not None and tools.tokens is not None
    assert (tools.steps.value, tools.tokens.value) == (3, 30)


def test_the_training_loop_of_the_guide_measures_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    loop = module("training-loop.md", "my_loop", tmp_path)
    calls: list[tuple[int, Result]] = []
    for step in (100, 200, 200):
        loop.measure(
            lambda message: "", step, lambda result, at: calls.append((at, result)), limit=3
        )

    assert [step for step, _ in calls] == [100, 200, 200]
    assert [result.report.replies for _, result in calls] == [{"empty": 3}] * 3
    assert len({result.run for _, result in calls}) == 2
    # Every new reply is empty, and told of once: those of the third call are the second's.
    assert capsys.readouterr().out.count(" empty\n") == 6


def test_the_training_loop_of_the_guide_measures_rows_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    row = '{"id": "first", "question": "Which?", "A": "x", "B": "y", "answer": "A"}'
    Path("mine.jsonl").write_text(row)
    loop = module("training-loop.md", "my_loop", tmp_path)
    results: list[Result] = []
    loop.measure(
        lambda message: "", 1, lambda result, step: results.append(result), ("mine.jsonl",)
    )

    assert [result.report.replies for result in results] == [{"empty": 1}]
    assert "first empty\n" in capsys.readouterr().out


def test_the_training_loop_of_the_guide_passes_each_benchmark_its_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    loop = module("training-loop.md", "my_loop", tmp_path)
    results: list[Result] = []
    loop.measure(
        lambda message: "no",
        1,
        lambda result, step: results.append(result),
        ("eyechart", "pope"),
        limit=5,
        data={"pope": "synthetic"},
    )

    assert [result.report.benchmark for result in results] == ["eyechart", "pope"]
    assert [result.counts.n for result in results] == [5, 5]


def test_the_comparison_of_the_guide_says_which_is_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    module("comparisons.md", "my_comparison", tmp_path)
    assert "baseline/reader is 76.33 pp above baseline/first" in capsys.readouterr().out


def test_the_benchmark_file_of_the_guide_goes_where_the_guide_says(
    snellen: Snellen, tmp_path: Path
) -> None:
    Path("sums.py").write_text(code("plugins.md"))
    Path("model.py").write_text("def answer(messages):\n    return '4'\n")
    rows = Path("rows/sums")
    rows.mkdir(parents=True)
    (rows / "sums.jsonl").write_text(
        '{"id": "a", "sum": "2 + 2", "right": 4}\n{"id": "b", "sum": "1 + 2", "right": 3}\n'
    )
    guide = (DOCS / "plugins.md").read_text()
    [block, later] = re.findall(r"```bash\n(.*?)```", guide, re.DOTALL)
    for line in block.splitlines():
        done = snellen(*line.removeprefix("snellen ").split())
        assert done.code == 0, done.err
    run = next(Path("runs/sums").glob("*/*/manifest.json")).parent
    score = later.splitlines()[0].removeprefix("snellen ").replace("runs/sums/...", f"{run}")
    done = snellen(*score.split(), "--json")
    assert done.code == 0, done.err
    assert done.json["scorings"]["official"]["metrics"]["accuracy"]["value"] == 0.5


def test_the_judge_of_the_guide_reads_its_verdicts_strictly(tmp_path: Path) -> None:
    judge = module("judges.md", "my_judge", tmp_path).judge
    sample = Sample(id="1", question="What is it?", target="a cat")
    (message,) = judge.prompt(sample, Reply(text="a kitten"))
    assert message.text.startswith("Is this the same as 'a cat'? 'a kitten'")
    verdicts = {words: judge.parse(words, sample).answer for words in ("same", "other", "Same.")}
    assert verdicts == {"same": "a cat", "other": "other", "Same.": None}


def test_the_profiles_of_the_guide_to_services_are_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", (DOCS / "models.md").read_text(), re.DOTALL)
    for block in blocks:
        path = tmp_path / "model.toml"
        path.write_text(block)
        assert read_profile(path) != Profile()
    assert len(blocks) == 6


def test_the_profile_of_the_guide_to_hf_shows_every_setting(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", (DOCS / "hf.md").read_text(), re.DOTALL)
    path = tmp_path / "model.toml"
    path.write_text(block)
    extra = read_profile(path).extra
    assert list(extra) and set(extra) == set(HfSettings.__struct_fields__)
    assert msgspec.to_builtins(msgspec.convert(extra, HfSettings)) == extra


def test_the_samples_of_the_guide_to_the_run_folder_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    guide = module("run-folder.md", "run_folder_guide", tmp_path)
    wrong = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert wrong and all(name != reply for _, name, reply in (line[:3] for line in wrong))
    assert len(guide.table) == 20
    columns = re.findall(r"^\| `(\w+)`", (DOCS / "run-folder.md").read_text(), re.MULTILINE)
    columns += ["version"]
    assert set(ScoreRow.__struct_fields__) == set(columns) & set(ScoreRow.__struct_fields__)
