"""OVO-Bench's prompts, windows, official rules and results, on rows of our own."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import snellen
from snellen import registry
from snellen.analysis.result import Result
from snellen.benchmarks import ovo_bench as module
from snellen.benchmarks.ovo_bench import ovo_bench, seen_until
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError, UsageError
from snellen.media.content import Video
from snellen.metrics import Category, Columns

DIGESTS = [
    "f825899ecacf4e13",
    "c1c5bd94d42d2077",
    "8a941c4cdd3a26e1",
    "c8fc7989ca583a89",
]
ROWS = Path(module.__file__).parent / "rows" / "ovo_bench"


@pytest.fixture(scope="module")
def benchmark() -> Benchmark:
    return ovo_bench(data=ROWS)


def sample_of(benchmark: Benchmark, name: str) -> Sample:
    return next(item for item in map(benchmark.read, benchmark.data) if item.id == name)


# -- what is asked


def test_templates_are_the_authors_byte_for_byte() -> None:
    # sha256 of the four strings of constant.py at c34093f9, each as Python holds it
    texts = (module.BACKWARD_REALTIME, module.REC, module.SSR, module.CRR)
    assert [hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts] == DIGESTS


def test_a_choice_is_asked_with_its_options_in_one_line(benchmark: Benchmark) -> None:
    assert text_of(benchmark, "0") == (
        "\nQuestion: Which letter came first?\nOptions:\nA. C; B. O; C. R; D. V;\n\n"
        "Respond only with the letter corresponding to your chosen option (e.g., A, B, C). \n"
        "Do not include any additional text or explanation in your response.\n"
    )


def test_counts_steps_and_clues_are_asked_by_their_templates(benchmark: Benchmark) -> None:
    assert "question: How many times did they show the letter D?\nProvide" in text_of(
        benchmark, "9_1"
    )
    assert "procedures: \nshow the letter V\nYour task" in text_of(benchmark, "10_2")
    assert "the end of the video.\nWhich letter comes after R?\nDecide" in text_of(
        benchmark, "11_0"
    )


def text_of(benchmark: Benchmark, name: str) -> str:
    request = benchmark.request(sample_of(benchmark, name))
    assert request is not None
    return request.messages[0].text


def test_each_point_is_a_sample_named_as_the_authors_name_its_clip(benchmark: Benchmark) -> None:
    names = [benchmark.read(row).id for row in benchmark.data]
    assert names == [
        *map(str, range(9)),
        *("9_0", "9_1", "9_2"),
        *("10_0", "10_1", "10_2", "10_3"),
        *("11_0", "11_1", "11_2", "11_3", "11_4"),
    ]
    targets = {name: sample_of(benchmark, name).target for name in names}
    assert [targets[name] for name in ("0", "9_2", "10_0", "10_1", "11_1", "11_2")] == [
        *("C", "5", "no", "yes", "no", "yes")
    ]


def test_a_point_sees_up_to_the_next_whole_second_or_exactly_itself() -> None:
    assert [seen_until(time, "ceil") for time in (12.3, 12.0, 0.03)] == [13, 12, 1]
    exact = seen_until(12.3, "exact")
    assert 12.3 < exact < 12.3 + 1e-9


def test_the_window_is_the_points_own(benchmark: Benchmark) -> None:
    (video,) = sample_of(benchmark, "3").media
    assert isinstance(video, Video)
    assert (video.start, video.end) == (0.0, 10)
    assert video.source == ROWS / "src_videos/letters/order.mp4"
    exact = sample_of(ovo_bench(data=ROWS, cut="exact"), "3").media[0]
    assert isinstance(exact, Video) and exact.end == pytest.approx(9.4, abs=1e-9)


def test_chunks_are_whole_videos_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "ovo_bench_new.json").write_bytes((ROWS / "ovo_bench_new.json").read_bytes())
    (tmp_path / "chunked_videos").mkdir()
    chunks = ovo_bench(data=tmp_path, videos="chunks")
    for name in ("3", "11_4"):
        (video,) = sample_of(chunks, name).media
        assert isinstance(video, Video)
        assert video.source == tmp_path / "chunked_videos" / f"{name}.mp4"
        assert video.end is None


def test_tasks_and_groups_can_be_asked_alone() -> None:
    for task, n in (("EPM", 1), ("backward", 3), ("realtime", 6), ("forward", 12), ("REC", 3)):
        benchmark = registry.benchmark(f"ovo-bench:task={task}", data=ROWS)
        assert benchmark.data.facts().rows == n


def test_the_right_option_is_the_numbered_one_whatever_the_answers_words(tmp_path: Path) -> None:
    row = json.loads((ROWS / "ovo_bench_new.json").read_text(encoding="utf-8"))[0]
    path = tmp_path / "ovo_bench_new.json"
    path.write_text(json.dumps([{**row, "answer": "C, as two in three are not worded"}]))
    assert sample_of(ovo_bench(data=path), "0").target == "C"
    path.write_text(json.dumps([{**row, "answer": row["options"][0]}]))
    assert sample_of(ovo_bench(data=path), "0").target == "C"


def test_replies_have_128_tokens_and_videos_the_authors_frames(benchmark: Benchmark) -> None:
    # models/GPT.py#L84-L88 and #L31-L46
    assert (benchmark.max_answer_tokens, benchmark.procedure.frames) == (128, "ovo:uniform64")


def test_an_unknown_task_names_the_question(tmp_path: Path) -> None:
    path = tmp_path / "ovo_bench_new.json"
    path.write_text('[{"id": 7, "task": "XYZ", "video": "a.mp4"}]', encoding="utf-8")
    with pytest.raises(DataError, match="question 7 has the task 'XYZ'"):
        list(ovo_bench(data=path).data)


CHOICE = {"id": 7, "task": "EPM", "video": "a.mp4", "realtime": 4, "options": ["x", "y"]}
STEP = {"id": 7, "task": "SSR", "video": "a.mp4", "all_steps": ["x"]}


@pytest.mark.parametrize("mode", ["offline", "polled", "proactive"])
@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({**CHOICE, "gt": 2}, "question 7 has 2 options, but its `gt`, which counts from 0, is 2"),
        ({**CHOICE, "gt": -1}, "question 7 has 2 options, .* is -1"),
        ({**CHOICE, "gt": "A"}, "question 7 has 2 options, .* is 'A'"),
        ({**STEP, "test_info": [{"realtime": 4, "step": "x", "type": 2}]}, "7 has a point of type"),
        ({**STEP, "test_info": []}, "question 7 has an empty test_info"),
    ],
)
def test_a_question_that_nobody_could_answer_is_named(
    tmp_path: Path, row: dict[str, Any], says: str, mode: str
) -> None:
    path = tmp_path / "ovo_bench_new.json"
    path.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(DataError, match=says):
        registry.benchmark(f"ovo-bench:mode={mode}", data=path).data.facts()


@pytest.mark.parametrize(
    ("options", "idle", "option"),
    [
        *(
            (inputs, inputs, "mode=offline")
            for inputs in ("clock=real", "memory=keep", "speed=2.0", "drop=latest", "scope=video")
        ),
        ("mode=proactive,memory=keep", "memory=keep", "mode=proactive"),
        ("mode=proactive,cut=exact", "cut=exact", "mode=proactive"),
        ("videos=chunks,cut=exact", "cut=exact", "videos=chunks"),
        ("mode=polled,drop=latest", "drop=latest", "clock=logical"),
        ("mode=polled,clock=real,speed=2.0", "speed=2.0", "clock=real"),
    ],
)
def test_an_option_without_effect_is_refused(options: str, idle: str, option: str) -> None:
    with pytest.raises(UsageError, match=f"{idle} has no effect with {option}"):
        registry.benchmark(f"ovo-bench:{options}", data=ROWS)


@pytest.mark.parametrize(
    "options",
    [
        "mode=offline,clock=logical,memory=fork,speed=1.0,drop=none,scope=auto",
        "mode=polled,memory=keep,scope=video,cut=exact,clock=simulated,speed=2.0,drop=latest",
        "mode=polled,clock=real,drop=oldest",
        "mode=proactive,scope=video,clock=simulated,speed=0.5,drop=latest",
    ],
)
def test_options_with_an_effect_and_defaults_are_taken(options: str) -> None:
    assert registry.benchmark(f"ovo-bench:{options}", data=ROWS).name == "ovo-bench"


@pytest.mark.parametrize("speed", ["0", "-1", "inf", "nan"])
def test_a_speed_is_finite_and_above_nought(speed: str) -> None:
    with pytest.raises(UsageError, match="must be finite and above 0"):
        registry.benchmark(f"ovo-bench:mode=polled,clock=simulated,speed={speed}", data=ROWS)


# -- standing questions


def standing(folder: Path, *untils: float) -> Result:
    """A clue at 20 s of videos that end so early, and nobody who says anything."""
    points = [{"realtime": 10, "type": 0}, {"realtime": 22, "type": 1}]
    row = {"task": "CRR", "question": "?", "ask_time": 10, "clue_time": 20, "test_info": points}
    rows = [{**row, "id": number, "video": f"{number}.mp4"} for number in range(len(untils))]
    data, text = folder / "ovo_bench_new.json", folder / "said.json"
    data.write_text(json.dumps(rows), encoding="utf-8")
    replies = {
        str(number): json.dumps({"messages": [], "until": until})
        for number, until in enumerate(untils)
    }
    text.write_text(json.dumps(replies), encoding="utf-8")
    return snellen.score(text, "ovo-bench:mode=proactive", data=data)


def test_where_every_window_lies_behind_the_videos_end_all_slots_are_dropped(
    tmp_path: Path,
) -> None:
    metrics = standing(tmp_path, 15, 18).report.scorings["default"].metrics
    assert (metrics["slots_dropped"].value, metrics["slots_dropped"].n) == (1.0, 2)
    assert metrics["answered_in_span"].value is None


def test_a_dropped_slot_is_counted_beside_others(tmp_path: Path) -> None:
    metrics = standing(tmp_path, 50, 15, 50).report.scorings["default"].metrics
    assert (metrics["slots_dropped"].value, metrics["slots_dropped"].n) == (1 / 3, 3)
    assert (metrics["silent"].value, metrics["silent"].n) == (1.0, 2)


# -- official scoring: utils/OVOBenchScore.py, and the examples of published replies


@pytest.mark.parametrize(
    ("task", "reply", "right", "score"),
    [
        ("EPM", "A, B \n", "B", 1),  # every letter that is named counts
        ("ATR", "(B) A rectangular picture frame;", "A", 1),  # the article
        ("OCR", "(B) SHOW DANCE", "C", 1),  # in a word
        ("OCR", "b", "B", 0),
        ("OCR", "", "B", 0),
        ("REC", "They broke something one time.", "1", 0),
        ("REC", "3 (three), not 2", "3", 0),  # all digits in a row: 32
        ("REC", "1 and 2", "12", 1),
        ("REC", "03", "3", 0),
        ("REC", "3.", "3", 1),
        ("SSR", "Yes. \n", "yes", 1),
        ("SSR", "N", "no", 1),
        ("SSR", "N.", "no", 0),
        ("SSR", "Y", "yes", 1),
        ("SSR", "Y ", "yes", 0),
        ("SSR", "Nothing yet", "no", 1),
        ("SSR", "Not sure", "no", 1),
        ("SSR", "no", "no", 0),
        ("SSR", "NO", "no", 0),
        ("CRR", "No. Yes", "yes", 1),
        ("CRR", "No. Yes", "no", 1),
        ("CRR", "I'm sorry, I can't do that.", "no", 0),
    ],
)
def test_the_official_rule(
    benchmark: Benchmark, task: str, reply: str, right: str, score: float
) -> None:
    choices = ("Yes", "No") if task in ("SSR", "CRR") else tuple("wxyzv" if task != "REC" else "")
    sample = Sample(id="1", question="", choices=choices, target=right, tags={"task": task})
    scoring = benchmark.scorings["official"]
    assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == score


@pytest.mark.parametrize(
    ("task", "reply", "right", "score"),
    [
        ("EPM", "A", "A", 1),
        ("EPM", "A.", "A", 0),
        ("EPM", "A B", "A", 0),
        ("SSR", "Yes", "yes", 1),
        ("SSR", "Yes.", "yes", 0),
        ("SSR", "Y", "yes", 0),  # the exact letters are compared with the list itself
        ("CRR", "", "no", 0),
        ("REC", "3", "3", None),  # the script ends with a TypeError
    ],
)
def test_of_a_list_only_the_letter_or_word_alone_is_right(
    benchmark: Benchmark, task: str, reply: str, right: str, score: float | None
) -> None:
    choices = ("Yes", "No") if task in ("SSR", "CRR") else ("w", "x")
    sample = Sample(id="1", question="", choices=choices, target=right, tags={"task": task})
    scoring = benchmark.scorings["as-lists"]
    assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == score


# -- figures


def columns(scores: dict[str, list[float]], questions: list[str] | None = None) -> Columns:
    tasks = [task for task, of in scores.items() for _ in of]
    every = np.array([score for of in scores.values() for score in of])
    names = tuple(dict.fromkeys(tasks))
    groups = tuple(dict.fromkeys(module.GROUP_OF[task] for task in tasks))
    questions = questions or [str(number) for number in range(len(every))]
    numbers = list(dict.fromkeys(questions))

    def category(values: list[str], of: tuple[str, ...]) -> Category:
        return Category(codes=np.array([of.index(v) for v in values], dtype=np.int32), names=of)

    none = np.empty(len(every), dtype=object)
    return Columns(
        score=every,
        answer=none,
        target=none,
        references=none,
        state=Category(codes=np.zeros(len(every), dtype=np.int32), names=("answered",)),
        tags={
            "task": category(tasks, names),
            "group": category([module.GROUP_OF[task] for task in tasks], groups),
            "question": category(questions, tuple(numbers)),
        },
        cluster=np.arange(len(every), dtype=np.int32),
    )


SOME = {"EPM": [1.0, 0.0, 0.0, 0.0], "HLD": [1.0], "OCR": [1.0, 0.0], "REC": [0.0, 0.0, 1.0]}


def test_the_total_is_the_mean_of_groups_of_tasks_that_are_there() -> None:
    total = module.average(module.TASKS)(columns(SOME))
    assert total.value == pytest.approx(((1 / 4 + 1) / 2 + 1 / 2 + 1 / 3) / 3)
    assert total.n == 10


def test_without_a_group_there_is_no_total_as_the_script_ends() -> None:
    actual = module.average(module.TASKS)(columns({"EPM": [1.0], "OCR": [1.0]}))
    assert actual.value is None and actual.reason is not None and "forward" in actual.reason
    assert module.average(("EPM", "OCR"))(columns({"EPM": [1.0], "OCR": [1.0]})).value == 1.0


def test_questions_can_count_instead_of_points() -> None:
    scores = {"EPM": [1.0], "OCR": [0.0], "REC": [1.0, 1.0, 0.0, 0.0]}
    request = columns(scores, ["1", "2", "3", "3", "3", "4"])
    average = module.average(module.TASKS)
    assert average(request).value == pytest.approx((1 + 0 + 2 / 4) / 3)
    by_question = module.by_question(average)(request)
    assert by_question.value == pytest.approx((1 + 0 + (2 / 3 + 0) / 2) / 3)
    assert by_question.n == 4


def test_counts_alone_have_an_accuracy_and_as_lists_none(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text('{"9_0": "1", "9_1": "1", "9_2": "5"}', encoding="utf-8")
    for spec in ("ovo-bench:task=REC", "ovo-bench:task=forward"):
        report = snellen.score(path, spec, data=ROWS).report
        official = report.scorings["official"].metrics
        assert official["accuracy" if spec.endswith("REC") else "accuracy/REC"].value == 2 / 3
        assert report.scorings["as-lists"].metrics["accuracy"].value is None


def test_balanced_accuracy_is_a_half_for_any_constant_reply() -> None:
    request = columns({"SSR": [1.0, 1.0, 1.0, 0.0]})
    targets = np.array(["yes", "yes", "yes", "no"], dtype=object)
    accuracy = module.balanced_accuracy(replace(request, target=targets))
    assert accuracy.value == 0.5


def test_what_is_said_of_yes_is_of_the_points_that_ask_for_it() -> None:
    request = columns({"EPM": [0.0], "SSR": [1.0, 0.0]})
    targets = np.array(["A", "yes", "yes"], dtype=object)
    request = replace(request, target=targets, answer=np.array(["B", "yes", "no"], dtype=object))
    metrics = ovo_bench(data=ROWS).scorings["official"].metrics
    assert (metrics["recall"](request).value, metrics["recall"](request).n) == (0.5, 2)
    alone = metrics["yes_ratio"](request.tagged("task", ("EPM",)))
    assert alone.value is None and alone.n == 0


# -- published results


def published(folder: Path, **changes: Any) -> Path:
    """A folder of results in two files: a third of the replies right, in the authors' form."""
    rows = json.loads((ROWS / "ovo_bench_new.json").read_text(encoding="utf-8"))
    parts: list[dict[str, list[Any]]] = [{group: [] for group in module.GROUPS} for _ in range(2)]
    for number, row in enumerate(rows):
        group = module.GROUP_OF[row["task"]]
        if group == "forward":
            for point in row["test_info"]:
                point["response"] = changes.get("say", "Yes")
            parts[1][group].append(row)
        else:
            right = "ABCDE"[row["gt"]]
            parts[number % 2][group].append(
                {
                    "id": row["id"],
                    "video": f"data/src_videos/{row['video']}",
                    "task": row["task"],
                    "question": row["question"],
                    "response": changes.get("say", right),
                    "ground_truth": right,
                }
            )
    folder.mkdir(exist_ok=True)
    for number, part in enumerate(parts):
        (folder / f"Model_{number}_offline_1.json").write_text(json.dumps(part), encoding="utf-8")
    return folder


