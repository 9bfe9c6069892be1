"""MM-MT-Bench: its turns, and what the judge reads."""

import json
from pathlib import Path
from typing import Any

import pytest

from snellen.benchmarks import mm_mt_bench as file
from snellen.benchmarks.mm_mt_bench import mm_mt_bench
from snellen.core.model import Reply
from snellen.core.sample import Sample
from snellen.errors import DataError
from snellen.media.content import Image
from snellen.scoring.judge import judge_of

BUNDLED = Path(file.__file__).parent / "rows" / "mm_mt_bench"


def samples(folder: Path = BUNDLED) -> dict[str, Sample]:
    benchmark = mm_mt_bench(data=folder)
    return {sample.id: sample for sample in map(benchmark.read, benchmark.data)}


def written(folder: Path, conversation: Any) -> Path:
    row = {"image": "0.png", "category": "chart", "conversation": json.dumps(conversation)}
    (folder / "eval.jsonl").write_text(json.dumps(row) + "\n")
    return folder


def test_a_turn_follows_the_reference_answers_to_earlier_turns() -> None:
    # mistralai/mistral-evals@d61811f:eval/tasks/mm_mt_bench.py#L193-L208
    of = mm_mt_bench(data=BUNDLED)
    first, reference, question = of.prompt(samples()["0_1"], ())
    picture, words = first.content
    assert isinstance(picture, Image)
    assert (first.role, words) == ("user", "Who has the most?")
    assert (reference.role, reference.text) == ("assistant", "Bo has the most, with 6.")
    assert (question.role, question.text) == ("user", "By how much does Bo lead Ada?")


def test_each_turn_is_a_question() -> None:
    tags = {name: sample.tags["turn"] for name, sample in samples().items()}
    assert len(tags) == 9
    assert {name: tags[name] for name in ("0_0", "0_1", "0_2", "1_0")} == {
        "0_0": "0",
        "0_1": "1",
        "0_2": "2",
        "1_0": "0",
    }


def test_the_official_judge_reads_the_names_of_fields_instead_of_the_question() -> None:
    # mistralai/mistral-evals@d61811f:eval/tasks/mm_mt_bench.py#L72-L90
    judge = judge_of(mm_mt_bench(data=BUNDLED), "official")
    _, message = judge.prompt(samples()["0_1"], Reply(text="By 2."))
    assert message.content == (
        "<|The Start of Conversation with User|>\n\n"
        "### User:\nrolecontent\n\n### Reference answer:\n{'role': 'assistant', 'content': "
        "[{'type': 'text', 'text': 'Bo has the most, with 6.'}]}\n\n"
        "### User:\nrolecontent\n\n### Reference answer:\n"
        "[{'type': 'text', 'text': 'Bo leads Ada by 2.'}]\n\n"
        "\n\n### Assistant's answer:\nBy 2.\n\n<|The End of Conversation with User|>\n\n\n",
    )


def test_the_other_judge_reads_the_conversation() -> None:
    judge = judge_of(mm_mt_bench(data=BUNDLED), "conversation")
    _, message = judge.prompt(samples()["0_0"], Reply(text="Bo."))
    assert message.content == (
        "<|The Start of Conversation with User|>\n\n### User:\nWho has the most?\n\n"
        "### Reference answer:\nBo has the most, with 6.\n\n"
        "\n\n### Assistant's answer:\nBo.\n\n<|The End of Conversation with User|>\n\n\n",
    )


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("Good. Rating: [[7.5]]", 7.5),
        ("[[11]]", 11.0),
        ("[[0]] or [[9]]", 0.0),
        ("[[05]]", None),
        ("[[٣]] or [[3]]", None),
        (f"[[{'9' * 400}]]", None),
        ("Rating: 5", None),
        ("[[ 5 ]]", None),
    ],
)
def test_a_rating_is_the_first_number_in_double_brackets(words: str, number: float | None) -> None:
    # mistralai/mistral-evals@d61811f:eval/tasks/mm_mt_bench.py#L43-L50
    judge = judge_of(mm_mt_bench(data=BUNDLED), "official")
    assert judge.parse(words, samples()["0_0"]).answer == number


@pytest.mark.parametrize(
    "conversation",
    [
        [],
        [{"role": "user", "content": "Why?"}],
        [{"role": "assistant", "content": "So."}, {"role": "user", "content": "Why?"}],
        [{"content": "Why?"}],
        ["Why?"],
        3,
    ],
)
def test_a_conversation_in_another_form_is_refused(tmp_path: Path, conversation: Any) -> None:
    with pytest.raises(DataError, match="row 1 cannot be read"):
        samples(written(tmp_path, conversation))


def test_a_text_can_stand_for_a_list_of_chunks(tmp_path: Path) -> None:
    conversation = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    (sample,) = samples(written(tmp_path, conversation)).values()
    assert (sample.question, sample.target) == ("Why?", "So.")
