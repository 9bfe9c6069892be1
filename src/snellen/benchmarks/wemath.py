"""We-Math: problems about school geometry, asked whole and step by step.

Paper    Qiao et al. 2024, We-Math: Does Your Large Multimodal Model Achieve Human-like Mathematical
         Reasoning?, https://arxiv.org/abs/2407.01284 (ACL 2025).
Data     We-Math/We-Math@a57a0e83fc40d6ce1448926fe6495e57132e7b80:data/testmini.json, with the
         pictures in 2steps/ and 3steps/ next to it; CC BY-NC 4.0. There are 360 problems in two
         steps and 165 in three, which are 1,740 questions with the composite ones.
         VLMEvalKit's WeMath.tsv and the parquet of We-Math/We-Math on the Hugging Face hub have the
         same questions with their pictures in the rows.
         An id is the problem's ID and the question's part (2steps_7_multi). In a TSV, the id is the
         row's index.
Prompt   `official`: the paper's prompt for response generation, in the appendix. The line breaks
         are those of XiaomiMiMo/lmms-eval@8c0aee11461bc4088fa8c96cac9491a93bf6b86f:lmms_eval/tasks/
         wemath/utils.py. The picture comes first in all prompts.
         `vlmevalkit`: open-compass/VLMEvalKit@e8e78f05f3080fe28154f2130321f17951c3be94:vlmeval/
         dataset/image_mcq.py#L1457-L1495. The hint and the line on the format are in the TSV's
         rows. With other files, they are the paper's.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/wemath/reasoning/utils.py#L18-L34.
         `answer_format=false` leaves out the line on the format, as VLMEvalKit's set WeMath does.
         Replies are limited to 1,024 tokens, our own choice. With prompt=lmms-eval, replies are
         limited to 49,152 tokens (wemath_testmini_thinking.yaml#L19).
Scoring  `official`: evaluation/four_dimensional_metrics.py#L32-L112. The answer is the letter after
         the last "Answer" of a reply, or the reply's first letter. `metrics/mastery.py` defines the
         metrics. The authors' code divides by 525 problems, however many there are. Here, the
         metrics are shares of the problems with a reply to each question, and a note says so if
         there are not 525. `one_step`, `two_steps`, and `three_steps` are the accuracies, and
         `concepts` is the mean over the concepts of a domain, evaluation/accuracy.py#L57-L76.
         VLMEvalKit and lmms-eval copy the metrics. VLMEvalKit can take a judge's verdicts instead
         of the rule.
         `robust`: Snellen's own rule, which takes the letter or choice that a reply settles on, or
         that the text after "<Answer>" settles on. It is the headline if prompt=lmms-eval, whose
         replies the authors' rule cannot read.
Proof    For 1,050 generated problems, every answer, every problem's kind, and every rate equals
         that of the authors' code (tests/parity). The accuracies by step and domain are checked by
         hand. No model outputs are published.
"""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import authors_files, choice_sets
from snellen.benchmarks.families.lmms_eval import THINK_THEN_ANSWER
from snellen.benchmarks.families.results import of_json
from snellen.benchmarks.families.tasks import is_target, parse_letter, wrong_letter
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
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
    ReplyTable,
    Resolution,
    Sample,
    Scoring,
)
from snellen.core.prompts import lettered
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.errors import DataError
from snellen.media.content import Image, Message, system, user
from snellen.metrics import Metric, macro_average, mean
from snellen.metrics.mastery import mastery
from snellen.metrics.only_tagged import only_tagged

