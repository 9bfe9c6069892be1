"""LLaVA-Bench: its rows, what its judge is asked, how verdicts are read, and its sums."""

import json
import random
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks import llava_bench as file
from snellen.benchmarks.llava_bench import Split, layout, llava_bench, two_scores
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.core.scoring import Judge
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image, user
from snellen.scoring import Report, Scored, Tally

BUNDLED = Path(file.__file__).parent / "rows" / "llava_bench"
SPLITS: tuple[Split, ...] = ("wild", "coco")


def samples(benchmark: Benchmark) -> list[Sample]:
    return [benchmark.read(row) for row in benchmark.data]


def judge(split: Split = "wild") -> Judge:
    judge_report = llava_bench(split, data=BUNDLED).scorings["official"].judge
    assert judge_report is not None
    return judge_report


# -- rows


@pytest.mark.parametrize("split", SPLITS)
def test_each_picture_opens_and_questions_about_one_share_a_cluster(split: Split) -> None:
    benchmark = llava_bench(split, data=BUNDLED)
    actual = samples(benchmark)
    for sample in actual:
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert images.load(picture).width == 120
    assert benchmark.cluster_by is not None
    assert (len(actual), len({benchmark.cluster_by(sample) for sample in actual})) == (8, 4)


def test_the_picture_comes_first_and_the_question_is_bare() -> None:
    benchmark = llava_bench(data=BUNDLED)
    sample = samples(benchmark)[0]
    assert benchmark.prompt(sample, ()) == (user(*sample.media, "Which colour has the square?"),)


def test_it_is_asked_as_the_authors_ask_without_sampling() -> None:
    # scripts/v1_5/eval/llavabench.sh: --temperature 0; model_vqa.py: max_new_tokens=1024
    benchmark = llava_bench(data=BUNDLED)
    assert (benchmark.procedure.temperature, benchmark.max_answer_tokens) == (0.0, 1024)


def test_cocos_own_folder_of_pictures_is_found(tmp_path: Path) -> None:
    for name in ("qa90_questions.jsonl", *file.COCO_FILES):
        (tmp_path / name).write_bytes((BUNDLED / name).read_bytes())
    (tmp_path / "val2014").mkdir()
    position = "val2014/COCO_val2014_000000000001.jpg"
    (tmp_path / position).write_bytes((BUNDLED / "images" / "000000000001.jpg").read_bytes())
    (picture,) = samples(llava_bench("coco", data=tmp_path))[0].media
    assert picture.label == position


@pytest.mark.parametrize("name", ["context.jsonl", "answers_gpt4.jsonl"])
def test_a_question_that_a_file_beside_it_does_not_know_is_named(tmp_path: Path, name: str) -> None:
    for parts in ("questions.jsonl", "context.jsonl", "answers_gpt4.jsonl"):
        lines = (BUNDLED / parts).read_text().splitlines()
        (tmp_path / parts).write_text("\n".join(lines[:2] if parts == name else lines))
    with pytest.raises(DataError, match=f"{name} in the same folder has nothing for question"):
        samples(llava_bench(data=tmp_path))


def test_vlmevalkits_sheet_has_all_in_its_rows(tmp_path: Path) -> None:
    picture = b64encode((BUNDLED / "images" / "001.jpg").read_bytes()).decode()
    cells = ("7", picture, "What?", "A disc.\nA square.", "It is a disc.", "conv")
    header = ("index", "image", "question", "caption", "gpt4_ans", "category")
    path = tmp_path / "LLaVABench.tsv"
    path.write_text("\t".join(header) + "\n" + "\t".join(f'"{cell}"' for cell in cells) + "\n")
    (sample,) = samples(llava_bench(data=path))
    assert (sample.id, sample.question, sample.target) == ("7", "What?", "It is a disc.")
    (_, messages) = judge().prompt(sample, Reply(text="x"))
    assert messages.text.startswith("[Context]\nA disc.\nA square.\n\n[Question]\nWhat?\n\n")


# -- the judge: haotian-liu/LLaVA@c121f04, whose code was run on the same rows