def accuracies(path: Path, scoring: str = "official") -> dict[str, float | None]:
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=[scoring]).report
    return {name: of.value for name, of in report.scorings[scoring].metrics.items()}


def test_the_files_of_a_folder_are_one_models(tmp_path: Path) -> None:
    actual = accuracies(published(tmp_path / "Model"))
    assert (actual["accuracy/backward"], actual["accuracy/realtime"]) == (1.0, 1.0)
    assert (actual["accuracy/SSR"], actual["accuracy/CRR"], actual["accuracy/REC"]) == (
        0.5,
        0.6,
        0.0,
    )
    alone = snellen.score(
        tmp_path / "Model" / "Model_1_offline_1.json", "ovo-bench:task=forward", data=ROWS
    )
    assert alone.report.n == 12


def test_a_list_of_one_text_is_read_as_the_text_and_said(tmp_path: Path) -> None:
    path = published(tmp_path / "Model", say=["Yes. A"])
    result = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"])
    assert any("21 responses are lists of one text" in note for note in result.report.notes)
    assert accuracies(path)["accuracy/CRR"] == 0.6
    assert accuracies(path, "as-lists")["accuracy/CRR"] == 0.0
    assert accuracies(path, "as-lists")["accuracy"] is None


def test_what_is_empty_or_reads_like_an_error_is_counted(tmp_path: Path) -> None:
    empty = snellen.score(published(tmp_path / "a", say=" "), "ovo-bench", data=ROWS)
    assert "21 responses are empty" in empty.report.notes
    failed = snellen.score(published(tmp_path / "b", say="Error: 429"), "ovo-bench", data=ROWS)
    assert any("21 responses look like errors" in note for note in failed.report.notes)
    null = snellen.score(published(tmp_path / "c", say=None), "ovo-bench", data=ROWS)
    assert any("21 rows without a reply scored 0" in note for note in null.report.notes)
    assert null.report.scorings["official"].metrics["accuracy"].value == 0.0


