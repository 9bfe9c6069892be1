"""InfographicVQA: its rows, its prompts, and the break-down of the organisers' evaluator."""

from pathlib import Path

import pytest

from snellen import registry
from snellen.benchmarks import info_vqa as file
from snellen.benchmarks.families.documents import Preset
from snellen.benchmarks.info_vqa import KINDS, info_vqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.scoring import score_predictions

BUNDLED = Path(file.__file__).parent / "rows" / "info_vqa"
ASK = "Answer the question using a single word or phrase."


def samples(benchmark: Benchmark) -> dict[str, Sample]:
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def test_a_row_of_the_organisers_file_becomes_a_question() -> None:
    sample = samples(info_vqa(data=BUNDLED))["98002"]
    assert sample.references == ("bus", "the bus")
    kinds = {label for tag, label in sample.tags.items() if label and tag != "last"}
    assert kinds == {"Image-Span", "Question-Span", "Figure", "Sorting"}
    assert sample.tags["last"] == "Sorting"


def test_the_test_split_hides_its_answers() -> None:
    assert all(s.hidden for s in samples(info_vqa(split="test", data=BUNDLED)).values())


def test_questions_on_one_infographic_share_a_cluster() -> None:
    benchmark = info_vqa(data=BUNDLED)
    assert benchmark.cluster_by is not None
    assert len({benchmark.cluster_by(sample) for sample in samples(benchmark).values()}) == 2


def test_a_kind_that_the_evaluator_does_not_name_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "infographicsVQA_val_v1.0.json"
    path.write_text(
        '{"data": [{"questionId": 1, "question": "?", "image_local_name": "1.jpeg", "answers": '
        '["x"], "answer_type": ["single span"], "evidence": null, "operation/reasoning": []}]}'
    )
    tags = samples(info_vqa(data=path))["1"].tags
    assert tags["unlisted"] == "single span"
    assert not any(tags[label] for label in KINDS.values())
    report = score_predictions(info_vqa(data=path), {"1": "x"}, where="here")
    assert [*report.scorings["official"].metrics] == ["anls", "anls/single span"]


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("InfoVQA_VAL", "val"),
        ("InfoVQA_TEST", "test"),
        ("infovqa_val", "val"),
        ("infovqa_test", "test"),
        ("infovqa", "val"),
    ],
)
def test_other_toolkits_names_are_known(name: str, split: str) -> None:
    assert registry.benchmark(name, data=BUNDLED).provenance.options["split"] == split


@pytest.mark.parametrize("number", ["98001", "98004", "98007"])
@pytest.mark.parametrize(
    ("preset", "behind"),
    [
        # EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:
        # lmms_eval/tasks/infovqa/_default_template_infovqa_yaml#L12-L15
        ("lmms-eval", f"\n{ASK}"),
        # open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:
        # vlmeval/dataset/image_vqa.py#L64-L69
        ("vlmevalkit", f"\n{ASK}"),
        # QwenLM/Qwen-VL@aa00ed04091eea5fcdd32985e7915f1c53e7d599:eval_mm/evaluate_vqa.py#L281
        ("qwen-vl", " Answer:"),
    ],
)
def test_a_prompt_is_the_picture_and_the_published_text(
    preset: Preset, behind: str, number: str
) -> None:
    questions = {
        "98001": "What percentage of people walk?",
        "98004": "What percentage walk or take the bike?",
        "98007": "By how much is February higher?",
    }
    benchmark = info_vqa(prompt=preset, data=BUNDLED)
    sample = samples(benchmark)[number]
    (message,) = benchmark.prompt(sample, ())
    assert message.content == (*sample.media, questions[number] + behind)


