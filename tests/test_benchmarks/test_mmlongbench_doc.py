"""MMLongBench-Doc: its pages, how extracted answers are read, and each rule of its scorings.

Expected scores are those of the code of the authors, VLMEvalKit, and lmms-eval at the commits that
the benchmark names, or of the golden pack's README.
"""

import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import mmlongbench_doc as file
from snellen.benchmarks.families import long_documents as rules
from snellen.benchmarks.mmlongbench_doc import mmlongbench_doc
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mmlongbench_doc"


def samples(**options: object) -> list[Sample]:
    benchmark = mmlongbench_doc(data=BUNDLED, **options)  # type: ignore[arg-type]
    return [benchmark.read(row) for row in benchmark.data]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Extracted answer: 25\nAnswer format: Integer", "25"),
        ("Sure!\nExtracted answer: a \nExtracted answer: b\nAnswer format: String", "a"),
        ("Answer format: Integer\nExtracted answer: 25", None),
        ("1,200", None),
        ("Extracted answer:", ""),
    ],
)
def test_the_answer_is_cut_out_of_the_extractors_reply(text: str, answer: str | None) -> None:
    assert rules.cut(text) == answer


@pytest.mark.parametrize(
    ("answer", "right", "kind", "score"),
    [
        ("3.7", "3", "Int", 1.0),
        ("3 items", "3", "Int", 0.0),
        ("1,200", "1200", "Int", 0.0),
        ("", "many", "Int", 0.0),
        ("0.0%", "0.12%", "Float", 1.0),
        ("12", "0.12", "Float", 1.0),  # a hundredfold
        ("100.9", "100", "Float", 1.0),
        ("102", "100", "Float", 0.0),
        ("nan", "1", "Float", 0.0),
        ("ab", "ax", "Str", 0.0),  # exactly one half is dropped
        ("abc", "abx", "Str", 2 / 3),
        ("3 miles", "3 mile", "Str", 6 / 7),  # units stay
        ("'Quoted (so)'", "quoted", "None", 1.0),
        ("page 3", "page 4", "Str", 0.0),  # looks exact
        ("$5", "5%", "Str", 1.0),
        ("['b', 'A']", "['a', 'b']", "List", 1.0),
        ("['a']", "['a', 'b']", "List", 0.0),
        ("['abc', 'xyz']", "['abc', 'xyy']", "List", 2 / 3),  # the minimum
        ("['1', '3']", "['1', '2']", "List", 0.0),
        ("東", "東", "ListX", 1.0),  # an unknown format has the rule for lists
    ],
)
def test_the_authors_rule_depends_on_the_format(
    answer: str, right: str, kind: str, score: float
) -> None:
    assert rules.official(answer, right, kind) == pytest.approx(score, abs=1e-12)
    if kind != "None":
        assert rules.vlmevalkit(answer, right, kind) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("answer", "right", "kind"),
    [
        ("5", "a lot", "Float"),
        ("[1.5%, 2%]", "['1.5%', '2%']", "List"),
        ("[null]", "['a']", "List"),
        ("[]", "[]", "List"),
        ("[" * 5000, "['a']", "List"),
    ],
)
def test_a_pair_at_which_the_authors_code_stops_is_a_failed_extraction(
    answer: str, right: str, kind: str
) -> None:
    with pytest.raises(rules.NotScored):
        rules.official(answer, right, kind)
    assert rules.vlmevalkit(answer, right, kind) == 0.0
    sample = Sample(id="0", question="?", target=right, tags={"format": kind})
    assert file.official_reading(f"Extracted answer: {answer}", sample).answer == file.FAILED
    assert file.official_reading("no form", sample).answer == file.FAILED


@pytest.mark.parametrize(
    ("answer", "right", "kind", "score"),
    [
        ("about 1,200 wells", "1200", "Int", 1.0),
        ("3 miles", "3 mile", "Str", 1.0),
        ("Not Answerable", "Not answerable", "None", 1.0),
        ("unknown", "Not answerable", "None", 0.0),
        ("[]", "[]", "List", 1.0),
        ("['10', '20']", "['10', '21']", "List", 0.0),
        ("http://a.b", "http://a.c", "Str", 0.0),
        ("nipynb", "xipynb", "Str", 5 / 6),
        ("None", "[]", "List", 1.0),
        ("many", "3", "Int", 0.0),
        ("9" * 400, "3", "Int", 0.0),
    ],
)
def test_lmms_eval_has_rules_of_its_own(answer: str, right: str, kind: str, score: float) -> None:
    assert rules.lmms_eval(answer, right, kind) == pytest.approx(score, abs=1e-12)


def test_f1_counts_answers_for_precision_and_answerable_questions_for_recall(
    tmp_path: Path,
) -> None:
    extracted = ["the wells", "14", "9.5", "['A', 'C']", "Not answerable", "x", "Ann", "Fail"]
    rows = [
        {"response": "r", "extracted_res": f"Extracted answer: {text}\nAnswer format: String"}
        for text in extracted
    ]
    path = tmp_path / "res_model.json"
    path.write_text(json.dumps(rows))
    result = snellen.score(path, mmlongbench_doc(data=BUNDLED), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    assert metrics["accuracy"].value == 4 / 8
    # Recall is 4 of 7 questions with an answer; precision is 4 of 7 replies that are answers.
    assert metrics["f1"].value == pytest.approx(4 / 7)


def test_the_prompts_show_the_pages_that_they_state() -> None:
    first, *_ = samples()
    assert [page.label for page in first.media if isinstance(page, Image)] == [
        f"tmp/report_{number}.png" for number in (1, 2, 3)
    ]
    evidence = samples(pages="evidence")
    assert [len(sample.media) for sample in evidence] == [1, 1, 1, 1, 1, 1, 0, 2]
    assert [len(sample.media) for sample in samples(pages="first:2")] == [2] * len(evidence)
    assert [len(sample.media) for sample in samples(pages="first:200")] == [3] * len(evidence)
    (message,) = mmlongbench_doc(data=BUNDLED).prompt(first, ())
    assert message.content == (first.question, *first.media)
    (message,) = mmlongbench_doc("lmms-eval", data=BUNDLED).prompt(first, ())
    assert message.text == (
        "What is the report on?\nAnswer with a single word or phrase. If the answer is not in the "
        "document, answer 'Not answerable'."
    )


def test_the_judge_has_the_authors_texts() -> None:
    judge = mmlongbench_doc(data=BUNDLED).scorings["official"].judge
    assert judge is not None
    (message,) = judge.prompt(samples()[0], Reply(text="the wells"))
    task, analysis = message.content
    assert str(task).startswith("Given the question and analysis, you are tasked to extract")
    assert analysis == "\n\nQuestion:What is the report on?\nAnalysis:the wells\n"


def test_a_document_without_pages_says_how_to_render_them(tmp_path: Path) -> None:
    rows = (BUNDLED / "data/samples.json").read_text()
    (tmp_path / "samples.json").write_text(rows)
    replies = tmp_path / "replies.json"
    replies.write_text(json.dumps([{"id": "0", "response": "x"}]))
    with pytest.raises(DataError, match=r"tmp/report_1.png. Render report.pdf at 144 dpi"):
        snellen.score(replies, mmlongbench_doc(data=tmp_path))
