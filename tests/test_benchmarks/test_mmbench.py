"""MMBench: its prompts, each rule of its scoring, and its break-downs.

Expected letters are those of can_infer in VLMEvalKit's matching_util.py at the commit that the
benchmark names, and of the older copy in MMStar at the commit of `vlmevalkit-2024`.
"""

from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks import mmbench as file
from snellen.benchmarks.mmbench import Lang, Preset, Split, Version, mmbench, published
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Missing
from snellen.errors import UsageError
from snellen.media import images
from snellen.media.content import Image
from snellen.scoring import Report, score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "mmbench"
ANIMALS = ("cat", "dog", "red car", "blue sky")


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def bundled(lang: Lang = "en", prompt: Preset = "vlmevalkit") -> dict[str, Sample]:
    return samples(mmbench(lang=lang, prompt=prompt, data=BUNDLED))


def answer(scoring: str, reply: str, *choices: str) -> object:
    sample = Sample(id="1", question="Which?", choices=choices or ANIMALS, target="B")
    actual = mmbench(data=BUNDLED).scorings[scoring]
    return actual.parse(Reply(text=reply), sample).answer


# -- data


def test_a_row_says_which_pass_of_how_many_it_is_by_the_rows_there_are() -> None:
    samples = bundled()
    passes = {name: sample.tags["pass"] for name, sample in samples.items()}
    assert [passes[name] for name in ("18", "1000018")] == ["1 of 2", "2 of 2"]
    assert [passes[name] for name in ("44", "1000044", "2000044")] == ["1 of 3", "2 of 3", "3 of 3"]
    assert len(samples["44"].choices) == 4


def test_rotations_show_the_picture_of_their_question() -> None:
    samples = bundled()
    (own,), (other,) = samples["3"].media, samples["3000003"].media
    assert isinstance(own, Image)
    assert isinstance(other, Image)
    assert images.load(own).width == 96
    assert images.load(own).digest == images.load(other).digest


def test_rotations_have_the_same_right_choice_under_another_letter() -> None:
    samples = bundled()
    turns = [samples[name] for name in ("40", "1000040", "2000040", "3000040")]
    assert [turn.target for turn in turns] == ["A", "B", "C", "D"]
    assert {turn.choices["ABCD".index(turn.target or "")] for turn in turns} == {
        "outside its frame"
    }


def test_a_choice_that_says_none_is_a_choice() -> None:
    assert "None" in bundled()["21"].choices


def test_questions_of_two_and_three_choices_have_no_empty_ones() -> None:
    samples = bundled()
    assert samples["18"].choices == ("left", "right")
    assert len(samples["12"].choices) == 3


def test_a_sample_is_tagged_with_the_abilities_as_published() -> None:
    assert bundled()["25"].tags == {
        "category": "spatial_relationship",
        "l2-category": "FP-C",
        "L1": "perception",
        "split": "dev",
        "pass": "1 of 2",
    }


def test_ccbench_has_categories_alone() -> None:
    samples = bundled("cc")
    assert len(samples) == 12
    assert samples["1"].tags == {
        "category": "traditional_show",
        "l2-category": "",
        "L1": "",
        "split": "",
        "pass": "1 of 4",
    }


def test_the_first_versions_test_answers_are_hidden() -> None:
    actual = samples(mmbench(split="test", version="1.0", data=BUNDLED))
    assert all(sample.hidden for sample in actual.values())


def test_an_empty_answer_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / "MMBench_TEST_EN_V11.tsv"
    path.write_text(
        f"index\tquestion\tA\tB\tanswer\timage\n7\tWhich?\ta\tb\t\t{'iVBORw0KGgo' * 9}\n"
    )
    assert samples(mmbench(split="test", data=tmp_path))["7"].hidden