REVISION = "a57a0e83fc40d6ce1448926fe6495e57132e7b80"
SOURCE = f"We-Math/We-Math@{REVISION}:evaluation/four_dimensional_metrics.py#L32-L112"
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "CC-BY-NC-4.0"
PROOF = "authors' code"
SIZE = 1740
ALIASES = {
    "WeMath": {"prompt": "vlmevalkit", "answer_format": False},
    "WeMath_COT": {"prompt": "vlmevalkit"},
    "wemath_testmini_reasoning": {"prompt": "lmms-eval"},
}
PROBLEMS, LETTERS = 525, "ABCDEFGH"
DIVISOR = "The authors' code divides by 525 problems, however many there are, so its rates differ."
SINGLE = ("2steps_1", "2steps_2", "3steps_1", "3steps_2", "3steps_3")
METRICS = {
    **mastery("steps", "part", composite="multi"),
    "one_step": Metric(only_tagged(mean, "key", SINGLE), better="higher"),
    "two_steps": Metric(only_tagged(mean, "key", ["2steps_multi"]), better="higher"),
    "three_steps": Metric(only_tagged(mean, "key", ["3steps_multi"]), better="higher"),
    "concepts": Metric(macro_average("concept"), better="higher"),
}
ASK = (
    "Now, we require you to solve a multiple-choice math question. Please briefly describe your "
    "thought process and provide the final answer(option)."
)
FORM = (
    "Regarding the format, please answer following the template below, and be sure to include two "
    "<> symbols:\n<Thought process>: <<your thought process>> <Answer>: <<your option>>"
)
Preset = Literal["official", "vlmevalkit", "lmms-eval"]


def wemath(
    prompt: Preset = "official", answer_format: bool = True, data: Path | None = None
) -> Benchmark:
    names = ["testmini.json", "data/testmini.json", "WeMath.tsv"]
    data_file = find(data, "wemath", names, published())
    table, file = authors_files.table(data_file, authors_files.objects, REVISION)
    return Benchmark(
        name="wemath",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: messages(sample, prompt, answer_format),
        scorings=choice_sets.headline(
            scorings(), "robust" if prompt == "lmms-eval" else "official"
        ),
        max_answer_tokens=49_152 if prompt == "lmms-eval" else 1024,
        cluster_by=problem_of,
        check=Check(
            says=lambda _, answer: f"<Thought process>: <<seen>> <Answer>: <<{answer}>>",
            wrong=wrong_letter,
            # From "A B C D", official parses A. The bundled problems are then IG, RM, and IK.
            expect={
                "official": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.5 / 3},
                "robust": {"oracle": 1.0, "wrong": 0.0, "silent": 0.0, "hedging": 0.0},
            },
        ),
        procedure=Procedure(together=problem_of),
        presentation=Presentation(
            break_down_by=("steps", "domain"),
            metric_tags=("part", "key", "concept"),
            capabilities=Capabilities(
                tag="domain",
                leaves={
                    **dict.fromkeys(["", *domains().values()], "reasoning/mathematical"),
                    **dict.fromkeys(("Position", "Direction", "Route Map"), "perception/spatial"),
                },
                source="https://arxiv.org/abs/2407.01284, figure 2",
            ),
        ),
        interop=Interop(files=file, layout=results),
    )


def published(**_: object) -> tuple[File, ...]:
    """VLMEvalKit's TSV file. The authors publish each picture as a separate file."""
    return (own_sheet("WeMath", md5="b5e969a075f01290a542411fb7766388"),)


# -- rows


@cache
def domains() -> dict[str, str]:
    """The domain of each knowledge concept, data/knowledge_structure_nodes.json."""
    table = Path(authors_files.__file__).with_name("wemath_concepts.tsv")
    lines = table.read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t") for line in lines)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    steps, separator, part = row["key"].partition("steps_")
    if not separator:
        raise ValueError(f"the key {row['key']!r} is not of the form 2steps_1 or 2steps_multi")
    concept = "" if part == "multi" else row["knowledge concept"]
    option, image = row.get("option", ""), row.get("image", row.get("image_path"))
    if isinstance(image, str):
        folder = data_file.path.parent
        image = Image(folder / image, label=image, within=folder)
    else:  # in a TSV or parquet file
        image = authors_files.picture(Row({"image": image}, row.position, row.digest))
    return Sample(
        id=row["index"] if "index" in row else f"{row['ID']}_{part}",
        question=row["question"],
        choices=choices(option) or tuple(filter(None, (row.get(name) for name in LETTERS))),
        media=(image,),
        target=choice_sets.target_of(row["answer"], LETTERS),
        tags={
            "steps": steps,
            "part": part,
            "key": row["key"],
            "concept": concept,
            "domain": domains().get(concept, ""),
        },
        data={
            "problem": row["ID"],
            "option": option,
            "hint": row.get("hint") or ASK,
            "form": row.get("requirement") or FORM,
        },
    )