def edited(path: Path, change: Any) -> Path:
    file = path / "Model_0_offline_1.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)
    file.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_questions_without_a_row_are_in_no_mean_unless_that_is_asked_for(tmp_path: Path) -> None:
    path = published(tmp_path / "Model")
    (path / "Model_1_offline_1.json").unlink()
    result = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    assert (result.report.n, metrics["accuracy/backward"].value) == (5, 1.0)
    assert metrics["accuracy"].value is None  # nothing of forward: the script ends
    assert any("1 of ASI, 1 of ATR, 5 of CRR" in note for note in result.report.notes)
    every = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"], missing="wrong")
    assert every.report.n == 21
    assert every.report.scorings["official"].metrics["accuracy/backward"].value == 2 / 3


def test_a_row_under_the_id_of_another_question_in_the_same_words_is_that_ones(
    tmp_path: Path,
) -> None:
    """Whose id was looked up by its words: what it takes for right tells."""
    rows = json.loads((ROWS / "ovo_bench_new.json").read_text(encoding="utf-8"))
    twin = {**rows[0], "id": 100, "gt": 0}
    data = tmp_path / "ovo_bench_new.json"
    data.write_text(json.dumps([*rows, twin]), encoding="utf-8")

    def looked_up(value: Any) -> None:
        first = value["backward"][0]
        value["backward"].insert(0, {**first, "ground_truth": "A", "response": "A"})

    path = edited(published(tmp_path / "Model"), looked_up)
    result = snellen.score(path, "ovo-bench", data=data, scorings=["official"])
    assert result.report.scorings["official"].metrics["accuracy/EPM"].value == 1.0
    assert result.report.n == 22
    assert any("that has the same text: 1 (0 is 100)" in note for note in result.report.notes)
    assert not any("take another answer" in note for note in result.report.notes)


