"""MMMU-Pro: harder MMMU questions, with up to twelve choices or with the question in the picture.

Paper    Yue et al. 2024, MMMU-Pro: A More Robust Multi-discipline Multimodal Understanding
         Benchmark, https://arxiv.org/abs/2409.02813 (ACL 2025).
Data     MMMU/MMMU_Pro on the Hugging Face hub has a folder of parquet files for each setting, under
         Apache-2.0. Each setting has 1,730 questions.
         `standard-10` is "standard (10 options)", with 1 to 12 choices per question; 1,214
         questions have 10 choices.
         `standard-4` is "standard (4 options)".
         `vision` has the question and the choices only in the picture.
         VLMEvalKit's MMMU_Pro_10c.tsv and MMMU_Pro_V.tsv can also be read. The rows of the authors'
         output files, which have everything except the pictures, can be read only for scoring.
Prompt   `official`: MMMU-Benchmark/MMMU@bb0b95a945998d91dfef37e969e07d49d1139438:mmmu-pro/
         prompts.yaml (mode direct or cot) and mmmu-pro/infer/infer_gpt.py#L38-L65 and #L162-L170.
         All marks for pictures in the text become `<image>`. After the text, each mark's picture
         follows, and a picture is repeated if its mark is repeated. In the setting vision, the
         picture follows the text. The system message, which says that the model is ChatGPT, is left
         out. Replies are limited to 4,096 tokens (#L170).
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L578-L630. Pictures replace their marks.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/mmmu_pro/utils.py#L41-L92 and mmmu_pro_*.yaml. Pictures come first. Replies are
         limited to 256 tokens, or to 16,384 in mode cot.
Scoring  `official`: mmmu-pro/evaluate.py#L14-L31 and #L213-L289. The answer is the letter after the
         last "Answer:", if exactly one letter of a choice occurs there. Otherwise, the answer is
         the letter that the authors' rules find, or a random letter if they find none. The authors
         set no seed. Here, the random letter depends on the question's id, or is taken from the
         authors' file. The authors also draw a letter for a question without a reply. Here, a
         question without a reply is wrong. The authors' script reads only files of 1,730 rows with
         the names MODEL_standard_MODE or MODEL_vision_MODE, so it skips two of the authors' own
         four files.
         `lmms-eval`: like official, but without the rule for "Answer:". In the setting vision, the
         reply must be only the letter, mmmu_pro/utils.py#L96-L105.
         `vlmevalkit`: vlmeval/utils/matching_util.py#L18-L127, without VLMEvalKit's judge. In mode
         cot, this rule is applied to the last line that begins with "Answer:", vlmeval/dataset/
         image_mcq.py#L632-L664.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
Proof    For the published outputs of GPT-4o (standard-10 with cot, and vision with direct), every
         answer and verdict equals the authors' (tests/parity). For vision, 48 random letters are
         taken from the published file.
         `vlmevalkit` and `lmms-eval` are compared with the code of VLMEvalKit and lmms-eval on
         generated replies.
         `robust` is checked on examples worked out by hand.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Literal

from snellen.answers.others import vlmevalkit_letter
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.draws import by_id
from snellen.benchmarks.families.mmmu import (
    AUTHORS,
    CAPABILITIES,
    DOMAIN_OF,
    HOST,
    LMMS_DRAWS,
    MARK,
    Late,
    choices_of,
    interleaved,
    last_letter,
    letters,
    looked_for,
    marked_once,
    of_parquet,
    parquet_files,
    pictures_of,
    shown,
    subject_of,
)
from snellen.benchmarks.families.tasks import (
    as_reading,
    is_target,
    parse_letter,
    parse_letter_as_vlmevalkit,
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
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, Table, jsonl, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Message, Part
from snellen.metrics import mean

SOURCE = f"{AUTHORS}:mmmu-pro/evaluate.py#L14-L289"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "Apache-2.0"
PROOF = "published outputs"
SIZE = 1730
OTHER_SIZES = {"setting=standard-4": 1730, "setting=vision": 1730}
ALIASES = {
    "MMMU_Pro_10c": {"setting": "standard-10", "mode": "direct", "prompt": "vlmevalkit"},
    "MMMU_Pro_10c_COT": {"setting": "standard-10", "mode": "cot", "prompt": "vlmevalkit"},
    "MMMU_Pro_V": {"setting": "vision", "mode": "direct", "prompt": "vlmevalkit"},
    "MMMU_Pro_V_COT": {"setting": "vision", "mode": "cot", "prompt": "vlmevalkit"},
    "mmmu_pro_standard": {"setting": "standard-10", "mode": "direct", "prompt": "lmms-eval"},
    "mmmu_pro_standard_cot": {"setting": "standard-10", "mode": "cot", "prompt": "lmms-eval"},
    "mmmu_pro_vision": {"setting": "vision", "mode": "direct", "prompt": "lmms-eval"},
    "mmmu_pro_vision_cot": {"setting": "vision", "mode": "cot", "prompt": "lmms-eval"},
}

Setting = Literal["standard-10", "standard-4", "vision"]
Mode = Literal["direct", "cot"]
Preset = Literal["official", "vlmevalkit", "lmms-eval"]
MOST_TOKENS: Mapping[tuple[Preset, Mode], int] = {
    ("lmms-eval", "direct"): 256,
    ("lmms-eval", "cot"): 16_384,
}
CONFIGS: Mapping[Setting, str] = {
    "standard-10": "standard (10 options)",
    "standard-4": "standard (4 options)",
    "vision": "vision",
}
SHEETS: Mapping[Setting, tuple[str, str]] = {
    "standard-10": ("MMMU_Pro_10c.tsv", "22cee868fe6b680d14b99bfff6db8172"),
    "vision": ("MMMU_Pro_V.tsv", "d01441a87b3dbe721b5a04652ae38009"),
}


def mmmu_pro(
    setting: Setting = "standard-10",
    mode: Mode = "direct",
    prompt: Preset = "official",
    data: Path | None = None,
) -> Benchmark:
    files = published(setting)
    names = (
        *(file.name for file in files),
        f"{CONFIGS[setting]}/test-00000-of-00001.parquet",
    )
    output = f"gpt-4o_{CONFIGS[setting].replace(' (', '(')}_*.jsonl*"
    patterns = (f"{CONFIGS[setting]}/test-*-of-*.parquet", f"output*/{output}", output)
    spec = f"mmmu-pro:setting={setting}"
    data_file = looked_for(data, "mmmu-pro", patterns, names, files, spec)
    vision = setting == "vision"
    last_line = mode == "cot" or (vision and prompt == "official")
    return Benchmark(
        name="mmmu-pro",
        asks=1,
        data=Late(str(data_file), lambda: rows(data_file)),
        sample=lambda _, row: to_sample(row),
        prompt=lambda sample, _: (Message("user", PROMPTS[prompt](sample, mode, vision)),),
        scorings=scorings(mode, vision=vision),
        max_answer_tokens=MOST_TOKENS.get((prompt, mode), 4096),
        check=Check(
            says=lambda _, answer: f"Answer: {answer}" if last_line else answer,
            wrong=wrong_letter,
            expect=expected(vision, last_line),
        ),
        presentation=Presentation(
            break_down_by=("domain", "subject", "difficulty"),
            capabilities=CAPABILITIES,
        ),
        interop=Interop(
            files=data_file,
            layout=layout,
        ),
    )


def scorings(mode: Mode, *, vision: bool) -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {"accuracy": mean}
    return {
        "official": Scoring(
            version=2,
            source=SOURCE,
            parse=official_answer,
            score=is_target,
            metrics=metrics,
            missing="wrong",
            resolve=by_id(
                "The authors' script draws random letters without a seed, so its accuracy "
                "differs from run to run."
            ),
            on_missing="The authors' script, evaluate.py, scores only files with exactly "
            "1,730 rows",
        ),
        "lmms-eval": Scoring(
            version=1,
            source=f"{pins.LMMS_EVAL}:lmms_eval/tasks/mmmu_pro/utils.py#L96-L105",
            parse=lmms_vision_answer if vision else lmms_answer,
            score=is_target,
            metrics=metrics,
            resolve=None if vision else by_id(LMMS_DRAWS),
        ),
        "vlmevalkit": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/image_mcq.py#L632-L664",
            parse=kit_answer_behind if mode == "cot" else parse_letter_as_vlmevalkit,
            score=is_target,
            metrics=metrics,
        ),
        "robust": Scoring(
            version=2, source="ours", parse=parse_letter, score=is_target, metrics=metrics
        ),
    }


def published(setting: Setting = "standard-10", **_: object) -> tuple[File, ...]:
    """The published file: VLMEvalKit's TSV, which has a published digest. For standard-4, there is
    no such file."""
    if setting not in SHEETS:
        return ()
    name, md5 = SHEETS[setting]
    return (File(name=name, url=f"{HOST}/{name}", md5=md5),)


# -- rows


def rows(data_file: DataFile) -> Table:
    kinds = data_file.path.name.split(".")
    if "parquet" in kinds:
        return of_parquet(data_file, parquet_files(data_file))
    return vlmevalkit_tsv(data_file) if "tsv" in kinds else jsonl(data_file)


def to_sample(row: Row) -> Sample:
    name = str(row["id"] if "id" in row else row["index"])
    subject = row.get("subject") or row.get("category") or subject_of(name)
    numbers, pictures = pictures_of(row)
    return Sample(
        id=name,
        question=row.get("question") or "",
        choices=choices_of(row),
        media=pictures,
        target=row["answer"],
        tags={
            "domain": DOMAIN_OF[subject],
            "subject": subject,
            "difficulty": row.get("topic_difficulty") or "",
        },
        data={"numbers": numbers},
    )


# -- prompts

SHOWN = "Write out the multiple-choice question in the image and then solve it. "
PRECEDING = "Answer the preceding multiple choice question. "
LETTER = "Answer with the option letter from the given choices directly."
LAST_LINE = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without "
    "quotes) where LETTER is one of options."
)
THINK = " Think step by step before answering."
KIT_LAST_LINE = LAST_LINE.replace("one of options", "one of the options")


def official(sample: Sample, mode: Mode, vision: bool) -> tuple[Part, ...]:
    if vision:
        text = f"{LETTER} {LAST_LINE}" if mode == "direct" else f"{SHOWN}{LAST_LINE}{THINK}"
        return (text, *pictured(sample))
    ask = LETTER if mode == "direct" else f"{PRECEDING}{LAST_LINE}{THINK}"
    text = f"{sample.question}\n{lettered(sample.choices)}\n{ask}"
    pictures = (shown(sample, int(number)) for number in MARK.findall(text))
    return (MARK.sub("<image>", text), *pictures)


def vlmevalkit(sample: Sample, mode: Mode, vision: bool) -> tuple[Part, ...]:
    think = f"{KIT_LAST_LINE}{THINK} "
    direct = "Answer directly with the option letter from the given choices. "
    if vision:
        instruction = "Answer the following multiple-choice question in the image. "
        return (*pictured(sample), instruction + (direct if mode == "direct" else think))
    ask = direct if mode == "direct" else f"Answer the following multiple-choice question. {think}"
    choices = f"Options:\n{lettered(sample.choices)}\n"
    return interleaved(sample, f"Question: {sample.question}\n{choices}{ask}")


def lmms_eval(sample: Sample, mode: Mode, vision: bool) -> tuple[Part, ...]:
    if vision:
        text = LETTER if mode == "direct" else f"{SHOWN}{LAST_LINE}{THINK}"
        return (*pictured(sample), text)
    instruction = "Answer the following multiple choice question. "
    ask = LETTER if mode == "direct" else f"{instruction}{LAST_LINE}{THINK}"
    text = f"{sample.question}\n{lettered(sample.choices)}\n\n{ask}"
    return (*marked_once(sample, text), text)


def pictured(sample: Sample) -> tuple[Part, ...]:
    """The prompt for a question whose text is completely in the picture: the picture, without any
    text."""
    return (shown(sample, 1),)


PROMPTS: Mapping[Preset, Callable[[Sample, Mode, bool], tuple[Part, ...]]] = {
    "official": official,
    "vlmevalkit": vlmevalkit,
    "lmms-eval": lmms_eval,
}


# -- scoring


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter after the last "Answer:" if exactly one choice's letter occurs there, even
    inside a word. Otherwise, parse a letter by MMMU's rules, in which a letter may end a word or
    precede a full stop. If that fails, a letter is drawn."""
    _, separator, after = reply.text.rpartition("Answer:")
    matches = tuple(letter for letter in letters(sample) if separator and letter in after)
    if len(matches) == 1:
        return Reading(answer=matches[0], rule="behind 'Answer:'", candidates=matches)
    return lmms_answer(reply, sample)


