"""Few-shot: examples before each question, which are never the question."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen import registry
from snellen.benchmarks.families.own_rows import own_data
from snellen.core.benchmark import Benchmark
from snellen.errors import DataError, UsageError
from snellen.media import images
from snellen.media.content import Image, Message, system, user
from snellen.media.drawing import Canvas
from snellen.run import own_prompt
from snellen.store import Run
from snellen.transforms.shots import with_shots
from tests.servers import completion, serving
from tests.tiny import Says, benchmark, run, states


def rows(folder: Path, name: str, *rows: Mapping[str, Any]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def picture(folder: Path, name: str, size: int) -> str:
    (folder / name).write_bytes(Canvas(size, 8).png())
    return name


def questions(folder: Path, name: str, ids: Sequence[str], first: int = 8) -> Path:
    """Rows with a picture each, all of different sizes from `first` on."""
    return rows(
        folder,
        name,
        *(
            {
                "id": sample_id,
                "image": picture(folder, f"{name}-{sample_id}.png", first + number),
                "question": f"What is {sample_id}?",
                "answer": f"thing {sample_id}",
            }
            for number, sample_id in enumerate(ids)
        ),
    )


def messages_of(plain: Benchmark, name: str) -> tuple[Message, ...]:
    samples = (plain.read(row) for row in plain.data)
    request = plain.request(next(sample for sample in samples if sample.id == name))
    assert request is not None
    return request.messages


def ids(plain: Benchmark) -> list[str]:
    return [plain.read(row).id for row in plain.data]


def shown(plain: Benchmark, name: str) -> list[str]:
    """What the assistant says in the examples before a question."""
    return [message.text for message in messages_of(plain, name) if message.role == "assistant"]


ASK = "\nAnswer the question using a single word or phrase."


def test_examples_are_turns_that_were_answered_as_the_prompt_asks(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(Canvas(9, 8).png())
    choices = {"A": "a cat", "B": "a dog"}
    row = {**choices, "image": "1.png", "question": "What is it?", "answer": "a dog"}
    others = [
        {**choices, "question": f"Which is {n}?", "answer": "A", "id": f"e{n}"} for n in range(3)
    ]
    plain = own_data(rows(tmp_path, "mine.jsonl", row))
    source = own_data(rows(tmp_path, "train.jsonl", *others), task="mcq")
    example, answer, question = messages_of(with_shots(plain, 1, source=source), "0")

    end = "\nA. a cat\nB. a dog\nAnswer with the option's letter from the given choices directly."
    assert (example.role, answer.role) == ("user", "assistant")
    assert example.text.startswith("Which is ") and example.text.endswith(end)
    assert answer.text == "A"
    assert question.text == f"What is it?{end}"
    assert len(question.images) == 1


def test_a_server_gets_the_examples_with_their_pictures_in_order(tmp_path: Path) -> None:
    path = questions(tmp_path, "mine.jsonl", ["q"])
    questions(tmp_path, "train.jsonl", ["a", "b", "c", "d"], first=20)
    with serving(completion("thing q")) as server:
        result = snellen.evaluate(
            str(path),
            "openai/m",
            base_url=server.url,
            out=tmp_path / "runs",
            shots=2,
            shots_from=str(tmp_path / "train.jsonl"),
        )
        body = server.requests[0].json
    shots = result.report.identity["shots"]
    first, second = shots["ids"]

    assert [message["role"] for message in body["messages"]] == [
        *("user", "assistant", "user", "assistant", "user")
    ]
    texts = [message["content"] for message in body["messages"]]
    assert (texts[1], texts[3]) == (f"thing {first}", f"thing {second}")
    pictures = [part["image_url"]["url"] for text in texts[::2] for part in text[:1]]
    files = [f"train.jsonl-{first}", f"train.jsonl-{second}", "mine.jsonl-q"]
    for url, file in zip(pictures, files, strict=True):
        there = images.load(Image(tmp_path / f"{file}.png"))
        assert images.load(Image(url.encode())).digest == there.digest
    assert result.headline.value == 1.0


def test_a_draw_follows_from_its_seed(tmp_path: Path) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", ["q"]))
    source = own_data(questions(tmp_path, "train.jsonl", [f"e{n}" for n in range(20)], first=20))
    draws = [
        with_shots(plain, 3, source=source, seed=seed).provenance.shots["ids"] for seed in (0, 0, 1)
    ]
    assert draws[0] == draws[1] != draws[2]


def test_examples_of_the_same_file_are_not_asked(tmp_path: Path) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)]))
    few = with_shots(plain, 2)
    left = ids(few)

    # Two, and two to spare, of eight.
    assert len(left) == 4
    for name in left:
        assert len(shown(few, name)) == 2
        assert not {text.removeprefix("thing ") for text in shown(few, name)} & set(left)
    assert few.data.facts().rows == 4


def test_an_example_never_has_the_questions_id(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    plain = own_data(questions(tmp_path, "mine.jsonl", names))
    source = own_data(questions(tmp_path, "train.jsonl", names, first=20))
    few = with_shots(plain, 2, source=source)
    for name in names:
        assert f"thing {name}" not in shown(few, name)
        assert len(shown(few, name)) == 2


def test_an_example_never_has_the_questions_picture_under_another_name(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    source = own_data(questions(tmp_path, "train.jsonl", names, first=20))
    same = [
        {
            "id": f"q{n}",
            "image": picture(tmp_path, f"q{n}.png", 20 + n),
            "question": "What is it?",
            "answer": "x",
        }
        for n in range(4)
    ]
    few = with_shots(own_data(rows(tmp_path, "mine.jsonl", *same)), 2, source=source)

    for n, name in enumerate(names):
        assert f"thing {name}" not in shown(few, f"q{n}")
    first, second = (str(sample_id) for sample_id in few.provenance.shots["ids"])  # type: ignore[attr-defined]
    assert shown(few, f"q{names.index(first)}")[0] == f"thing {second}"


def test_a_question_with_the_pictures_of_too_many_examples_is_an_error(tmp_path: Path) -> None:
    names = ["a", "b", "c", "d"]
    source = own_data(questions(tmp_path, "train.jsonl", names, first=20))
    every = [f"train.jsonl-{name}.png" for name in names]
    row = {"id": "q", "image": every, "question": "?", "answer": "x"}
    few = with_shots(own_data(rows(tmp_path, "mine.jsonl", row)), 2, source=source)
    with pytest.raises(DataError, match="only 0 of 2 are left"):
        messages_of(few, "q")


def test_no_two_examples_have_a_picture_in_common(tmp_path: Path) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", ["q"]))
    every = [
        {
            "id": f"e{n}",
            "image": picture(tmp_path, f"e{n}.png", 20 + n // 10),
            "question": "?",
            "answer": f"picture {n // 10}",
        }
        for n in range(40)
    ]
    few = with_shots(plain, 2, source=own_data(rows(tmp_path, "train.jsonl", *every)))
    assert len(set(shown(few, "q"))) == 2
    with pytest.raises(
        UsageError, match=r"has only 4 rows that can be examples.* fewer examples .--shots., or"
    ):
        with_shots(plain, 3, source=own_data(tmp_path / "train.jsonl"))


def test_rows_without_an_answer_are_no_examples(tmp_path: Path) -> None:
    every = [{"id": f"e{n}", "question": "?", "answer": "x" if n < 3 else None} for n in range(9)]
    plain = own_data(questions(tmp_path, "mine.jsonl", ["q"]))
    source = own_data(rows(tmp_path, "train.jsonl", *every))
    shots = with_shots(plain, 1, source=source).provenance.shots
    assert set(shots["ids"]) <= {"e0", "e1", "e2"}  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="has only 3 rows that can be examples"):
        with_shots(plain, 2, source=source)


def test_rows_that_are_asked_are_no_source(tmp_path: Path) -> None:
    path = questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)])
    with pytest.raises(UsageError, match="are the rows that are asked"):
        with_shots(own_data(path), 2, source=own_data(path))


def test_rows_of_the_source_that_are_asked_are_no_examples(tmp_path: Path) -> None:
    path = questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)])
    others = questions(tmp_path, "others.jsonl", ["a", "b", "c"], first=20)
    both = tmp_path / "both.jsonl"
    both.write_bytes(path.read_bytes() + others.read_bytes())
    few = with_shots(own_data(path), 1, source=own_data(both))
    assert set(shown(few, "q1")) <= {"thing a", "thing b", "thing c"}


def test_a_damaged_picture_of_an_example_is_an_error_before_anything_is_asked(
    tmp_path: Path,
) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", ["q"]))
    path = questions(tmp_path, "train.jsonl", ["a", "b", "c"], first=20)
    for name in "abc":
        (tmp_path / f"train.jsonl-{name}.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"of .*train\.jsonl was drawn as an example"):
        with_shots(plain, 1, source=own_data(path))


def test_a_damaged_picture_of_a_question_fails_that_question(tmp_path: Path) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", ["q", "r"]))
    source = own_data(questions(tmp_path, "train.jsonl", ["a", "b", "c"], first=20))
    (tmp_path / "mine.jsonl-q.png").write_bytes(b"no picture")
    finished = run(tmp_path, Says(lambda request: "thing r"), with_shots(plain, 1, source=source))
    assert states(finished) == {"ok": 1, "failed": 1}
    # It is stored as it would be asked, and as it will be once the picture is mended.
    assert {len(question.messages) for question in Run(finished.run).questions()} == {3}


@pytest.mark.parametrize("n", [-1, 1.5, "2", True])
def test_shots_are_a_whole_number(tmp_path: Path, n: Any) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)]))
    with pytest.raises(UsageError, match="--shots must be a whole number of at least 1"):
        with_shots(plain, n)


def test_what_is_asked_in_several_messages_has_no_examples() -> None:
    two = benchmark(8, prompt=lambda sample, history: (system("Be brief."), user(sample.question)))
    check = own_data(Path(__file__).parents[2] / "src/snellen/benchmarks/rows/own/mcq.jsonl").check
    with pytest.raises(UsageError, match="does not say how answers are worded"):
        with_shots(two, 2)
    with pytest.raises(UsageError, match=r"asks sample 's\d' in 2 messages\."):
        with_shots(replace(two, check=check), 2)


def test_conversations_and_videos_have_no_examples(tmp_path: Path) -> None:
    turns = own_data(rows(tmp_path, "turns.jsonl", {"turns": ["1?"], "answer": "x"}))
    video = {"video": "1.mp4", "question": "?", "answer": "x"}
    with pytest.raises(UsageError, match="asked in one message and"):
        with_shots(turns, 1)
    with pytest.raises(UsageError, match="shows videos"):
        with_shots(own_data(rows(tmp_path, "video.jsonl", video)), 1)


def test_other_examples_are_another_run_and_the_same_ones_go_on(tmp_path: Path) -> None:
    plain = own_data(questions(tmp_path, "mine.jsonl", ["q"]))
    source = own_data(questions(tmp_path, "train.jsonl", [f"e{n}" for n in range(9)], first=20))
    model = Says(lambda request: "x")
    folders = [
        run(tmp_path, model, with_shots(plain, n, source=source, seed=seed)).run
        for n, seed in ((2, 0), (2, 0), (2, 1), (3, 0))
    ]
    assert folders[0] == folders[1]
    assert len(set(folders)) == 3
    assert len(model.requests) == 3
    manifest = Run(folders[0]).manifest()
    shots = manifest["identity"]["shots"]
    assert (shots["n"], shots["seed"], len(shots["ids"])) == (2, 0, 2)
    assert shots["source"] == source.data.facts().digest
    assert any(note.startswith("2 examples before each question") for note in manifest["notes"])


def test_a_run_with_examples_is_scored_from_its_folder(tmp_path: Path) -> None:
    plain = registry.benchmark(
        str(questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)])), task="vqa"
    )
    first = run(tmp_path, Says(lambda request: "thing q1"), with_shots(plain, 1))
    assert first.result is not None
    again = snellen.score(first.run)
    assert again.headline == first.result.headline
    assert again.report.n == 5


def test_a_model_with_prompts_of_its_own_words_no_question_with_examples(tmp_path: Path) -> None:
    class Words:
        name = "words"

        def own_prompt(self, benchmark: str) -> bool:
            return True

        async def prompted(self, request: Any) -> Any:
            return request

        async def generate(self, request: Any) -> Any:
            raise NotImplementedError

    plain = own_data(questions(tmp_path, "mine.jsonl", [f"q{n}" for n in range(8)]))
    assert own_prompt(plain, Words())
    assert not own_prompt(with_shots(plain, 1), Words())


# -- by name


def test_another_split_of_a_benchmark_gives_its_examples() -> None:
    plain = registry.benchmark("mmbench", data=Path("synthetic"))
    few = registry.few_shot("mmbench", plain, 1, source="lang=cn", data=Path("synthetic"))
    name = ids(few)[0]
    assert [message.role for message in messages_of(few, name)] == ["user", "assistant", "user"]
    assert few.provenance.options == plain.provenance.options


def test_a_benchmark_needs_a_source() -> None:
    plain = registry.benchmark("mmbench", data=Path("synthetic"))
    with pytest.raises(UsageError, match="--shots needs examples from rows that are not asked"):
        registry.few_shot("mmbench", plain, 1)