@pytest.mark.parametrize(
    ("split", "digest"),
    [
        ("wild", "4ce806bcfefa97ee6990cf76738fa8c66e161925dbf6bbf2f92c28bff836e0bd"),
        ("coco", "48c9502b7db76312b5c6c1cfda342532ac6895bed02750d0d3214e8445576c60"),
    ],
)
def test_the_judge_is_asked_in_the_authors_words(split: Split, digest: str) -> None:
    sample = samples(llava_bench(split, data=BUNDLED))[1]
    system, user = judge(split).prompt(sample, Reply(text="It shows\nshapes. "))
    assert (system.role, user.role) == ("system", "user")
    assert "[Assistant 2]\nIt shows\nshapes.\n\n[End of Assistant 2]\n\n[System]\n" in user.text
    assert sha256(user.text.encode()).hexdigest() == digest


def test_of_coco_the_judge_is_told_the_boxes_too() -> None:
    sample = samples(llava_bench("coco", data=BUNDLED))[3]
    assert sample.data["shown"] == (
        "A sign on a post reads EXIT B2.\nsign in a drawing.\n\nsign: [0.0, 0.25, 0.2, 0.75]"
    )


# What parse_score gives at eval_gpt_review_bench.py#L36-L49 for these words; None for [-1, -1], and
# for what is outside of 0 to 10, which it takes.
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("8 9\nBoth are fine.", (8.0, 9.0)),
        ("8,9", (8.0, 9.0)),
        ("8.5 7.5\n", (8.5, 7.5)),
        ("10 10", (10.0, 10.0)),
        ("8, 9", None),
        ("8 9 ", None),
        ("8  9", None),
        ("8\t9", None),
        ("8\n9", None),
        ("Assistant 1: 8", None),
        ("a b", None),
        ("", None),
        ("11 3", None),
        ("-1 -1", None),
        ("nan 3", None),
    ],
)
def test_a_verdict_is_two_numbers_in_the_first_line(
    words: str, expected: tuple[float, float] | None
) -> None:
    assert two_scores(words) == expected


# -- the sums

KINDS = ["conv"] * 17 + ["detail"] * 15 + ["complex"] * 28


def reviews() -> list[dict[str, Any]]:
    """As many as wild has of each category, made by chance."""
    draw = random.Random(5)
    rows = []
    for number, kind in enumerate(KINDS):
        reference, model = draw.choice([7, 8, 8.5, 9, 10]), draw.choice([1, 3, 5, 6, 6.5, 7, 8, 9])
        rows.append(
            {
                "id": number + 1,
                "question_id": number,
                "category": f"llava_bench_{kind}",
                "content": f"{reference} {model}\nSo it is.",
                "tuple": [float(reference), float(model)],
            }
        )
    return rows


@pytest.fixture
def wild(tmp_path: Path) -> Path:
    """60 questions about 24 pictures; gives the folder of the reviews."""

    def put(name: str, rows: Iterator[dict[str, Any]]) -> None:
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))

    put("context.jsonl", ({"image": f"{n}.jpg", "caption": "A thing."} for n in range(24)))
    put("answers_gpt4.jsonl", ({"question_id": n, "text": "It is."} for n in range(60)))
    put(
        "questions.jsonl",
        (
            {"question_id": n, "image": f"{n % 24}.jpg", "text": f"What {n}?", "category": kind}
            for n, kind in enumerate(KINDS)
        ),
    )
    for name in ("reviews", "answers"):
        (tmp_path / name).mkdir()
    return tmp_path / "reviews"


def scored(folder: Path, rows: list[dict[str, Any]]) -> Report:
    path = folder / "m.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return snellen.score(path, "llava-bench", data=folder.parent).report


def test_published_reviews_sum_as_the_authors_print_them(wild: Path) -> None:
    """What summarize_gpt_review.py printed of these: relative, references, model."""
    metrics = scored(wild, reviews()).scorings["official"].metrics
    for category, printed in {
        "": (66.1, 84.2, 55.7),
        "/complex": (62.9, 85.7, 53.9),
        "/conv": (64.1, 82.7, 52.9),
        "/detail": (74.7, 83.0, 62.0),
    }.items():
        names = ("relative_score", "reference_score", "model_score")
        actual = [metrics[f"{name}{category}"].value for name in names]
        assert tuple(round(value or 0, 1) for value in actual) == printed


def test_the_ratio_has_an_interval_that_knows_the_pictures(wild: Path) -> None:
    metric = scored(wild, reviews()).scorings["official"].metrics["relative_score"]
    assert metric.unit == "% of the reference"
    assert metric.ci95 is not None and metric.value is not None
    assert metric.ci95[0] < metric.value < metric.ci95[1]


