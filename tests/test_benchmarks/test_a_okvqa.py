"""A-OKVQA: its rows in every form, its prompts, and each rule of its scorings."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import a_okvqa as file
from snellen.benchmarks.a_okvqa import Preset, Setting, Split, a_okvqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import total_score
from snellen.errors import DataError, UsageError
from snellen.media import images
from snellen.media.content import Image
from snellen.report.export import export
from snellen.scoring import Report, score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "a_okvqa"
ROW: dict[str, Any] = {
    "split": "val",
    "image_id": 900321,
    "question_id": "q1",
    "question": "Why the helmet?",
    "choices": ["fashion", "safety", "cold", "disguise"],
    "correct_choice_idx": 1,
    "direct_answers": ["safety"] * 3 + ["head"] * 2 + ["the law"] + ["Fun", "job", "care", "rule"],
    "difficult_direct_answer": False,
    "rationales": ["a", "b", "c"],
}


def written(folder: Path, *rows: dict[str, Any], name: str = "aokvqa_v1p0_val.json") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return folder


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.sample(row.position, row) for row in benchmark.data]


def score(
    scoring: str, reply: str, folder: Path, setting: Setting = "da", **fields: Any
) -> tuple[object, float | None]:
    benchmark = a_okvqa(setting=setting, data=written(folder, {**ROW, **fields}))
    (sample,) = samples(benchmark)
    actual = benchmark.scorings[scoring]
    reading = actual.parse(Reply(text=reply), sample)
    return reading.answer, total_score(actual.score(reading, sample))


def report(
    folder: Path, replies: dict[str, str], setting: Setting, *rows: dict[str, Any]
) -> Report:
    return score_predictions(
        a_okvqa(setting=setting, data=written(folder, *rows)), replies, where="here"
    )


def accuracy(report: Report, scoring: str) -> tuple[float | None, int]:
    metric = report.scorings[scoring].metrics["accuracy"]
    return metric.value, metric.n


# -- rows


def test_a_sample_of_direct_answers_has_people_and_no_choices() -> None:
    sample = samples(a_okvqa(data=BUNDLED))[1]
    assert sample.question == "Which meal comes on such a table in the morning?"
    assert (sample.choices, sample.target, len(sample.references)) == ((), None, 10)
    assert sample.tags == {"difficult_direct_answer": "easy"}


def test_a_sample_of_multiple_choice_has_a_letter_and_no_people() -> None:
    sample = samples(a_okvqa(setting="mc", data=BUNDLED))[1]
    assert sample.choices == ("tea", "dinner", "breakfast", "supper")
    assert (sample.target, sample.references) == ("C", ())


def test_pictures_are_cocos_of_2017_and_open() -> None:
    actual = samples(a_okvqa(data=BUNDLED))
    for sample in actual:
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert images.load(picture).width == 96
    (first,) = actual[0].media
    assert isinstance(first, Image)
    assert first.label == "val2017/000000900017.jpg"


def test_questions_about_one_picture_are_a_cluster() -> None:
    benchmark = a_okvqa(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in samples(benchmark)}) == 4


@pytest.mark.parametrize("setting", ["da", "mc"])
def test_answers_to_test_are_hidden(setting: Setting) -> None:
    actual = samples(a_okvqa(setting=setting, split="test", data=BUNDLED))
    assert len(actual) == 12
    assert all(sample.hidden for sample in actual)


@pytest.mark.parametrize("folder", ["", "aokvqa/", "annotations/"])
def test_the_file_is_found_where_it_is_usually_put(tmp_path: Path, folder: str) -> None:
    written(tmp_path, ROW, name=f"{folder}aokvqa_v1p0_val.json")
    (sample,) = samples(a_okvqa(data=tmp_path))
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / "val2017/000000900321.jpg"


@pytest.mark.parametrize("folder", ["", "coco/", "coco/images/", "images/"])
def test_pictures_are_found_where_they_are_usually_put(tmp_path: Path, folder: str) -> None:
    path = tmp_path / folder / "val2017/000000900321.jpg"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    (sample,) = samples(a_okvqa(data=written(tmp_path, ROW)))
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert picture.source == path


@pytest.mark.parametrize("answers", ["direct_answers", "gt_answers", "answer"])
def test_laviss_list_is_read_with_its_own_pictures_and_names(tmp_path: Path, answers: str) -> None:
    row = {key: ROW[key] for key in ("question_id", "question", "choices", "correct_choice_idx")}
    row |= {"image": "val2017/000000900321.jpg", answers: ROW["direct_answers"]}
    folder = written(tmp_path, row)
    (da,), (mc,) = (samples(a_okvqa(setting=item, data=folder)) for item in ("da", "mc"))
    assert da.references == tuple(ROW["direct_answers"])
    assert (mc.target, mc.choices) == ("B", tuple(ROW["choices"]))
    (picture,) = da.media
    assert isinstance(picture, Image)
    assert picture.source == tmp_path / "val2017/000000900321.jpg"
    assert da.tags == {"difficult_direct_answer": ""}


def test_a_list_of_answers_may_be_a_text_as_in_parquet(tmp_path: Path) -> None:
    text = str(ROW["direct_answers"])
    (sample,) = samples(a_okvqa(data=written(tmp_path, {**ROW, "direct_answers": text})))
    assert sample.references == tuple(ROW["direct_answers"])


def test_parquet_has_its_pictures_in_the_rows(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    fields = {key: value for key, value in ROW.items() if key not in ("image_id", "split")}
    image = {"bytes": (BUNDLED / "val2017/000000900017.jpg").read_bytes(), "path": None}
    row = {**fields, "image": image, "direct_answers": str(ROW["direct_answers"])}
    path = tmp_path / "validation-00000-of-00001-b2bd0de231b6326a.parquet"
    parquet.write_table(arrow.Table.from_pylist([row]), path)
    (sample,) = samples(a_okvqa(data=tmp_path))
    assert sample.references == tuple(ROW["direct_answers"])
    (picture,) = sample.media
    assert isinstance(picture, Image)
    assert images.load(picture).width == 96


SHEET = "index\tquestion\tA\tB\tC\tD\tanswer\timage\n7\tWhy?\tfun\tsafety\tcold\tlaw\tB\t{}\n"


def test_vlmevalkits_sheet_is_read_for_multiple_choice(tmp_path: Path) -> None:
    (tmp_path / "a-okvqa.tsv").write_text(SHEET.format("AAAA" * 30))
    (sample,) = samples(a_okvqa(setting="mc", data=tmp_path))
    assert (sample.id, sample.target) == ("7", "B")
    assert sample.choices == ("fun", "safety", "cold", "law")
    assert len(sample.media) == 1


def test_vlmevalkits_sheet_has_no_direct_answers(tmp_path: Path) -> None:
    path = tmp_path / "a-okvqa.tsv"
    path.write_text(SHEET.format("AAAA" * 30))
    benchmark = a_okvqa(data=path)
    with pytest.raises(DataError, match="only choices"):
        benchmark.read(next(iter(benchmark.data)))


def test_nothing_is_opened_before_the_first_row(tmp_path: Path) -> None:
    benchmark = a_okvqa(data=tmp_path / "absent")
    with pytest.raises(DataError, match=r"aokvqa_v1p0_val\.json"):
        next(iter(benchmark.data))


# -- prompts

MEAL = "Which meal comes on such a table in the morning?"


@pytest.mark.parametrize(
    ("setting", "preset", "number", "text"),
    [
        # haotian-liu/LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/Evaluation.md#L13-L29
        ("da", "llava", 1, f"{MEAL}\nAnswer the question using a single word or phrase."),
        (
            "mc",
            "llava",
            1,
            f"{MEAL}\nA. tea\nB. dinner\nC. breakfast\nD. supper\n"
            "Answer with the option's letter from the given choices directly.",
        ),
        (
            "mc",
            "llava",
            4,
            "What makes the vehicle move?\nA. engine\nB. sail\nC. horse\nD. oars\n"
            "Answer with the option's letter from the given choices directly.",
        ),
        # allenai/aokvqa@83786de0b24c4fef0bfe39420684f6f73d9f3581:gpt3/query_gpt3.py#L72-L76
        ("da", "gpt3", 1, f"Q: {MEAL}\nA:"),
        ("mc", "gpt3", 1, f"Q: {MEAL}\nChoices: tea, dinner, breakfast, supper.\nA:"),
        (
            "mc",
            "gpt3",
            4,
            "Q: What makes the vehicle move?\nChoices: engine, sail, horse, oars.\nA:",
        ),
        # salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
        # lavis/projects/blip2/eval/okvqa_zeroshot_flant5xl_eval.yaml#L41,
        # lavis/processors/blip_processors.py#L88-L101
        (
            "da",
            "blip2",
            1,
            "Question: which meal comes on such a table in the morning? Short answer:",
        ),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_mcq.py#L212-L247
        (
            "mc",
            "vlmevalkit",
            1,
            f"Question: {MEAL}\nOptions:\nA. tea\nB. dinner\nC. breakfast\nD. supper\n"
            "Please select the correct answer from the options above. \n",
        ),
    ],
)
def test_a_prompt_is_the_picture_and_then_its_sources_words(
    setting: Setting, preset: Preset, number: int, text: str
) -> None:
    benchmark = a_okvqa(setting=setting, prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[number]
    (message,) = benchmark.prompt(sample, ())
    assert message.role == "user"
    assert message.content == (*sample.media, text)


@pytest.mark.parametrize(
    ("setting", "preset", "others"),
    [("da", "vlmevalkit", "llava, gpt3, blip2"), ("mc", "blip2", "llava, gpt3, vlmevalkit")],
)
def test_a_prompt_of_the_other_setting_is_refused(
    setting: Setting, preset: Preset, others: str
) -> None:
    with pytest.raises(UsageError, match=f"has the prompts {others}, but not"):
        a_okvqa(setting=setting, prompt=preset)


# -- scoring, direct answer


@pytest.mark.parametrize(
    ("reply", "worth"),
    [
        ("safety", 1.0),
        ("head", 2 / 3),
        ("job", 1 / 3),
        ("disguise", 0.0),
        ("", 0.0),
    ],
)
def test_a_direct_answer_is_worth_a_third_for_each_who_gave_it(
    tmp_path: Path, reply: str, worth: float
) -> None:
    assert score("official", reply, tmp_path)[1] == pytest.approx(worth)


def test_three_people_are_enough_as_none_is_left_out(tmp_path: Path) -> None:
    """VQA's accuracy leaves each out in turn, which makes 0.9 of three."""
    assert score("official", "safety", tmp_path)[1] == 1.0