def test_a_row_that_is_there_twice_counts_twice(tmp_path: Path) -> None:
    def double(value: Any) -> None:
        value["backward"].append({**value["backward"][0], "response": "nothing"})

    path = edited(published(tmp_path / "Model"), double)
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report
    assert report.scorings["official"].metrics["accuracy/EPM"].value == 0.5
    assert report.n == 22
    assert any("more than once: 1 (0); every row counts" in note for note in report.notes)


def test_a_row_without_a_question_in_the_annotations_or_another_right_answer_is_said(
    tmp_path: Path,
) -> None:
    def others(value: Any) -> None:
        value["backward"][0]["ground_truth"] = "D"
        value["realtime"].append({**value["realtime"][0], "id": 999})

    path = edited(published(tmp_path / "Model"), others)
    notes = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report.notes
    assert any(
        "1 rows have a different right answer than the annotations" in note for note in notes
    )
    assert any("1 replies" in note and "left out" in note for note in notes)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda actual: actual["backward"][0].pop("response"), "it has no 'response'"),
        (lambda actual: actual["backward"][0].update(response=7), "its response is 7, not text"),
        (lambda actual: actual["backward"][0].update(response=["A", "B"]), "not text, null, or"),
        (
            lambda actual: actual["backward"].__setitem__(0, "torn"),
            "Model_0_offline_1.json, torn: ",
        ),
    ],
)
def test_a_row_that_cannot_be_read_is_counted_and_the_rest_is_scored(
    tmp_path: Path, change: Any, says: str
) -> None:
    path = edited(published(tmp_path / "Model"), change)
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report
    assert (report.n, report.incomplete) == (20, True)
    metrics = report.scorings["official"].metrics
    assert (metrics["accuracy/realtime"].value, metrics["accuracy/CRR"].value) == (1.0, 0.6)
    (note,) = [note for note in report.notes if note.startswith("incomplete: ")]
    assert "rows or points that cannot be read: 1. They are left out of every mean" in note
    assert says in note