def test_both_means_are_rounded_to_three_decimals_before_they_are_divided(wild: Path) -> None:
    """1/3 over 1: 0.333 in the authors' code."""
    rows = reviews()
    for number, row in enumerate(rows):
        row["tuple"], row["content"] = [1.0, float(number % 3 == 0)], f"1 {int(number % 3 == 0)}"
    value = scored(wild, rows).scorings["official"].metrics["relative_score"].value
    assert value == pytest.approx(33.3, abs=1e-9)


def test_a_review_without_scores_is_not_judged_and_what_the_authors_make_of_it_is_said(
    wild: Path,
) -> None:
    rows = reviews()
    for number in (3, 40):
        rows[number] |= {"content": "Both are good.", "tuple": [-1, -1]}
    report = scored(wild, rows)
    official = report.scorings["official"]
    assert official.readings == {"answered": 58, "not-judged": 2}
    # By hand: the others' sums over each other, both rounded.
    pairs = [row["tuple"] for row in rows if row["tuple"] != [-1, -1]]
    reference, model = (round(sum(column) / 58, 3) for column in zip(*pairs, strict=True))
    assert official.metrics["relative_score"].value == pytest.approx(100 * model / reference)
    (note,) = (note for note in report.notes if "the authors' summary counts" in note)
    assert note.endswith("gives 65.6")  # as summarize_gpt_review.py printed


def test_replies_beside_the_reviews_are_read_with_them(wild: Path) -> None:
    answers = ({"question_id": n, "text": f"reply {n}"} for n in range(60))
    (wild.parent / "answers" / "m.jsonl").write_text("".join(json.dumps(a) + "\n" for a in answers))
    report = scored(wild, reviews())
    assert report.replies == {"ok": 60}
    assert not any("not beside" in note for note in report.notes)


def test_several_reviews_of_the_same_answers_have_them_too(wild: Path) -> None:
    """Published as reviews/NAME-eval1.jsonl, ... beside answers/NAME.jsonl."""
    answers = ({"question_id": n, "text": f"reply {n}"} for n in range(60))
    (wild.parent / "answers" / "m.jsonl").write_text("".join(json.dumps(a) + "\n" for a in answers))
    path = wild / "m-eval2.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in reviews()))
    report = snellen.score(path, "llava-bench", data=wild.parent).report
    assert report.replies == {"ok": 60}
    assert not any("not beside" in note for note in report.notes)


def test_a_reply_that_was_withheld_counts_0_beside_the_mean_reference(wild: Path) -> None:
    benchmark = llava_bench(data=wild.parent)
    every = samples(benchmark)
    tally = Tally(benchmark, verdicts={"official": lambda *_: ["8 6"]})
    tally.add(
        Scored(sample, 0, "refused" if number < 20 else "ok", Reply(text="x"))
        for number, sample in enumerate(every)
    )
    metric = tally.report(model="", identity={}).scorings["official"].metrics["relative_score"]
    # By hand: 40 of 60 have 6, the others 0, so 4 over 8.
    assert metric.value == pytest.approx(50.0)
    # If right they had 10: (40·6 + 20·10) / 60 = 7.333 over 8.
    assert metric.bounds == pytest.approx((50.0, 100 * 7.333 / 8))


# -- published files


def test_the_authors_answers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"question_id": 7, "prompt": "What?", "text": "4", "answer_id": "a"}\n')
    published = layout(path)
    assert published is not None
    assert published.replies == {"7": "4"}


@pytest.mark.parametrize("name", ["a.json", "a.csv"])
def test_other_files_are_left_to_others(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("{}")
    assert layout(tmp_path / name) is None


def test_rows_with_other_columns_are_left_to_others(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "1", "response": "4"}\n')
    assert layout(tmp_path / "a.jsonl") is None


@pytest.mark.parametrize("scores", [[1], ["8", "9"], 8])
def test_a_review_that_has_no_two_numbers_is_named(tmp_path: Path, scores: object) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text(json.dumps({"question_id": 7, "content": "8 9", "tuple": scores}) + "\n")
    with pytest.raises(DataError, match="the review of question 7 must have a text"):
        layout(path)


def test_two_reviews_of_a_question_are_refused(wild: Path) -> None:
    with pytest.raises(DataError, match="two reviews of question 0"):
        scored(wild, [*reviews(), reviews()[0]])
