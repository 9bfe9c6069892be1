"""MMBench and CCBench: questions with two to four choices, asked once per rotation of the choices.

Paper    Liu et al. 2023, MMBench: Is Your Multi-modal Model an All-around Player?,
         https://arxiv.org/abs/2307.06281 (ECCV 2024).
Data     VLMEvalKit's MMBench_{DEV,TEST}_{EN,CN}[_V11].tsv and CCBench.tsv (`lang=cc`, which has no
         test split and no versions). The data set's repository is open-compass/MMBench, under
         Apache-2.0.
         `dev` has 1,164 questions in 4,329 rows (version 1.0). CCBench has 510 questions in 2,040
         rows.
         Scores on versions 1.0 and 1.1 are not comparable.
         The answers to the split test of version 1.1 have been public since the test server closed
         on 31 March 2026 (open-compass/MMBench#61, VLMEvalKit#1516). The MD5s here belong to the
         files with these answers (VLMEvalKit@0bccf4527f5eb4c2d5837a6492e379f4ca1be63f). Older files
         have no answers. The MD5s of the older files are 26f0f15381a21720255091d3e0316ce6 (English)
         and 74bbe4556dac745613c7cbe5ad787050 (Chinese).
         The test split of version 1.0 still has no answers: the published digests have not changed
         since 2023.
         A choice such as "None" is text here, while VLMEvalKit, which uses pandas, reads it as a
         missing cell.
Prompt   The picture comes first in all prompts.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L212-L247.
         `opencompass`, `minigpt4`: the authors' first page (open-compass/opencompass,
         docs/en/MMBench.md, since removed). The published code skips the hint when there is one. We
         assume that the opposite was intended: if there is a hint, it comes before the question.
         The page's example for MiniGPT-4 has no hint. Here, the hint comes before the question in
         the prompt `minigpt4` too.
         The prompt in lmms-eval is not implemented, so lmms-eval's task names use VLMEvalKit's
         prompt.
         Replies are limited to 1,024 tokens: haotian-liu/
         LLaVA@c121f0432da27facab705978f83c4ada465e46fd:llava/eval/model_vqa_mmbench.py#L120.
Scoring  In the metric `circular`, a question is right if the answers in all its rows are right,
         multiple_choice.py#L409-L428 and #L511-L582. The rows of a question have the same index
         modulo 1,000,000. `vanilla` counts only the first row of each question. `vanilla_all`
         counts every row.
         `official`: the letter that VLMEvalKit's rules find, matching_util.py#L18-L61 and
         #L107-L127. A reply without a letter is wrong, as with VLMEvalKit's `exact_matching`.
         `judged`: like official, but a judge matches replies without a letter to choices (`snellen
         judge`), as ChatGPT does in the authors' code. If ChatGPT's text matches no choice in three
         tries, the authors draw a choice at random. Here, the reply stays unjudged.
         `vlmevalkit-2024`: the older rules, which MMStar copied.
         `robust`: Snellen's own rule, which takes the letter that a reply settles on.
         In published result files, a row whose request failed is wrong under all scorings except
         robust. VLMEvalKit also counts such a row as wrong, and VLMEvalKit's files have all rows
         (inference.py#L246).
         A row that is missing from a file is wrong too, which makes its question wrong. VLMEvalKit
         treats missing rows differently: it scores each question by the rows that are in the file
         (image_mcq.py#L299-L304), and leaves out questions whose first row is missing
         (multiple_choice.py#L527-L537). The option `--missing excluded` scores only questions for
         which no row is missing. If the file lacks either all or none of the rows of each question,
         this result equals VLMEvalKit's.
Proof    For the published replies of LLaVA-1.5-13B to the first release of dev, 796 of 1,176
         questions are right, which is the published 67.7, and `vanilla` is 75.4 (tests/parity).
         For both versions of the rules, tests compare our letters with those of VLMEvalKit's code
         for 1,500 generated replies.
         The results by ability are checked on examples worked out by hand.
"""