@pytest.mark.parametrize("reply", ["Safety", "safety.", " safety", "safety\n", "the safety"])
def test_official_normalizes_nothing_of_a_reply(tmp_path: Path, reply: str) -> None:
    assert score("official", reply, tmp_path)[1] == 0.0
    assert score("lavis", reply, tmp_path)[1] == 0.0


def test_official_normalizes_nothing_of_peoples_answers(tmp_path: Path) -> None:
    assert score("official", "Fun", tmp_path)[1] == pytest.approx(1 / 3)
    assert score("official", "fun", tmp_path)[1] == 0.0


HARD = {**ROW, "question_id": "q2", "difficult_direct_answer": True}


def test_difficult_direct_answers_are_left_out_but_for_lavis(tmp_path: Path) -> None:
    actual = report(tmp_path, {"q1": "disguise", "q2": "safety"}, "da", ROW, HARD)
    assert accuracy(actual, "official") == (0.0, 1)
    assert accuracy(actual, "robust") == (0.0, 1)
    assert accuracy(actual, "lavis") == (0.5, 2)


@pytest.mark.parametrize("value", [True, None, 0, "False"])
def test_what_is_not_false_is_difficult(tmp_path: Path, value: object) -> None:
    odd = {**ROW, "question_id": "q2", "difficult_direct_answer": value}
    actual = report(tmp_path, {"q1": "disguise", "q2": "safety"}, "da", ROW, odd)
    assert accuracy(actual, "official") == (0.0, 1)


