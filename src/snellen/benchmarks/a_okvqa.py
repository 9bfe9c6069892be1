"""A-OKVQA: questions about photographs; the answers require knowledge of the world.

Paper    Schwenk et al. 2022, A-OKVQA: A Benchmark for Visual Question Answering using World
         Knowledge, https://arxiv.org/abs/2206.01718 (ECCV).
Data     The authors publish aokvqa_v1p0_{train,val,test}.json in aokvqa_v1p0.tar.gz, with 17,056,
         1,145, and 6,702 questions. The code is allenai/
         aokvqa@83786de0b24c4fef0bfe39420684f6f73d9f3581, under Apache-2.0.
         The pictures are COCO's {split}2017.
         The answers to the test questions are hidden.
         The questions can also be read from LAVIS's copy (the same list, with a field `image`),
         from VLMEvalKit's A-OKVQA.tsv (only setting=mc), and from HuggingFaceM4/A-OKVQA on the
         Hugging Face hub (parquet).
Prompt   The authors prescribe no prompt for models that see pictures. The picture comes first in
         all prompts.
         `llava`: LLaVA-1.5's prompt for a short answer or for the letter of a choice, haotian-liu/
         LLaVA@c121f0432da27facab705978f83c4ada465e46fd:docs/Evaluation.md#L13-L26.
         `gpt3`: the authors' prompt, gpt3/query_gpt3.py#L72-L76, without its context and examples.
         With this prompt, the choices have no letters, and the answer is the text of a choice.
         `blip2` (setting=da): salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:lavis/
         projects/blip2/eval/okvqa_zeroshot_flant5xl_eval.yaml#L41. The question is in lowercase
         without punctuation (blip_processors.py#L88-L101).
         `vlmevalkit` (setting=mc): open-compass/
         VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/dataset/image_mcq.py#L212-L247.
         Replies are limited to 128 tokens, as in LLaVA's llava/eval/model_vqa_loader.py#L141. For
         gpt3, the authors limited replies to 10 tokens.
Scoring  `official`: evaluation/eval_predictions.py#L9-L50 with strict=False. Nothing is normalized.
         A question without a reply is wrong.
         Under setting=da, the score is min(1, m / 3), where m is the number of people, out of ten,
         who gave exactly this answer. Questions whose field `difficult_direct_answer` is not
         `false` are excluded.
         Under setting=mc, a reply is right if it is the text of the right choice. The letter of the
         right choice is not accepted. All questions are included.
         `lavis` (da), lavis/tasks/vqa.py#L262-L291: like official, but over all questions that have
         a reply, including difficult ones. BLIP's published scores use this rule.
         `mmpretrain` (da), open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90:
         mmpretrain/evaluation/metrics/vqa.py#L242-L268: over the same questions as lavis. Replies
         and answers are normalized, and an answer that at least three of the ten people gave scores
         1. The metric is part of mmpretrain, but the data set is not.
         `normalized`: Snellen's own rule, which is like official except that the reply and the
         answers (or choices) are normalized as in VQA's evaluation. For example, "A dog." equals
         "dog". `official-2022` (mc): the authors' scorer before
         42e8c44ff40d13cf272776a3197365f582137772. That scorer excluded difficult questions under
         setting=mc instead of setting=da.
         `vlmevalkit` (mc): the letter that VLMEvalKit's rules find. A reply without a letter is
         wrong here, while VLMEvalKit asks a judge about it.
         `robust`: Snellen's own rule. Under setting=da, the answer is the phrase that a reply
         settles on, normalized as in VQA's evaluation. Under setting=mc, the answer is the letter
         that a reply settles on.
         If the prompt asks for a letter, the headline scoring is robust (or vlmevalkit, with the
         prompt of that name), because the authors' scorer does not accept letters. The authors map
         replies to choices before they run the scorer (evaluation/remap_predictions.py).
         The file for the leaderboard (`snellen export --to submission`) contains the text of the
         choice whose letter the reply names.
Proof    Tests compare our verdicts with the authors' on 1,500 generated questions in both settings
         (tests/parity).
         No model outputs are published for questions with public answers.
         The other scorings are checked on examples worked out by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal

from snellen.answers.others import VLMEVALKIT
from snellen.benchmarks.families import authors_files, questions
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.tasks import (
    is_target,
    parse_letter,
    parse_letter_as_vlmevalkit,
    parse_verbatim,
    wrong_letter,
)
from snellen.benchmarks.families.vqa import blip_question
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Published,
    Reading,
    Reply,
    Sample,
    Scoring,
    Submission,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find, json_list
from snellen.data.published import File
from snellen.errors import DataError, UsageError
from snellen.media.content import user
from snellen.metrics import mean
from snellen.metrics.only_tagged import only_tagged
from snellen.metrics.vqa import vqa_accuracy_mmpretrain

REVISION = "83786de0b24c4fef0bfe39420684f6f73d9f3581"
SOURCE = f"allenai/aokvqa@{REVISION}:evaluation/eval_predictions.py#L9-L50"
OLDER = (
    "allenai/aokvqa@3647c12eb3787b538e950f9fea8162c337363ab9:evaluation/eval_predictions.py#L9-L50"
)
MMPRETRAIN = (
    "open-mmlab/mmpretrain@ee7f2e88501f61aa95c742dd5f429f039935ee90:"
    "mmpretrain/evaluation/metrics/vqa.py#L242-L268"
)
LAVIS = "salesforce/LAVIS@506965b9c4a18c1e565bd32acaccabe0198433f7:lavis/tasks/vqa.py#L262-L291"
KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1145
ALIASES = {
    "A-OKVQA": {"setting": "mc", "split": "val", "prompt": "vlmevalkit"},
    "aokvqa": {"setting": "da"},
    "aok_vqa": {"setting": "da"},
}

Split = Literal["val", "test", "train"]
Setting = Literal["da", "mc"]
Preset = Literal["llava", "gpt3", "blip2", "vlmevalkit"]

LETTER = "Answer with the option's letter from the given choices directly."
PLEASE = "Please select the correct answer from the options above. \n"
EASY = ("easy", "")
"""The values of the tag `difficult_direct_answer` for questions that are not difficult. If a file
lacks this field, no question counts as difficult."""


def a_okvqa(
    setting: Setting = "da",
    split: Split = "val",
    prompt: Preset = "llava",
    data: Path | None = None,
) -> Benchmark:
    if (setting, prompt) not in PROMPTS:
        others = ", ".join(preset for of, preset in PROMPTS if of == setting)
        raise UsageError(f"a-okvqa:setting={setting} has the prompts {others}, but not {prompt!r}.")
    name = f"aokvqa_v1p0_{split}.json"
    names = [name, f"aokvqa/{name}", f"annotations/{name}"]
    if setting == "mc" and split == "val":
        sheets = ["A-OKVQA.tsv", "a-okvqa.tsv"]
        names = [*sheets, *names] if prompt == "vlmevalkit" else [*names, *sheets]
    spec = f"a-okvqa:setting={setting},split={split},prompt={prompt}"
    data_file = find(data, "a-okvqa", names, published(split, prompt), spec)
    table, files = authors_files.table(data_file, lambda path: iter(json_list(path)), REVISION)
    in_words = (setting, prompt) not in HEADLINES
    scorings = direct_answer() if setting == "da" else multiple_choice()
    headline = HEADLINES.get((setting, prompt), "official")
    return Benchmark(
        name="a-okvqa",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file, setting, split),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[setting, prompt](sample)),),
        scorings={headline: scorings.pop(headline), **scorings},
        max_answer_tokens=128,
        cluster_by=image_of,
        check=Check(
            says=choice_text if setting == "mc" and in_words else lambda _, answer: answer,
            wrong=wrong_answer,
            expect=EXPECT[setting, in_words],
        ),
        procedure=Procedure(group_by=image_of),
        presentation=Presentation(
            break_down_by=("difficult_direct_answer",),
            capabilities=Capabilities(
                tag="",
                leaves={"": "reasoning/commonsense"},
                source="https://arxiv.org/abs/2206.01718, abstract",
            ),
        ),
        interop=Interop(
            files=files,
            layout=lambda path: layout(path, setting),
            submission=Submission(
                name=f"predictions_{split}.json",
                columns=("question_id", FIELDS[setting]),
                row=direct_answer_row if setting == "da" else multiple_choice_row,
                by_id=True,
            ),
        ),
    )


def published(split: Split = "val", prompt: Preset = "llava", **_: object) -> tuple[File, ...]:
    """The published files with the questions of all splits and the pictures of one split. With
    VLMEvalKit's prompt on `val`, VLMEvalKit's TSV file is used instead. No digests of these files
    are published."""
    if (split, prompt) == ("val", "vlmevalkit"):
        return (
            File(
                name="A-OKVQA.tsv",
                url="https://huggingface.co/datasets/Allen8/A-OKVQA/resolve/main/a-okvqa.tsv",
            ),
        )
    sizes = {"train": "18 GB", "val": "0.8 GB", "test": "6.2 GB"}
    return (
        File(
            name="aokvqa_v1p0.tar.gz",
            url="https://prior-datasets.s3.us-east-2.amazonaws.com/aokvqa/aokvqa_v1p0.tar.gz",
            unpack=True,
        ),
        File(
            name=f"{split}2017.zip",
            url=f"http://images.cocodataset.org/zips/{split}2017.zip",
            unpack=True,
            note=f"{sizes[split]}; COCO's pictures",
        ),
    )


def to_sample(row: Row, data_file: DataFile, setting: Setting, split: Split) -> Sample:
    if "A" in row:  # VLMEvalKit's sheet
        if setting == "da":
            raise ValueError("VLMEvalKit's sheet has only choices: use setting=mc")
        choices = tuple(row[letter] for letter in "ABCD" if row.get(letter))
        target = row.get("answer") or None
    else:
        choices = authors_files.texts(row["choices"])
        right = row.get("correct_choice_idx")
        target = None if right is None else ascii_uppercase[int(right)]
    answers = next((row[key] for key in ANSWERS if row.get(key)), ())
    if "difficult_direct_answer" in row:
        difficulty = "easy" if row["difficult_direct_answer"] is False else "difficult"
    else:
        difficulty = ""
    file = row.get("image")
    if not isinstance(file, str) and "image_id" in row:
        file = f"{split}2017/{row['image_id']:012d}.jpg"
    names = (file, f"coco/{file}", f"coco/images/{file}", f"images/{file}") if file else ()
    image, shared = questions.picture(row, data_file, names)
    return Sample(
        id=str(row["index"] if "index" in row else row["question_id"]),
        question=row["question"],
        choices=choices if setting == "mc" else (),
        media=(image,),
        target=target if setting == "mc" else None,
        references=authors_files.texts(answers) if setting == "da" else (),
        tags={"difficult_direct_answer": difficulty},
        data={"image": shared},
    )


ANSWERS = ("direct_answers", "gt_answers", "answers", "answer")
"""The possible names of the field that contains the people's answers. The authors' name comes
first, and the names in copies of the data set follow."""


def image_of(sample: Sample) -> str:
    return str(sample.data["image"])


# -- the authors' files of predictions

FIELDS: Mapping[Setting, str] = {"da": "direct_answer", "mc": "multiple_choice"}
"""For each setting, the field in the authors' prediction files that contains the answers."""


