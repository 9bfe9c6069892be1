"""HR-Bench: the judge's words, and what a verdict counts."""

from pathlib import Path

import pytest

from snellen.benchmarks.hr_bench import hr_bench, published
from snellen.core.model import Reply
from snellen.core.sample import Sample

SAMPLE = Sample(
    id="0", question="Which?", choices=("red", "blue"), target="B", data={"hint": "", "image": "1"}
)


def test_the_judge_is_asked_in_the_authors_words() -> None:
    # build_prompt and pipeline_eval of hrbench/vlmeval/dataset/utils/hrbench.py for this row
    judge = hr_bench().scorings["official"].judge
    assert judge is not None
    (message,) = judge.prompt(SAMPLE, Reply(text="It is blue."))
    assert message.content == (
        "You are a helpful and precise assistant for checking the quality of the answer. Please "
        "answer in only yes or no. Given the following question: Which?\nOptions:\nA. red\n"
        "B. blue\nPlease select the correct answer from the options above. \n, the correct answer "
        "is: B. blue. Does the following answer correctly answers the question, answer:It is "
        "blue.?",
    )


@pytest.mark.parametrize(
    ("words", "value"),
    [("Yes", 1.0), ("yes.", 1.0), ("YESTERDAY", 1.0), (" yes", 0.0), ("No", 0.0), ("Sure", 0.0)],
)
def test_a_verdict_is_right_if_it_begins_with_yes(words: str, value: float) -> None:
    scoring = hr_bench().scorings["official"]
    assert scoring.judge is not None
    assert scoring.score(scoring.judge.parse(words, SAMPLE), SAMPLE) == value


def test_an_empty_verdict_is_no_verdict() -> None:
    judge = hr_bench().scorings["official"].judge
    assert judge is not None
    assert judge.parse(" ", SAMPLE).answer is None


def test_the_judge_is_asked_only_on_request_and_rules_are_the_headline() -> None:
    benchmark = hr_bench(prompt="lmms-eval")
    assert benchmark.headline == "lmms-eval"
    judge = hr_bench().scorings["official"].judge
    assert judge is not None and judge.on_request
    assert hr_bench().headline == "vlmevalkit"


def test_the_four_cycles_of_a_question_are_one_cluster() -> None:
    folder = Path(hr_bench.__code__.co_filename).parent / "rows" / "hr_bench"
    benchmark = hr_bench(data=folder)
    assert benchmark.cluster_by is not None
    read = [benchmark.sample(row.position, row) for row in benchmark.data]
    clusters = [benchmark.cluster_by(sample) for sample in read]
    assert len(set(clusters[:4])) == len(set(clusters[4:])) == 1
    assert len(set(clusters)) == 2
    assert [sample.target for sample in read[:4]] == ["A", "B", "C", "D"]


def test_the_files_are_the_authors() -> None:
    (file,) = published("8k")
    assert (file.name, file.md5) == ("hr_bench_8k.tsv", "274c9c7f89329b804a4723178a00219c")


def test_the_older_rules_read_a_letter_anywhere_in_the_reply(tmp_path: Path) -> None:
    reply = Reply(text="A red one is not shown here by anybody")
    scorings = hr_bench(data=tmp_path).scorings
    assert scorings["lmms-eval"].parse(reply, SAMPLE).answer == "A"
    assert scorings["vlmevalkit"].parse(reply, SAMPLE).answer is None


def test_lmms_evals_prompt_strips_the_question() -> None:
    (message,) = hr_bench(prompt="lmms-eval").prompt(SAMPLE, ())
    assert message.content == ("Which?\nA. red\nB. blue\nAnswer the option letter directly.",)