@pytest.mark.parametrize("lang", ["en", "cn"])
def test_the_test_split_of_1_1_is_scored_by_its_published_answers(
    tmp_path: Path, lang: Lang
) -> None:
    """Two passes of one question, and one of another that is answered wrong."""
    picture = "iVBORw0KGgo" * 9
    rows = [
        f"7\tWhich?\ta\tb\tB\t{picture}",
        "1000007\tWhich?\tb\ta\tA\t7",
        f"8\tWho?\ta\tb\tA\t{picture}",
    ]
    path = tmp_path / f"MMBench_TEST_{lang.upper()}_V11.tsv"
    path.write_text("\n".join(["index\tquestion\tA\tB\tanswer\timage", *rows]) + "\n")
    benchmark = mmbench(lang=lang, split="test", data=tmp_path)
    replies = {"7": "B", "1000007": "A", "8": "B"}
    report = score_predictions(benchmark, replies, where="here")
    assert report.scorings["official"].metrics["circular"].value == 0.5
    assert report.scorings["official"].metrics["vanilla_all"].value == pytest.approx(2 / 3)


def test_rotations_are_one_cluster_and_asked_together() -> None:
    benchmark = mmbench(data=BUNDLED)
    actual = samples(benchmark)
    assert benchmark.cluster_by is not None
    assert benchmark.cluster_by == benchmark.procedure.group_by
    assert benchmark.cluster_by(actual["3"]) == benchmark.cluster_by(actual["3000003"])
    assert benchmark.cluster_by(actual["3"]) != benchmark.cluster_by(actual["8"])


@pytest.mark.parametrize(
    ("lang", "split", "version", "path", "md5"),
    [
        ("en", "dev", "1.0", "benchmarks/MMBench/MMBench_DEV_EN.tsv", "b6caf1133a01c6bb"),
        ("en", "test", "1.0", "benchmarks/MMBench/MMBench_TEST_EN.tsv", "6939fadb0ce626fe"),
        ("cn", "dev", "1.0", "benchmarks/MMBench/MMBench_DEV_CN.tsv", "08b8fc3324a5ed74"),
        ("cn", "test", "1.0", "benchmarks/MMBench/MMBench_TEST_CN.tsv", "7e1239baf0ee4c8b"),
        ("en", "dev", "1.1", "benchmarks/MMBench/MMBench_DEV_EN_V11.tsv", "30c05be8f2f347a5"),
        ("en", "test", "1.1", "benchmarks/MMBench/MMBench_TEST_EN_V11.tsv", "8d1a704e791df6f5"),
        ("cn", "dev", "1.1", "benchmarks/MMBench/MMBench_DEV_CN_V11.tsv", "593f9b5f6bea453d"),
        ("cn", "test", "1.1", "benchmarks/MMBench/MMBench_TEST_CN_V11.tsv", "156e6569f9547afb"),
        ("cc", "dev", "1.1", "VLMEval/CCBench.tsv", "f5dde47f24dc5a6f"),
    ],
)
def test_options_name_the_sheet_that_vlmevalkit_publishes(
    lang: Lang, split: Split, version: Version, path: str, md5: str
) -> None:
    (sheet,) = published(lang=lang, split=split, version=version, prompt="minigpt4")
    assert sheet.url == f"https://opencompass.openxlab.space/utils/{path}"
    assert sheet.name == path.rpartition("/")[2]
    assert (sheet.md5 or "").startswith(md5)


@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        ("MMBench_DEV_CN_V11", "MMBench_DEV_CN_V11.tsv"),
        ("MMBench_TEST_EN", "MMBench_TEST_EN.tsv"),
        ("CCBench", "CCBench.tsv"),
        ("mmbench_en_dev", "MMBench_DEV_EN.tsv"),
        ("mmbench_cn_cc", "CCBench.tsv"),
        ("mmbench", "MMBench_DEV_EN_V11.tsv"),
    ],
)
def test_other_toolkits_names_are_known(name: str, sheet: str) -> None:
    benchmark = registry.benchmark(name, data=BUNDLED)
    assert benchmark.data.where.endswith(sheet)


def test_ccbench_has_no_test_split() -> None:
    with pytest.raises(UsageError, match="no test split"):
        mmbench(lang="cc", split="test")


# -- prompts

