"""What is read of anybody's predictions, and what is said about it."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from snellen.errors import DataError, UsageError
from snellen.interop import predictions
from snellen.interop.predictions import Predictions
from tests.golden_data import golden


def write(path: Path, content: Any) -> Path:
    """A file of bytes, of text, of JSON lines (rows of a .jsonl), or of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case bytes():
            path.write_bytes(content)
        case str():
            path.write_text(content, newline="")
        case list() if path.suffix == ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in content))
        case _:
            path.write_text(json.dumps(content))
    return path


def has_note(predictions: Predictions, words: str) -> bool:
    return any(words in note for note in predictions.notes)


# -- shapes

TWO = {"1": "A", "2": "B"}


def packed(content: bytes) -> bytes:
    """Without the time: a test's name must be the same in every process."""
    return gzip.compress(content, mtime=0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.jsonl", [{"id": "1", "response": "A"}, {"id": 2, "response": "B"}]),
        ("rows.json", [{"index": 1, "prediction": "A"}, {"index": 2.0, "prediction": "B"}]),
        ("rows.csv", "id,reply\n1,A\n2,B\n"),
        ("rows.tsv", '"index"\t"prediction"\n"1"\t"A"\n"2"\t"B"\n'),
        ("windows.csv", b"\xef\xbb\xbfid,reply\r\n1,A\r\n2,B\r\n"),
        ("packed.csv.gz", packed(b"id,reply\n1,A\n2,B\n")),
        ("packed.jsonl.gz", packed(b'{"id": 1, "reply": "A"}\n{"id": 2, "reply": "B"}')),
        ("object.json", {"1": "A", "2": "B"}),
        ("objects.json", {"1": {"response": "A"}, "2": {"response": "B"}}),
        ("lists.json", {"right": [{"id": 1, "pred": "A"}], "wrong": [{"id": 2, "pred": "B"}]}),
        ("indented.jsonl", '[\n {"id": 1, "reply": "A"},\n {"id": 2,\n  "reply": "B"}\n]\n'),
        ("commas.json", '{"qid": "1", "prediction": "A"},\n{"qid": "2", "prediction": "B"},\n'),
        ("llava.jsonl", [{"question_id": n, "prompt": "?", "text": t} for n, t in TWO.items()]),
        ("vqa.json", [{"question_id": 1, "answer": "A"}, {"question_id": 2, "answer": "B"}]),
    ],
)  # fmt: skip
def test_every_shape_gives_the_same_replies(tmp_path: Path, name: str, content: Any) -> None:
    assert predictions.read(write(tmp_path / name, content)).replies == TWO