def test_where_no_field_says_it_no_question_is_difficult(tmp_path: Path) -> None:
    plain = {key: value for key, value in ROW.items() if key != "difficult_direct_answer"}
    actual = report(tmp_path, {"q1": "head"}, "da", plain)
    assert accuracy(actual, "official") == (2 / 3, 1)


def test_a_difficult_question_without_a_reply_is_left_out_too(tmp_path: Path) -> None:
    actual = report(tmp_path, {"q1": "safety"}, "da", ROW, HARD)
    assert accuracy(actual, "official") == (1.0, 1)


EASY = {**ROW, "question_id": "q3"}


def test_a_question_without_a_reply_is_wrong_but_for_lavis(tmp_path: Path) -> None:
    actual = report(tmp_path, {"q1": "safety"}, "da", ROW, EASY)
    assert accuracy(actual, "official") == (0.5, 2)
    assert accuracy(actual, "lavis") == (1.0, 1)


@pytest.mark.parametrize(
    ("reply", "normalized", "mmpretrain"),
    [
        ("Safety.", 1.0, 1.0),
        ("the safety", 1.0, 1.0),
        ("HEAD", 2 / 3, 2 / 3),
        ("law", 1 / 3, 1 / 3),
        ("The answer is safety.", 0.0, 0.0),
        ("", 0.0, 0.0),
    ],
)
def test_normalized_and_mmpretrain_write_both_sides_alike(
    tmp_path: Path, reply: str, normalized: float, mmpretrain: float
) -> None:
    assert score("normalized", reply, tmp_path)[1] == pytest.approx(normalized)
    assert score("mmpretrain", reply, tmp_path)[1] == pytest.approx(mmpretrain)
    assert score("official", reply, tmp_path)[1] == 0.0


