"""MMMU: college exam questions in thirty subjects, with one to seven pictures.

Paper    Yue et al. 2023, MMMU: A Massive Multi-discipline Multimodal Understanding and Reasoning
         Benchmark for Expert AGI, https://arxiv.org/abs/2311.16502 (CVPR 2024).
Data     MMMU/MMMU on the Hugging Face hub has a parquet file for each subject and split, under
         Apache-2.0.
         `dev` has 150 questions. `val` has 900 questions: 847 with choices and 53 open. `test` has
         10,500 questions. VLMEvalKit's MMMU_DEV_VAL.tsv and MMMU_TEST.tsv, and lmms-lab/MMMU (all
         subjects in one file), can also be read.
         The authors' answer_dict_val.json can be read only for scoring. The choices are then read
         from the output.json files in the folders below the file's own folder.
         The answers to the split test were published in February 2026 as answer_dict_test.json.
         This file is read if it is in the same folder as the rows. If the file is missing, only the
         authors' server can score this split.
Prompt   `official`: MMMU-Benchmark/MMMU@bb0b95a945998d91dfef37e969e07d49d1139438:mmmu/utils/
         data_utils.py#L136-L174 with mmmu/configs/llava1.5.yaml. YAML reads each empty line in this
         file as a line break. Each picture replaces its mark in the text, such as <image 1>.
         `llava`: the same text as `official`, as in mmmu/run_llava.py#L88-L95. Only the first
         picture is shown, before the text, and the marks stay in the text.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L247 and #L514-L540.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mmmu/utils.py#L74-L178 and mmmu_val.yaml.
         Replies are limited to 128 tokens (mmmu/utils/model_utils.py#L53). With prompt=lmms-eval on
         test, replies are limited to 512 tokens (mmmu_test.yaml#L14).
Scoring  `official`: mmmu/utils/eval_utils.py#L10-L216, called by main_parse_and_eval.py. The answer
         is the letter that the authors' rules find in the reply, or a random letter if they find
         none. An open answer is right if a number in the reply's last words equals the right answer
         to two decimals, or if these words contain the right text. All random letters are drawn in
         one sequence with the seed 42, subject by subject, in the order of the authors' files. In a
         run of Snellen, the random letters are drawn in the order of the data set. The accuracies
         of domains and of all questions are means over questions, #L246-L255.
         `eval-only`: main_eval_only.py#L51-L63, for files that contain parsed letters instead of
         replies.
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127, without a judge. An open question is
         scored as a choice between the right answer and "Other Answers", vlmeval/dataset/utils/
         multiple_choice.py#L62-L74 and #L481-L483.
         `lmms-eval`: other rules for letters, lmms_eval/tasks/_task_utils/
         mmmu_mcq_utils.py#L17-L65. Open answers are never right, because the code searches for the
         right answer in single characters of the parsed answer, lmms_eval/tasks/mmmu/
         utils.py#L188-L189 and #L386-L390.
         `robust`: Snellen's own rule, which takes the letter or the value that a reply settles on.
Proof    For the published outputs of LLaVA-1.5-13B, raw and parsed, and for those of a later run,
         every answer, every verdict, and all accuracies of subjects and domains equal the authors'
         (tests/parity). On 1,000 generated replies, the random letters equal those of
         main_parse_and_eval.py (tests/test_benchmarks).
         `vlmevalkit` and `lmms-eval` are compared with the code of VLMEvalKit and lmms-eval on
         generated replies.
         `robust` is checked on examples worked out by hand.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.answers.others import vlmevalkit_letter
from snellen.answers.value import cleaned, number, same_value
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.authors_files import of_json, texts
from snellen.benchmarks.families.draws import by_id, in_sequence, letter_by_id
from snellen.benchmarks.families.mmmu import (
    AUTHORS,
    CAPABILITIES,
    DOMAIN_OF,
    HOST,
    LMMS_DRAWS,
    LMMS_PARSER,
    Late,
    choices_of,
    interleaved,
    last_letter,
    looked_for,
    marked_once,
    of_parquet,
    parquet_files,
    pictures_of,
    subject_of,
)
from snellen.benchmarks.families.mmmu_open import is_open_answer_right, open_answer
from snellen.benchmarks.families.tasks import (
    as_reading,
    parse_letter,
    parse_letter_as_vlmevalkit,
    parse_phrase,
    parse_value,
    wrong_letter,
)
from snellen.core import (
    Benchmark,
    Check,
    Interop,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
    Submission,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Drawn, Filtered, Row, Table, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, Part
from snellen.metrics import mean

SOURCE = f"{AUTHORS}:mmmu/utils/eval_utils.py#L10-L216"
KIND = "mixed"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "published outputs"
SIZE = 900
OTHER_SIZES = {"split=dev": 150, "split=test": 10_500}
ALIASES = {
    "MMMU_DEV_VAL": {"split": "val", "prompt": "vlmevalkit"},
    "MMMU_TEST": {"split": "test", "prompt": "vlmevalkit"},
    "mmmu_val": {"split": "val", "prompt": "lmms-eval"},
    "mmmu_test": {"split": "test", "prompt": "lmms-eval"},
}
SPLITS = {"dev": "dev", "val": "validation", "test": "test"}
"""The authors' names for the splits. Ids and file names begin with these names."""
SHEETS = {
    "MMMU_DEV_VAL.tsv": "585e8ad75e73f75dcad265dfd0417d64",
    "MMMU_TEST.tsv": "c19875d11a2d348d07e5eb4bdf33166d",
}
TEST_ANSWERS = File(
    name="answer_dict_test.json",
    url="https://raw.githubusercontent.com/MMMU-Benchmark/MMMU/main/mmmu/answer_dict_test.json",
    note="published in February 2026; no digest of it is known",
)