def direct_answer_row(sample: Sample, reply: str) -> Sequence[object]:
    return sample.id, {FIELDS["da"]: reply}


def multiple_choice_row(sample: Sample, reply: str) -> Sequence[object]:
    """The row for the leaderboard, with the text of a choice. A reply that is not the text of a
    choice is replaced by the choice whose letter the reply names."""
    letter = None
    if reply not in sample.choices:
        letter = parse_letter(Reply(text=reply), sample).answer
    text = sample.choices[ascii_uppercase.index(letter)] if isinstance(letter, str) else reply
    return sample.id, {FIELDS["mc"]: text}


def layout(path: Path, setting: Setting) -> Published | None:
    """Read the authors' file of predictions, which may cover both settings. The file is a JSON
    object that maps each question id to an object with `multiple_choice`, `direct_answer`, or both
    (evaluation/prepare_predictions.py). Returns None for any other file."""
    rows = of_json(path)
    fields = {*FIELDS.values()}
    if not isinstance(rows, dict) or not rows:
        return None
    if not all(isinstance(row, dict) and fields >= row.keys() for row in rows.values()):
        return None
    wanted = FIELDS[setting]
    replies = {name: row[wanted] for name, row in rows.items() if wanted in row}
    if not replies:
        other = "mc" if setting == "da" else "da"
        raise DataError(f"{path} has no {wanted}. Score it as a-okvqa:setting={other}.")
    for name, reply in replies.items():
        if not isinstance(reply, str | None):
            raise DataError(
                f"{path}: {name} has a value of type {type(reply).__name__} for {wanted}. "
                "It must be text."
            )
    return Published(replies=replies, notes=(f"replies read from {wanted!r}",))


