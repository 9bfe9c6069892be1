"""POPE: its rows, prompts, the authors' files of answers, and each rule of its scorings."""

import gzip
import json
from pathlib import Path

import pytest

import snellen
from snellen import registry
from snellen.benchmarks import pope as file
from snellen.benchmarks.pope import Images, Preset, Release, Sets, pope, published
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Reading
from snellen.errors import DataError, UsageError
from snellen.media import images
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "pope"
DOG = Sample(id="1", question="Is there a dog in the image?", choices=("yes", "no"), target="no")


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    actual = (benchmark.sample(row.position, row) for row in benchmark.data)
    return {sample.id: sample for sample in actual}


def read(scoring: str, reply: str) -> Reading:
    return pope(data=BUNDLED).scorings[scoring].parse(Reply(text=reply), DOG)


# -- data


def test_every_set_has_its_questions_with_llavas_ids() -> None:
    actual = samples(pope(data=BUNDLED))
    wanted = [offset + n for offset in (0, 20_000_000, 10_000_000) for n in range(1, 9)]
    assert list(actual) == [str(name) for name in wanted]
    assert actual["20000001"].tags == {"set": "popular"}
    assert actual["10000002"].question == "Is there a cross in the image?"
    assert (actual["1"].target, actual["2"].target) == ("yes", "no")


def test_a_set_can_be_asked_alone() -> None:
    assert {
        sample.tags["set"] for sample in samples(pope(sets="random", data=BUNDLED)).values()
    } == {"random"}


def test_a_picture_opens() -> None:
    (media,) = samples(pope(data=BUNDLED))["1"].media
    assert isinstance(media, Image)
    assert images.load(media).width == 64


@pytest.mark.parametrize(
    ("folder", "inside"), [("val2014", "val2014/"), ("images", "images/"), ("", "")]
)
def test_pictures_lie_in_cocos_folder_in_gqas_or_beside_the_questions(
    tmp_path: Path, folder: str, inside: str
) -> None:
    (tmp_path / "coco").mkdir()
    rows = (BUNDLED / "coco/coco_pope_random.json").read_bytes()
    (tmp_path / "coco/coco_pope_random.json").write_bytes(rows)
    (tmp_path / folder).mkdir(exist_ok=True)
    (media,) = samples(pope(sets="random", data=tmp_path))["10000001"].media
    assert isinstance(media, Image)
    assert media.source == tmp_path / f"{inside}COCO_val2014_000000000001.jpg"


@pytest.mark.parametrize(
    ("of", "release", "name"),
    [
        ("coco", "current", "output/coco/coco_pope_random.json"),
        ("coco", "current", "coco_pope_random.json"),
        ("coco", "e3e3926", "coco_e3e3926/coco_pope_random.json"),
        ("gqa", "current", "output/seem/gqa/gqa_pope_seem_random.json"),
        ("aokvqa", "current", "seem/aokvqa/aokvqa_pope_seem_random.json"),
    ],
)
def test_the_authors_files_are_found_in_their_layouts(
    tmp_path: Path, of: Images, release: Release, name: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    row = {"question_id": 3, "image": "a.jpg", "text": "Is there a dog?", "label": "no"}
    text = json.dumps([row], indent=1) if of != "coco" else json.dumps(row) + "\r\n"
    (tmp_path / name).write_text(text)
    actual = samples(pope(images=of, sets="random", release=release, data=tmp_path))
    assert list(actual) == ["10000003"]


@pytest.mark.parametrize(
    ("label", "target"), [("no", "no"), ("yes", "yes"), ("No", "yes"), ("", "yes")]
)
def test_every_label_but_no_is_yes(tmp_path: Path, label: str, target: str) -> None:
    # RUCAIBox/POPE@3df3ba1b:evaluate.py#L23-L27
    row = {"question_id": 3, "image": "a.jpg", "text": "Is there a dog?", "label": label}
    path = tmp_path / "coco_pope_random.json"
    path.write_text(json.dumps(row))
    assert samples(pope(sets="random", data=path))["10000003"].target == target


def test_one_file_is_not_taken_for_all_three_sets() -> None:
    path = BUNDLED / "coco" / "coco_pope_random.json"
    assert len(samples(pope(sets="random", data=path))) == 8
    with pytest.raises(DataError, match="one file"):
        samples(pope(data=path))


def test_the_older_release_is_of_coco_alone() -> None:
    with pytest.raises(UsageError, match="images=coco"):
        pope(images="gqa", release="e3e3926", data=BUNDLED)


def test_each_published_file_has_its_address_and_digest() -> None:
    current, older = published(), published(release="e3e3926")
    raw = "https://raw.githubusercontent.com/RUCAIBox/POPE"
    name = "output/coco/coco_pope_random.json"
    assert current[2].url == f"{raw}/3df3ba1b110ecce25696989577fad583b67d4239/{name}"
    assert older[2].url == f"{raw}/e3e39262c85a6a83f26cf5094022a782cb0df58d/{name}"
    assert current[2].sha256 != older[2].sha256
    assert all(len(file.sha256 or "") == 64 for file in (*current[:3], *older[:3]))
    assert current[3].unpack


@pytest.mark.parametrize(
    ("name", "sets"), [("POPE", "all"), ("pope_adv", "adversarial"), ("pope_random", "random")]
)
def test_other_toolkits_names_are_known(name: str, sets: Sets) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["sets"] == sets


# -- prompts

SHORT = "\nAnswer the question using a single word or phrase."


@pytest.mark.parametrize(
    ("preset", "behind"),
    [("official", ""), ("vlmevalkit", ""), ("llava", SHORT), ("lmms-eval", SHORT)],
)
@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("1", "Is there a disc in the image?"),
        ("4", "Is there a star in the image?"),
        ("10000008", "Is there a star in the image?"),
    ],
)
def test_a_prompt_is_the_question_behind_the_picture(
    preset: Preset, behind: str, sample: str, text: str
) -> None:
    benchmark = pope(prompt=preset, data=BUNDLED)
    request = samples(benchmark)[sample]
    (message,) = benchmark.prompt(request, ())
    assert message.content == (*request.media, text + behind)