from bisect import insort
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from snellen.answers.others import VLMEVALKIT, VLMEVALKIT_2024
from snellen.benchmarks.families import pins
from snellen.benchmarks.families.judges import matching
from snellen.benchmarks.families.tasks import (
    is_target,
    parse_letter,
    parse_letter_as_vlmevalkit,
    parse_letter_as_vlmevalkit_2024,
    wrong_letter,
)
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Procedure,
    Sample,
    Scoring,
    Submission,
)
from snellen.core.prompts import lettered
from snellen.data import Row, Table, find, vlmevalkit_tsv
from snellen.data.published import File
from snellen.errors import UsageError
from snellen.media.content import user
from snellen.metrics import Metric, mean
from snellen.metrics.circular import circular, vanilla

KIND = "choice"
LANGUAGES = ("en", "zh")
LICENSE = "Apache-2.0"
PROOF = "published outputs"
SIZE = None
OTHER_SIZES = {"version=1.0": 4329, "lang=cc": 2040}
ALIASES = {
    "MMBench_DEV_EN": {"lang": "en", "split": "dev", "version": "1.0"},
    "MMBench_DEV_CN": {"lang": "cn", "split": "dev", "version": "1.0"},
    "MMBench_TEST_EN": {"lang": "en", "split": "test", "version": "1.0"},
    "MMBench_TEST_CN": {"lang": "cn", "split": "test", "version": "1.0"},
    "MMBench_DEV_EN_V11": {"lang": "en", "split": "dev", "version": "1.1"},
    "MMBench_DEV_CN_V11": {"lang": "cn", "split": "dev", "version": "1.1"},
    "MMBench_TEST_EN_V11": {"lang": "en", "split": "test", "version": "1.1"},
    "MMBench_TEST_CN_V11": {"lang": "cn", "split": "test", "version": "1.1"},
    "CCBench": {"lang": "cc"},
    "mmbench_en_dev": {"lang": "en", "split": "dev", "version": "1.0"},
    "mmbench_cn_dev": {"lang": "cn", "split": "dev", "version": "1.0"},
    "mmbench_en_test": {"lang": "en", "split": "test", "version": "1.0"},
    "mmbench_cn_test": {"lang": "cn", "split": "test", "version": "1.0"},
    "mmbench_cn_cc": {"lang": "cc"},
}
OFFSET = 1_000_000
"""The index of the row with rotation k of question i is i + k·OFFSET."""
ABILITIES = {
    "coarse_perception": ("CP", "perception"),
    "finegrained_perception (instance-level)": ("FP-S", "perception"),
    "finegrained_perception (cross-instance)": ("FP-C", "perception"),
    "attribute_reasoning": ("AR", "reasoning"),
    "relation_reasoning": ("RR", "reasoning"),
    "logic_reasoning": ("LR", "reasoning"),
}
"""For each value of the field `l2-category`, VLMEvalKit's abbreviation, and the broader ability
(L1) that the category belongs to."""

LEAVES = {
    "image_scene": "perception/scene",
    "image_topic": "perception/scene",
    "image_style": "perception/attribute",
    "image_quality": "perception/attribute",
    "image_emotion": "perception/attribute",
    "attribute_recognition": "perception/attribute",
    "attribute_comparison": "perception/attribute",
    "celebrity_recognition": "knowledge/world",
    "object_localization": "perception/spatial",
    "spatial_relationship": "perception/spatial",
    "action_recognition": "perception/object",
    "ocr": "OCR/text",
    "physical_property_reasoning": "knowledge/domain",
    "function_reasoning": "reasoning/commonsense",
    "identity_reasoning": "knowledge/world",
    "social_relation": "reasoning/commonsense",
    "nature_relation": "knowledge/domain",
    "physical_relation": "perception/spatial",
    "structuralized_imagetext_understanding": "OCR/table",
    "future_prediction": "reasoning/causal",
    # CCBench
    "scenery_building": "knowledge/cultural",
    "cultural_relic": "knowledge/cultural",
    "traditional_show": "knowledge/cultural",
    "calligraphy_painting": "knowledge/cultural",
    "historical_figure": "knowledge/cultural",
    "food_clothes": "knowledge/cultural",
    "sketch_reasoning": "reasoning/logic",
}
"""The capability of each of the authors' most specific abilities."""

