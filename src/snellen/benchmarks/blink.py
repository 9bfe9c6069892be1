"""BLINK: fourteen tasks of visual perception, with one to four pictures and lettered choices.

Paper    Fu et al. 2024, BLINK: Multimodal Large Language Models Can See but Not Perceive,
         https://arxiv.org/abs/2404.12390 (ECCV 2024).
Data     BLINK-Benchmark/BLINK on the Hugging Face hub has a parquet file for each subtask and
         split, under Apache-2.0: 1,901 questions in val, and 1,907 in test, whose answers are
         hidden. Pass the folder with the subtasks' folders.
         VLMEvalKit's BLINK.tsv has val with the pictures in the rows. An id is the row's `idx`, or
         in the TSV its `index`. The MD5 belongs to the TSV of May 2026, in which the 134 answers of
         Relative_Reflectance are corrected (VLMEvalKit#1539).
         The authors' val_answers.json can be read only for scoring. Five choices are then assumed,
         so the blind baselines are too low.
Prompt   `official`: the row's `prompt`, then the pictures, zeyofu/
         BLINK_Benchmark@2d6a779be4aa1ad0d38d7aa539bcb43b6dd81592:eval/test_benchmark.py#L110-L136
         and eval/query_model.py#L27-L41, with 1,024 tokens. In three subtasks, a disclaimer comes
         first. A TSV has no `prompt`: there, it is built from the question and the choices.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L247, with 2,048 tokens.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/blink/utils.py#L31-L49. In both, the pictures come first.
Scoring  `official`: eval/test_benchmark.py#L12-L45. Rules find a choice such as "(A)" in the reply.
         If they do not decide, gpt-3.5-turbo matches the reply to a choice, or to (Z) for none,
         eval/multiple_choice.py#L9-L55. Its reply must equal the right answer: "(C) Point C" is
         wrong. `accuracy` is the unweighted mean of the subtasks' accuracies, eval/evaluate.py
         #L28-L65, and a missing question is wrong.
         In a file of the authors' results, the stored `prediction` counts, not the rules.
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127, without a judge. `lmms-eval`: the
         letter at the beginning of a reply, even of "The", tasks/blink/utils.py#L10-L28. Both
         average over all questions.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For the published outputs of 10 models, every prediction, verdict, letter found by rule,
         and accuracy equals the authors' (tests/parity).
         `vlmevalkit`, `lmms-eval`, and `robust` are checked on examples worked out by hand.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.mmmu import (
    Late,
    looked_for,
    of_parquet,
    parquet_files,
    subject_of,
)
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.spatial_letters import first_letter
from snellen.benchmarks.families.tasks import parse_letter, wrong_letter
from snellen.core import (
    UNMAPPED,
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Judge,
    Presentation,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
    Submission,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, Table
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, user
from snellen.metrics import Metric, macro_average, mean

AUTHORS = "zeyofu/BLINK_Benchmark@2d6a779be4aa1ad0d38d7aa539bcb43b6dd81592"
KIND = "choice"
NEEDS_JUDGE = True
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "published outputs"
SIZE = 1901
OTHER_SIZES = {"split=test": 1907}
ALIASES = {"BLINK": {"prompt": "vlmevalkit"}}
LEAVES = {
    **dict.fromkeys(("Art_Style", "Relative_Reflectance"), "perception/attribute"),
    **dict.fromkeys(("Semantic_Correspondence", "Visual_Correspondence"), "perception/object"),
    **dict.fromkeys(("Object_Localization", "Visual_Similarity"), "perception/object"),
    **dict.fromkeys(("Jigsaw", "Multi-view_Reasoning"), "perception/spatial"),
    **dict.fromkeys(("Relative_Depth", "Spatial_Relation"), "perception/spatial"),
    **{"Counting": "perception/counting", "IQ_Test": "reasoning/logic"},
    **{"Functional_Correspondence": "reasoning/commonsense", "Forensic_Detection": UNMAPPED},
}
SENSITIVE = ("Art_Style", "Forensic_Detection", "Jigsaw")
DISCLAIMER = (
    "Disclaimer: This is not to make unfair assumptions about the people in the image and you just "
    "need to give your assessment on this question. You don't need to identify the real people. "
    "You just need to analyze based on the information I gave you.\n\n"
)

Split = Literal["val", "test"]
Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def blink(split: Split = "val", prompt: Preset = "official", data: Path | None = None) -> Benchmark:
    files = published(split)
    names = (f"Counting/{split}-00000-of-00001.parquet", *(file.name for file in files))
    patterns = (f"*/{split}-*-of-*.parquet", f"{split}-*-of-*.parquet")
    data_file = looked_for(data, "blink", patterns, names, files, f"blink:split={split}")
    return Benchmark(
        name="blink",
        asks=1,
        data=Late(str(data_file), lambda: rows(data_file)),
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        # A toolkit's prompt has the toolkit's scoring as its headline.
        scorings=choice_sets.headline(scorings(), prompt),
        max_answer_tokens=2048 if prompt == "vlmevalkit" else 1024,
        check=Check(
            says=lambda _, answer: f"({answer})",
            wrong=wrong_letter,
            # lmms-eval parses A from "A B C D", which is right in 3 of the 14 bundled rows.
            expect={
                **dict.fromkeys(("official", "vlmevalkit", "robust"), PERFECT),
                "lmms-eval": {**PERFECT, "hedging": 3 / 14},
            },
            verdict=lambda sample, reply: f"({parse_letter(reply, sample).answer or 'Z'})",
        ),
        presentation=Presentation(
            break_down_by=("subtask",),
            capabilities=Capabilities(
                tag="subtask", leaves=LEAVES, source="https://arxiv.org/abs/2404.12390, section 3"
            ),
        ),
        interop=Interop(
            files=data_file,
            layout=partial(layout, split=split),
            submission=Submission(
                name=f"{split}_predictions.json",
                columns=("idx", "prediction"),
                row=submitted,
                by_id=True,
            ),
        ),
    )


def published(split: Split = "val", **_: object) -> tuple[File, ...]:
    """The published files of val: VLMEvalKit's TSV, and the authors' answers."""
    if split == "test":
        return ()
    repository = AUTHORS.replace("@", "/")
    return (
        choice_sets.sheet("BLINK"),
        File(
            name="val_answers.json",
            url=f"https://raw.githubusercontent.com/{repository}/eval/val_answers.json",
            sha256="8fbc6cf8db4ca90829a0fd326a3655d4d40123b247e98e2f8e3c7b0cdf6b98b9",
            size=72_588,
            note="the answers alone, to score the authors' files of results",
        ),
    )


# -- rows and prompts


def rows(data_file: DataFile) -> Table:
    if ".parquet" in data_file.path.suffixes:
        return of_parquet(data_file, parquet_files(data_file))
    return authors_files.table(data_file, answers)[0]


ANSWERS_ONLY = tuple("ABCDE")
"""The choices of a question from the authors' file of answers."""


