"""CRPE: rows of each form, four rows to a question, and the quirks of its scorings.

Expected values are worked out from the authors' eval_crpe.py and VLMEvalKit's crpe.py at the
commits that the benchmark names.
"""

import base64
import json
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import crpe as file
from snellen.benchmarks.crpe import crpe
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError

BUNDLED = Path(file.__file__).parent / "rows" / "crpe"


def row(answer: str) -> Sample:
    data = {"answer": answer}
    return Sample(id="1", question="?", choices=("on", "under"), target=answer[:1], data=data)


@pytest.mark.parametrize(
    ("scoring", "answer", "reply", "score"),
    [
        ("official", "B", "B", 1.0),
        ("official", "B", " B\n", 1.0),  # replies are stored without blanks at their ends
        ("official", "B", "b", 0.0),
        ("official", "B", "B.", 0.0),
        ("official", "B", "", 0.0),
        ("vlmevalkit", "B", "B. under", 1.0),
        ("vlmevalkit", "B", "Beside it", 1.0),
        ("vlmevalkit", "B", "b", 0.0),
        ("vlmevalkit", "B", "it is unclear", 1.0),  # "B"[4:] is empty, and in every text
        ("vlmevalkit", "B.  Under", "it lies UNDER the disc", 1.0),
        ("vlmevalkit", "B.  Under", "it lies on it", 0.0),
        ("vlmevalkit", "B.  Under", "", 0.0),
        ("robust", "B", "The answer is B.", 1.0),
    ],
)
def test_a_reply_is_scored_as_the_source_scores_it(
    scoring: str, answer: str, reply: str, score: float
) -> None:
    rule, sample = crpe(data=BUNDLED).scorings[scoring], row(answer)
    assert rule.score(rule.parse(Reply(text=reply), sample), sample) == score


def test_a_question_is_right_if_its_four_rows_are(tmp_path: Path) -> None:
    letters = "ABCD" + "ABCA" + "BBCD"
    replies = [{"question_id": n, "text": letter} for n, letter in enumerate(letters)]
    path = tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps(reply) + "\n" for reply in replies))
    result = snellen.score(path, crpe(data=BUNDLED), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    assert (metrics["circular"].value, metrics["circular"].n) == (1 / 3, 3)
    assert metrics["vanilla"].value == 2 / 3


def test_a_row_of_the_tsv_is_read(tmp_path: Path) -> None:
    picture = base64.b64encode((BUNDLED / "eval/crpe/abnormal_images/disc.png").read_bytes())
    header = "index\timage\tquestion\tanswer\tcategory\n"
    text = '"Where?\nA. on\nB. under\nC. in\nD. by\nAnswer."'
    (tmp_path / "CRPE_EXIST.tsv").write_text(
        f"{header}7\t{picture.decode()}\t{text}\tB. under\texist\n"
    )
    benchmark = crpe("exist", tmp_path)
    (sample,) = (benchmark.sample(n, row) for n, row in enumerate(benchmark.data))
    assert (sample.id, sample.target, sample.choices) == ("7", "B", ("on", "under", "in", "by"))
    assert sample.tags == {"category": "exist", "pass": "1 of 4"}


def test_a_row_without_a_right_letter_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"question_id": 0, "text": "A"}))
    fields = {"question_id": 0, "image": "a.png", "text": "Where?\nA. on\nB. in", "category": "x"}
    (tmp_path / "crpe_relation.jsonl").write_text(json.dumps({**fields, "correct_option": "E"}))
    with pytest.raises(DataError, match=r"row 1.*'E' is not one of the letters A, B"):
        snellen.score(path, crpe(data=tmp_path))