# -- prompts


PROMPTS: Mapping[tuple[Setting, Preset], Callable[[Sample], str]] = {
    ("da", "llava"): lambda sample: questions.SHORT.format(question=sample.question),
    ("da", "gpt3"): lambda sample: f"Q: {sample.question}\nA:",
    ("da", "blip2"): lambda sample: f"Question: {blip_question(sample.question)} Short answer:",
    ("mc", "llava"): lambda sample: f"{sample.question}\n{lettered(sample.choices)}\n{LETTER}",
    ("mc", "gpt3"): lambda sample: (
        f"Q: {sample.question}\nChoices: {', '.join(sample.choices)}.\nA:"
    ),
    ("mc", "vlmevalkit"): lambda sample: (
        f"Question: {sample.question}\nOptions:\n{lettered(sample.choices)}\n{PLEASE}"
    ),
}


HEADLINES: Mapping[tuple[Setting, Preset], str] = {
    ("mc", "llava"): "robust",
    ("mc", "vlmevalkit"): "vlmevalkit",
}
"""The headline scorings for prompts that ask for a letter. For these prompts, the headline scoring
is not `official`, which does not parse letters."""

# -- scoring, direct answer


def direct_answer() -> dict[str, Scoring]:
    easy = {"accuracy": only_tagged(mean, "difficult_direct_answer", EASY)}
    return {
        "official": Scoring(
            version=1,
            source=SOURCE,
            parse=parse_verbatim,
            score=agreement,
            metrics=easy,
            missing="wrong",
            partial=True,
        ),
        "lavis": Scoring(
            version=1,
            source=LAVIS,
            parse=parse_verbatim,
            score=agreement,
            metrics={"accuracy": mean},
            partial=True,
        ),
        "mmpretrain": Scoring(
            version=1,
            source=MMPRETRAIN,
            parse=parse_verbatim,
            score=mmpretrain_agreement,
            metrics={"accuracy": mean},
            partial=True,
        ),
        "normalized": Scoring(
            version=1,
            source="ours",
            parse=normalized_reply,
            score=plain_agreement,
            metrics=easy,
            missing="wrong",
            partial=True,
        ),
        "robust": Scoring(
            version=1,
            source="ours",
            parse=questions.phrase,
            score=plain_agreement,
            metrics=easy,
            missing="wrong",
            partial=True,
        ),
    }