# -- scoring, official


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("No", "has No"),
        ("No, there is none", "has No"),
        ("There is no dog", "has no"),
        ("Yes, it is not there", "has not"),
        ("I do,not see it", "has no No, not, no"),
        ("no. Yes", "has no"),
    ],
)
def test_official_reads_no_in_a_word_of_the_first_sentence(reply: str, rule: str) -> None:
    sample = read("official", reply)
    assert (sample.answer, sample.rule) == ("yes" if rule.startswith("has no N") else "no", rule)


@pytest.mark.parametrize(
    ("reason", "reply"),
    [
        ("nothing", ""),
        ("a refusal", "I'm sorry, I can't do that."),
        ("capitals", "NO"),
        ("a capital", "Not there"),
        ("another word", "nope"),
        ("a sign behind it", "No!"),
        ("a sign before it", '"no'),
        ("a line's end is not an end of a word", "No\nThere is none"),
        ("a tab is none either", "no\tdog"),
        ("behind the first full stop", "Well. No"),
        ("with no blank behind it too", "Yes.There is no dog"),
        ("a full stop at the beginning", ".No"),
    ],
)
def test_official_takes_all_else_for_yes(reason: str, reply: str) -> None:
    assert read("official", reply).answer == "yes"


# -- scoring, the toolkits'


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes", "yes"),
        ("no.", "no"),
        ("Yes, there is", "yes"),
        ("It is not there: no", "no"),
        ("NO!", "no"),
        ("Yes\nor so", "yes"),
        ("Yes and no", None),
        ("not there", None),
        ("**Yes**", None),
        ("Answer:Yes", None),
        ("yes/sir", "yes"),
        ("yes-sir is - what", None),
        ("yes-sir is what", "yes"),
        ("yes,sir 1,000", None),
        ("yes.sir", None),
        ("1.yes", None),
        (". " * 32 + "yes.", None),
        (". " * 31 + "yes.", "yes"),
        ("1.2 " * 32 + "yes.", "yes"),
        ("1. " * 32 + "yes.", "yes"),
        (".2 " * 32 + "yes.", "yes"),
        # What stood beside a blank at first, not once other signs are blanks.
        ("x-,y yes,sir", "yes"),
        (" -yes-sir", "yes"),
        ("", None),
    ],
)
def test_vlmevalkit_reads_the_only_one_of_the_two_words(reply: str, answer: str | None) -> None:
    assert read("vlmevalkit", reply).answer == answer


@pytest.mark.parametrize("sign", ';/[]"{}()=+\\_-><@`,?!')
def test_to_vlmevalkit_a_sign_between_two_words_parts_them(sign: str) -> None:
    # open-compass/VLMEvalKit@e8e78f05:vlmeval/smp/misc.py#L20-L23
    assert read("vlmevalkit", f"yes{sign}sir").answer == "yes"
    # Beside a blank once, on either side, it goes from everywhere.
    assert read("vlmevalkit", f"{sign} so yes{sign}sir").answer is None
    assert read("vlmevalkit", f"so {sign}it yes{sign}sir").answer is None