def test_mmpretrain_takes_the_share_of_those_who_answered(tmp_path: Path) -> None:
    """Two of five are 0.4 of them, and 0.3 is enough; two people are worth 2/3 elsewhere."""
    people = ["head", "head", "safety", "law", "fun"]
    assert score("mmpretrain", "head", tmp_path, direct_answers=people)[1] == 1.0
    worth = score("normalized", "head", tmp_path, direct_answers=people)[1]
    assert worth == pytest.approx(2 / 3)


def test_mmpretrain_counts_difficult_questions_and_normalized_does_not(tmp_path: Path) -> None:
    actual = report(tmp_path, {"q1": "Safety", "q2": "no"}, "da", ROW, HARD)
    assert accuracy(actual, "mmpretrain") == (0.5, 2)
    assert accuracy(actual, "normalized") == (1.0, 1)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Safety.", "safety"),
        ("the  safety", "safety"),
        ("B", None),
        ("It is safety", None),
        ("", None),
    ],
)
def test_normalized_takes_a_choices_text_however_it_is_written(
    tmp_path: Path, reply: str, answer: str | None
) -> None:
    result = score("normalized", reply, tmp_path, "mc")
    assert result == (answer, float(answer is not None))


def test_normalized_takes_none_of_two_choices_that_say_the_same(tmp_path: Path) -> None:
    choices = ["Safety", "safety", "cold", "law"]
    assert score("normalized", "safety.", tmp_path, "mc", choices=choices) == (None, 0.0)


@pytest.mark.parametrize(
    ("reply", "answer", "worth"),
    [
        ("Safety.", "safety", 1.0),
        ("The answer is safety.", "safety", 1.0),
        ("A law", "law", 1 / 3),
        ("fun", "fun", 1 / 3),
        ("the head!", "head", 2 / 3),
        ("", None, 0.0),
    ],
)
def test_robust_takes_the_phrase_that_a_reply_settles_on(
    tmp_path: Path, reply: str, answer: str | None, worth: float
) -> None:
    result, value = score("robust", reply, tmp_path)
    assert result == answer
    assert value == pytest.approx(worth)


# -- scoring, multiple choice