def choices(option: str) -> tuple[str, ...]:
    """Split the choices, whose separators vary: "A. 1; B. 2", "A. 1 B. 2", and a full-width dot."""
    starts: list[re.Match[str]] = []
    for letter in LETTERS:
        pattern = re.compile(rf"(?:^|[;\s]){letter}[.\uff0e]\s*")
        match = pattern.search(option, starts[-1].end() if starts else 0)
        if match is None:
            break
        starts.append(match)
    ends = [*(match.start() for match in starts[1:]), len(option)]
    return tuple(
        option[match.end() : end].strip(" ;") for match, end in zip(starts, ends, strict=False)
    )


def problem_of(sample: Sample) -> str:
    return str(sample.data["problem"])


def messages(sample: Sample, prompt: Preset, answer_format: bool) -> tuple[Message, ...]:
    option = str(sample.data["option"]) or lettered(sample.choices).replace("\n", "; ")
    ending = f"\n{sample.data['form']}" if answer_format else ""
    if prompt == "lmms-eval":
        text = f"{sample.question}\n{option}".strip()
        return (system(THINK_THEN_ANSWER), user(*sample.media, text))
    if prompt == "vlmevalkit":
        listed = f"Options:\n{lettered(sample.choices)}\n"
        text = f"Hint: {sample.data['hint']}\nQuestion: {sample.question}\n{listed}{ending}"
    else:
        text = f"{ASK}\nQuestion: {sample.question}\nOption: {option}{ending}"
    return (user(*sample.media, text),)


# -- scoring


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    ours = Scoring(version=1, source="ours", parse=robust_answer, score=is_target, metrics=METRICS)
    official = replace(
        ours, source=SOURCE, parse=official_answer, resolve=counted, on_missing=DIVISOR
    )
    return {"official": official, "robust": ours}


def official_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the first character after the last "Answer", without `<`, `>`, `:`, and `.`, if it is a
    letter from A to H. "Answer: A line" gives A, and "Answer: (B)" gives nothing."""
    _, separator, after = reply.text.rpartition("Answer")
    letter = re.sub(r"[<>:.]", "", after.strip()).strip()[:1]
    rule = "after Answer" if separator else "whole reply"
    return Reading(answer=letter if letter and letter in LETTERS else None, rule=rule)


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse the letter or choice that a reply settles on: in the text after the last "<Answer>", if
    the reply has the prompt's format."""
    _, separator, after = reply.text.rpartition("<Answer>")
    if separator:
        reply = replace(reply, text=re.sub(r"[<>]", " ", after).strip(" :\n"))
    return parse_letter(reply, sample)


def counted(table: ReplyTable) -> Resolution:
    """Add a note if the metrics are not over the authors' 525 problems."""
    replies = Counter(problem_of(line.sample) for line in table.lines)
    needed = {problem_of(line.sample): int(line.sample.tags["steps"]) + 1 for line in table.lines}
    n = sum(replies[problem] == needed[problem] for problem in replies)
    if n == PROBLEMS:
        return Resolution()
    counts = f"{n:,} problems have a reply to each of their questions, and the rates are shares of"
    return Resolution(notes=(f"{counts} these {n:,}. {DIVISOR}",))


def results(path: Path) -> Published | None:
    """Read the authors' file of results: the rows of testmini.json, with `response`."""
    rows = of_json(path)
    fields = {"ID", "key", "response"}
    if not isinstance(rows, list) or not rows:
        return None
    if not all(isinstance(row, dict) and fields <= row.keys() for row in rows):
        return None
    replies: dict[str, str | None] = {}
    for row in rows:
        name = f"{row['ID']}_{str(row['key']).partition('steps_')[2]}"
        if name in replies:
            raise DataError(f"{path}: {name} has two responses. Remove one of them.")
        replies[name] = row["response"] if isinstance(row["response"], str) else None
    return Published(replies=replies)
