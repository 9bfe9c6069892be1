"""COCO captions: its rows in each published form, its prompts, and its figures."""

import base64
import json
import math
from pathlib import Path

import numpy as np
import pytest

from snellen import registry
from snellen.benchmarks import coco_captions as file
from snellen.benchmarks.coco_captions import Preset, Split, coco_captions
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media import images
from snellen.media.content import Image
from snellen.metrics.captions import bleu, captions, rouge_l_scores
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "coco_captions"
FIRST = (
    "A red ball lies on the grass.",
    "a red ball in a green field",
    "The ball is red.",
    "One red ball on green grass",
    "A ball lies at the left of a lawn.",
)
COCO_CAPTION = {
    "cider": 2.600570293387461,
    "bleu_4": 8.839907745207894e-05,
    "bleu_3": 0.589371380102723,
    "bleu_2": 0.7562772557239579,
    "bleu_1": 0.894839316615517,
    "rouge_l": 0.5820213998500647,
}


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


# -- data


@pytest.mark.parametrize(
    ("split", "ids", "folder"),
    [
        ("karpathy-test", ["900001", "900002", "900003"], "val2014/COCO_val2014_"),
        ("karpathy-val", ["900004"], "val2014/COCO_val2014_"),
        ("val2014", ["900001", "900002", "900003", "900004"], "val2014/COCO_val2014_"),
        ("val2017", ["900001", "900002", "900003"], "val2017/"),
    ],
)
def test_a_split_has_its_images_with_their_captions(
    split: Split, ids: list[str], folder: str
) -> None:
    actual = samples(coco_captions(split=split, data=BUNDLED))
    assert list(actual) == ids
    for sample in actual.values():
        (picture,) = sample.media
        assert isinstance(picture, Image)
        assert picture.label == f"{folder}{int(sample.id):012}.jpg"
        assert images.load(picture).width == 64
    if "900001" in actual:
        assert actual["900001"].references == FIRST


def test_an_image_may_have_more_than_five_captions() -> None:
    actual = samples(coco_captions(split="val2014", data=BUNDLED))
    assert len(actual["900004"].references) == 6


def test_what_karpathy_left_of_val2014_for_training_is_in_neither_split(tmp_path: Path) -> None:
    parts = ("train", "restval", "val", "test")
    images = [
        {
            "split": part,
            "cocoid": 900 + number,
            "imgid": number,
            "filepath": "val2014",
            "filename": f"{part}.jpg",
            "sentences": [{"raw": "A cat.", "tokens": ["a", "cat"]}],
        }
        for number, part in enumerate(parts)
    ]
    (tmp_path / "dataset_coco.json").write_text(json.dumps({"images": images}))
    assert [*samples(coco_captions(split="karpathy-val", data=tmp_path))] == ["902"]
    assert [*samples(coco_captions(split="karpathy-test", data=tmp_path))] == ["903"]


def test_lavis_copy_of_karpathys_split_is_read(tmp_path: Path) -> None:
    row = {"image": "val2014/COCO_val2014_000000900001.jpg", "caption": list(FIRST)}
    (tmp_path / "coco_karpathy_test.json").write_text(json.dumps([row]))
    own = samples(coco_captions(data=BUNDLED))["900001"]
    (values,) = samples(coco_captions(data=tmp_path)).values()
    assert (values.id, values.references) == (own.id, own.references)
    assert isinstance(values.media[0], Image)
    assert values.media[0].source == tmp_path / row["image"]  # type: ignore[operator]


def test_the_test_images_are_without_captions(tmp_path: Path) -> None:
    image = {"id": 900009, "file_name": "COCO_test2014_000000900009.jpg"}
    (tmp_path / "annotations").mkdir()
    path = tmp_path / "annotations" / "image_info_test2014.json"
    path.write_text(json.dumps({"images": [image]}))
    (values,) = samples(coco_captions(split="test2014", data=tmp_path)).values()
    assert values.hidden
    assert isinstance(values.media[0], Image)
    assert values.media[0].label == "test2014/COCO_test2014_000000900009.jpg"


def test_vlmevalkits_sheet_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode(
        (BUNDLED / "val2014/COCO_val2014_000000900001.jpg").read_bytes()
    ).decode()
    (tmp_path / "COCO_VAL.tsv").write_text(
        f"index\timage\tanswer\n7\t{picture}\t['A red ball.', \"Somebody's ball\"]\n"
    )
    (values,) = samples(coco_captions(split="vlmevalkit", data=tmp_path)).values()
    assert (values.id, values.references) == ("7", ("A red ball.", "Somebody's ball"))