DISC = "Where in the frame is the disc?"
NEXT = "Where is the disc in the next step?"
HINT = "The frames show three steps in order."
CHOICES = "A. outside its frame\nB. at the left\nC. in the middle\nD. at the right\n"
SELECT = "Please select the correct answer from the options above. \n"
ROW = "A. outside its frame, B. at the left, C. in the middle, D. at the right"


@pytest.mark.parametrize(
    ("preset", "sample", "text"),
    [
        ("vlmevalkit", "18", f"Question: {DISC}\nOptions:\nA. left\nB. right\n{SELECT}"),
        ("vlmevalkit", "40", f"Hint: {HINT}\nQuestion: {NEXT}\nOptions:\n{CHOICES}{SELECT}"),
        ("opencompass", "18", f"{DISC} There are several options:\nA. left\nB. right\n"),
        ("opencompass", "40", f"{HINT} {NEXT} There are several options:\n{CHOICES}"),
        (
            "minigpt4",
            "18",
            f"###Human: Question: {DISC}\nThere are several options: A. left, B. right\n"
            "###Assistant:",
        ),
        (
            "minigpt4",
            "40",
            f"###Human: Question: {HINT} {NEXT}\nThere are several options: {ROW}\n###Assistant:",
        ),
    ],
)
def test_a_prompt_is_the_picture_and_the_published_text(
    preset: Preset, sample: str, text: str
) -> None:
    benchmark = mmbench(prompt=preset, data=BUNDLED)
    (message,) = benchmark.prompt(samples(benchmark)[sample], ())
    assert message.role == "user"
    picture, parts = message.content
    assert isinstance(picture, Image)
    assert parts == text


# -- scoring, official

SIGNS = ".()[],:;!*#{}"


@pytest.mark.parametrize(
    ("rule", "reply", "letter"),
    [
        ("a letter", "B", "B"),
        ("in brackets or behind a stop", "(B).", "B"),
        *(("between signs that part words", f"it{sign}B{sign}is", "B") for sign in SIGNS),
        *(("between others", f"it{sign}B{sign}is", None) for sign in "'\"?-/<>\\"),
        ("bold", "**B**", "B"),
        ("boxed only in braces", "\\boxed{B}", "B"),
        ("no other marks are taken off", '"B"', None),
        ("small letters are none", "b", None),
        ("as one of the last four words", "B or so I think", None),
        ("and not before", "it is B I do think", "B"),
        ("its first place counts", "B one two three B", None),
        ("one letter alone", "A or B", None),
        ("a letter that is no choice does not count", "E B", "B"),
        ("Z is none of them", "Z", "Z"),
        ("Z beside a letter is not", "Z B", "B"),
        ("nor beside two", "A B Z", None),
        ("refusals are none of them", "I can't process this file. B", "Z"),
        ("of people", "Sorry, I can't help with images of people yet. B", "Z"),
        ("without the image", "I'm sorry, but without the image provided, B", "Z"),
        ("not to be determined", "Cannot determine the answer. B", "Z"),
        ("in these letters alone", "i can't process this file. B", "B"),
        ("a failed request has no letter", "Failed to obtain answer via API. B", None),
        ("nor an answer", "Failed to obtain answer via API. The answer is B.", None),
        ("but may name a choice", "dog: Failed to obtain answer via API.", "B"),
        ("the answer is, where no letter is alone", "the answer is **C**, not A", "C"),
        ("in any case", "THE ANSWER IS c and that is what I see here", "C"),
        ("with any blanks", "the answer \n is\t\tC, not A", "C"),
        ("with no colon", "the answer is: C, not A", None),
        ("nor bracket", "the answer is (C), not A", None),
        ("its first time", "The answer is B. The answer is C.", "B"),
        ("without a word's end", "The answer is black", "B"),
        ("which reads a choice's first letter", "The answer is dog", "D"),
        ("a choice's text", "Dog", "B"),
        ("in any case, inside words", "hotDOGs", "B"),
        ("one alone", "cat dog", None),
        ("in a short reply", "it is surely the dog that I see", "B"),
        ("and not a long one", "it is surely the dog that I see in front of me here", None),
        ("nothing", "", None),
    ],
)
def test_official_reads_a_reply_as_vlmevalkit_does(
    rule: str, reply: str, letter: str | None
) -> None:
    assert answer("official", reply) == letter