@pytest.mark.parametrize(
    ("reply", "answer", "worth"),
    [
        ("safety", "safety", 1.0),
        ("cold", "cold", 0.0),
        ("B", None, 0.0),
        ("Safety", None, 0.0),
        ("safety ", None, 0.0),
        ("", None, 0.0),
    ],
)
def test_official_takes_a_choices_text_to_the_letter(
    tmp_path: Path, reply: str, answer: str | None, worth: float
) -> None:
    assert score("official", reply, tmp_path, "mc") == (answer, worth)


def test_a_choice_that_says_what_the_right_one_says_is_right(tmp_path: Path) -> None:
    """The authors compare texts, not places."""
    choices = ["safety", "safety", "cold", "disguise"]
    assert score("official", "safety", tmp_path, "mc", choices=choices)[1] == 1.0


def test_multiple_choice_counts_difficult_questions_but_for_the_script_of_2022(
    tmp_path: Path,
) -> None:
    actual = report(tmp_path, {"q1": "safety", "q2": "cold"}, "mc", ROW, HARD)
    assert accuracy(actual, "official") == (0.5, 2)
    assert accuracy(actual, "official-2022") == (1.0, 1)


@pytest.mark.parametrize("scoring", ["official", "official-2022", "vlmevalkit", "robust"])
def test_a_choice_that_nobody_made_is_wrong(tmp_path: Path, scoring: str) -> None:
    actual = report(tmp_path, {"q1": "safety"}, "mc", ROW, EASY)
    assert accuracy(actual, scoring) == (0.5, 2)


@pytest.mark.parametrize("reply", ["B", "(B)", "B. safety", "safety", "The answer is B."])
def test_robust_takes_the_letter_that_a_reply_settles_on(tmp_path: Path, reply: str) -> None:
    assert score("robust", reply, tmp_path, "mc") == ("B", 1.0)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (" B\n", "B"),
        ("I would say B", "B"),
        ("safety", "B"),
        # Twice the choices' 25 signs are enough, and blanks around are none of the reply's.
        ("safety" + " " * 60, "B"),
        ("It is for safety reasons", "B"),
        ("A or B", None),
        # matching_util.py#L21: where its client says so, nothing was said.
        ("Failed to obtain answer via API: the answer is B", None),
        ("B is what I would say here", None),
    ],
)
def test_vlmevalkit_takes_the_letter_by_its_rules(
    tmp_path: Path, reply: str, answer: str | None
) -> None:
    worth = 0.0 if answer is None else 1.0
    assert score("vlmevalkit", reply, tmp_path, "mc") == (answer, worth)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        # matching_util.py#L24-L30: a refusal counts for a choice of its own, whatever is said.
        ("Sorry, I can't help with images of people yet. B", "Z"),
        ("I can't process this file. B", "Z"),
        ("I'm sorry, but without the image provided: B", "Z"),
        ("Cannot determine the answer: B", "Z"),
        ("cannot determine the answer: B", "B"),
        # L54-L55: the letter Z, where no choice's letter is.
        ("Z", "Z"),
        ("Z or B", "B"),
        ("A or B or Z", None),
        # L40: what parts words, and what does not.
        *((sign.join(("so", "B", "")), "B") for sign in ".()[],:;!*#{}"),
        *((sign.join(("so", "B", "")), None) for sign in "?\"'/-_"),
        # L15: no end of a word is asked for, A to D alone are looked for, and the first counts.
        ("the ANSWER is\n**black, I would say to you", "B"),
        ("The answer is A, but perhaps the answer is B", "A"),
        ("I think that the answer is E as it seems here", None),
        # L52: of several places of a letter the first counts, and is one of the last four words.
        ("B one two three", "B"),
        ("B one two three four", None),
        ("B one two three four B", None),
        # L109: fifty signs are not longer than twice the choices' twenty-five, blanks within too.
        ("safety" + "." * 44, "B"),
        ("safety" + "." * 45, None),
        # In small letters, of which that capital makes two.
        ("safety" + "\u0130" * 23, None),
        # L114-L121: a part of the reply, in any case, if it is the only one.
        ("It is for SAFETY", "B"),
        ("safety or fashion", None),
    ],
)
def test_vlmevalkits_rules_one_by_one(tmp_path: Path, reply: str, answer: str | None) -> None:
    result = score("vlmevalkit", reply, tmp_path, "mc")
    assert result == (answer, float(answer == "B"))