@pytest.mark.parametrize("text", ["{}", '{"images": 7}', "7", '{"images": [{"id": 1}]}'])
def test_a_file_of_another_form_is_said_to_be_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "captions_val2014.json"
    path.write_text(text)
    with pytest.raises(DataError, match="not in the format"):
        list(coco_captions(split="val2014", data=tmp_path).data)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("COCO_VAL", "vlmevalkit"),
        ("coco_karpathy_test", "karpathy-test"),
        ("coco_karpathy_val", "karpathy-val"),
        ("coco2014_cap_val", "val2014"),
        ("coco2014_cap_test", "test2014"),
        ("coco2017_cap_val", "val2017"),
        ("coco2017_cap_test", "test2017"),
        ("coco_captions", "karpathy-test"),
    ],
)
def test_other_toolkits_names_are_known(name: str, split: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["split"] == split


# -- prompts


@pytest.mark.parametrize("name", ["900001", "900002", "900003"])
@pytest.mark.parametrize(
    ("preset", "split", "text"),
    [
        # EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
        # lmms_eval/tasks/coco_cap/coco_karpathy_test.yaml#L7, coco2014_cap_val.yaml#L8
        ("lmms-eval", "karpathy-test", "Describe the image briefly."),
        ("lmms-eval", "val2014", "Provide a one-sentence caption for the provided image."),
        ("lmms-eval", "val2017", "Provide a one-sentence caption for the provided image."),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_caption.py#L52-L59
        (
            "vlmevalkit",
            "val2014",
            "Please describe this image in general. Directly provide the description, do not "
            'include prefix like "This image depicts". ',
        ),
        # salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:
        # lavis/projects/instructblip/caption_coco_vicuna7b_eval_test.yaml#L10,
        # lavis/projects/blip2/train/caption_coco_ft.yaml#L25
        ("instructblip", "karpathy-test", "A short image caption."),
        ("blip2", "karpathy-test", "a photo of "),
    ],
)
def test_a_prompt_is_the_picture_and_the_published_text(
    preset: Preset, split: Split, text: str, name: str
) -> None:
    benchmark = coco_captions(split=split, prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[name]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, text)


# -- scoring


def test_official_reads_tokens_and_vlmevalkit_what_is_written() -> None:
    benchmark = coco_captions(data=BUNDLED)
    sample = samples(benchmark)["900001"]
    reply = Reply(text="A man's ball,\n(red).")
    answers = {
        name: scoring.parse(reply, sample).answer for name, scoring in benchmark.scorings.items()
    }
    assert answers == {
        "official": "a man 's ball -lrb- red -rrb-",
        "vlmevalkit": "A man's ball,\n(red).",
    }


def test_a_caption_is_read_alone_whatever_the_next_begins_with() -> None:
    """The authors' tokenizer reads on: before "The" the full stop of "B." is a token of its own."""
    benchmark = coco_captions(data=BUNDLED)
    sample = samples(benchmark)["900001"]
    reading = benchmark.scorings["official"].parse(Reply(text="A man. His plan B."), sample)
    assert reading.answer == "a man his plan b."


@pytest.mark.parametrize(("scoring", "reply"), [("official", "..."), ("vlmevalkit", "")])
def test_a_caption_without_tokens_is_unparsed_and_counts(scoring: str, reply: str) -> None:
    benchmark = coco_captions(data=BUNDLED)
    replies = {"900001": reply, "900002": "a blue box", "900003": "a yellow tent"}
    report = score_predictions(benchmark, replies, where="here").scorings[scoring]
    assert report.readings == {"answered": 2, "unparsed": 1}
    assert report.metrics["cider"].n == 3


def test_figures_are_of_the_images_that_have_a_caption() -> None:
    """By pycocoevalcap 1.2 with its tokenizer, of the first two images alone."""
    replies = {"900001": "A red ball on a lawn.", "900002": "The blue box!", "7": "left out"}
    report = score_predictions(coco_captions(data=BUNDLED), replies, where="here")
    metrics = report.scorings["official"].metrics
    assert {name: metric.value for name, metric in metrics.items()} == pytest.approx(
        COCO_CAPTION, abs=1e-9
    )
    for scoring in report.scorings.values():
        assert {metric.n for metric in scoring.metrics.values()} == {2}


def test_a_caption_that_is_longer_than_its_references_is_worth_no_more_for_it() -> None:
    """Of twelve tokens seven are in a reference, the longest of which has nine."""
    replies = {"900001": "A red ball lies on the grass and it was cold there."}
    report = score_predictions(coco_captions(data=BUNDLED), replies, where="here")
    value = report.scorings["official"].metrics["bleu_1"].value
    assert value == pytest.approx(7 / 12, abs=1e-9)


@pytest.mark.parametrize(
    ("reply", "official", "vlmevalkit"),
    # "ball is" alone is in "The ball is red." as it is written: two of four words either way.
    [("The ball is red.", 1.0, 1.0), ("the ball is red", 1.0, 0.5)],
)
def test_vlmevalkit_compares_with_references_as_they_are_written(
    reply: str, official: float, vlmevalkit: float
) -> None:
    report = score_predictions(coco_captions(data=BUNDLED), {"900001": reply}, where="here")
    actual = {name: item.metrics["rouge_l"].value for name, item in report.scorings.items()}
    assert actual == pytest.approx({"official": official, "vlmevalkit": vlmevalkit})


@pytest.mark.parametrize(("message", "right"), [("3\u00a01/2", "3 1/2"), ("3 1/2", "3\u00a01/2")])
def test_rouge_splits_at_single_blanks_alone(message: str, right: str) -> None:
    """rouge/rouge.py#L57-L62: a blank that does not break, which the tokenizer leaves in mixed
    numbers, is a sign to it."""
    assert rouge_l_scores(captions([message], [[right]])).tolist() == [0.0]


def test_the_small_numbers_of_the_authors_are_in_bleu_to_the_last_digits() -> None:
    """bleu/bleu_scorer.py#L198-L263: 1e-15 and 1e-9 in each share, and in that of lengths."""
    (score, *_), *_ = bleu(np.array([[1.0, 2, 1, 0, 0, 0, 1, 0, 0, 0]]))
    share, lengths = (1 + 1e-15) / (1 + 1e-9), (1 + 1e-15) / (2 + 1e-9)
    assert score == pytest.approx(share * math.exp(1 - 1 / lengths), rel=1e-13)


def test_the_result_says_what_ciders_interval_holds_fixed() -> None:
    (note,) = coco_captions(data=BUNDLED).notes
    assert "document frequencies" in note


def test_the_server_is_sent_an_object_an_image() -> None:
    benchmark = coco_captions(split="val2014", data=BUNDLED)
    assert benchmark.interop.submission is not None
    assert benchmark.interop.submission.columns == ("image_id", "caption")
    row = benchmark.interop.submission.row(samples(benchmark)["900001"], "a red ball")
    assert row == (900001, "a red ball")