HOST = "https://opencompass.openxlab.space/utils"
MD5 = {
    "MMBench_DEV_EN": "b6caf1133a01c6bb705cf753bb527ed8",
    "MMBench_TEST_EN": "6939fadb0ce626fefc0bdc9c64efc528",
    "MMBench_DEV_CN": "08b8fc3324a5ed74155350f57be69fbd",
    "MMBench_TEST_CN": "7e1239baf0ee4c8b513e19705a0f317e",
    "MMBench_DEV_EN_V11": "30c05be8f2f347a50be25aa067248184",
    "MMBench_TEST_EN_V11": "8d1a704e791df6f5d9fb3ef782b65365",
    "MMBench_DEV_CN_V11": "593f9b5f6bea453d870a798b34ae4f37",
    "MMBench_TEST_CN_V11": "156e6569f9547afb16603eca16e85373",
    "CCBench": "f5dde47f24dc5a6fb6e595b409b466ac",
}

SUBMITTED = ("question", "A", "B", "C", "D", "prediction", "category", "l2_category")
"""The columns of the spreadsheet that the test server accepted until it closed on 31 March 2026."""

Lang = Literal["en", "cn", "cc"]
Split = Literal["dev", "test"]
Version = Literal["1.0", "1.1"]
Preset = Literal["vlmevalkit", "opencompass", "minigpt4"]