def agreement(reading: Reading, sample: Sample) -> float:
    """The score min(1, m / 3), where m is the number of people who gave exactly this answer."""
    return min(1.0, sample.references.count(str(reading.answer or "")) / 3)


def mmpretrain_agreement(reading: Reading, sample: Sample) -> float:
    return vqa_accuracy_mmpretrain(str(reading.answer or ""), sample.references)


def normalized_reply(reply: Reply, _: Sample) -> Reading:
    text = questions.plain(reply.text)
    return Reading(answer=text or None, rule="normalized reply" if text else "nothing said")


def plain_agreement(reading: Reading, sample: Sample) -> float:
    return min(1.0, [*map(questions.plain, sample.references)].count(str(reading.answer)) / 3)


# -- scoring, multiple choice


def multiple_choice() -> dict[str, Scoring]:
    easy = {"accuracy": only_tagged(mean, "difficult_direct_answer", EASY)}

    def scoring(
        source: str,
        metrics: Mapping[str, Any],
        parse: Callable[[Reply, Sample], Reading] = chosen,
    ) -> Scoring:
        return Scoring(
            version=1,
            source=source,
            parse=parse,
            score=is_right_choice,
            metrics=metrics,
            missing="wrong",
        )

    return {
        "official": scoring(SOURCE, {"accuracy": mean}),
        "official-2022": scoring(OLDER, easy),
        "normalized": scoring("ours", {"accuracy": mean}, normalized_choice),
        "vlmevalkit": Scoring(
            version=1,
            source=VLMEVALKIT,
            parse=parse_letter_as_vlmevalkit,
            score=is_target,
            metrics={"accuracy": mean},
            missing="wrong",
        ),
        "robust": Scoring(
            version=2,
            source="ours",
            parse=parse_letter,
            score=is_target,
            metrics={"accuracy": mean},
            missing="wrong",
        ),
    }


