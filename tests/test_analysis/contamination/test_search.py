"""What benchmarks share, and what of them is in a corpus, whatever its layout."""

import gzip
import json
import os
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from snellen import registry
from snellen.analysis.contamination import (
    Contamination,
    Duplicate,
    FoundIn,
    Hit,
    _corpus,
    contamination,
    search,
)
from snellen.core.benchmark import Benchmark
from snellen.errors import DataError, UsageError
from snellen.media.content import user
from tests.golden_data import golden
from tests.scenes import jpeg, scaled, scene

QUESTIONS = (
    ("How many of the large round shapes touch the upper edge of the picture?", "3"),
    ("What colour has the shape that lies farthest to the right of all of them?", "dark blue"),
    ("Which of the two squares in the middle covers more of the ground behind it?", "the left one"),
)


def benchmark(folder: Path, rows: Sequence[Mapping[str, Any]], name: str = "mine") -> Benchmark:
    """Own rows; `scene` is the number of the scene that one shows."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, row in enumerate(rows):
        fields = {"id": str(number), **row}
        seed = fields.pop("scene", None)
        if seed is not None:
            (folder / f"{seed}.jpg").write_bytes(jpeg(scene(seed)))
            fields["image"] = f"{seed}.jpg"
        lines.append(json.dumps(fields))
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(lines))
    return registry.benchmark(str(path))


def three(folder: Path) -> Benchmark:
    return benchmark(
        folder,
        [
            {"scene": number, "question": question, "answer": answer}
            for number, (question, answer) in enumerate(QUESTIONS)
        ],
    )


def shared(*benchmarks: Benchmark) -> Contamination:
    return contamination(benchmarks)[0]


# -- within and between


def test_a_question_that_is_there_twice_is_found_with_its_other_answer(tmp_path: Path) -> None:
    rows = [
        {"scene": 1, "question": "What colour is the circle?", "answer": "red"},
        {"scene": 1, "question": "what color is the circle", "answer": "green"},
        {"scene": 1, "question": "How many circles are there?", "answer": "2"},
        {"scene": 2, "question": "What colour is the circle?", "answer": "red"},
    ]
    [overlap] = shared(benchmark(tmp_path, rows)).overlaps
    assert (overlap.questions, overlap.conflicting, overlap.samples) == (1, 1, 2)
    assert (overlap.same_pictures, overlap.near_pictures) == (0, 0)
    assert overlap.same_words == 2  # the first and the last
    [example] = overlap.examples
    assert (example.a[1], example.b[1], example.answers) == ("0", "1", ("red", "green"))


def test_choices_in_another_order_are_the_same_and_others_are_not(tmp_path: Path) -> None:
    ask = {"scene": 1, "question": "Which one?"}
    rows = [
        {**ask, "A": "cat", "B": "dog", "answer": "A"},
        {**ask, "A": "dog", "B": "cat", "answer": "B"},
        {**ask, "A": "dog", "B": "cow", "answer": "B"},
    ]
    [overlap] = shared(benchmark(tmp_path, rows)).overlaps
    assert (overlap.questions, overlap.conflicting) == (1, 0)  # a cat is right in both


def test_two_benchmarks_share_a_file_and_a_smaller_copy(tmp_path: Path) -> None:
    first = three(tmp_path / "a")
    (tmp_path / "b").mkdir()
    small = tmp_path / "b" / "small.jpg"
    small.write_bytes(jpeg(scaled(scene(1), 0.5), 60))
    second = benchmark(
        tmp_path / "b",
        [
            {"scene": 0, "question": "Something else?", "answer": "no"},
            {"image": "small.jpg", "question": QUESTIONS[1][0], "answer": "dark blue"},
            {"scene": 7, "question": QUESTIONS[2][0], "answer": "the left one"},
        ],
        "other",
    )
    report, rows = contamination([first, second])
    between = report.overlaps[1]
    assert (between.a, between.b) == (first.name, second.name)
    assert (between.questions, between.conflicting) == (1, 0)
    assert (between.same_pictures, between.near_pictures, between.with_pictures) == (1, 1, 2)
    assert between.same_words == 2
    kinds = {(row.kind, row.a[1], row.b[1]) for row in rows if isinstance(row, Duplicate)}
    assert kinds == {("picture", "0", "0"), ("question", "1", "1")}


def test_questions_without_pictures_are_compared_by_their_words(tmp_path: Path) -> None:
    long = QUESTIONS[0][0]
    rows = [
        {"question": long, "answer": "1"},
        {"question": long.replace("?", ", please?"), "answer": "1"},
        {"question": "Something else?", "answer": "1"},
        {"question": "something else", "answer": "2"},
    ]
    [overlap] = shared(benchmark(tmp_path, rows)).overlaps
    assert (overlap.questions, overlap.conflicting) == (2, 1)


def test_the_passes_of_one_question_are_no_duplicates() -> None:
    own = registry.benchmark("mmbench", data=Path(registry.SYNTHETIC))
    assert own.procedure.together is not None
    passes = [own.procedure.together(own.read(row)) for row in own.data]
    assert len(set(passes)) < len(passes)
    [overlap] = shared(own).overlaps
    assert overlap.questions == 0


def test_pictures_that_are_drawn_for_the_prompt_are_compared_too() -> None:
    own = registry.benchmark("eyechart:n=54")
    report = shared(own)
    assert report.benchmarks[0].pictures == 54


def test_a_missing_picture_is_said_and_the_rest_compared(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"scene": 1, "question": "A?", "answer": "1"},
        {"image": "gone.jpg", "question": "A?", "answer": "1"},
        {"scene": 1, "question": "A?", "answer": "1"},
    ]
    report = shared(benchmark(tmp_path, rows))
    assert report.overlaps[0].questions == 1
    assert any("cannot be read: 1, such as gone.jpg is missing" in note for note in report.notes)


def test_mathvision_has_one_question_twice() -> None:
    # Seen with one's own eyes: the picture of 773 is that of 1050 in another size.
    folder = golden("mathvision")
    own = registry.benchmark("mathvision:split=testmini", data=folder)
    report, rows = contamination([own])
    assert [(row.a[1], row.b[1]) for row in rows if isinstance(row, Duplicate) and row.text] == [
        ("773", "1050")
    ]
    assert report.overlaps[0].near_pictures == 2


# -- a corpus

Layout = Callable[[Path, str, str, str], None]
"""Writes one picture (its path), question and answer into a folder."""


def llava(folder: Path, image: str, question: str, answer: str) -> None:
    turns = [
        {"from": "human", "value": f"<image>\n{question}\nAnswer with a word or phrase."},
        {"from": "gpt", "value": answer},
    ]
    (folder / "x.json").write_text(json.dumps([{"id": 1, "image": image, "conversations": turns}]))


def messages(folder: Path, image: str, question: str, answer: str) -> None:
    content = [{"type": "image", "image": image}, {"type": "text", "text": question}]
    turns = [{"role": "user", "content": content}, {"role": "assistant", "content": answer}]
    with gzip.open(folder / "x.jsonl.gz", "wt") as file:
        file.write(json.dumps({"messages": turns}) + "\n")


def single_text(folder: Path, image: str, question: str, answer: str) -> None:
    row = {"images": [image], "text": f"Q: {question} A: {answer}"}
    (folder / "x.jsonl").write_text(json.dumps(row))


def base64_tsv(folder: Path, image: str, question: str, answer: str) -> None:
    picture = b64encode((folder / image).read_bytes()).decode()
    text = f"index\timage\tquestion\tanswer\n1\t{picture}\t{question}\t{answer}\n"
    (folder / "x.tsv").write_text(text)


def parquet(folder: Path, image: str, question: str, answer: str) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    picture = {"bytes": (folder / image).read_bytes(), "path": None}
    turns = [{"user": question, "assistant": answer}]
    pq.write_table(pa.table({"images": [[picture]], "texts": [turns]}), folder / "x.parquet")


@pytest.mark.parametrize("layout", [llava, messages, single_text, base64_tsv, parquet])
def test_a_row_with_picture_and_question_is_found_in_any_layout(
    tmp_path: Path, layout: Layout
) -> None:
    own = three(tmp_path / "mine")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "p.jpg").write_bytes(jpeg(scaled(scene(1), 0.7), 70))
    layout(folder, "p.jpg", *QUESTIONS[1])
    report, rows = contamination([own], corpus=[folder / next(folder.glob("x.*")).name])
    assert report.corpus is not None
    [matches] = report.corpus.found
    assert counts(matches)[:5] == (1, 0, 0, 1, 1)
    # Where all is one text nothing stands beside the question.
    assert matches.answered.n == (layout is not single_text)
    [hit] = [row for row in rows if isinstance(row, Hit)]
    assert (hit.sample, hit.text) == ("1", 1.0)
    assert hit.picture is not None and 0.9 < hit.picture < 1


def counts(matches: FoundIn) -> tuple[int, ...]:
    parts = (
        *(matches.text_same, matches.text_near, matches.picture_same, matches.picture_near),
        *(matches.both, matches.answered),
    )
    return tuple(part.n for part in parts)


def in_corpus(own: Benchmark, *paths: Path) -> FoundIn:
    report, _ = contamination([own], corpus=paths)
    assert report.corpus is not None
    return report.corpus.found[0]


def test_plain_text_is_read_by_paragraphs(tmp_path: Path) -> None:
    own = three(tmp_path / "mine")
    first, second, _ = (question for question, _ in QUESTIONS)
    broken = first.replace(" the ", "\nthe ")
    path = tmp_path / "blog.txt"
    path.write_text(f"A blog.\n\n{broken}\n\n{' '.join(second.split()[:-2])}.")
    matches = in_corpus(own, path)
    assert counts(matches) == (1, 1, 0, 0, 0, 0)


def test_a_folder_of_pictures_is_a_corpus(tmp_path: Path) -> None:
    own = three(tmp_path / "mine")
    folder = tmp_path / "pictures"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "same.jpg").write_bytes(jpeg(scene(0)))
    (folder / "near.jpg").write_bytes(jpeg(scene(2), 30))
    (folder / "other.jpg").write_bytes(jpeg(scene(9)))
    assert counts(in_corpus(own, folder)) == (0, 0, 1, 1, 0, 0)


@pytest.mark.parametrize("question", [QUESTIONS[0][0], "How many dots?"])
def test_the_choices_must_be_there_too_for_the_whole_question(
    tmp_path: Path, question: str
) -> None:
    own = benchmark(
        tmp_path / "mine",
        [{"scene": 1, "question": question, "A": "one dot", "B": "two dots", "answer": "A"}],
    )
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"q": question}))
    assert counts(in_corpus(own, path))[:2] == (0, 1)
    path.write_text(json.dumps({"q": question, "options": "(A) one dot (B) two dots"}))
    assert counts(in_corpus(own, path))[:2] == (1, 0)
    # With its picture an open question is what to look at first, as training data ask most.
    (tmp_path / "1.jpg").write_bytes(jpeg(scene(1)))
    path.write_text(json.dumps({"q": question, "image": "1.jpg"}))
    assert in_corpus(own, path).both.n == 1


def test_a_question_that_many_samples_ask_counts_only_with_its_picture(tmp_path: Path) -> None:
    own = benchmark(
        tmp_path / "mine",
        [{"scene": n, "question": "What is this?", "answer": "a thing"} for n in range(12)],
    )
    text, both = tmp_path / "t.jsonl", tmp_path / "b.jsonl"
    text.write_text(json.dumps({"q": "What is this?"}))
    assert counts(in_corpus(own, text)) == (0, 0, 0, 0, 0, 0)
    both.write_text(json.dumps({"q": "What is this?", "a": "A thing.", "image": "mine/3.jpg"}))
    assert counts(in_corpus(own, both)) == (0, 0, 1, 0, 1, 1)


def shape_rows(folder: Path, request: str) -> Benchmark:
    """Two samples with short questions on one picture, whose prompt repeats their instructions."""
    rows = [
        {"scene": 1, "question": "Which color and shape?", "answer": "blue circle"},
        {"scene": 1, "question": "Why?", "answer": "no reason"},
    ]
    return replace(
        benchmark(folder, rows), prompt=lambda s, _: (user(*s.media, request.format(s.question)),)
    )


def turns(question: str, answer: str, **fields: str) -> str:
    conversation = [{"from": "human", "value": question}, {"from": "gpt", "value": answer}]
    return json.dumps({"conversations": conversation, **fields})


@pytest.mark.parametrize(
    "request_text",
    [
        "Which color and shape? Answer briefly.",
        "Look at it. Which color and shape?",
        "Q: which color and shape?",
        "<image> {0} Answer with the color and the shape only.",
    ],
)
def test_a_short_question_in_a_longer_text_counts_with_its_picture(
    tmp_path: Path, request_text: str
) -> None:
    own = shape_rows(tmp_path / "mine", "{0} Answer with the color and the shape only.")
    question = request_text.format("Which color and shape?")
    path = tmp_path / "c.jsonl"
    path.write_text(turns(question, "Blue circle.", image="mine/1.jpg"))
    matches = in_corpus(own, path)
    assert (matches.both.n, matches.answered.n, matches.text_same.n) == (1, 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "Which color and shape has the large one?",
        "Not counting the blue one, which color and shape?",
        "Why? Because of the light.",
        "Answer with the color and the shape only.",
    ],
)
def test_another_question_about_the_picture_does_not_count(tmp_path: Path, text: str) -> None:
    own = shape_rows(tmp_path / "mine", "{0} Answer with the color and the shape only.")
    path = tmp_path / "c.jsonl"
    path.write_text(turns(text, "Blue circle.", image="mine/1.jpg"))
    matches = in_corpus(own, path)
    assert (matches.both.n, matches.answered.n, matches.picture_same.n) == (0, 0, 2)


def test_the_prompt_as_sent_is_found_without_the_picture(tmp_path: Path) -> None:
    own = shape_rows(tmp_path / "mine", "Look closely at the picture, and say: {0}")
    path = tmp_path / "c.jsonl"
    path.write_text(turns("Look closely at the picture, and say: Why?", "No reason."))
    matches = in_corpus(own, path)
    assert (matches.text_same.n, matches.answered.n, matches.both.n) == (1, 1, 0)


def test_a_prompt_with_its_choices_counts_even_if_many_samples_share_the_question(
    tmp_path: Path,
) -> None:
    rows = [
        {"question": "Which one?", "A": f"number {n}", "B": "none", "answer": "A"}
        for n in range(12)
    ]
    own = benchmark(tmp_path / "mine", rows)
    prompt = own.messages(own.read(next(iter(own.data))))[-1].text
    path = tmp_path / "c.jsonl"
    path.write_text(turns(prompt, "A"))
    assert counts(in_corpus(own, path)) == (1, 0, 0, 0, 0, 1)
    path.write_text(turns("Which one?", "number 0"))
    assert counts(in_corpus(own, path)) == (0, 0, 0, 0, 0, 0)


def test_yes_in_a_sentence_is_not_the_answer_yes(tmp_path: Path) -> None:
    question = "Is there a shape that no other one of these shapes touches?"
    own = benchmark(tmp_path / "mine", [{"scene": 1, "question": question, "answer": "yes"}])
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps([question, "I would not say yes."]).join(['{"t": ', "}"]))
    assert in_corpus(own, path).answered.n == 0
    path.write_text(json.dumps([question, "Yes, there is."]).join(['{"t": ', "}"]))
    assert in_corpus(own, path).answered.n == 1


def test_what_cannot_be_read_is_named_and_the_search_goes_on(tmp_path: Path) -> None:
    own = three(tmp_path / "mine")
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.json").write_bytes('[{"text": "x"}]'.encode("utf-16"))
    (folder / "b.parquet").write_bytes(b"PAR1 nothing")
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' * 999)[:30])
    (folder / "d.csv").write_text('a,b\n"never closed,1\n')
    (folder / "empty.tsv").write_bytes(b"")
    (folder / "cut.jpg").write_bytes(jpeg(scene(1))[:300])
    (folder / "text.png").write_bytes(b"no picture")
    (folder / "archive.tar").write_bytes(b"")
    os.mkfifo(folder / "pipe.jsonl")
    lines = [
        b"no json",
        b'{"text": "\xff\xfe"}',
        b'{"image": "../../secret.png"}',
        b'{"image": "a\\u0000b.png"}',
        b'{"image": "http://example.org/a.jpg"}',
        b'{"image": "' + b"x" * 5_000 + b'.jpg"}',
        b'{"image": "' + b"n" * 400 + b'.jpg"}',
        b'{"image": 7, "images": [null, [[["q"]]]], "text": null}',
        b'"just a text"',
        b"[]",
        b'{"conversations": [], "choices": {}}',
        b'{"conversations": [{"value": 7}, {"value": null}, {"content": [1, {"text": 2}]}]}',
        b"[" * 200 + b"]" * 200,
        json.dumps({"t": QUESTIONS[0][0]}).encode(),
    ]
    (folder / "z.jsonl").write_bytes(b"\n".join(lines))
    report, _ = contamination([own], corpus=[folder])
    assert report.corpus is not None
    assert counts(report.corpus.found[0])[0] == 1
    notes = "\n".join(report.notes)
    assert "files that were read only in part: 5, such as" in notes
    assert "lines that are not JSON in UTF-8: 2, such as" in notes
    assert "files of an unsupported type: 2, such as" in notes
    assert "URLs of pictures, which are not downloaded: 1, such as" in notes
    # Two files, a path out of the folder, a null byte, two names of no file.
    assert "pictures that cannot be read: 6, such as" in notes


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("nothing", None, "without readable files: 1, such as .*nothing"),
        ("empty.jsonl", b"", "without readable files: 1, such as .*empty.jsonl"),
        ("page.html", b"<p>How many?</p>", "files of an unsupported type: 1, such as .*page.html"),
        ("a.parquet", b"no parquet", "files that were read only in part: 1"),
        ("a.jsonl.gz", b"no gzip", "files that were read only in part: 1"),
        ("a.jsonl", '{"text": "ä"}'.encode("latin-1"), "not JSON in UTF-8: 1"),
        ("a.png", b"<svg/>", "pictures that cannot be read: 1"),
    ],
)
def test_a_corpus_of_which_nothing_is_read_is_not_called_clean(
    name: str, content: bytes | None, why: str, tmp_path: Path
) -> None:
    own = three(tmp_path / "mine")
    path = tmp_path / name
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(DataError, match=why):
        contamination([own], corpus=[path])


def test_one_of_several_corpora_of_which_nothing_is_read_is_named(tmp_path: Path) -> None:
    own = three(tmp_path / "mine")
    (tmp_path / "a.txt").write_text("Something else.")
    (tmp_path / "b").mkdir()
    report, _ = contamination([own], corpus=[tmp_path / "a.txt", tmp_path / "b"])
    assert f"corpora without readable files: 1, such as {tmp_path / 'b'}" in report.notes


def test_a_line_that_is_too_long_is_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_corpus, "MAX_ROW_BYTES", 1_000_000)
    own = three(tmp_path / "mine")
    path = tmp_path / "long.jsonl"
    lines = [{"t": "x" * 2_500_000}, {"t": QUESTIONS[0][0]}]
    path.write_text("\n".join(map(json.dumps, lines)))
    report, _ = contamination([own], corpus=[path])
    assert report.corpus is not None
    assert counts(report.corpus.found[0])[0] == 1
    assert f"lines of 1 MB or more: 1, such as {path} line 1" in report.notes


def test_pictures_may_lie_in_a_folder_of_their_own(tmp_path: Path) -> None:
    own = three(tmp_path / "mine")
    (tmp_path / "c.jsonl").write_text(json.dumps({"image": "0.jpg"}))
    report, _ = contamination([own], corpus=[tmp_path / "c.jsonl"], pictures_in=tmp_path / "mine")
    assert report.corpus is not None
    assert report.corpus.found[0].picture_same.n == 1


def test_a_corpus_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file or folder"):
        contamination([three(tmp_path)], corpus=[tmp_path / "nowhere"])


def test_all_of_a_benchmark_is_in_its_own_file(tmp_path: Path) -> None:
    own = benchmark(
        tmp_path,
        [
            {
                "scene": n,
                "question": f"What is number {n}?",
                "A": "a dot",
                "B": "a line",
                "answer": "B",
            }
            for n in range(5)
        ],
    )
    assert counts(in_corpus(own, tmp_path / "mine.jsonl")) == (5, 0, 5, 0, 5, 5)


def test_all_of_mathvision_is_in_its_own_file() -> None:
    folder = golden("mathvision")
    own = registry.benchmark("mathvision:split=testmini", data=folder)
    matches = in_corpus(own, folder / "testmini.jsonl")
    assert counts(matches)[:5] == (304, 0, 304, 0, 304)


@pytest.mark.parametrize(
    ("says", "is_right"), [("B", 1), ("(B) a line", 1), ("A line.", 1), ("A", 0), ("Be quiet", 0)]
)
def test_a_letter_is_the_answer_alone_or_with_its_choice(
    tmp_path: Path, says: str, is_right: int
) -> None:
    question = "What is the only thing that is drawn in this picture?"
    row = {"scene": 1, "question": question, "A": "a dot", "B": "a line", "answer": "B"}
    own = benchmark(tmp_path / "mine", [row])
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps({"t": [f"{question}\nA. a dot\nB. a line", says]}))
    assert in_corpus(own, path).answered.n == is_right


def test_a_sample_without_words_is_found_by_its_picture_alone(tmp_path: Path) -> None:
    rows = [{"scene": n, "question": "?", "answer": "a dot"} for n in range(3)]
    own = benchmark(tmp_path / "mine", rows)
    path = tmp_path / "c.jsonl"
    path.write_text(
        "\n".join(json.dumps({"image": f"mine/{n}.jpg", "t": "..."}) for n in (1, 1, 2))
    )
    assert counts(in_corpus(own, path)) == (0, 0, 2, 0, 0, 0)


def test_pictures_that_rows_share_are_found_though_little_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "ROWS", 1)
    monkeypatch.setattr(search, "REMEMBERED", 1)
    own = three(tmp_path / "mine")
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(json.dumps({"image": f"mine/{n}.jpg"}) for n in (0, 1, 0, 1, 2)))
    report, rows = contamination([own], corpus=[path])
    assert report.corpus is not None
    assert report.corpus.found[0].picture_same.n == 3
    assert len([row for row in rows if isinstance(row, Hit)]) == 5