@pytest.mark.parametrize(
    ("rule", "reply", "letter"),
    [
        ("a letter anywhere", "A dog is what I see in this", "A"),
        ("not by the answer is", "The answer is B. The answer is C.", None),
        ("a text of any length", "it is surely the dog that I see in front of me here", "B"),
        ("refusals", "Cannot determine the answer", "Z"),
    ],
)
def test_the_rules_of_2024_knew_no_position_and_no_length(
    rule: str, reply: str, letter: str | None
) -> None:
    assert answer("vlmevalkit-2024", reply) == letter


def test_the_answer_is_a_choice_and_none_beyond_d() -> None:
    """matching_util.py#L15, #L57-L59."""
    assert answer("official", "The answer is dog", "cat", "red") is None
    five = ("cat", "dog", "car", "sky", "sea")
    assert answer("official", "The answer is E, as I said, and no other", *five) is None
    assert answer("official", "The answer is D, as I said, and no other", *five) == "D"


def test_the_length_of_a_reply_is_measured_against_all_choices() -> None:
    assert answer("official", "x" * 5 + "yes", "yes", "n") == "A"
    assert answer("official", "x" * 6 + "yes", "yes", "n") is None


def test_blanks_around_a_reply_count_for_nothing() -> None:
    text = "it is surely the dog that I see"
    assert answer("official", "\n" + " " * 40 + text + " \n") == "B"
    for scoring in ("official", "vlmevalkit-2024"):
        assert answer(scoring, "a dog\n", "cat", "dog\n") is None


@pytest.mark.parametrize("reply", ["B", "The answer is B because of its ears.", "B. dog", "dog"])
def test_robust_reads_the_letter_that_a_reply_settles_on(reply: str) -> None:
    assert answer("robust", reply) == "B"


@pytest.mark.parametrize("reply", ["", "A B C D", "A or B", "Maybe"])
def test_robust_is_unparsed_where_a_reply_settles_on_none(reply: str) -> None:
    assert answer("robust", reply) is None


def test_unparsed_and_none_of_them_are_wrong() -> None:
    scoring = mmbench(data=BUNDLED).scorings["official"]
    sample = bundled()["3"]
    for reply in ("", "Z"):
        assert scoring.score(scoring.parse(Reply(text=reply), sample), sample) == 0.0


# -- figures


def report(replies: dict[str, str], missing: Missing | None = None) -> Report:
    return score_predictions(mmbench(data=BUNDLED), replies, where="here", missing=missing)


def test_figures_and_abilities_are_those_worked_out_by_hand() -> None:
    # Wrong: one pass of 3 (CP), the first of 12 (FP-S), all of 31 (FP-C) and of 52 (AR).
    wrong = {"2000003", "12", "31", "1000031", "2000031"}
    wrong |= {"52", "1000052", "2000052", "3000052"}
    replies = {
        name: sample.target or "" if name not in wrong else "none of these"
        for name, sample in bundled().items()
    }
    metrics = report(replies).scorings["official"].metrics
    actual = {name: (metric.value, metric.n) for name, metric in metrics.items()}
    assert {name: actual[name] for name in actual if "/" not in name} == {
        "circular": (6 / 10, 10),
        "vanilla": (7 / 10, 10),
        "vanilla_all": (23 / 32, 32),
    }
    names = ("CP", "FP-S", "FP-C", "AR", "LR", "RR", "perception", "reasoning", "image_topic")
    assert {name: actual[f"circular/{name}"] for name in names} == {
        "CP": (1 / 2, 2),
        "FP-S": (2 / 3, 3),
        "FP-C": (1 / 2, 2),
        "AR": (0, 1),
        "LR": (1, 1),
        "RR": (1, 1),
        "perception": (4 / 7, 7),
        "reasoning": (2 / 3, 3),
        "image_topic": (0, 1),
    }
    assert actual["circular/dev"] == actual["circular"]
    assert actual["vanilla/CP"] == (1, 2)
    assert actual["vanilla_all/4 of 4"] == (3 / 4, 4)
    assert "circular/4 of 4" not in actual


