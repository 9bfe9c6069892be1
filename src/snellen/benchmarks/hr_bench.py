"""HR-Bench: fine details in photographs of 4K or 8K resolution, asked in four orders of choices.

Paper    Wang et al. 2024, Divide, Conquer and Combine, https://arxiv.org/abs/2408.15556 (AAAI).
Data     DreamMr/HR-Bench on the Hugging Face hub: hr_bench_4k.tsv and hr_bench_8k.tsv, whose
         digests VLMEvalKit publishes. The parquet files of the hub can also be read. Each version
         has 200 questions, with 800 rows: a question has a row for each cyclic order of its choices
         (cycle_category). The authors state no license.
Prompt   `vlmevalkit`: DreamMr/HR-Bench@b17b1998fa2c1b71a737c126155826a94149ed13 is a copy of
         VLMEvalKit with its prompt, see families/choice_sets.py. 2,048 tokens.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/hrbench/utils.py#L45-L53. 1,024 tokens.
Scoring  The score is the mean over the four cycles, all rows of which count (hrbench/vlmeval/
         dataset/image_mcq.py#L90-L108). So a question that is answered right in two of its four
         orders counts as half right.
         `vlmevalkit`: VLMEvalKit's rules without its judge (vlmeval/dataset/
         image_mcq.py#L1315-L1364, vlmeval/dataset/utils/hrbench.py#L7-L50).
         `official`: a language model decides whether each reply is right (hrbench/vlmeval/dataset/
         utils/hrbench.py#L15-L61). The verdict counts as right if it begins with "yes", in any
         case. The authors name no model, so this scoring is computed only on request.
         `lmms-eval`: lmms_eval/tasks/hrbench/{utils.py#L56-L104,hrbench_evals.py#L42-L95}, without
         its judge: VLMEvalKit's older rules on the stripped reply.
         `robust`: the letter that the reply settles on.
         The scoring with the name of the prompt is the headline.
Proof    `vlmevalkit` and `lmms-eval` equal the code of VLMEvalKit and lmms-eval on 720 generated
         replies, with the mean over the cycles, and the judge's requests and verdicts equal the
         authors' on 240 (tests/parity/test_choice_rules.py).
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from snellen.benchmarks.families import choice_sets, pins
from snellen.benchmarks.families.judged import for_the_judge
from snellen.benchmarks.families.tasks import parse_letter_as_vlmevalkit_2024
from snellen.core import Benchmark, Interop, Judge, Reading, Reply, Sample, Scoring
from snellen.data import DataFile, Row, find
from snellen.data.published import File
from snellen.media.content import Message, user
from snellen.metrics import macro_average

AUTHORS = "DreamMr/HR-Bench@b17b1998fa2c1b71a737c126155826a94149ed13"
JUDGE = (
    "You are a helpful and precise assistant for checking the quality of the answer. Please answer "
    "in only yes or no. Given the following question: {question}\nOptions:\n{choices}Please select "
    "the correct answer from the options above. \n, the correct answer is: {target}. {right}. Does "
    "the following answer correctly answers the question, answer:{reply}?"
)
KIND = "choice"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "toolkit's code"
SIZE = 800
OTHER_SIZES = {"size=8k": 800}
ALIASES = {
    "HRBench4K": {"size": "4k", "prompt": "vlmevalkit"},
    "HRBench8K": {"size": "8k", "prompt": "vlmevalkit"},
    "hrbench4k": {"size": "4k", "prompt": "lmms-eval"},
    "hrbench8k": {"size": "8k", "prompt": "lmms-eval"},
}
TAGS = ("category", "cycle_category")
LEAVES = {"single": "perception/attribute", "cross": "perception/spatial"}
PROMPTS = {
    "vlmevalkit": choice_sets.PROMPTS["vlmevalkit"],
    "lmms-eval": "{stripped}\n{choices}Answer the option letter directly.",
}

Size = Literal["4k", "8k"]
Preset = Literal["vlmevalkit", "lmms-eval"]


def hr_bench(
    size: Size = "4k", prompt: Preset = "vlmevalkit", data: Path | None = None
) -> Benchmark:
    files = published(size)
    names = [files[0].name, f"HRBench{size.upper()}.tsv", f"hr_bench_{size}.parquet"]
    data_file = find(data, "hr-bench", names, files, f"hr-bench:size={size}")
    table, file = choice_sets.table_of(data_file)
    rules = scorings()
    return Benchmark(
        name="hr-bench",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: choice_sets.message(sample, PROMPTS[prompt]),
        scorings=choice_sets.headline(rules, prompt),
        max_answer_tokens=2048 if prompt == "vlmevalkit" else 1024,
        cluster_by=lambda sample: str(sample.data["cycles"]),
        check=replace(choice_sets.check(rules), verdict=right_verdict),
        presentation=choice_sets.presentation(
            LEAVES, "https://arxiv.org/abs/2408.15556, section 3", "category", by=TAGS
        ),
        interop=Interop(files=file),
    )


def scorings() -> dict[str, Scoring]:
    """The scorings, keyed by name."""
    metrics = {"accuracy": macro_average("cycle_category")}
    judged = Scoring(
        version=1,
        source=f"{AUTHORS}:hrbench/vlmeval/dataset/utils/hrbench.py#L15-L61",
        parse=for_the_judge,
        score=lambda reading, _: float(reading.answer == "yes"),
        metrics=metrics,
        missing="wrong",
        judge=Judge(
            name="official",
            prompt=judge_prompt,
            parse=verdict,
            when=lambda _: True,
            temperature=0.2,
            on_request=True,
        ),
    )
    lmms = choice_sets.rule(
        f"{pins.LMMS_EVAL}:lmms_eval/tasks/hrbench/hrbench_evals.py#L42-L95",
        parse_letter_as_vlmevalkit_2024,
        metrics,
    )
    usual = choice_sets.scorings(metrics=metrics)
    return {"vlmevalkit": usual["vlmevalkit"], "lmms-eval": lmms, **usual, "official": judged}


def published(size: Size = "4k", **_: object) -> tuple[File, ...]:
    """The authors' TSV file of this size."""
    sheet = choice_sets.sheet(f"HRBench{size.upper()}")
    return (File(name=f"hr_bench_{size}.tsv", url=sheet.url, md5=sheet.md5),)


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. The rows of a question, in its four cycles, have the same question and choices
    and are one cluster, although each row has a copy of the picture."""
    sample = choice_sets.sample_of(row, data_file, tags=TAGS)
    cycles = "\n".join((sample.question, *sorted(sample.choices)))
    return replace(sample, data={**sample.data, "cycles": cycles})


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    """The authors' request for a verdict."""
    letter = sample.target or ""
    text = JUDGE.format(
        question=sample.question,
        choices=choice_sets.choice_lines(sample.choices),
        target=letter,
        right=sample.choices[ord(letter) - ord("A")],
        reply=reply.text,
    )
    return (user(text),)


def right_verdict(sample: Sample, reply: Reply) -> str:
    return "Yes." if reply.text == sample.target else "No."


def verdict(words: str, _: Sample) -> Reading:
    """Parse a verdict: "yes" if it begins with this word, otherwise "no". An empty verdict is
    unparsed."""
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    answer = "yes" if re.match("yes", words, re.IGNORECASE) else "no"
    return Reading(answer=answer, rule=f"begins with {answer}" if answer == "yes" else "no yes")