def test_figures_are_broken_down_as_the_evaluator_does() -> None:
    """The organisers' evaluator gives these figures for the same file, with "" for 98006.

    Wrong are 98004 (None span, Figure, Arithmetic) and, without a reply, 98006 (Image-Span, Map).
    """
    actual = samples(info_vqa(data=BUNDLED))
    replies = {name: sample.references[0] for name, sample in actual.items()}
    replies["98004"] = "nothing of the kind"
    del replies["98006"]
    report = score_predictions(info_vqa(data=BUNDLED), replies, where="here")
    metrics = report.scorings["official"].metrics
    assert {name: (metric.value, metric.n) for name, metric in metrics.items()} == {
        "anls": (6 / 8, 8),
        "anls/Image-Span": (3 / 4, 4),
        "anls/Question-Span": (1.0, 1),
        "anls/Multi-Span": (1.0, 1),
        "anls/None span": (pytest.approx(2 / 3), 3),
        "anls/Table/list": (1.0, 2),
        "anls/Text": (1.0, 2),
        "anls/Visual/Layout": (1.0, 1),
        "anls/Figure": (pytest.approx(2 / 3), 3),
        "anls/Map": (0.0, 1),
        "anls/Sorting": (1.0, 2),
        "anls/Arithmetic": (0.5, 2),
        "anls/Counting": (1.0, 1),
    }


@pytest.mark.parametrize(
    ("reply", "reference", "worth"),
    [
        # One letter of two is wrong. The organisers' length has the reference's two blanks, to
        # pix2struct they are wrong signs, and to the others nothing.
        ("ax", "ab  ", {"official": 0.75, "mmpretrain": 0.5, "pix2struct": 0.0, "m4c": 0.5}),
        # Nobody strips a reply: 100 blanks are 98 % "ab".
        (" " * 100, "ab", {"official": 0.98, "mmpretrain": 0.98, "pix2struct": 0.0, "m4c": 0.0}),
        ("a  b", "a b", {"official": 1.0, "mmpretrain": 1.0, "pix2struct": 0.75, "m4c": 0.75}),
        # Exactly one half.
        ("ab", "ax", {"official": 0.5, "mmpretrain": 0.5, "pix2struct": 0.0, "m4c": 0.5}),
        # The whole reply, not the phrase in it: 8 of 11 signs too many.
        ("Answer: 12%", "12%", dict.fromkeys(("official", "mmpretrain", "pix2struct", "m4c"), 0.0)),
    ],
)
def test_each_scoring_is_by_the_rule_of_its_name(
    reply: str, reference: str, worth: dict[str, float]
) -> None:
    sample = Sample(id="1", question="?", references=(reference,))
    actual = {}
    for name in worth:
        scoring = info_vqa(data=BUNDLED).scorings[name]
        actual[name] = scoring.score(scoring.parse(Reply(text=reply), sample), sample)
    assert actual == pytest.approx(worth)


@pytest.mark.parametrize(
    ("scoring", "value", "n"),
    [("official", 1 / 8, 8), ("pix2struct", 1 / 8, 8), ("mmpretrain", 1.0, 1), ("m4c", 1.0, 1)],
)
def test_each_scoring_has_its_rule_for_a_question_without_a_reply(
    scoring: str, value: float, n: int
) -> None:
    report = score_predictions(info_vqa(data=BUNDLED), {"98003": "3"}, where="here")
    metric = report.scorings[scoring].metrics["anls"]
    assert (metric.value, metric.n) == (value, n)


def test_a_question_of_one_kind_twice_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "infographicsVQA_val_v1.0.json"
    path.write_text(
        '{"data": [{"questionId": 1, "question": "?", "image_local_name": "1.jpeg", "answers": '
        '["x"], "answer_type": ["non span", "non span"], "evidence": ["map"]}]}'
    )
    report = score_predictions(info_vqa(data=path), {"1": "x"}, where="here")
    metrics = report.scorings["official"].metrics
    assert {name: metric.n for name, metric in metrics.items()} == {
        "anls": 1,
        "anls/None span": 1,
        "anls/Map": 1,
    }


def test_the_server_is_sent_ids_as_numbers() -> None:
    benchmark = info_vqa(split="test", data=BUNDLED)
    assert benchmark.interop.submission is not None
    assert benchmark.interop.submission.row(samples(benchmark)["98001"], "12") == (98001, "12")