def test_vlmevalkits_letter_is_one_that_is_offered_and_none_beyond_d(tmp_path: Path) -> None:
    """matching_util.py#L58 and #L15."""
    two, five = ["fashion", "safety"], [*ROW["choices"], "habit and custom of long ago"]
    for reply, choices, answer in (
        ("I think that the answer is B then", two, "B"),
        ("I think that the answer is C then", two, None),
        ("I think that the answer is Even so", five, None),
    ):
        assert score("vlmevalkit", reply, tmp_path, "mc", choices=choices)[0] == answer


@pytest.mark.parametrize(
    ("setting", "preset", "headline"),
    [
        ("da", "llava", "official"),
        ("mc", "gpt3", "official"),
        ("mc", "llava", "robust"),
        ("mc", "vlmevalkit", "vlmevalkit"),
    ],
)
def test_the_headline_reads_what_the_prompt_asks_for(
    setting: Setting, preset: Preset, headline: str
) -> None:
    assert a_okvqa(setting=setting, prompt=preset, data=BUNDLED).headline == headline


# -- files of predictions

BOTH = {"q1": {"multiple_choice": "safety", "direct_answer": "head"}}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("setting", "worth"), [("da", 2 / 3), ("mc", 1.0)])
def test_the_authors_file_has_the_replies_of_both_settings(
    tmp_path: Path, setting: Setting, worth: float, packed: bool
) -> None:
    path = tmp_path / ("predictions.json.gz" if packed else "predictions.json")
    text = json.dumps(BOTH).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    data = written(tmp_path / "data", ROW)
    result = snellen.score(path, f"a-okvqa:setting={setting}", data=data)
    value = result.report.scorings["official"].metrics["accuracy"].value
    assert value == pytest.approx(worth)


@pytest.mark.parametrize(
    ("setting", "reply", "field", "text"),
    [
        ("da", "Safety. ", "direct_answer", "Safety. "),
        ("mc", "B", "multiple_choice", "safety"),
        ("mc", "The answer is (C).", "multiple_choice", "cold"),
        ("mc", "disguise", "multiple_choice", "disguise"),
        ("mc", "I do not know", "multiple_choice", "I do not know"),
        ("mc", "", "multiple_choice", ""),
    ],
)
def test_the_submission_has_what_the_leaderboard_takes(
    tmp_path: Path, setting: Setting, reply: str, field: str, text: str
) -> None:
    """{id: {"multiple_choice": text of the choice, "direct_answer": text}}: the authors' README."""
    benchmark = a_okvqa(
        setting=setting, split="test", data=written(tmp_path, ROW, name="aokvqa_v1p0_test.json")
    )
    (sample,) = samples(benchmark)
    submission = benchmark.interop.submission
    assert submission is not None
    assert (submission.name, submission.by_id) == ("predictions_test.json", True)
    assert submission.columns == ("question_id", field)
    assert submission.row(sample, reply) == ("q1", {field: text})


def test_a_runs_submission_scores_as_the_authors_file(tmp_path: Path) -> None:
    out = tmp_path / "runs"
    run = snellen.evaluate("a-okvqa:setting=mc", "baseline/first", data=BUNDLED, out=out)
    assert run.run is not None
    file_name, _ = export(run.run, "submission", tmp_path / "predictions_val.json")
    sent = json.loads(Path(file_name).read_text())
    assert all(set(row) == {"multiple_choice"} for row in sent.values())
    scored = snellen.score(file_name, "a-okvqa:setting=mc", data=BUNDLED).report
    value = scored.scorings["official"].metrics["accuracy"].value
    assert value == run.report.scorings["robust"].metrics["accuracy"].value


def test_a_file_of_the_other_setting_says_so(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"q1": {"multiple_choice": "safety"}}))
    with pytest.raises(DataError, match="Score it as a-okvqa:setting=mc"):
        snellen.score(path, "a-okvqa:setting=da", data=written(tmp_path / "data", ROW))