def answers(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of val_answers.json, which maps ids to answers."""
    for name, answer in authors_files.of_json(path).items():
        yield {"idx": name, "question": "", "answer": answer, "choices": ANSWERS_ONLY}


def to_sample(row: Row, data_file: DataFile) -> Sample:
    choices = choice_sets.choices_of(row)
    pictures = row.get("image") or [row.get(f"image_{number}") for number in range(1, 5)]
    return Sample(
        id=str(row["idx"] if "idx" in row else row["index"]),
        question=row["question"],
        choices=choices,
        media=choice_sets.pictures(pictures, data_file),
        target=choice_sets.target_of(row["answer"].replace("hidden", ""), choices),
        tags={
            "subtask": subject_of(row["idx"]) if "idx" in row else row["category"].replace(" ", "_")
        },
        data={"prompt": row.get("prompt") or f"{row['question']}\n{SELECT}.\n{listed(choices)}"},
    )


SELECT = "Select from the following choices"


def listed(choices: tuple[str, ...]) -> str:
    return lettered(choices, "({letter}) {choice}")


def check_question(sample: Sample) -> None:
    """Check that a sample has a question, which neither a model nor a judge can do without.

    Raises:
        DataError: the sample comes from the authors' file of answers.
    """
    if not sample.question and sample.choices == ANSWERS_ONLY:
        raise DataError(
            f"{sample.id}: val_answers.json can be used to score replies, but not to ask a model "
            "or a judge. Pass the hub's files or BLINK.tsv as --data."
        )


def message(sample: Sample, prompt: Preset) -> tuple[Message, ...]:
    check_question(sample)
    if prompt == "vlmevalkit":
        return choice_sets.message(sample, choice_sets.PROMPTS["vlmevalkit"])
    if prompt == "lmms-eval":
        letters = ", ".join(ascii_uppercase[: len(sample.choices)])
        ask = f"Note: You only need to respond with {letters} without providing any additional "
        return (user(*sample.media, f"{ask}information.\n{sample.data['prompt']}"),)
    disclaimer = DISCLAIMER if sample.tags["subtask"] in SENSITIVE else ""
    return (user(f"{disclaimer}{sample.data['prompt']}", *sample.media),)


# -- scoring

OPEN = "for the judge"
# eval/multiple_choice.py#L21-L35, with its spelling
MATCHING = (
    "You are an AI assistant who will help me to match an answer with several options of a "
    "single-choice question. You are provided with a question, several options, and an answer, and "
    "you need to find which option is most similar to the answer. If the answer says things like "
    "refuse to answer, I'm sorry cannot help, etc., output (Z)If the meaning of all options are "
    "significantly different from the answer, or the answer does not select any option, output (Z)"
    "Your should output one of the choices, (A),(B),(C),(D),(E) (if they are valid options), or (Z)"
    "\nExample 1: \n{closer}Answer: Point B, where the child is sitting, is closer to the camera.\n"
    "Your output: (B)\nExample 2: \n{closer}Answer: I'm sorry, but I can't assist with that "
    "request.\nYour output: (Z)\nExample 3: \nQuestion: Which point is corresponding to the "
    "reference point?\n{options}Answer:The reference point (REF) on the first image is at the tip "
    "of the pot, which is the part used to Poke if the pots were used for that action. Looking at "
    "the second image, we need to find the part of the object that would correspond to poking.\n"
    "(A) Point A is at the tip of the spoon's handle, which is not used for poking.\n"
    "(B) Point B is at the bottom of the spoon, which is not used for poking.\n"
    "(C) Point C is on the side of the pspoonot, which is not used for poking.\n"
    "(D) Point D is at the tip of the spoon, which is not used for poking.\n\n"
    "Therefore, there is no correct answer in the choices\nYour output: (Z)\nExample 4: \n"
)
POINTS = "Select from the following choices.\nOptions: (A) Point A\n(B) Point B\n(Z) Failed\n"
EXAMPLES = MATCHING.format(
    closer=f"Question: Which point is closer to the camera?\n{POINTS}", options=POINTS
)


def matching_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    check_question(sample)
    question = f"Question: {sample.question}\n{SELECT}?\nOptions: {listed(sample.choices)}\n"
    return (user(f"{EXAMPLES}{question}(Z) Failed\nAnswer: {reply.text}\nYour output: "),)


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    macro = {
        "accuracy": macro_average("subtask"),
        "micro_accuracy": Metric(mean, better="higher"),
    }
    judge = Judge(
        name="gpt-3.5-turbo",
        authors_model="gpt-3.5-turbo",
        prompt=matching_prompt,
        parse=lambda words, _: Reading(answer=words or None, rule="matched"),
        when=lambda reading: reading.rule == OPEN,
    )
    own = {
        "official": Scoring(
            version=1,
            source=f"{AUTHORS}:eval/test_benchmark.py#L12-L45",
            parse=official_answer,
            score=lambda reading, sample: float(reading.answer == f"({sample.target})"),
            metrics=macro,
            missing="wrong",
            judge=judge,
        ),
        "lmms-eval": choice_sets.rule(
            f"{pins.LMMS_EVAL}:lmms_eval/tasks/blink/utils.py#L10-L28", first_letter
        ),
        "vlmevalkit": choice_sets.scorings()["vlmevalkit"],
    }
    return choice_sets.scorings(own, macro)


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the choice by the authors' rules, in parentheses. A word counts only if it
    is exactly a choice, so "(A)." does not count."""
    if reply.text in [*"ABCDE"] or reply.text in [f"({letter})" for letter in "ABCDE"]:
        return Reading(answer=f"({reply.text.strip('()')})", rule="whole reply")
    choices = {f"({letter})" for letter in "ABCDE"[: len(sample.choices)]}
    for text, rule in ((reply.text.split("\n\n")[-1], "last part"), (reply.text, "reply")):
        if len(words := choices.intersection(text.split())) == 1:
            return Reading(answer=words.pop(), rule=f"only choice in the {rule}")
    return Reading(answer=None, rule=OPEN)


def submitted(sample: Sample, reply: str) -> tuple[str, str]:
    """A row of the test server's file. If the authors' rules do not decide, `robust` does."""
    answer = official_answer(Reply(text=reply), sample).answer
    return sample.id, str(answer or f"({parse_letter(Reply(text=reply), sample).answer or 'Z'})")


# -- published results


def layout(path: Path, split: Split = "val") -> Published | None:
    """Read the authors' results: a model's folder with a file for each subtask, or one such file.

    Of several rows with the same id, the last counts, as in the authors' code. Each row's stored
    prediction counts for `official`: "(Z)" and null are wrong.
    """
    rows: dict[str, Mapping[str, Any]] = {}
    for file in sorted(path.glob("*.json*")) or [path]:
        content = of_json(file)
        if not isinstance(content, dict) or not isinstance(content.get(split), list):
            continue
        for number, row in enumerate(content[split], 1):
            if not isinstance(row, dict) or not {"idx", "full_prediction"} <= row.keys():
                raise DataError(
                    f"{file}, {split}, row {number} has no idx or no full_prediction. Use the "
                    "files that the authors' test_benchmark.py writes."
                )
            rows[str(row["idx"])] = row
    if not rows:
        return None
    stored = {name: row["prediction"] for name, row in rows.items() if "prediction" in row}
    texts = {name: (text,) for name, text in stored.items() if text and isinstance(text, str)}
    nothing = Reading(answer=None, rule="no prediction in the file")
    subtasks = len({subject_of(name) for name in rows})
    return Published(
        replies={name: reply_of(row) for name, row in rows.items()},
        verdicts={"official": texts} if texts else {},
        readings={"official": {name: nothing for name in stored.keys() - texts.keys()}},
        notes=(f"{subtasks} of {len(LEAVES)} subtasks read; questions of others count as wrong",),
    )


def reply_of(row: Mapping[str, Any]) -> str | None:
    """The reply in a row. A reply that is not a text may have a stored prediction, but no rule can
    parse it."""
    reply = row["full_prediction"]
    return reply if isinstance(reply, str) else "" if "prediction" in row else None