@pytest.mark.parametrize("sign", "*:'&")
def test_to_vlmevalkit_other_signs_are_letters(sign: str) -> None:
    assert read("vlmevalkit", f"yes{sign}sir").answer is None


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Yes", "yes"),
        (" no\n", "no"),
        ("NO", "no"),
        ("yes.", None),
        ("Yes, it is", None),
        ("", None),
    ],
)
def test_lmms_eval_reads_the_word_alone(reply: str, answer: str | None) -> None:
    assert read("lmms-eval", reply).answer == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("**No**", "no"), ("There is no dog.", "no"), ("Yes, not a cat", "yes"), ("Yes and no", None)],
)
def test_robust_reads_the_word_that_a_reply_settles_on(reply: str, answer: str | None) -> None:
    assert read("robust", reply).answer == answer


# -- figures

REPLIES = {
    # Of eight questions of the set four are about what is there: 1, 3, 5 and 7.
    **{"1": "Yes", "3": "yes", "5": "No", "7": "Perhaps"},
    **{"2": "Yes", "4": "No", "6": "Perhaps", "8": "no"},
}


@pytest.mark.parametrize(
    ("scoring", "figures"),
    [
        # official: yes to 1, 3, 7 of four, and to 2 and 6 of the others
        ("official", (5 / 8, 3 / 5, 3 / 4, 2 / 3, 5 / 8)),
        # robust, vlmevalkit: yes to 1, 3 and 2; 7 and 6 are wrong
        ("robust", (4 / 8, 2 / 3, 2 / 4, 4 / 7, 3 / 8)),
        ("vlmevalkit", (4 / 8, 2 / 3, 2 / 4, 4 / 7, 3 / 8)),
        # lmms-eval: 7 is not in the recall either; the ratio is that of the right answers
        ("lmms-eval", (4 / 8, 2 / 3, 2 / 3, 2 / 3, 4 / 8)),
    ],
)
def test_figures_are_the_authors(tmp_path: Path, scoring: str, figures: tuple[float, ...]) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(json.dumps({"id": k, "reply": v}) for k, v in REPLIES.items()))
    result = snellen.score(path, "pope:sets=adversarial", data=BUNDLED)
    metrics = result.report.scorings[scoring].metrics
    names = ("accuracy", "precision", "recall", "f1", "yes_ratio")
    assert tuple(metrics[name].value for name in names) == pytest.approx(figures)
    assert metrics["mean_f1"].value == pytest.approx(metrics["f1"].value)


@pytest.mark.parametrize(
    ("scoring", "nothing"), [("official", None), ("vlmevalkit", 0.0), ("lmms-eval", 0.0)]
)
def test_where_yes_is_never_said_its_precision_is_undefined_or_what_a_toolkit_says(
    tmp_path: Path, scoring: str, nothing: float | None
) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text("\n".join(json.dumps({"id": name, "reply": "No"}) for name in REPLIES))
    metrics = (
        snellen.score(path, "pope:sets=adversarial", data=BUNDLED).report.scorings[scoring].metrics
    )
    assert (metrics["precision"].value, metrics["f1"].value) == (nothing, 0.0)


@pytest.mark.parametrize(
    ("scoring", "nothing"), [("official", None), ("vlmevalkit", 0.0), ("lmms-eval", 0.0)]
)
def test_where_yes_is_never_said_nor_right_all_three_are_undefined_or_what_a_toolkit_says(
    tmp_path: Path, scoring: str, nothing: float | None
) -> None:
    """Questions about what is not there alone: vlmeval/dataset/utils/yorn.py#L154-L156, and
    lmms_eval/tasks/pope/utils.py#L39-L71."""
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(dict.fromkeys(("2", "4", "6"), "No")))
    result = snellen.score(path, "pope:sets=adversarial", data=BUNDLED)
    metrics = result.report.scorings[scoring].metrics
    actual = [metrics[name].value for name in ("precision", "recall", "f1", "mean_f1")]
    assert actual == [nothing] * 4


def test_sets_count_the_same_however_many_questions_they_have(tmp_path: Path) -> None:
    """As in the older release, whose random set has fewer: 4 of 8, 1 of 1, 1 of 1."""
    path = tmp_path / "replies.json"
    replies = {str(number): "yes" for number in range(1, 9)}
    path.write_text(json.dumps(replies | {"10000001": "yes", "20000001": "yes"}))
    metrics = snellen.score(path, "pope", data=BUNDLED).report.scorings["official"].metrics
    assert metrics["mean_accuracy"].value == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert metrics["accuracy"].value == pytest.approx(6 / 10)


