"""Runs that go to other tools' formats with their scores, and come back as replies."""

import hashlib
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

import snellen as package
from snellen.core.model import Ranked, Reply, Request
from snellen.errors import Rejected
from snellen.recipes import load
from tests.exchanged import (
    CUT,
    FAILED,
    UNPARSED,
    N,
    by_question,
    choice_rows,
    choice_run,
    conversation_run,
    lines_of,
    report_of,
)
from tests.servers import ReceivedRequest, completion, serving, status
from tests.test_cli.conftest import Snellen
from tests.tiny import Says

READABLE = ["inspect", "every-eval-ever", "lm-eval", "lmms-eval"]
RIGHT = N - N // 3 - 1  # A is right in two of three, of which one says nothing


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_run(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def repeated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return choice_run(tmp_path_factory.mktemp("repeated"), repeats=3)


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return conversation_run(tmp_path_factory.mktemp("turns"))


def rows_of(run: Path) -> Path:
    return next(parent for parent in run.parents if (parent / "mine.jsonl").exists()) / "mine.jsonl"


def exported(snellen: Snellen, run: Path, to: str, *more: str) -> Path:
    done = snellen("export", run, "--to", to, *more, "--json")
    assert done.code == 0, done.err
    return Path(done.json["file"])


def replies_file(path: Path) -> Path:
    """The file that has the replies: of Every Eval Ever the one beside the aggregate."""
    lines = path.with_name(f"{path.stem}_samples.jsonl")
    return lines if lines.exists() else path


def inspect_samples(path: Path) -> dict[tuple[str, int], Any]:
    with zipfile.ZipFile(path) as log:
        samples = [json.loads(log.read(n)) for n in log.namelist() if n.startswith("samples/")]
    return {(sample["id"], sample["epoch"]): sample for sample in samples}


def header(path: Path) -> Any:
    with zipfile.ZipFile(path) as log:
        return json.loads(log.read("header.json"))


# -- there and back


@pytest.mark.parametrize("to", READABLE)
def test_an_exported_run_scores_as_before_and_its_failed_sample_stays_without_a_reply(
    snellen: Snellen, plain: Path, to: str
) -> None:
    file = replies_file(exported(snellen, plain, to))
    again = snellen("score", file, "-b", rows_of(plain), "--json").json

    metric, before = (
        report["scorings"]["default"]["metrics"]["accuracy"] for report in (again, report_of(plain))
    )
    assert (metric["value"], metric["n"]) == (before["value"], before["n"]) == (RIGHT / 11, 11)
    assert again["replies"] == {"ok": 11, "absent": 1}
    assert again["scorings"]["default"]["readings"]["unparsed"] == 1


@pytest.mark.parametrize("to", READABLE)
def test_repeats_come_back_as_repeats(snellen: Snellen, repeated: Path, to: str) -> None:
    file = replies_file(exported(snellen, repeated, to))
    again = snellen("score", file, "-b", rows_of(repeated), "--json").json

    metric = again["scorings"]["default"]["metrics"]["accuracy"]
    assert (metric["value"], metric["n"]) == (RIGHT / 11, 33)
    assert again["replies"]["ok"] == 33
    assert again["repeats"]["default"]["most"] == 3


@pytest.mark.parametrize("to", READABLE)
def test_a_repeat_that_failed_leaves_the_others_where_they_were(
    snellen: Snellen, tmp_path: Path, to: str
) -> None:
    texts = iter([*"AB", None, *"BA"] + ["B"] * 7)

    def say(request: Request) -> Reply:
        text = next(texts)
        if text is None:
            raise Rejected("no")
        return Reply(text=text, stop="stop")

    rows = choice_rows(tmp_path)
    done = package.evaluate(
        str(rows), Says(say), limit=4, repeats=3, temperature=0.5, concurrency=1, out="runs"
    )
    assert done.run is not None
    file = replies_file(exported(snellen, done.run, to))
    again = package.score(file, str(rows)).report

    metric = again.scorings["default"].metrics["accuracy"]
    assert (metric.value, metric.n) == (done.headline.value, 11)
    values = [
        {name: (of.value, of.n) for name, of in report.repeats["default"].metrics.items()}
        for report in (again, done.report)
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("to", READABLE)
def test_a_failed_sample_has_neither_score_nor_answer_in_any_file(
    snellen: Snellen, plain: Path, to: str
) -> None:
    name = f"q{FAILED}"
    path = exported(snellen, plain, to)
    if to == "inspect":
        sample = inspect_samples(path)[name, 1]
        assert sample["output"]["choices"] == []
        assert sample["error"]["message"] == "the server cut the connection"
        assert "scores" not in sample
        return
    lines = [line for line in lines_of(replies_file(path)) if name in line.values()]
    if to == "every-eval-ever":
        assert lines == []
        return
    if to == "lm-eval":
        [results] = Path().glob("results_*.json")
        [config] = json.loads(results.read_bytes())["configs"].values()
        assert config["metadata"]["errors"] == {name: {"0": "the server cut the connection"}}
        assert len(lines_of(path)) == N - 1
        assert name not in [line["doc"]["id"] for line in lines_of(path)]
        return
    [line] = lines
    assert line["errors"] == {"0": "the server cut the connection"}
    assert line["filtered_resps"] is None
    assert "score" not in line
    assert line["default"]["score"] is None


@pytest.mark.parametrize("to", [*READABLE, "hf-results"])
def test_a_failed_sample_that_counts_as_wrong_has_no_score_of_its_own(
    snellen: Snellen, plain: Path, tmp_path: Path, to: str
) -> None:
    run = shutil.copytree(plain, tmp_path / "runs" / plain.name)
    shutil.copy(rows_of(plain), tmp_path / "mine.jsonl")
    assert snellen("score", run, "--missing", "wrong").code == 0
    path = exported(snellen, run, to, *(HUB if to == "hf-results" else ()))

    name, policy = f"q{FAILED}", "--missing wrong: questions without a reply count as wrong"
    if to == "hf-results":
        assert policy in yaml.safe_load(path.read_text())[0]["notes"]
    elif to == "inspect":
        assert "scores" not in inspect_samples(path)[name, 1]
        assert policy in header(path)["eval"]["metadata"]["notes"]
    elif to == "lmms-eval":
        [line] = [line for line in lines_of(path) if line["id"] == name]
        assert line["default"]["score"] is None
        assert line["default"]["readings"][0]["score"] is None
    else:
        lines = lines_of(replies_file(path))
        ids = [line["doc"]["id"] if to == "lm-eval" else line["sample_id"] for line in lines]
        assert ids and name not in ids


def test_a_turn_before_a_failed_one_keeps_its_score(snellen: Snellen, tmp_path: Path) -> None:
    turns = [
        {"question": "What is it?", "answer": "a cat"},
        {"question": "And this?", "answer": "a dog"},
    ]
    Path("turns.jsonl").write_text(json.dumps({"id": "cat", "turns": turns}) + "\n")

    def say(request: ReceivedRequest) -> Any:
        return completion("a cat") if len(request.json["messages"]) == 1 else status(400, "no")

    with serving(say) as server:
        done = package.evaluate("turns.jsonl", "openai/m", base_url=server.url, out="runs")
    assert done.run is not None
    log = inspect_samples(exported(snellen, done.run, "inspect"))["cat", 1]
    lines = lines_of(replies_file(exported(snellen, done.run, "every-eval-ever")))
    note = "results without a score have no line"

    assert log["error"] and log["output"]["choices"] == []
    assert [name for name in log["scores"] if name.startswith("default")] == ["default, cat#1"]
    assert {line["sample_id"] for line in lines} == {"cat#1"}
    assert {line["answer_attribution"][0]["source"] for line in lines} == {"messages[1].content"}
    notes = snellen("export", done.run, "--to", "every-eval-ever", "--json").json["notes"]
    assert any(note in text and "answered" not in text for text in notes)


def test_a_single_reply_among_repeats_comes_back_from_lmms_eval(
    snellen: Snellen, tmp_path: Path
) -> None:
    rows = str(choice_rows(tmp_path))
    model = Says(lambda request: Reply(text="A", stop="stop"), "org/maker")
    options: Any = {"temperature": 0.5, "concurrency": 1, "out": "runs"}
    package.evaluate(rows, model, limit=5, **options)
    done = package.evaluate(rows, model, repeats=3, max_requests=2, **options)
    assert done.run is not None

    again = package.score(exported(snellen, done.run, "lmms-eval"), rows).report

    assert again.replies["ok"] == done.report.replies["ok"] == 7


def test_every_export_says_what_failed_and_what_it_cannot_hold(
    snellen: Snellen, plain: Path
) -> None:
    notes = {to: snellen("export", plain, "--to", to, "--json").json["notes"] for to in READABLE}

    for to in READABLE:
        assert any("1 of 12 have no reply" in note for note in notes[to])
    assert any("the log has their errors" in note for note in notes["inspect"])
    assert any("have no line" in note and "1 no-reply" in note for note in notes["every-eval-ever"])


# -- what each holds


def test_an_inspect_log_has_scores_output_usage_and_the_runs_facts(
    snellen: Snellen, plain: Path
) -> None:
    path = exported(snellen, plain, "inspect")
    samples, log = inspect_samples(path), header(path)

    first = samples["q1", 1]
    assert first["input"] == "Question number 1: which letter?"
    assert (first["choices"], first["target"]) == (["left 1", "right 1"], "A")
    assert first["output"]["completion"] == "The answer is A"
    assert first["output"]["usage"] == {
        **{"input_tokens": 101, "output_tokens": 7, "total_tokens": 108},
        **{"input_tokens_cache_read": 10, "reasoning_tokens": 2},
    }
    assert first["output"]["time"] == 1.5
    assert first["scores"]["default"]["value"] == 1.0
    assert first["scores"]["default"]["answer"] == "A"
    assert samples["q0", 1]["messages"][-1]["content"][0]["reasoning"] == "left or right?"
    assert samples[f"q{CUT}", 1]["output"]["choices"][0]["stop_reason"] == "max_tokens"
    unparsed = samples[f"q{UNPARSED}", 1]["scores"]["default"]
    assert (unparsed["value"], unparsed["answer"]) == (0.0, None)
    assert unparsed["metadata"]["state"] == "unparsed"
    [scores] = log["results"]["scores"][:1]
    assert scores["metrics"]["accuracy"]["value"] == RIGHT / 11
    assert (log["results"]["total_samples"], log["results"]["completed_samples"]) == (12, 11)
    assert log["stats"]["model_usage"]["org/maker"]["output_tokens"] == 7 * 11


@pytest.mark.parametrize("to", READABLE)
def test_versions_digests_counts_and_intervals_travel_with_it(
    snellen: Snellen, plain: Path, to: str
) -> None:
    path, report = exported(snellen, plain, to), report_of(plain)
    manifest = json.loads((plain / "manifest.json").read_bytes())
    if to == "inspect":
        facts = header(path)["eval"]["metadata"]
        metric = header(path)["results"]["scores"][0]["metrics"]["accuracy"]["metadata"]
        interval, stderr = metric["ci95"], metric["stderr"]
    elif to == "every-eval-ever":
        document = json.loads(path.read_bytes())
        texts = document["eval_library"]["additional_details"]
        facts = {
            name: json.loads(text) if text[0] in "{[" else text for name, text in texts.items()
        }
        [figure] = [
            result
            for result in document["evaluation_results"]
            if result["evaluation_result_id"] == "default/accuracy"
        ]
        uncertainty = figure["score_details"]["uncertainty"]
        interval = [uncertainty["confidence_interval"][end] for end in ("lower", "upper")]
        stderr = uncertainty["standard_error"]["value"]
    else:
        pattern = "results_*.json" if to == "lm-eval" else "*_results.json"
        [results] = path.parent.glob(pattern)
        document = json.loads(results.read_bytes())
        [config] = document["configs"].values()
        [values] = document["results"].values()
        facts = config["metadata"]
        interval = facts["metrics"][0]["ci95"]
        stderr = values["accuracy_stderr,default"]
        assert values["accuracy,default"] == RIGHT / 11

    stored = report["scorings"]["default"]["metrics"]["accuracy"]
    assert interval == stored["ci95"]
    assert stderr == stored["stderr"]
    assert facts["snellen"] == package.__version__
    assert facts["identity"] == plain.name
    assert facts["data"]["digest"] == manifest["identity"]["data"]["digest"]
    assert facts["scorings"]["default"]["version"] == report["scorings"]["default"]["version"]
    assert facts["replies"] == {"ok": 10, "truncated": 1, "failed": 1}
    assert facts["readings"]["default"]["unparsed"] == 1


def test_every_eval_evers_lines_are_named_and_hashed_by_the_aggregate(
    snellen: Snellen, plain: Path
) -> None:
    path = exported(snellen, plain, "every-eval-ever")
    document = json.loads(path.read_bytes())
    details = document["detailed_evaluation_results"]

    raw = Path(details["file_path"]).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == details["checksum"]
    assert details["total_rows"] == len(raw.splitlines())
    line = by_question([json.loads(line) for line in raw.splitlines()], "sample_id")["q1"]
    assert line["output"] == {"raw": ["The answer is A"], "reasoning_trace": None}
    assert line["evaluation"] == {"score": 1.0, "is_correct": True, "num_turns": None}
    assert line["performance"]["latency_ms"] == 1500
    # The schema: SHA-256 of input.raw + input.reference.
    text = "Question number 1: which letter?A"
    assert line["sample_hash"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_conversation_goes_out_whole_with_a_score_for_each_turn(
    snellen: Snellen, conversation: Path
) -> None:
    log = inspect_samples(exported(snellen, conversation, "inspect"))["cat", 1]
    lines = lines_of(replies_file(exported(snellen, conversation, "every-eval-ever")))
    flat = lines_of(exported(snellen, conversation, "lmms-eval"))

    assert [message["role"] for message in log["messages"]] == ["user", "assistant"] * 3
    assert [message["content"] for message in log["messages"][1::2]] == [
        *("a cat", "a horse", "the first"),
    ]
    scores = {name: score["value"] for name, score in log["scores"].items()}
    assert scores["default, cat#1"] == 1.0
    assert scores["default, cat#2"] == 0.0
    multi = [line for line in lines if line["evaluation_result_id"].startswith("default/")]
    assert [(line["sample_id"], line["evaluation"]["score"]) for line in multi] == [
        *(("cat#1", 1.0), ("cat#2", 0.0)),
    ]
    assert all(line["interaction_type"] == "multi_turn" for line in lines)
    assert [line["input"]["reference"] for line in multi] == [["a cat"], ["a dog"]]
    assert [line["answer_attribution"][0]["turn_idx"] for line in multi] == [1, 3]
    assert [message["content"] for message in lines[0]["messages"]][1::2] == [
        *("a cat", "a horse", "the first"),
    ]
    assert [(line["id"], line["filtered_resps"]) for line in flat] == [
        *(("cat#1", "a cat"), ("cat#2", "a horse"), ("cat#3", "the first")),
    ]


def test_a_reply_that_no_judge_has_seen_has_no_score(snellen: Snellen, tmp_path: Path) -> None:
    (tmp_path / "words.jsonl").write_text(
        "".join(
            json.dumps({"id": f"w{n}", "question": f"Word {n}?", "answer": f"word{n}"}) + "\n"
            for n in range(N)
        )
    )
    with serving(completion("perhaps a word")) as server:
        done = package.evaluate(
            "words.jsonl", "openai/m", task="vqa", base_url=server.url, out="runs"
        )
    assert done.run is not None
    before = inspect_samples(exported(snellen, done.run, "inspect", "-o", "before.eval"))
    with serving(completion("Score: 8/10\nReason: near.")) as server:
        words = ("--judge", "openai/j", "--base-url", server.url)
        assert snellen("judge", done.run, *words).code == 0
    path = exported(snellen, done.run, "inspect", "-o", "after.eval")

    [judged] = [name for name in header(path)["results"]["scores"] if name["name"] == "judged"]
    assert all("judged" not in sample["scores"] for sample in before.values())
    assert all(s["metadata"]["unscored"]["judged"] == "not-judged" for s in before.values())
    assert inspect_samples(path)["w1", 1]["scores"]["judged"]["value"] == pytest.approx(0.8)
    assert judged["scored_samples"] == N
    assert header(path)["eval"]["metadata"]["judges"] == ["openai/j"]


def test_a_run_by_a_recipe_says_so_and_carries_the_benchmarks_proof(
    snellen: Snellen, tmp_path: Path
) -> None:
    words = ("-b", "pope", "--data", "synthetic", "--recipe", "qwen2-vl", "--limit", "2")
    with serving(completion("Yes")) as server:
        run = snellen("run", *words, "-m", "openai/m", "--base-url", server.url, "--json").json
    facts = header(exported(snellen, Path(run["run"]), "inspect"))["eval"]["metadata"]

    assert facts["recipe"]["name"] == "qwen2-vl"
    assert facts["recipe"]["evidence"] == load("qwen2-vl").ask("pope").evidence
    assert "published outputs of LLaVA-1.5-13B" in facts["proof"]
    assert facts["identity_fields"]["recipe"]["prompt"]


# -- the Hub


HUB = ("--hub-dataset", "org/set", "--hub-task", "main")


def test_an_entry_for_the_hub_has_the_headline_and_how_it_was_measured(
    snellen: Snellen, plain: Path
) -> None:
    path = exported(
        snellen, plain, "hf-results", *HUB, "--hub-revision", "abc", "--source-url", "https://x.org"
    )
    [entry] = yaml.safe_load(path.read_text())

    assert entry["dataset"] == {"id": "org/set", "task_id": "main", "revision": "abc"}
    assert entry["value"] == RIGHT / 11
    assert entry["source"] == {"url": "https://x.org", "name": "Snellen"}
    for words in ("n 11", "failed 1", "unparsed 1", "incomplete", f"identity {plain.name}"):
        assert words in entry["notes"].split("; ")


def test_an_eval_yaml_has_the_fields_that_the_hub_requires(snellen: Snellen, plain: Path) -> None:
    done = snellen("export", plain, "--to", "hf-benchmark", "--hub-task", "main", "--json").json
    document = yaml.safe_load(Path(done["file"]).read_text())

    assert document.keys() == {"name", "description", "evaluation_framework", "tasks"}
    assert document["tasks"] == [{"id": "main"}]
    assert any("accepts only frameworks of its own list" in note for note in done["notes"])


# -- what is refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "hf-results"), "task with --hub-dataset ORGANIZATION/NAME and --hub-task"),
        (("--to", "inspect", *HUB), "are only for --to hf-results"),
        (("--to", "inspect", "-o", "x.json"), "unknown extension. Use .eval"),
        (("--to", "lm-eval", "-o", "x.jsonl"), "writes several files. Pass a folder with -o"),
    ],
)
def test_an_export_that_cannot_be_is_refused(
    snellen: Snellen, plain: Path, words: tuple[str, ...], message: str
) -> None:
    wrong = snellen("export", plain, *words)

    assert wrong.code == 2
    assert message in wrong.err


@pytest.mark.parametrize("to", ["every-eval-ever", "hf-results"])
def test_formats_of_scores_refuse_a_run_that_was_not_scored(
    snellen: Snellen, plain: Path, tmp_path: Path, to: str
) -> None:
    run = shutil.copytree(plain, tmp_path / "runs" / plain.name)
    (run / "report.json").unlink()

    wrong = snellen("export", run, "--to", to, *(HUB if to == "hf-results" else ()))

    assert wrong.code == 2
    assert "has not been scored" in wrong.err


def test_a_headline_without_a_value_is_not_published(snellen: Snellen, tmp_path: Path) -> None:
    def refuse(request: Request) -> Reply:
        raise Rejected("no")

    done = package.evaluate(str(choice_rows(tmp_path)), Says(refuse), out="runs")
    assert done.run is not None

    wrong = snellen("export", done.run, "--to", "hf-results", *HUB)

    assert wrong.code == 2
    assert "has no value to publish" in wrong.err


def test_a_run_of_rankings_is_refused_where_only_texts_fit(
    snellen: Snellen, tmp_path: Path
) -> None:
    class Ranker:
        name = "ranker"

        async def rank(self, request: Request) -> list[Ranked]:
            return [Ranked(-1.0, 1) for _ in request.choices]

    done = package.evaluate("seed-bench:ask=rank", Ranker(), data="synthetic", limit=2, out="runs")
    assert done.run is not None

    wrong = snellen("export", done.run, "--to", "inspect")

    assert wrong.code == 2
    assert "its replies are not texts (rank)" in wrong.err