def test_a_question_that_lacks_a_reply_is_wrong_as_a_whole() -> None:
    replies = {name: sample.target or "" for name, sample in bundled().items()}
    del replies["3000003"]
    metric = report(replies).scorings["official"].metrics["circular"]
    assert (metric.value, metric.n) == (0.9, 10)


@pytest.mark.parametrize("scoring", ["official", "judged", "vlmevalkit-2024"])
def test_a_question_without_any_reply_is_wrong(scoring: str) -> None:
    replies = {name: sample.target or "" for name, sample in bundled().items()}
    del replies["18"], replies["1000018"]
    metric = report(replies).scorings[scoring].metrics["circular"]
    assert (metric.value, metric.n) == (0.9, 10)


def test_missing_replies_excluded_leave_the_questions_that_have_all() -> None:
    """Of ten questions one lacks its first row and one its last; VLMEvalKit would judge the latter
    by its other rows."""
    replies = {name: sample.target or "" for name, sample in bundled().items()}
    del replies["18"], replies["3000003"]
    metrics = report(replies, missing="excluded").scorings["official"].metrics
    assert {name: metrics[name].n for name in ("circular", "vanilla", "vanilla_all")} == {
        "circular": 8,
        "vanilla": 9,
        "vanilla_all": 30,
    }


def sheet(folder: Path, *indices: int) -> Path:
    """The same words in each row, whose answer is A."""
    path = folder / "MMBench_DEV_EN_V11.tsv"
    rows = (f"{index}\tWhich?\ta\tb\tA\t{'iVBORw0KGgo' * 9}\n" for index in indices)
    path.write_text("index\tquestion\tA\tB\tanswer\timage\n" + "".join(rows))
    return path


def test_a_sheet_may_have_a_fifth_choice(tmp_path: Path) -> None:
    path = tmp_path / "MMBench_DEV_EN_V11.tsv"
    head, row = "\t".join(("index", "question", *"ABCDE", "answer", "image")), "7\t?\ta\tb\tc\td\te"
    path.write_text(f"{head}\n{row}\tE\t{'iVBORw0KGgo' * 9}\n")
    assert samples(mmbench(data=path))["7"].choices == tuple("abcde")


def test_passes_go_by_the_index_in_whatever_order_the_rows_are(tmp_path: Path) -> None:
    actual = samples(mmbench(data=sheet(tmp_path, 2000007, 7, 1000007)))
    passes = {name: sample.tags["pass"] for name, sample in actual.items()}
    assert passes == {"7": "1 of 3", "1000007": "2 of 3", "2000007": "3 of 3"}


def test_a_question_is_its_index_modulo_a_million_whatever_its_words(tmp_path: Path) -> None:
    """multiple_choice.py#L521."""
    benchmark = mmbench(data=sheet(tmp_path, 7, 1000007, 100007, 1100007))
    replies = {"7": "A", "1000007": "A", "100007": "A", "1100007": "B"}
    metrics = score_predictions(benchmark, replies, where="here").scorings["official"].metrics
    assert (metrics["circular"].value, metrics["circular"].n) == (0.5, 2)
    assert (metrics["vanilla"].value, metrics["vanilla"].n) == (1.0, 2)


@pytest.mark.parametrize("preset", ["vlmevalkit", "opencompass", "minigpt4"])
@pytest.mark.parametrize("lang", ["en", "cn", "cc"])
def test_the_oracle_is_right_and_the_wrong_model_wrong(lang: Lang, preset: Preset) -> None:
    benchmark = mmbench(lang=lang, prompt=preset, data=BUNDLED)
    assert benchmark.check is not None
    for sample in samples(benchmark).values():
        for scoring in benchmark.scorings.values():
            for text, score in ((sample.target or "", 1.0), (benchmark.check.wrong(sample), 0.0)):
                reading = scoring.parse(Reply(text=benchmark.check.says(sample, text)), sample)
                assert scoring.score(reading, sample) == score