Split = Literal["dev", "val", "test"]
Preset = Literal["official", "llava", "vlmevalkit", "lmms-eval"]
# fmt: off
Subject = Literal[
    "all", "Accounting", "Agriculture", "Architecture_and_Engineering", "Art", "Art_Theory",
    "Basic_Medical_Science", "Biology", "Chemistry", "Clinical_Medicine", "Computer_Science",
    "Design", "Diagnostics_and_Laboratory_Medicine", "Economics", "Electronics",
    "Energy_and_Power", "Finance", "Geography", "History", "Literature", "Manage", "Marketing",
    "Materials", "Math", "Mechanical_Engineering", "Music", "Pharmacy", "Physics", "Psychology",
    "Public_Health", "Sociology",
]
# fmt: on


def mmmu(
    split: Split = "val",
    subject: Subject = "all",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    begins = SPLITS[split]
    files = published(split)
    names = (
        *(file.name for file in files if file.name.endswith(".tsv")),
        f"{'Accounting' if subject == 'all' else subject}/{begins}-00000-of-00001.parquet",
        f"answer_dict_{split}.json",
        f"mmmu/answer_dict_{split}.json",
    )
    patterns = (f"*/{begins}-*-of-*.parquet", f"{begins}-*-of-*.parquet")
    data_file = looked_for(data, "mmmu", patterns, names, files, f"mmmu:split={split}")
    answers = cache(lambda: separate_answers(data_file, split))
    return Benchmark(
        name="mmmu",
        asks=1,
        data=Late(str(data_file), lambda: rows(data_file, begins, subject)),
        sample=lambda _, row: to_sample(row, answers),
        prompt=lambda sample, _: messages(sample, prompt),
        scorings=scorings(),
        max_answer_tokens=512 if prompt == "lmms-eval" and split == "test" else 128,
        check=Check(says=lambda _, answer: answer, wrong=wrong_answer, expect=EXPECT),
        presentation=Presentation(
            break_down_by=("domain", "subject", "question_type", "difficulty"),
            capabilities=CAPABILITIES,
        ),
        interop=Interop(
            files=data_file,
            layout=layout,
            submission=Submission(
                name=f"{begins}_output.json", columns=("id", "answer"), row=submitted, by_id=True
            ),
        ),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {"accuracy": mean}
    return {
        "official": Scoring(
            version=2,
            source=SOURCE,
            parse=official_answer,
            score=official_score,
            metrics=metrics,
            resolve=in_sequence(SEED, lambda line: line.sample.tags["subject"], OTHER_ORDER),
        ),
        "eval-only": Scoring(
            version=1,
            source=f"{AUTHORS}:mmmu/main_eval_only.py#L51-L63",
            parse=answer_as_it_is,
            score=official_score,
            metrics=metrics,
        ),
        "lmms-eval": Scoring(
            version=1,
            source=LMMS_PARSER,
            parse=lmms_answer,
            score=official_score,
            metrics=metrics,
            resolve=by_id(LMMS_DRAWS),
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/multiple_choice.py#L62-L74",
            parse=kit_answer,
            score=kit_score,
            metrics=metrics,
        ),
        "robust": Scoring(
            version=2,
            source="ours",
            parse=robust_answer,
            score=robust_score,
            metrics=metrics,
        ),
    }


def published(split: Split = "val", **_: object) -> tuple[File, ...]:
    """The published files: VLMEvalKit's TSV, which has all subjects and a published digest, and for
    test also the file of answers."""
    name = "MMMU_TEST.tsv" if split == "test" else "MMMU_DEV_VAL.tsv"
    sheet = File(name=name, url=f"{HOST}/{name}", md5=SHEETS[name])
    return (sheet, TEST_ANSWERS) if split == "test" else (sheet,)


# -- rows


def rows(data_file: DataFile, begins: str, subject: Subject) -> Table:
    """The rows of a split and subject, read according to the format of the data file."""
    kinds = data_file.path.name.split(".")
    if "parquet" in kinds:
        paths = parquet_files(data_file)
        if by_subject := {path.parent.name for path in paths} & set(DOMAIN_OF):
            # If the user names a file, only that file is read.
            is_single_file = data_file.data is not None and data_file.data.is_file()
            wanted = (
                by_subject if is_single_file else {subject} if subject != "all" else set(DOMAIN_OF)
            )
            if missing := sorted(wanted - by_subject):
                raise DataError(
                    f"{data_file.folder} has no {begins} of {', '.join(missing)}. Download it, "
                    f"or choose a subject that is there (mmmu:subject={min(by_subject)})."
                )
            paths = [path for path in paths if path.parent.name in wanted]
        table: Table = of_parquet(data_file, paths)
    elif "tsv" in kinds:
        table = vlmevalkit_tsv(data_file)
    else:
        table = Drawn(str(data_file), partial(answered, data_file.path))

    def is_selected(row: Row) -> bool:
        name = str(row["id"])
        return name.startswith(f"{begins}_") and subject in ("all", subject_of(name))

    return Filtered(table, is_selected)


def answered(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the authors' answers, with the choices from the output.json files up to three folder
    levels below `path`."""
    choices: dict[str, list[str]] = {}
    try:
        for depth in ("*", "*/*", "*/*/*"):
            for output in sorted(path.parent.glob(f"{depth}/output.json*")):
                for row in of_json(output):
                    if "index2ans" in row:
                        options = [row["index2ans"][letter] for letter in row["all_choices"]]
                        choices.setdefault(row["id"], options)
        for name, answer in of_json(path).items():
            yield {
                "id": name,
                "question": "",
                "question_type": answer["question_type"],
                "options": choices.get(name, []),
                "answer": answer["ground_truth"],
            }
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(
            f"{path}, or an output.json below it, is JSON, but not in the authors' format: "
            f"{error!r}. Use the authors' files."
        ) from error


def separate_answers(data_file: DataFile, split: Split) -> Mapping[str, Any]:
    """The authors' answers, keyed by question id, from the file of answers next to the rows. Empty
    if there is no such file."""
    path = data_file.folder / f"answer_dict_{split}.json"
    read = of_json(path) if path.is_file() else {}
    return read if isinstance(read, dict) else {}


def to_sample(row: Row, answers: Callable[[], Mapping[str, Any]]) -> Sample:
    name = str(row["id"])
    choices = choices_of(row)
    kind = row.get("question_type") or ("multiple-choice" if choices else "open")
    right = row.get("answer")
    if right in (None, "", "?"):
        right = answers().get(name, {}).get("ground_truth")
    # Only open answers can be lists, written as Python literals. A letter is never a list.
    several = texts(right)
    numbers, pictures = pictures_of(row)
    subject = subject_of(name)
    return Sample(
        id=name,
        question=row["question"],
        choices=choices,
        media=pictures,
        target=several[0] if len(several) == 1 else None,
        references=several if len(several) > 1 else (),
        tags={
            "domain": DOMAIN_OF[subject],
            "subject": subject,
            "question_type": "multiple-choice" if kind == "multiple-choice" else "open",
            "difficulty": row.get("topic_difficulty") or "",
        },
        data={"numbers": numbers},
    )


def is_open(sample: Sample) -> bool:
    return sample.tags["question_type"] == "open"


# -- prompts

LETTER = "Answer with the option's letter from the given choices directly."
PHRASE = "Answer the question using a single word or phrase."


def authors(sample: Sample) -> str:
    if is_open(sample):
        return f"{sample.question}\n{PHRASE}"
    return f"{sample.question}\n{lettered(sample.choices, '({letter}) {choice}')}\n\n{LETTER}"


def vlmevalkit(sample: Sample) -> str:
    text = f"Question: {sample.question}\n"
    if is_open(sample):
        return text
    return (
        f"{text}Options:\n{lettered(sample.choices)}\n"
        "Please select the correct answer from the options above. \n"
    )


def lmms_eval(sample: Sample) -> tuple[Part, ...]:
    """The parts of lmms-eval's prompt. Each picture appears once. Pictures are ordered by number,
    not by the positions of their marks. If a text has more marks than pictures, lmms-eval loses the
    text between the extra marks, but keeps the text after the last one."""
    choices = "" if is_open(sample) else f"\n{lettered(sample.choices)}"
    text = f"{sample.question}{choices}\n\n{PHRASE if is_open(sample) else LETTER}"
    pictures = marked_once(sample, text)
    *before, last = re.split(r"<image [1-7]>", text)
    parts: list[Part] = []
    for index, picture in enumerate(pictures):
        parts += [*(before[index : index + 1] and [before[index].strip()]), picture]
    return tuple(part for part in (*parts, last.strip()) if part)


def messages(sample: Sample, preset: Preset) -> tuple[Message, ...]:
    if not sample.question:
        raise DataError(
            f"{sample.id} has no question. A file of answers can be used to score replies, but not "
            "to ask questions. Download the data set itself."
        )
    return (Message("user", PROMPTS[preset](sample)),)


PROMPTS: Mapping[Preset, Callable[[Sample], tuple[Part, ...]]] = {
    "official": lambda sample: interleaved(sample, authors(sample)),
    "llava": lambda sample: (*sample.media[:1], authors(sample)),
    "vlmevalkit": lambda sample: interleaved(sample, vlmevalkit(sample)),
    "lmms-eval": lmms_eval,
}


# -- scoring, official

SEED = 42
"""The seed in mmmu/utils/eval_utils.py#L6. The script main_parse_and_eval.py draws the random
letters for the subjects in alphabetical order, and within a subject in the order of output.json."""
OTHER_ORDER = (
    "The authors' script draws random letters in the order of its output.json files. In any other "
    "order, it draws different letters."
)


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse a letter by the authors' rules, or the last words of an open answer."""
    if is_open(sample) or not sample.choices:
        return answer_as_it_is(reply, sample)
    return last_letter(reply.text, sample, (" {} ",))


def answer_as_it_is(reply: Reply, sample: Sample) -> Reading:
    """Take an already parsed letter unchanged, but parse an open answer."""
    if is_open(sample):
        return open_answer(reply)
    return Reading(answer=reply.text or None, rule="as it is" if reply.text else "nothing said")


def official_score(reading: Reading, sample: Sample) -> float:
    right = sample.references or ((sample.target,) if sample.target is not None else ())
    if not is_open(sample):
        return float(reading.answer in right)
    return float(is_open_answer_right(reading, right))


# -- scoring, VLMEvalKit's, lmms-eval's and ours


def kit_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse a letter by VLMEvalKit's rules. For an open question, the rules get two choices that no
    model sees: the right answer, and "Other Answers"."""
    if not is_open(sample):
        return parse_letter_as_vlmevalkit(reply, sample)
    right = str(list(sample.references)) if sample.references else sample.target or ""
    return as_reading(vlmevalkit_letter(reply.text.strip(), (right, "Other Answers")))


def kit_score(reading: Reading, sample: Sample) -> float:
    right = sample.target
    # If the right answer to an open question is a letter such as C, no reply is right: the parsed
    # letter is A or B.
    return float(reading.answer == (right if right in tuple(ascii_uppercase) else "A"))


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse a letter by lmms-eval's rules. The letter may be the end of a word. For an open
    question, no answer is parsed."""
    if is_open(sample) or not sample.choices:
        return Reading(answer=None, rule="open, or choices not known")
    return last_letter(reply.text, sample, ("{} ", "{}."))


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter that a reply settles on. For an open question, parse the value if a right
    answer is a number, and otherwise the phrase."""
    if not is_open(sample):
        return parse_letter(reply, sample)
    right = sample.references or (sample.target or "",)
    if any(number(cleaned(text)) is not None for text in right):
        return parse_value(reply, sample)
    return parse_phrase(reply, sample)


def robust_score(reading: Reading, sample: Sample) -> float:
    if reading.answer is None:
        return 0.0
    right = sample.references or (sample.target,)
    if not is_open(sample):
        return float(reading.answer in right)
    answer = cleaned(str(reading.answer))
    values = [cleaned(text) for text in right if text is not None]
    # The reply may have more decimals than the right value, which may be rounded.
    return float(any(same_value(answer, value) or same_value(value, answer) for value in values))


# -- files of results


def layout(path: Path) -> Published | None:
    """Read the replies in the authors' folder, which has a folder with an output.json for each
    subject. The files parsed_output.json and result.json, which the authors' script writes, are
    ignored."""
    files = {
        output.parent.name: output
        for output in sorted(path.glob("*/output.json*"))
        if output.parent.name in DOMAIN_OF and output.name in ("output.json", "output.json.gz")
    }
    if not files:
        return None
    replies: dict[str, str | None] = {}
    for output in files.values():
        try:
            for row in of_json(output):
                name, response = row["id"], row.get("response")
                if name in replies:
                    raise DataError(f"{output}: {name} has a second reply. Remove one of them.")
                replies[name] = None if response is None else str(response)
        except (AttributeError, KeyError, TypeError) as error:
            raise DataError(
                f"{output} is not a list of objects with id and response: {error!r}. Use the "
                "authors' files."
            ) from error
    left = "" if len(files) == len(DOMAIN_OF) else f" of {len(DOMAIN_OF)}"
    return Published(replies=replies, notes=(f"output.json of {len(files)}{left} subjects read",))


def submitted(sample: Sample, reply: str) -> tuple[str, object]:
    """A row of a submission, as in mmmu/run_llava.py#L25-L29, with a letter or the unchanged open
    answer."""
    if is_open(sample) or not reply:
        return sample.id, reply
    reading = official_answer(Reply(text=reply), sample)
    return sample.id, letter_by_id(sample) if reading.undecided else reading.answer


# -- check


def wrong_answer(sample: Sample) -> str:
    return "-98765" if is_open(sample) else wrong_letter(sample)


DRAWN = 3 / 12
"""The share of the bundled rows for which the random letter is right."""
ROBUST = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
# official and lmms-eval parse "A B C D" as its last letter, which is right for one row. Seven rows
# have choices.
EXPECT = {
    "official": {"oracle": 1.0, "wrong": 0.0, "silent": DRAWN, "hedging": 1 / 12},
    "eval-only": ROBUST,
    "vlmevalkit": {"oracle": 9 / 12, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
    "lmms-eval": {"oracle": 7 / 12, "wrong": 0.0, "silent": DRAWN, "hedging": 1 / 12},
    "robust": ROBUST,
}