def test_one_bad_point_does_not_take_the_other_points_of_its_question(tmp_path: Path) -> None:
    path = published(tmp_path / "Model")
    file = path / "Model_1_offline_1.json"
    rows = json.loads(file.read_text(encoding="utf-8"))
    counts = next(row for row in rows["forward"] if row["task"] == "CRR")
    del counts["test_info"][0]["response"]
    counts["test_info"][1]["response"] = 3
    file.write_text(json.dumps(rows), encoding="utf-8")
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report
    assert report.n == 19
    assert report.scorings["official"].metrics["accuracy/CRR"].n == 3
    assert any("rows or points that cannot be read: 2" in note for note in report.notes)


def test_a_folder_without_one_good_row_is_refused(tmp_path: Path) -> None:
    (tmp_path / "all.json").write_text(
        json.dumps({"backward": [{"id": 1}], "realtime": [], "forward": []}), encoding="utf-8"
    )
    with pytest.raises(DataError, match=r"no row has the format .* it has no 'task'"):
        snellen.score(tmp_path, "ovo-bench", data=ROWS)


@pytest.mark.parametrize("text", ['{"backward": [', '{"score": 3}', ""])
def test_another_file_among_the_results_is_counted_and_the_rest_is_scored(
    tmp_path: Path, text: str
) -> None:
    path = published(tmp_path / "Model")
    (path / "Model_1_offline_1.json").write_text(text, encoding="utf-8")
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report
    assert report.incomplete
    metrics = report.scorings["official"].metrics
    assert metrics["accuracy/backward"].value == 1.0
    assert metrics["accuracy"].value is None  # nothing of forward is there
    (note,) = [note for note in report.notes if note.startswith("incomplete: ")]
    assert "files that are not complete results: 1 of 2 (Model_1_offline_1.json)" in note