def chosen(reply: Reply, sample: Sample) -> Reading:
    """Parse the reply if it is exactly the text of a choice."""
    if reply.text in sample.choices:
        return Reading(answer=reply.text, rule="choice")
    return Reading(answer=None, rule="no choice")


def normalized_choice(reply: Reply, sample: Sample) -> Reading:
    """Parse the choice that equals the reply after both are normalized. A reply that equals several
    choices is unparsed."""
    text = questions.plain(reply.text)
    matches = {choice for choice in sample.choices if questions.plain(choice) == text}
    if len(matches) == 1:
        return Reading(answer=matches.pop(), rule="normalized choice")
    rule = "several choices" if matches else "no choice"
    return Reading(answer=None, rule=rule, candidates=tuple(sorted(matches)))


def is_right_choice(reading: Reading, sample: Sample) -> float:
    right = sample.choices[ascii_uppercase.index(sample.target or "A")]
    return float(reading.answer == right)


# -- check


def choice_text(sample: Sample, letter: str) -> str:
    return sample.choices[ascii_uppercase.index(letter)]


def wrong_answer(sample: Sample) -> str:
    if not sample.choices:
        return questions.WRONG
    return wrong_letter(sample)


ALL, NONE = 1.0, {"wrong": 0.0, "silent": 0.0, "hedging": 0.0}
EASY_BEST = (8 + 2 / 3) / 9
"""The score when each reply is the answer that most people gave, on the nine bundled questions that
are not difficult. For one of these questions, even the most common answer was given only twice."""
ALL_BEST = (8 + 2 / 3 + 3 / 3) / 12
"""The score when each reply is the answer that most people gave, on all twelve bundled questions.
For each difficult question, no two people gave the same answer."""
EXPECT: Mapping[tuple[Setting, bool], Mapping[str, Mapping[str, float]]] = {
    ("da", True): {
        "official": {"oracle": EASY_BEST, **NONE},
        "lavis": {"oracle": ALL_BEST, **NONE},
        "mmpretrain": {"oracle": ALL_BEST, **NONE},
        "normalized": {"oracle": EASY_BEST, **NONE},
        "robust": {"oracle": EASY_BEST, **NONE},
    },
    ("mc", True): {
        "official": {"oracle": ALL, **NONE},
        "official-2022": {"oracle": ALL, **NONE},
        "normalized": {"oracle": ALL, **NONE},
        "vlmevalkit": {"oracle": ALL, **NONE},
        "robust": {"oracle": ALL, **NONE},
    },
    ("mc", False): {
        "official": {"oracle": 0.0, **NONE},
        "official-2022": {"oracle": 0.0, **NONE},
        "normalized": {"oracle": 0.0, **NONE},
        "vlmevalkit": {"oracle": ALL, **NONE},
        "robust": {"oracle": ALL, **NONE},
    },
}
