"""MP-DocVQA: its pages, the page in a reply, and each rule of its scorings.

Expected scores are those of the authors' metrics.py at the commit that the benchmark names, or of
the golden pack's README.
"""

import json
import shutil
from pathlib import Path

import pytest

import snellen
from snellen.benchmarks import mp_docvqa as file
from snellen.benchmarks.mp_docvqa import mp_docvqa
from snellen.core.benchmark import Benchmark
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError, UsageError
from snellen.media.content import Image

BUNDLED = Path(file.__file__).parent / "rows" / "mp_docvqa"


def scores(
    reply: str, rights: tuple[str, ...], kind: str, scoring: str, folder: Path
) -> list[float | None]:
    """ANLS and accuracy of one reply."""
    row = {"questionId": 1, "question": "?", "page_ids": ["a"], "answer_type": kind}
    content = {"data": [{**row, "answers": rights, "answer_page_idx": 0}]}
    (folder / "val.json").write_text(json.dumps(content))
    replies = folder / "replies.json"
    replies.write_text(json.dumps([{"questionId": 1, "answer": reply}]))
    result = snellen.score(replies, mp_docvqa(data=folder), scorings=[scoring])
    metrics = result.report.scorings[scoring].metrics
    return [metrics["anls"].value, metrics["accuracy"].value]


@pytest.mark.parametrize(
    ("reply", "rights", "kind", "expected"),
    [
        ("NAÏVE", ("naïve",), "string", [1.0, 1.0]),
        (" B C A.  ", ("b c a.",), "string", [1.0, 1.0]),
        ("Page  A", ("Page A",), "string", [1 - 1 / 7, 0.0]),  # inner blanks count
        ("ab", ("ax",), "string", [0.5, 0.0]),  # exactly one half is kept
        ("abc", ("axx",), "string", [0.0, 0.0]),
        ("", ("",), "string", [0.0, 1.0]),
        ("None", ("none",), "string", [0.0, 0.0]),
        ("", ("x",), "not-answerable", [0.0, 1.0]),
        ("None", ("x",), "not-answerable", [1.0, 1.0]),
        ("NA", ("x",), "not-answerable", [0.0, 0.0]),
        ("x", ("x",), "not-answerable", [0.0, 0.0]),
        ("x", ("x",), "abstractive", [1.0, 1.0]),  # any other type is a string's
    ],
)
def test_a_reply_is_scored_as_the_authors_framework_scores_it(
    reply: str, rights: tuple[str, ...], kind: str, expected: list[float], tmp_path: Path
) -> None:
    assert scores(reply, rights, kind, "official", tmp_path) == pytest.approx(expected, abs=1e-12)


def test_case_counts_in_the_scoring_of_this_name_and_na_is_right(tmp_path: Path) -> None:
    assert scores("NAÏVE", ("naïve",), "string", "case-sensitive", tmp_path) == [0.0, 0.0]
    assert scores("NA", ("x",), "not-answerable", "case-sensitive", tmp_path) == [1.0, 1.0]
    assert scores("None", ("None",), "string", "case-sensitive", tmp_path) == [1.0, 1.0]


def test_a_page_in_the_last_line_is_not_part_of_the_answer() -> None:
    benchmark = mp_docvqa(prompt="page", data=BUNDLED)
    sample = next(benchmark.read(row) for row in benchmark.data)
    for name, rule in benchmark.scorings.items():
        assert rule.score(rule.parse(Reply(text="Mary Fairfax\nPage: 1"), sample), sample) == 1, (
            name
        )
    assert benchmark.prompt(sample, ())[0].text.endswith('such as "Page: 1".')


def test_the_organizers_file_of_replies_has_pages_that_count_from_0(tmp_path: Path) -> None:
    rows = [
        {"questionId": 101, "answer": "M. Fairfax", "answer_page": 0},
        {"questionId": 102, "answer": "Ada Byron", "answer_page": 1},
        {"questionId": 103, "answer": "25", "answer_page": 1},
        {"questionId": 104, "answer": "1,500"},
    ]
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(rows))
    result = snellen.score(path, mp_docvqa(data=BUNDLED), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    # Four of the eight questions have no reply, and count as wrong.
    assert metrics["anls"].value == metrics["accuracy"].value == 4 / 8
    assert metrics["page_accuracy"].value == 2 / 8
    submission = mp_docvqa(data=BUNDLED).interop.submission
    assert submission is not None
    sample = Sample(id="101", question="?")
    assert submission.row(sample, "This\nPage: 3") == (101, "This", 2)
    assert submission.row(sample, "This") == (101, "This", -1)


def test_without_any_page_there_is_no_page_accuracy(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"questionId": 101, "answer": "M. Fairfax"}]))
    result = snellen.score(path, mp_docvqa(data=BUNDLED), scorings=["official"])
    page = result.report.scorings["official"].metrics["page_accuracy"]
    assert (page.value, page.reason) == (None, "no reply has a last line with a page")


def test_all_pages_are_shown_in_order_or_only_the_page_with_the_answer() -> None:
    def labels(benchmark: Benchmark, index: int) -> list[str]:
        return [page.label for page in [*map(benchmark.read, benchmark.data)][index].media]

    assert labels(mp_docvqa(data=BUNDLED), 3) == [f"images/lett0001_p{n}.jpg" for n in range(3)]
    assert labels(mp_docvqa(pages="oracle", data=BUNDLED), 3) == ["images/lett0001_p2.jpg"]


def test_the_first_pages_are_shown_and_no_other_page_is_needed(tmp_path: Path) -> None:
    shutil.copytree(BUNDLED, tmp_path, dirs_exist_ok=True)
    (tmp_path / "images/lett0001_p2.jpg").unlink()
    benchmark = mp_docvqa(pages="first:2", data=tmp_path)
    samples = [*map(benchmark.read, benchmark.data)]
    assert [page.label for page in samples[3].media] == [
        f"images/lett0001_p{number}.jpg" for number in range(2)
    ]
    assert all(page.width for page in samples[3].media if isinstance(page, Image))
    # A document has as many pages as before.
    assert [sample.tags for sample in samples] == [
        sample.tags for sample in map(mp_docvqa(data=BUNDLED).read, mp_docvqa(data=BUNDLED).data)
    ]
    assert benchmark.notes == (
        "only the first 2 pages are shown of each document, so the page with the answer may be "
        "missing",
    )
    assert mp_docvqa(data=BUNDLED).notes == ()
    assert "only the first page is" in mp_docvqa(pages="first:1", data=BUNDLED).notes[0]


@pytest.mark.parametrize("pages", ["", "first", "first:0", "first:-1", "first:1.5", "some", "ALL"])
def test_pages_that_make_no_sense_are_refused(pages: str) -> None:
    words = f"mp-docvqa:pages must be one of all, first:N, oracle, not {pages!r}"
    with pytest.raises(UsageError, match=words):
        mp_docvqa(pages=pages, data=BUNDLED)


def test_a_page_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps([{"questionId": 101, "answer": "25", "answer_page": "two"}]))
    with pytest.raises(DataError, match=r"row 1 has 'two' as answer_page. It must be a number"):
        snellen.score(path, mp_docvqa(data=BUNDLED))