def test_a_whole_folder_is_not_incomplete(tmp_path: Path) -> None:
    path = published(tmp_path / "Model")
    assert not snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report.incomplete


def test_points_that_are_there_twice_are_counted_and_the_first_are_named(tmp_path: Path) -> None:
    path = published(tmp_path / "Model")
    for file in sorted(path.glob("*.json")):
        (path / f"copy of {file.name}").write_bytes(file.read_bytes())
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report
    assert report.n == 42
    (note,) = [note for note in report.notes if "more than once" in note]
    assert "more than once: 21 (" in note
    assert "and 16 more); every row counts" in note


@pytest.mark.parametrize(
    "text",
    ["Failed to obtain answer via API.", "[LMMS_EVAL_REQUEST_FAILED after 3 attempts] A"],
)
def test_what_other_toolkits_write_for_no_reply_is_no_reply(tmp_path: Path, text: str) -> None:
    """Both have an "A" in them, which the authors' rule finds."""
    path = published(tmp_path / "Model", say=text)
    report = snellen.score(path, "ovo-bench", data=ROWS, scorings=["official"]).report
    assert report.replies == {"absent": 21}
    assert report.scorings["official"].metrics["accuracy"].value == 0.0
    assert any("21 responses are the text that VLMEvalKit" in n for n in report.notes)


@pytest.mark.parametrize(
    "text",
    [
        "Error: 429",
        "error during inference: out of memory",
        "[ERROR] no frames",
        "API error 500",
        "Traceback (most recent call last):",
        "Failed to call the API after 5 attempts.",
    ],
)
def test_what_reads_like_an_error_is_counted_and_scored_as_any(tmp_path: Path, text: str) -> None:
    report = snellen.score(published(tmp_path / "a", say=text), "ovo-bench", data=ROWS).report
    assert report.replies == {"ok": 21}
    assert any("21 responses look like errors" in note for note in report.notes)


@pytest.mark.parametrize("text", ["A. An error message", "Yes, it failed to open", "No error"])
def test_an_answer_about_errors_is_none(tmp_path: Path, text: str) -> None:
    report = snellen.score(published(tmp_path / "a", say=text), "ovo-bench", data=ROWS).report
    assert not any("look like errors" in note for note in report.notes)