def lmms_answer(reply: Reply, sample: Sample) -> Reading:
    return last_letter(reply.text, sample, ("{} ", "{}."))


def lmms_vision_answer(reply: Reply, _: Sample) -> Reading:
    """Take the whole reply as the answer. In the setting vision, lmms-eval parses nothing, since
    the row has no question."""
    return Reading(answer=reply.text or None, rule="whole reply" if reply.text else "nothing said")


def kit_answer_behind(reply: Reply, sample: Sample) -> Reading:
    """Parse the text after "Answer:" in the last line that begins with "Answer:". If the text
    contains exactly one capital letter, only this letter is parsed."""
    lines = [line.strip() for line in reply.text.strip().split("\n")]
    tails = [line.removeprefix("Answer:") for line in lines if line.startswith("Answer:")]
    if not tails:
        return parse_letter_as_vlmevalkit(reply, sample)
    capitals = tuple(dict.fromkeys(sign for sign in tails[-1] if sign in ascii_uppercase))
    text = capitals[0] if len(capitals) == 1 else tails[-1]
    return as_reading(vlmevalkit_letter(text, sample.choices))


# -- files of results


def layout(path: Path) -> Published | None:
    """Read the authors' output files. Each row has the letter that evaluate.py#L14-L31 parsed from
    the response or drew at random. Random letters are taken from the file."""
    if not path.is_file():
        return None
    replies: dict[str, str | None] = {}
    letters_drawn: dict[str, Reading] = {}
    try:
        for row in jsonl(path):
            if not {"id", "options", "response", "pred_indexs"} <= row.keys():
                return None
            name, response = str(row["id"]), row["response"]
            if name in replies:
                return None  # the general reader of prediction files reports repeated replies
            replies[name] = response if isinstance(response, str) else None
            sample = Sample(id=name, question="", choices=choices_of(row))
            if (
                isinstance(response, str)
                and official_answer(Reply(text=response), sample).undecided
                and row["pred_indexs"] in tuple(letters(sample))
            ):
                letters_drawn[name] = Reading(
                    answer=row["pred_indexs"], rule="drawn, as in the file", guessed=True
                )
    except DataError:
        return None
    if not replies:
        return None
    note = (
        f"official: {len(letters_drawn):,} letters that the authors' script drew are taken from "
        "the file. If their script ran again, it would draw others"
    )
    return Published(
        replies=replies,
        readings={"official": letters_drawn},
        notes=(note,) if letters_drawn else (),
    )


# -- check


DRAWN = 3 / 8
"""The share of the bundled rows for which the random letter is right."""
ROBUST = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
# These rules parse "A B C D" as its last letter, which is right for one row.
RULES = {"oracle": 1.0, "wrong": 0.0, "silent": DRAWN, "hedging": 1 / 8}


def expected(vision: bool, last_line: bool) -> Mapping[str, Mapping[str, float]]:
    lmms = {**ROBUST, "oracle": 0.0 if last_line else 1.0} if vision else RULES
    return {"official": RULES, "lmms-eval": lmms, "vlmevalkit": ROBUST, "robust": ROBUST}