def test_the_mean_over_the_sets_is_not_the_f1_of_all_rows(tmp_path: Path) -> None:
    """Yes to all of the first set, and to what is there alone of the two others."""
    by_id = {
        name: "yes" if sample.tags["set"] == "adversarial" else sample.target
        for name, sample in samples(pope(data=BUNDLED)).items()
    }
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(by_id))
    metrics = snellen.score(path, "pope", data=BUNDLED).report.scorings["official"].metrics
    assert metrics["mean_f1"].value == pytest.approx((2 / 3 + 1 + 1) / 3)
    assert metrics["f1"].value == pytest.approx(2 * 12 / (16 + 12))
    assert metrics["mean_accuracy"].value == pytest.approx((0.5 + 1 + 1) / 3)
    assert metrics["f1/adversarial"].value == pytest.approx(2 / 3)
    assert "mean_f1/adversarial" not in metrics


# -- the authors' files of answers


def answers(folder: Path, name: str, sets: Sets, n: int = 8, packed: bool = False) -> Path:
    rows = [
        json.dumps({"question": sample.question.lower(), "answer": sample.target})
        for sample in samples(pope(sets=sets, data=BUNDLED)).values()
    ][:n]
    path = folder / name
    raw = "\n".join(rows).encode()
    path.write_bytes(gzip.compress(raw) if packed else raw)
    return path


@pytest.mark.parametrize(("name", "packed"), [("out.json", False), ("out.jsonl.gz", True)])
def test_answers_without_ids_go_by_the_order_of_the_questions(
    tmp_path: Path, name: str, packed: bool
) -> None:
    path = answers(tmp_path, name, "popular", packed=packed)
    report = snellen.score(path, "pope:sets=popular", data=BUNDLED).report
    assert report.scorings["official"].metrics["accuracy"].value == 1.0


def test_a_folder_has_a_file_for_each_set(tmp_path: Path) -> None:
    for name in ("adversarial", "popular", "random"):
        answers(tmp_path, f"{name}.json", name)
    report = snellen.score(tmp_path, "pope", data=BUNDLED).report
    assert (report.n, report.replies) == (24, {"ok": 24})


def test_questions_behind_the_last_answer_are_left_out_as_the_authors_zip_does(
    tmp_path: Path,
) -> None:
    path = answers(tmp_path, "out.json", "popular", n=5)
    scoring = snellen.score(path, "pope:sets=popular", data=BUNDLED).report.scorings["official"]
    assert (scoring.metrics["accuracy"].value, scoring.metrics["accuracy"].n) == (1.0, 5)


def test_a_file_in_another_order_than_the_labels_says_so(tmp_path: Path) -> None:
    """evaluate.py#L41 pairs answers and labels by line."""
    names = list(samples(pope(data=BUNDLED)))
    path = tmp_path / "replies.jsonl"

    def notes(order: list[str]) -> list[str]:
        path.write_text("\n".join(json.dumps({"id": name, "reply": "yes"}) for name in order))
        every_note = snellen.score(path, "pope", data=BUNDLED).report.notes
        return [note for note in every_note if "not in the order of the questions" in note]

    assert notes(names) == []
    assert notes(names[8:] + names[:8]) == []  # the sets have files of their own
    (note,) = notes([*names[:20], names[21], names[20], *names[22:]])
    assert note.startswith("official: ")
    assert "(random)" in note
    assert "The authors' script pairs answers with labels by line" in note


def test_what_the_authors_script_does_with_missing_rows_is_said(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    names = list(samples(pope(data=BUNDLED)))[1:]
    path.write_text("\n".join(json.dumps({"id": name, "reply": "yes"}) for name in names))
    notes = snellen.score(path, "pope", data=BUNDLED).report.notes
    (note,) = [note for note in notes if note.startswith("official: 1 rows")]
    assert "every answer after a missing one is compared with the wrong label" in note


def test_answers_that_are_not_to_these_questions_are_refused(tmp_path: Path) -> None:
    path = answers(tmp_path, "out.json", "random")
    with pytest.raises(DataError, match="row 2 answers"):
        snellen.score(path, "pope:sets=popular", data=BUNDLED)
    with pytest.raises(DataError, match="the set of these answers is not known"):
        snellen.score(path, "pope", data=BUNDLED)
    long = tmp_path / "long.json"
    long.write_bytes(path.read_bytes() + b"\n" + path.read_bytes())
    with pytest.raises(DataError, match="16 answers to the 8"):
        snellen.score(long, "pope:sets=random", data=BUNDLED)
