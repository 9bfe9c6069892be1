"""PerceptionTest, NExT-QA, Video-Holmes, ActivityNet-QA, MMBench-Video: files, quirks, averages.

Their rules are compared with the authors' code in tests/parity/test_video_answers.py.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.core import Published
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError, UsageError
from snellen.media.content import Video

SYNTHETIC = Path(registry.SYNTHETIC)
QUESTION = {"id": 0, "question": "?", "options": ["a", "b", "c"], "answer_id": 1}


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def answer(spec: str, scoring: str, text: str, choices: tuple[str, ...] = tuple("vwxyz")) -> object:
    rule = registry.benchmark(spec, data=SYNTHETIC).scorings[scoring]
    reading = rule.parse(Reply(text=text), Sample(id="1", question="?", choices=choices))
    return "drawn" if reading.undecided else reading.answer


def write(path: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("spec", "scoring", "text", "expected"),
    [
        ("perceptiontest", "lmms-eval", "A dog, so B", "A"),
        ("perceptiontest", "lmms-eval", "b", None),
        ("perceptiontest", "lmms-eval", "D", "D"),  # no choice, and so wrong
        ("next-qa", "lmms-eval", "DNA or B", "B"),
        ("next-qa", "lmms-eval", "the FBI knows", "drawn"),
        ("next-qa", "lmms-eval", "the FBI agentA knows", "A"),  # at the end of a word
        ("next-qa", "lmms-eval", "(A) or (B), not C", "B"),
        ("video-holmes", "official", "The answer is B", "B"),
        ("video-holmes", "official", "A better answer is B", "A"),
        ("video-holmes", "official", "<answer>B</answer> A", "B"),
        ("video-holmes", "official", "<answer>Answer: B</answer>", "A"),
        ("video-holmes", "vlmevalkit", "B", None),
        ("video-holmes", "lmms-eval", "<answer>B</answer>", "drawn"),
    ],
)
def test_letters_are_read_with_each_rules_quirks(
    spec: str, scoring: str, text: str, expected: object
) -> None:
    assert answer(spec, scoring, text) == expected


def test_perceptiontest_hides_the_end_of_a_video_that_gives_the_answer_away(tmp_path: Path) -> None:
    entry = {"metadata": {"frame_rate": 30.0}, "mc_question": [QUESTION]}
    write(tmp_path / "mc_question_valid.json", {"v1": entry, "v2": entry})
    with pytest.raises(DataError, match=r"has no cut_frame_mapping_valid\.json.*cut=false"):
        samples(registry.benchmark("perceptiontest", data=tmp_path))
    write(tmp_path / "cut_frame_mapping_valid.json", {"v1": 45, "v2": -1})
    ends = [
        video_of(sample).end
        for sample in samples(registry.benchmark("perceptiontest", data=tmp_path))
    ]
    assert ends == [1.5, None]
    uncut = registry.benchmark("perceptiontest:cut=false", data=tmp_path)
    assert [video_of(sample).end for sample in samples(uncut)] == [None, None]


def video_of(sample: Sample) -> Video:
    (video,) = sample.media
    assert isinstance(video, Video)
    return video


def test_perceptiontests_test_answers_are_hidden(tmp_path: Path) -> None:
    hidden = {name: value for name, value in QUESTION.items() if name != "answer_id"}
    entry = {"metadata": {"frame_rate": 30.0}, "mc_question": [hidden]}
    write(tmp_path / "mc_question_test.json", {"v1": entry})
    (sample,) = samples(registry.benchmark("perceptiontest:split=test", data=tmp_path))
    assert sample.hidden
    assert sample.id == "v1|0"


def test_next_qa_reads_the_authors_predictions_and_merges_before_and_after(tmp_path: Path) -> None:
    head = "video,frame_count,width,height,question,answer,qid,type,a0,a1,a2,a3,a4"
    lines = [
        f"7,9,9,9,why,{right},{number},{kind},a,b,c,d,e"
        for number, (right, kind) in enumerate([(0, "CW"), (1, "TP"), (2, "TN"), (4, "DC")])
    ]
    write(tmp_path / "val.csv", "\n".join([head, *lines, ""]))
    benchmark = registry.benchmark("next-qa:split=val", data=tmp_path)
    rows = {f"7_{n}": {"prediction": p, "answer": 0} for n, p in enumerate((0, 1, 3, 4))}
    result = snellen.score(write(tmp_path / "HGA.json", rows), benchmark)
    metrics = result.report.scorings["lmms-eval"].metrics
    assert metrics["accuracy"].value == 0.75
    assert metrics["accuracy/TN"].value == 0.5
    assert metrics["accuracy/temporal"].n == 2
    wrong = write(tmp_path / "wrong.json", {"7_0": {"prediction": 5, "answer": 0}})
    with pytest.raises(DataError, match=r"prediction of 7_0 is '5'\. It must be the number"):
        snellen.score(wrong, benchmark)


def test_next_qa_finds_videos_in_the_folders_of_vidor() -> None:
    sample, *_ = samples(registry.benchmark("next-qa", data=SYNTHETIC))
    assert video_of(sample).label == "0101/1.mp4"


def test_video_holmes_reads_the_authors_results(tmp_path: Path) -> None:
    rows = [
        {"Question ID": f"letters_{number}", "Predicr Answer": letter}
        for number, letter in enumerate(["A", "WRONG", "C", "D", "A", "B", "C", "E"])
    ]
    path = write(tmp_path / "Results-model.json", rows)
    result = snellen.score(path, registry.benchmark("video-holmes", data=SYNTHETIC))
    assert result.report.scorings["official"].metrics["accuracy"].value == 6 / 8


@pytest.mark.parametrize(
    ("spec", "file", "content", "message"),
    [
        ("video-holmes", "test_Video-Holmes.json",
         [{"video ID": "v", "Question ID": "1", "Question Type": "SR", "Question": "?",
           "Options": {"A": "a", "C": "c"}, "Answer": "A"}], "letters of its choices are A, C"),
        ("next-qa", "test.csv",
         "video,question,answer,qid,type,a0,a1,a2,a3,a4\n7,why,0,0,XY,a,b,c,d,e\n",
         "'XY' is no type of NExT-QA's questions"),
        ("mmbench-video", "MMBench-Video.tsv",
         "index\tvideo\tquestion\tanswer\tdimensions\n0\tv\t?\tx\t['Smell']\n",
         "'Smell' is no dimension of MMBench-Video"),
        ("mmbench-video", "MMBench-Video.tsv",
         "index\tvideo\tquestion\tanswer\tdimensions\n0\tv\t?\tx\tOCR\n", "not a Python literal"),
        ("tir-bench", "TIR-Bench.json",
         [{"id": 1, "task": "ocr", "image_1": None, "prompt": "?", "answer": "A"}],
         "the field image_1 is empty"),
        ("tir-bench", "TIR-Bench.json",
         [{"id": 1, "task": "ocr", "image_1": "a.jpg", "prompt": "?", "answer": None}],
         "the field answer is empty"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_an_error(
    tmp_path: Path, spec: str, file: str, content: object, message: str
) -> None:
    write(tmp_path / file, content)
    with pytest.raises(DataError, match=message):
        samples(registry.benchmark(spec, data=tmp_path))


def test_activitynet_qa_needs_an_answer_to_each_question(tmp_path: Path) -> None:
    question = {"video_name": "v", "question": "what is it", "question_id": "v_1"}
    write(tmp_path / "test_q.json", [question])
    write(tmp_path / "test_a.json", [])
    with pytest.raises(DataError, match=r"test_a\.json has no answer to v_1"):
        samples(registry.benchmark("activitynet-qa", data=tmp_path))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"a": 1}, "test_a.json is not a list of objects with a question_id"),
        ([{"answer": "red"}], "test_a.json is not a list of objects with a question_id"),
        (
            [{"question_id": "1", "answer": "red", "type": -1}],
            "-1 is no type of ActivityNet-QA's questions",
        ),
    ],
)
def test_a_wrong_file_of_activitynet_qas_answers_is_named(
    tmp_path: Path, answers: object, message: str
) -> None:
    write(tmp_path / "test_q.json", [{"question_id": "1", "question": "?", "video_name": "v"}])
    write(tmp_path / "test_a.json", answers)
    with pytest.raises(DataError, match=message):
        samples(registry.benchmark("activitynet-qa", data=tmp_path))


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("next-qa", "map_vid_vidorID.json"),
        ("next-qa:task=open", "add_reference_answer_test.json"),
    ],
)
def test_a_wrong_file_beside_next_qas_questions_is_named(
    tmp_path: Path, spec: str, name: str
) -> None:
    choices = ("", "") if "open" in spec else (",a0,a1,a2,a3,a4", ",a,b,c,d,e")
    rows = f"video,question,answer,qid,type{choices[0]}\n7,why,0,0,CW{choices[1]}\n"
    write(tmp_path / "test.csv", rows)
    write(tmp_path / name, ["7"])
    with pytest.raises(DataError, match=f"{name} is not a JSON object"):
        samples(registry.benchmark(spec, data=tmp_path))


def test_an_open_question_of_cg_bench_without_an_answer_has_no_target(tmp_path: Path) -> None:
    row = {
        **{"qid": 1, "video_uid": "v", "question": "?", "answer": None, "right_answer": "A"},
        **{"choices": ["a", "b"], "clue_intervals": [[0, 1]]},
    }
    write(tmp_path / "cgbench_mini.json", [row])
    (sample,) = samples(registry.benchmark("cg-bench:task=open", data=tmp_path))
    assert sample.target is None


def test_activitynet_qa_leaves_verdicts_without_yes_or_no_out_of_its_accuracy(
    tmp_path: Path,
) -> None:
    verdicts = ["{'pred': 'yes', 'score': 4.8}", "{'pred': 'no', 'score': 1}",
                "{'pred': 'maybe', 'score': 3}", "I do not know."]  # fmt: skip
    kept = judged("activitynet-qa", "video-chatgpt", verdicts)
    assert kept["accuracy"] == 0.5
    assert kept["score"] == pytest.approx(8 / 3)  # 4.8 is 4


@pytest.mark.parametrize(
    "verdict",
    [
        "{'pred': b'yes', 'score': 5}",
        "{'pred': 'yes', 'score': 1e999}",
        f"{{'pred': 'yes', 'score': 1{'0' * 400}}}",
        f"{{'pred': 'yes', 'score': 0x{'f' * 5000}}}",
    ],
)
def test_an_activitynet_qa_verdict_of_another_form_leaves_the_reply_unjudged(verdict: str) -> None:
    good = "{'pred': 'no', 'score': 1}"
    kept = judged("activitynet-qa", "video-chatgpt", [verdict, good])
    assert kept["accuracy"] == 0.0
    assert kept["score"] == 1.0


def test_activitynet_qas_question_is_bare_or_as_in_lmms_eval() -> None:
    benchmark = registry.benchmark("activitynet-qa:prompt=lmms-eval", data=SYNTHETIC)
    sample, *_ = samples(benchmark)
    (message,) = benchmark.prompt(sample, ())
    assert message.content[-1] == (
        "What appears on the screen? Answer the question using a single word or phrase."
    )


def test_mmbench_videos_ratings_are_averaged_over_capabilities() -> None:
    kept = judged("mmbench-video", "official", ["3", "1", "2", "4"])
    assert kept["score"] == 2.0
    assert kept["score/HL"] == 1.0  # of OCR and hallucination
    assert kept["score/FP-S"] == 1.5


def judged(spec: str, scoring: str, verdicts: list[str]) -> dict[str, float | None]:
    """The metrics of the first bundled questions, with these verdicts of a judge."""
    benchmark = registry.benchmark(spec, data=SYNTHETIC)
    names = [sample.id for sample in samples(benchmark)][: len(verdicts)]
    published = Published(
        replies=dict.fromkeys(names, "x"),
        verdicts={scoring: {name: [words] for name, words in zip(names, verdicts, strict=True)}},
    )
    interop = replace(benchmark.interop, layout=lambda _: published)
    result = snellen.score(
        Path(__file__), replace(benchmark, interop=interop, check=None), scorings=[scoring],
        missing="excluded",
    )  # fmt: skip
    metrics = result.report.scorings[scoring].metrics
    return {name: metric.value for name, metric in metrics.items()}


def test_mlvus_free_answers_are_graded_in_two_respects() -> None:
    verdicts = ["{'score_accuracy': 4.5, 'score_relevance': 5, 'total_score': 9.5}", "5 and 5"]
    kept = judged("mlvu:task=sub_scene", "official", verdicts)
    assert kept == {"total": 9.5, "accuracy": 4.5, "relevance": 5.0}  # the second is not judged


def test_mlvus_questions_with_choices_leave_the_others_out() -> None:
    ids = [sample.id for sample in samples(registry.benchmark("mlvu", data=SYNTHETIC))]
    assert {name.partition("|")[0] for name in ids} == {"count", "order"}


def test_mlvus_free_answers_have_the_authors_prompt() -> None:
    benchmark = registry.benchmark("mlvu:task=summary", data=SYNTHETIC)
    (sample,) = samples(benchmark)
    (message,) = benchmark.prompt(sample, ())
    assert message.content[-1] == (
        "Carefully watch this video and pay attention to every detail. Based on your observations, "
        "answer the given questions.\nPlease summarize this video."
    )
    with pytest.raises(UsageError, match="task=summary has no prompt 'lmms-eval'"):
        registry.benchmark("mlvu:task=summary,prompt=lmms-eval", data=SYNTHETIC)