def test_one_row_in_a_jsonl_file_is_a_row(tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", [{"id": "7", "response": "A"}])

    assert predictions.read(path).replies == {"7": "A"}


def test_nan_that_pandas_writes_into_json_is_no_reply(tmp_path: Path) -> None:
    rows = '[{"index": 1, "hint": NaN, "prediction": "A"}, {"index": 2, "prediction": NaN}]'

    actual = predictions.read(write(tmp_path / "m_d.json", rows))

    assert actual.replies == {"1": "A"}
    assert has_note(actual, "1 rows have an id but no reply")


def test_cells_that_pandas_takes_for_missing_are_replies(tmp_path: Path) -> None:
    path = write(tmp_path / "r.tsv", "index\tprediction\n1\tNone\n2\tNA\n3\tnan\n4\t\n")

    actual = predictions.read(path)

    assert actual.replies == {"1": "None", "2": "NA", "3": "nan", "4": ""}
    assert has_note(actual, "2 rows have nothing but nan, None, or null as the reply")


# -- columns


def test_the_columns_that_were_read_are_said_with_those_that_were_not(tmp_path: Path) -> None:
    row = {"id": "1", "index": 5, "response": "so it is A", "model_answer": "A", "pred": "A"}

    actual = predictions.read(write(tmp_path / "r.jsonl", [row]))

    assert actual.notes == [
        "ids read from 'id', replies from 'response' (there are also 'index', 'pred')"
    ]


def test_vlmevalkit_rows_are_known_by_their_index(tmp_path: Path) -> None:
    rows = [{"index": 3, "id": "validation_Art_1", "prediction": "A"}]

    assert predictions.read(write(tmp_path / "r.json", rows)).replies == {"3": "A"}


def test_case_does_not_matter_in_the_name_of_a_column(tmp_path: Path) -> None:
    rows = [{"Index": 3, "ID": "validation_Art_1", "Prediction": "A", "answer": "B"}]

    assert predictions.read(write(tmp_path / "r.json", rows)).replies == {"3": "A"}


def test_columns_that_differ_only_in_case_are_not_chosen_between(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,Reply,REPLY\n1,A,B\n")

    with pytest.raises(DataError, match="name the column with --replies COLUMN"):
        predictions.read(path)


def test_named_columns_are_read_instead(tmp_path: Path) -> None:
    row = {"id": "1", "key": "k", "response": "x", "out": {"said": {"text": "y"}}}
    path = write(tmp_path / "r.jsonl", [row])

    assert predictions.read(path, ids="key", replies="out.said.text").replies == {"k": "y"}


def test_a_named_column_that_is_not_there_is_an_error_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [{"id": "1", "response": "x"}])

    with pytest.raises(DataError, match=r"no column 'key'\. It has id, response\."):
        predictions.read(path, ids="key")


def test_a_first_row_without_the_reply_does_not_hide_its_column(tmp_path: Path) -> None:
    rows = [{"id": "1", "error": "time-out"}, {"id": "2", "response": "B"}]

    assert predictions.read(write(tmp_path / "r.jsonl", rows)).replies == {"2": "B"}


@pytest.mark.parametrize(
    ("column", "row"),
    [
        ("answer", {"id": "1", "question": "?", "A": "x", "B": "y", "answer": "A"}),
        ("text", {"question_id": 1, "image": "1.jpg", "text": "Is there a cat?", "category": "c"}),
    ],
)
def test_what_a_data_set_has_too_is_not_taken_for_replies(
    tmp_path: Path, column: str, row: dict[str, Any]
) -> None:
    path = write(tmp_path / "r.jsonl", [row])

    with pytest.raises(
        DataError, match=f"'{column}' may contain right answers or questions.*--replies COLUMN"
    ):
        predictions.read(path)
    assert list(predictions.read(path, replies=column).replies.values()) == [row[column]]


# -- ids


def test_ids_are_matched_as_they_stand(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,reply\n1,a\n1.0,b\n01,c\n 1,d\n")

    assert predictions.read(path).replies == {"1": "a", "1.0": "b", "01": "c", " 1": "d"}


def test_ids_that_pandas_made_floats_of_are_whole_again(tmp_path: Path) -> None:
    actual = predictions.read(write(tmp_path / "r.csv", "index,prediction\n1.0,A\n2.0,B\n"))

    assert actual.replies == TWO
    assert has_note(actual, "all ids end in .0")


def test_a_number_too_large_to_be_exact_is_no_id(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", '{"id": 1e17, "response": "A"}\n')

    with pytest.raises(
        DataError, match=r"row 1 has the id 1e\+17, and the program .* rounded this large number"
    ):
        predictions.read(path)


def test_a_row_with_a_reply_and_no_id_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,reply\n1,a\n,b\n")

    with pytest.raises(DataError, match="row 2 has nothing instead of an id in the column 'id'"):
        predictions.read(path)


def test_two_replies_to_one_id_are_an_error_that_names_both_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,reply\n1,a\n2,b\n1,c\n")

    with pytest.raises(
        DataError, match="id '1' has two different replies, the first in row 1, the second in row 3"
    ):
        predictions.read(path)


# -- replies that are none


@pytest.mark.parametrize(
    "message",
    [
        "Failed to obtain answer via API.",
        "Failed to obtain answer: CUDA out of memory",
        "[LMMS_EVAL_REQUEST_FAILED after 5 retries] 429",
    ],
)
def test_what_other_tools_write_for_a_failure_is_no_reply(tmp_path: Path, message: str) -> None:
    rows = [{"index": 1, "prediction": message}, {"index": 2, "prediction": "B"}]

    actual = predictions.read(write(tmp_path / "r.jsonl", rows))

    assert actual.replies == {"2": "B"}
    assert has_note(actual, "1 rows say that the model gave no reply")


def test_a_failed_row_of_our_own_sheet_is_no_reply_and_an_empty_one_is(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "id,reply,state\n1,A,ok\n2,,failed\n3,,empty\n4,,refused\n")

    actual = predictions.read(path)

    assert actual.replies == {"1": "A", "3": "", "4": ""}
    assert has_note(actual, "1 rows have an id but no reply")


@pytest.mark.parametrize(("reply", "word"), [({"error": 1}, "a dict"), (["A"], "a list")])
def test_a_reply_that_is_no_text_is_none_and_that_is_said(
    tmp_path: Path, reply: object, word: str
) -> None:
    rows = [{"id": 1, "response": "A"}, {"id": 2, "response": reply}]

    actual = predictions.read(write(tmp_path / "r.jsonl", rows))

    assert actual.replies == {"1": "A"}
    assert has_note(
        actual, f"1 rows have {word} instead of text in the column of replies (first: row 2)"
    )


def test_a_file_without_any_reply_says_why(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", [{"id": 1, "response": ["A"]}])

    with pytest.raises(
        DataError, match=r"no row has a reply \(.* 1 rows have a list instead of text"
    ):
        predictions.read(path)


def test_half_a_character_becomes_the_replacement_character(tmp_path: Path) -> None:
    path = write(tmp_path / "r.jsonl", '{"id": 1, "response": "cat \\ud83d"}\n')

    actual = predictions.read(path)

    assert actual.replies == {"1": "cat \ufffd"}
    assert has_note(actual, "1 rows have half a surrogate pair")


def test_a_reply_as_long_as_a_cell_can_be_is_said_to_be_cut(tmp_path: Path) -> None:
    rows = [{"id": 1, "response": "x" * 32_767}, {"id": 2, "response": "x" * 32_768}]

    assert has_note(
        predictions.read(write(tmp_path / "r.jsonl", rows)), "1 rows have a reply of 32,767"
    )


# -- questions


@pytest.mark.parametrize(
    "row",
    [
        {"response": "A", "question": "Why?", "query": "Hint: Why?"},
        {"text": "A", "prompt": "Why?"},
        {"response": "A", "text": "Why?"},
        {"response": "A", "doc": {"question": "Why?"}},
    ],
)
def test_what_was_asked_is_read_beside_the_reply(tmp_path: Path, row: dict[str, Any]) -> None:
    actual = predictions.read(write(tmp_path / "r.jsonl", [{"id": 1.0, **row}]))

    assert actual.questions == {"1": "Why?"}


@pytest.mark.parametrize("row", [{"text": "A"}, {"response": "A", "prompt": [{"role": "user"}]}])
def test_a_reply_and_what_is_no_text_are_no_question(tmp_path: Path, row: dict[str, Any]) -> None:
    assert predictions.read(write(tmp_path / "r.jsonl", [{"id": 1, **row}])).questions == {}


def test_the_column_without_a_name_that_pandas_writes_holds_no_questions(tmp_path: Path) -> None:
    written = write(tmp_path / "r.csv", ",id,prediction\n0,11,cat\n1,12,dog\n")
    assert predictions.read(written).questions == {}


def test_of_a_long_file_questions_are_taken_from_its_end_too(tmp_path: Path) -> None:
    rows = [{"id": n, "reply": "A", "question": f"{n}?"} for n in range(9_000)]

    questions = predictions.read(write(tmp_path / "r.jsonl", rows)).questions

    assert 1_000 < len(questions) <= predictions.MOST_QUESTIONS
    assert [sum(int(name) // 3_000 == third for name in questions) for third in range(3)] == [
        pytest.approx(len(questions) / 3, abs=1)
    ] * 3
    assert all(text == f"{name}?" for name, text in questions.items())


# -- lmms-eval


def samples(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    return write(tmp_path / "org__model" / "20260801_120000_samples_mmbench_en_dev.jsonl", rows)


def test_lmms_eval_samples_are_read_as_rows_of_its_data(tmp_path: Path) -> None:
    rows = [
        {"doc_id": 0, "target": "A", "filtered_resps": "A", "input": "?"},
        {"doc_id": 1, "target": "B", "resps": ["<think></think>C"], "filtered_resps": "C"},
        {"doc_id": 2, "target": "D", "resps": [["D"]], "filtered_resps": ["D"]},
    ]

    actual = predictions.read(samples(tmp_path, rows))

    assert actual.replies == {"0": "A", "1": "C", "2": "D"}
    assert actual.row_numbers
    assert actual.targets == {"0": "A", "1": "B", "2": "D"}
    assert actual.possible_names == (("org__model", "mmbench_en_dev"),)


def test_repeats_in_lmms_eval_samples_are_read(tmp_path: Path) -> None:
    failed = "[LMMS_EVAL_REQUEST_FAILED after 3 retries] timeout"
    rows = [
        {"doc_id": 0, "target": "A", "filtered_resps": "A", "resps": ["A", "B"]},
        {"doc_id": 1, "target": "B", "filtered_resps": "C", "resps": ["C", failed]},
    ]

    actual = predictions.read(samples(tmp_path, rows))

    assert actual.replies == {"0": "A", "1": "C"}
    assert actual.again == {"0": ["B"], "1": [None]}
    assert actual.targets == {"0": "A", "1": "B"}


@pytest.mark.parametrize(
    "row",
    [
        {"doc_id": 0, "filtered_resps": ["And now?", "A"]},  # rounds, or repeats
        {"doc_id": 0, "filtered_resps": ["A", "B"], "resps": ["<think></think>A", "B"]},
        {"doc_id": 0, "resps": ["(-1.5, True)", "(-2.0, False)"]},
        {"doc_id": 0, "resps": [["-1.5", "True"], ["-2.0", "False"]]},
    ],
)
def test_lmms_eval_samples_with_a_list_of_another_kind_are_refused(
    tmp_path: Path, row: dict[str, Any]
) -> None:
    with pytest.raises(DataError, match="row 1 has 2 responses"):
        predictions.read(samples(tmp_path, [row]))


def test_lmms_eval_samples_can_be_read_by_an_id_inside_a_metric(tmp_path: Path) -> None:
    rows = [{"doc_id": 0, "filtered_resps": "A", "gpt_eval_score": {"index": 241}}]

    actual = predictions.read(samples(tmp_path, rows), ids="gpt_eval_score.index")

    assert actual.replies == {"241": "A"}
    assert not actual.row_numbers


def test_lmms_eval_samples_ranked_by_likelihood_are_refused(tmp_path: Path) -> None:
    rows = [{"doc_id": 0, "filtered_resps": ["(-1.5, True)", "(-2.0, False)"]}]

    with pytest.raises(DataError, match="row 1 has 2 responses \\(choices ranked by likelihood"):
        predictions.read(samples(tmp_path, rows))


@pytest.mark.parametrize(
    "row",
    [
        {"A": "ice", "B": "steam", "C": None},
        {"choices": ["ice", "steam"]},
        {"doc": {"A": "ice", "B": "steam", "C": "nan"}},
        {"doc": {"options": ["ice", "steam"]}},
    ],
)
def test_choices_are_read_beside_the_reply(tmp_path: Path, row: dict[str, Any]) -> None:
    path = write(tmp_path / "r.jsonl", [{"id": "1.0", "reply": "A", **row}])

    assert predictions.read(path).choices == {"1": ["ice", "steam"]}


# -- names


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("work/m_1/m_1_MMBench_DEV_EN.json", [("m_1", "MMBench_DEV_EN")]),
        ("work/m_1/T20260801-120000/m_1_MMBench.json", [("m_1", "MMBench")]),
        ("a_b_MME.json", [("a", "b_MME"), ("a_b", "MME")]),
        ("mine.json", []),
    ],
)
def test_a_name_hints_at_model_and_data_set(
    tmp_path: Path, name: str, names: list[tuple[str, str]]
) -> None:
    path = write(tmp_path / name, [{"index": 1, "prediction": "A"}])

    assert list(predictions.read(path).possible_names) == names


# -- folders


def test_a_folder_of_categories_is_read_as_one(tmp_path: Path) -> None:
    write(tmp_path / "m" / "art.json", [{"id": "art_1", "response": "A"}])
    write(tmp_path / "m" / "math" / "out.json", [{"id": "math_1", "response": "B"}])
    write(tmp_path / "m" / "status.json", {"model": "m", "done": True})
    write(tmp_path / "m" / "m_MME_acc.csv", "split,Overall\ndev,0.5\n")
    write(tmp_path / "m" / ".ipynb_checkpoints" / "art.json", "{")

    actual = predictions.read(tmp_path / "m")

    assert actual.replies == {"art_1": "A", "math_1": "B"}
    assert has_note(
        actual, "2 files of m read as parts of one model's replies: art.json, math/out.json"
    )
    assert has_note(
        actual, "left out, because they have no ids or no replies: m_MME_acc.csv, status.json"
    )


def test_answers_beside_the_rows_they_were_found_in_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "art.json", [{"id": "art_1", "response": "I say A"}])
    write(tmp_path / "total.json", {"art_1": "A"})

    actual = predictions.read(tmp_path)

    assert actual.replies == {"art_1": "I say A"}
    assert has_note(actual, "left out, because other files have the replies: total.json")


@pytest.mark.parametrize("message", ["A", "B"])  # the same words, and others
def test_files_of_two_models_in_a_folder_are_not_mixed(tmp_path: Path, message: str) -> None:
    write(tmp_path / "a.jsonl", [{"id": "0", "response": "A"}, {"id": "1", "response": "A"}])
    write(tmp_path / "b.jsonl", [{"id": "1", "response": message}])
    write(tmp_path / "c.jsonl", [{"id": "2", "response": "C"}])

    with pytest.raises(
        UsageError,
        match=r"1 questions, such as '1', .* one file: a\.jsonl, b\.jsonl\. Pass a single file",
    ):
        predictions.read(tmp_path)
    assert predictions.read(tmp_path, only="b*").replies == {"1": message}


def test_a_row_without_a_reply_is_no_second_reply(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [{"id": "1", "response": "A"}, {"id": "2", "response": None}])
    write(tmp_path / "b.jsonl", [{"id": "1", "response": None}, {"id": "2", "response": "B"}])

    assert predictions.read(tmp_path).replies == {"1": "A", "2": "B"}


def test_a_damaged_file_in_a_folder_is_not_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", [{"id": "1", "response": "A"}])
    write(tmp_path / "b.json", '[{"id": "2", "resp')

    with pytest.raises(DataError, match=r"b\.json is not a complete JSON document"):
        predictions.read(tmp_path)


def test_a_folder_without_predictions_says_what_it_looked_at(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "x,y\n1,2\n")

    with pytest.raises(DataError, match="none of its 1 files contains ids and replies"):
        predictions.read(tmp_path)


# -- bad files


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xls", b"\xd0\xcf", "old spreadsheet format. Save the spreadsheet as .xlsx"),
        ("a.pkl", b"\x80\x04", "Snellen never opens a pickle"),
        ("a.txt", "id", "extension of a file of predictions. Use a file that ends in .jsonl"),
        ("a.csv", "", "has no rows"),
        ("a.json", " \n", "has no rows"),
        ("a.json", "[]", "has no rows"),
        ("a.json", "{}", "has no rows"),
        ("a.json", '"A"', "contains a str, not rows"),
        ("a.json", '[{"id": 1}, 2]', "row 2 of .*a.json is a int, not an object"),
        ("a.json", '{"acc": 0.5, "results": {"1": 0}}', "one object with the keys acc, results"),
        ("a.json", "[" * 100_000, "nested too deeply"),
        ("a.json", '{"7": "A", "8": "B", "7": "C"}', "has the key '7' twice in one object"),
        ("a.json", '[{"id": 1, "reply": "A", "reply": "B"}]', "has the key 'reply' twice"),
        ("a.jsonl", '{"id": 1, "reply": "A"}\n{"id": 2, "re', r"row 2 of .* \(line 2\) is not a"),
        ("a.jsonl", b'{"id": 1, "reply": "caf\xe9"}\n', r"not UTF-8 at byte 23.*iconv"),
        ("a.csv", b"id,reply\n1,caf\xe9\n", "UTF-8 at byte 14"),
        ("a.tsv", "id\treply\n1\tA\n".encode("utf-16"), "UTF-16"),
        ("a.jsonl.gz", packed(b'{"id": 1, "reply": "A"}\n' * 9)[:-9], "cannot be read"),
        ("a.csv", "name,reply\n1,A\n", "no column of ids. It has name, reply"),
        ("a.csv", "id,said\n1,A\n", "no column of replies. It has id, said"),
        ("a.csv", '{"id": 1, "reply": "A"}\n' * 2, r"first line is JSON .* ends in \.jsonl"),
        ("a.json", [{"id": 1, "response": None}], "no row has a reply"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_clear_words(
    tmp_path: Path, name: str, content: Any, words: str
) -> None:
    with pytest.raises(DataError, match=words):
        predictions.read(write(tmp_path / name, content))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.json.*No such file"):
        predictions.read(tmp_path / "none.json")


# -- published files


@pytest.mark.parametrize(
    ("file", "n", "first"),
    [
        ("mathvision/outputs/closed-source/Qwen/Qwen-VL-Max.jsonl", 3040, None),
        ("mathvista/outputs/llavar/output_llavar.json.gz", 1000, None),
        ("mmbench/outputs/llava-v1.5-13b.jsonl.gz", 4377, ("241", "B")),
        ("mmmu/outputs/llava1.5_13b_val.json", 900, ("validation_Accounting_1", "A")),
        ("mmmu_pro/outputs/gpt-4o_vision_direct.jsonl.gz", 1730, None),
        ("mmvet/outputs/results/llava-v1.5-7b.json", 218, None),
        ("pope/outputs/llava-v1.5-13b.jsonl", 8910, ("1", "No")),
        ("scienceqa/outputs/llava-v1.5-13b_output.jsonl.gz", 4241, ("4", "B")),
    ],
)
def test_published_files_are_read_whole(file: str, n: int, first: tuple[str, str] | None) -> None:
    pack, _, rest = file.partition("/")

    replies = predictions.read(golden(pack) / rest).replies

    assert len(replies) == n
    assert first is None or next(iter(replies.items())) == first


def test_mmmu_is_published_as_a_folder_of_subjects() -> None:
    actual = predictions.read(golden("mmmu") / "outputs" / "llava1.5_13b")

    assert len(actual.replies) == 900
    assert has_note(actual, "30 files of llava1.5_13b read")
    assert has_note(actual, "total_val_output.json")