def test_a_reply_that_is_null_is_none(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"q1": {"direct_answer": None}, "q3": {"direct_answer": "head"}}))
    data = written(tmp_path / "data", ROW, EASY)
    report = snellen.score(path, "a-okvqa", data=data).report
    assert accuracy(report, "official") == (1 / 3, 2)
    assert accuracy(report, "lavis") == (2 / 3, 1)


def test_a_reply_that_is_no_text_is_said(tmp_path: Path) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps({"q1": {"direct_answer": ["safety"]}}))
    with pytest.raises(DataError, match="q1 has a value of type list for direct_answer"):
        snellen.score(path, "a-okvqa", data=written(tmp_path / "data", ROW))


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '{"q1": "safety"}', '{"q1": {"text": "safety"}}', "[1]"]
)
def test_another_file_is_left_to_the_reader_of_all_files(tmp_path: Path, text: str) -> None:
    path = tmp_path / "predictions.json"
    path.write_text(text)
    benchmark = a_okvqa(data=BUNDLED)
    assert benchmark.interop.layout is not None
    assert benchmark.interop.layout(path) is None
    assert benchmark.interop.layout(tmp_path) is None


def test_one_settings_replies_by_question_are_read_too(tmp_path: Path) -> None:
    """As the authors' heuristics write them, {question: reply}."""
    path = tmp_path / "predictions_val-da.json"
    path.write_text(json.dumps({"q1": "head"}))
    result = snellen.score(path, "a-okvqa", data=written(tmp_path / "data", ROW))
    value = result.report.scorings["official"].metrics["accuracy"].value
    assert value == pytest.approx(2 / 3)


# -- published files, check


@pytest.mark.parametrize("split", ["val", "test", "train"])
def test_the_published_files_are_the_questions_and_the_splits_pictures(split: Split) -> None:
    assert [entry.name for entry in file.published(split)] == [
        "aokvqa_v1p0.tar.gz",
        f"{split}2017.zip",
    ]


def test_who_asks_in_vlmevalkits_way_gets_its_sheet(tmp_path: Path) -> None:
    assert [entry.name for entry in file.published(prompt="vlmevalkit")] == ["A-OKVQA.tsv"]
    (tmp_path / "A-OKVQA.tsv").write_text(SHEET.format("AAAA" * 30))
    written(tmp_path, ROW)
    actual = {
        preset: samples(a_okvqa(setting="mc", prompt=preset, data=tmp_path))[0].id
        for setting, preset in file.PROMPTS
        if setting == "mc"
    }
    assert actual == {"llava": "q1", "gpt3": "q1", "vlmevalkit": "7"}


def test_vlmevalkits_name_means_its_multiple_choice_and_ours_the_direct_answers() -> None:
    theirs, ours = (registry.benchmark(name, data=BUNDLED) for name in ("A-OKVQA", "a-okvqa"))
    options = {"setting": "mc", "split": "val", "prompt": "vlmevalkit"}
    assert options.items() <= theirs.provenance.options.items()
    assert ours.provenance.options["setting"] == "da"


@pytest.mark.parametrize(("setting", "preset"), list(file.PROMPTS))
def test_dummies_score_what_the_file_says_under_every_prompt(
    setting: Setting, preset: Preset
) -> None:
    benchmark = a_okvqa(setting=setting, prompt=preset, data=BUNDLED)
    check = benchmark.check
    assert check is not None
    right = {
        sample.id: sample.target or max(sample.references, key=sample.references.count)
        for sample in samples(benchmark)
    }
    dummies = {
        "oracle": {s.id: check.says(s, right[s.id]) for s in samples(benchmark)},
        "wrong": {s.id: check.says(s, check.wrong(s)) for s in samples(benchmark)},
        "silent": dict.fromkeys(right, ""),
        "hedging": dict.fromkeys(right, "A B C D" if setting == "mc" else "1 2 3"),
    }
    for name, replies in dummies.items():
        report = score_predictions(benchmark, replies, where=name)
        for scoring in benchmark.scorings:
            wanted = check.expect[scoring][name]
            assert accuracy(report, scoring)[0] == pytest.approx(wanted), (name, scoring)