def mmbench(
    lang: Lang = "en",
    split: Split = "dev",
    version: Version = "1.1",
    prompt: Preset = "vlmevalkit",
    data: Path | None = None,
) -> Benchmark:
    files = published(lang, split, version)
    spec = f"mmbench:lang={lang},split={split},version={version}"
    data_file = find(data, "mmbench", [file.name for file in files], files, spec)
    table = vlmevalkit_tsv(data_file)
    rows_of = cache(lambda: rotations(table))
    expect = {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0}
    return Benchmark(
        name="mmbench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, rows_of()),
        prompt=lambda sample, _: (user(*sample.media, PROMPTS[prompt](sample)),),
        scorings=scorings(),
        max_answer_tokens=1024,
        cluster_by=question_of,
        check=Check(
            says=lambda _, answer: answer,
            wrong=wrong_letter,
            expect=dict.fromkeys(("official", "judged", "vlmevalkit-2024", "robust"), expect),
            verdict=lambda *_: "Z",
        ),
        procedure=Procedure(
            group_by=question_of,
            together=question_of,
        ),
        presentation=Presentation(
            break_down_by=("category", "l2-category", "L1", "split", "pass"),
            capabilities=Capabilities(
                tag="category", leaves=LEAVES, source="https://arxiv.org/abs/2307.06281, appendix"
            ),
        ),
        interop=Interop(
            files=data_file,
            submission=Submission(
                name="submission.xlsx", columns=(*SUBMITTED, "index"), row=submitted
            ),
        ),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name. The headline scoring comes first."""
    metrics = {
        "circular": circular("pass"),
        "vanilla": vanilla("pass"),
        "vanilla_all": Metric(mean, better="higher"),
    }
    return {
        "official": Scoring(
            version=2,
            source=VLMEVALKIT,
            parse=parse_letter_as_vlmevalkit,
            score=is_target,
            metrics=metrics,
            missing="wrong",
        ),
        "judged": Scoring(
            version=1,
            source=f"{pins.VLMEVALKIT}:vlmeval/dataset/utils/multiple_choice.py#L359-L420",
            parse=parse_letter_as_vlmevalkit,
            score=is_target,
            metrics=metrics,
            missing="wrong",
            judge=matching(parse_letter_as_vlmevalkit),
        ),
        "vlmevalkit-2024": Scoring(
            version=2,
            source=VLMEVALKIT_2024,
            parse=parse_letter_as_vlmevalkit_2024,
            score=is_target,
            metrics=metrics,
            missing="wrong",
        ),
        "robust": Scoring(
            version=3, source="ours", parse=parse_letter, score=is_target, metrics=metrics
        ),
    }


def published(
    lang: Lang = "en", split: Split = "dev", version: Version = "1.1", **_: object
) -> tuple[File, ...]:
    """VLMEvalKit's TSV file for these options."""
    if lang == "cc":
        if split == "test":
            raise UsageError("mmbench:lang=cc is CCBench, which has no test split.")
        folder, name = "VLMEval", "CCBench"
    else:
        folder = "benchmarks/MMBench"
        name = f"MMBench_{split.upper()}_{lang.upper()}{'_V11' if version == '1.1' else ''}"
    return (File(name=f"{name}.tsv", url=f"{HOST}/{folder}/{name}.tsv", md5=MD5[name]),)


def rotations(table: Table) -> Mapping[int, Sequence[int]]:
    """The indices of each question's rows in ascending order, keyed by the index of the question.

    Code must count a question's rows, not its choices: 53 questions of the first release have four
    choices but three rows.
    """
    indices: dict[int, list[int]] = {}
    for row in table:
        index = int(row["index"])
        insort(indices.setdefault(index % OFFSET, []), index)
    return indices


def to_sample(row: Row, rows_of: Mapping[int, Sequence[int]]) -> Sample:
    index = int(row["index"])
    passes = rows_of[index % OFFSET]
    choices = [row.get(letter, "") for letter in "ABCDE"]
    while choices and not choices[-1]:
        choices.pop()
    category = row.get("l2-category", "")
    short, ability = ABILITIES.get(category, (category, ""))
    return Sample(
        id=row["index"],
        question=row["question"],
        choices=tuple(choices),
        media=row["image"],
        target=row.get("answer") or None,
        tags={
            "category": row.get("category", ""),
            "l2-category": short,
            "L1": ability,
            "split": row.get("split", ""),
            "pass": f"{passes.index(index) + 1} of {len(passes)}",
        },
        data={"hint": row.get("hint", "")},
    )


def submitted(sample: Sample, reply: str) -> Sequence[object]:
    choices = [*sample.choices[:4], *[None] * (4 - len(sample.choices))]
    long = {short: name for name, (short, _) in ABILITIES.items()}
    tags = sample.tags
    category = long.get(tags["l2-category"], tags["l2-category"])
    return sample.question, *choices, reply, tags["category"], category, int(sample.id)


def question_of(sample: Sample) -> str:
    return str(int(sample.id) % OFFSET)


# -- prompts


def vlmevalkit(sample: Sample) -> str:
    hint = f"Hint: {sample.data['hint']}\n" if sample.data["hint"] else ""
    return (
        f"{hint}Question: {sample.question}\nOptions:\n{lettered(sample.choices)}\n"
        "Please select the correct answer from the options above. \n"
    )


def opencompass(sample: Sample) -> str:
    choices = lettered(sample.choices)
    return f"{with_hint(sample)} There are several options:\n{choices}\n"


def minigpt4(sample: Sample) -> str:
    choices = lettered(sample.choices).replace("\n", ", ")
    return (
        f"###Human: Question: {with_hint(sample)}\nThere are several options: {choices}\n"
        "###Assistant:"
    )


def with_hint(sample: Sample) -> str:
    hint = sample.data["hint"]
    return f"{hint} {sample.question}" if hint else sample.question


PROMPTS = {"vlmevalkit": vlmevalkit, "opencompass": opencompass, "minigpt4": minigpt4}


# -- check
