"""ChartQAPro: questions of five kinds about charts, infographics, and dashboards.

Paper    Masry et al. 2025, ChartQAPro: A More Diverse and Challenging Benchmark for Chart Question
         Answering, https://arxiv.org/abs/2504.05506 (Findings of ACL).
Data     ahmed-masry/ChartQAPro on the Hugging Face hub (parquet; pass the file or its folder), or
         VLMEvalKit's chartqapro.tsv: 1,948 questions, with turns, answers, and year flags.
         The id is the row's `index` or, in parquet, its position.
Prompt   `direct`, `cot`, `pot` (in the paper): the picture, the row's paragraph, and a text for
         each kind of question, families/prompts/chartqapro.toml. Earlier turns are shown with their
         right answers. 2,048 tokens, as in VLMEvalKit.
         `lmms-eval`: EvolvingLMMs-Lab/lmms-eval@75571cfe0fa36ca5ec2e6aa2bb268f9d38295af3:lmms_eval/
         tasks/chartqapro/utils.py#L23-L54. 128 tokens.
Scoring  `official`: vis-nlp/ChartQAPro@4b422c658270aff1d3105fd0fb39b1dd5de9f08c:
         evaluate_predictions.py#L14-L150, with anls 0.0.2. VLMEvalKit's copy gives the same scores.
         A year is compared exactly. Other numbers may differ by 5 %, and texts get their ANLS if
         their distance is below half of the length. Lists are compared item by item, in order.
         The authors' flag for exact matches in Fact Checking and Multi Choice has no effect: "tru"
         gets 0.75 for "true". The script stops at a row without year flags. Here, such a row has
         the flag NO, as in lmms-eval.
         `lmms-eval`: lmms_eval/tasks/chartqapro/utils.py#L62-L177. There, the flag has its effect,
         and blanks at the ends of a text are removed.
         `robust`: the rule of lmms-eval, for the value or phrase that a reply settles on.
Proof    For the 1,200 generated pairs of the golden pack, each score equals that of the authors'
         script and of lmms-eval's (tests/parity). No model outputs are published.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from snellen.answers.value import cleaned, number
from snellen.benchmarks.families import authors_files, choice_sets, pins
from snellen.benchmarks.families.edit_distance import similarity
from snellen.benchmarks.families.judged import prompts
from snellen.benchmarks.families.judges import PERFECT
from snellen.benchmarks.families.tasks import parse_phrase, parse_value, parse_verbatim
from snellen.benchmarks.families.vlmevalkit_sets import own_sheet
from snellen.core import (
    Benchmark,
    Capabilities,
    Check,
    Interop,
    Presentation,
    Reading,
    Reply,
    Sample,
    Scoring,
)
from snellen.data import DataFile, Row, find
from snellen.media.content import Message, user
from snellen.metrics import Metric, mean
from snellen.text.literals import literal

KIND = "words"
LANGUAGES = ("en",)
LICENSE = "unknown"
PROOF = "authors' code"
SIZE = 1948
AUTHORS = "vis-nlp/ChartQAPro@4b422c658270aff1d3105fd0fb39b1dd5de9f08c"
ALIASES = {
    "ChartQAPro": {"prompt": "direct"},
    "ChartQAPro_CoT": {"prompt": "cot"},
    "ChartQAPro_PoT": {"prompt": "pot"},
}
FILES_PUBLISHED = (own_sheet("chartqapro", md5="27653ea8dd8dd3a85bc4f432db96447a"),)
EXACT = ("Fact Checking", "Multi Choice")
WORD = re.compile(r"(?<!['\w])(\w[^,]*?)(?!['\w])")

Preset = Literal["direct", "cot", "pot", "lmms-eval"]


def chartqapro(prompt: Preset = "direct", data: Path | None = None) -> Benchmark:
    names = ("chartqapro.tsv", "test.parquet")
    data_file = find(data, "chartqapro", names, FILES_PUBLISHED)
    table, file = choice_sets.table_of(data_file)
    return Benchmark(
        name="chartqapro",
        asks=1,
        data=table,
        sample=lambda _, row: to_sample(row, data_file),
        prompt=lambda sample, _: message(sample, prompt),
        scorings=choice_sets.headline(SCORINGS, prompt),
        max_answer_tokens=128 if prompt == "lmms-eval" else 2048,
        cluster_by=lambda sample: str(sample.data["image"]),
        check=Check(
            says=lambda _, answer: answer,
            wrong=lambda _: "nothing of the kind",
            expect=dict.fromkeys(SCORINGS, PERFECT),
        ),
        presentation=Presentation(
            break_down_by=("question_type",),
            capabilities=Capabilities(
                tag="",
                leaves={"": "OCR/table"},
                source="https://arxiv.org/abs/2504.05506, abstract",
            ),
        ),
        interop=Interop(files=file),
    )


def to_sample(row: Row, data_file: DataFile) -> Sample:
    """Make a sample. In the hub's parquet file, names of columns are in title case."""
    fields = {name.lower().replace(" ", "_"): cell for name, cell in row.items()}
    questions, answers = (authors_files.texts(fields[name]) for name in ("question", "answer"))
    if not questions or not answers:
        raise ValueError("the field question or answer is empty")
    (image,) = choice_sets.pictures(fields["image"], data_file)
    return Sample(
        id=choice_sets.id_of(row),
        question=questions[-1],
        media=(image,),
        target=answers[-1],
        tags={"question_type": fields["question_type"]},
        data={
            "turns": questions,
            "answers": answers,
            "years": authors_files.texts(fields.get("year")),
            "paragraph": fields.get("paragraph") or "",
            "image": authors_files.picture_key(image),
        },
    )


def texts(sample: Sample, field: str) -> tuple[str, ...]:
    return authors_files.texts(sample.data[field], written=False)


def message(sample: Sample, preset: Preset) -> tuple[Message, ...]:
    turns, answers = texts(sample, "turns"), texts(sample, "answers")
    paragraph = str(sample.data["paragraph"])
    kind = sample.tags["question_type"]
    if preset == "lmms-eval":
        text = turns[-1].strip()
        if kind == "Conversational" and len(turns) > 1:
            lines = [
                line
                for n, (turn, answer) in enumerate(zip(turns[:-1], answers, strict=False), 1)
                for line in (f"Q{n}: {turn.strip()}", f"A{n}: {answer.strip()}")
            ]
            text = "\n".join([*lines, f"Q{len(turns)}: {text}"])
        context = f"Context: {paragraph.strip()}\n\n" if paragraph.strip() else ""
        text = f"{context}{text}\nAnswer the question with a short phrase."
        return (user(*sample.media, text),)
    history = [text for pair in zip(turns[:-1], answers[:-1], strict=False) for text in pair]
    question = turns[-1] if kind == "Conversational" else turns[0]
    words = prompts("chartqapro")[preset][kind].format(history=history, question=question)
    return (user(*sample.media, *filter(None, [paragraph]), words),)


# -- scoring


def official_score(reading: Reading, sample: Sample) -> float:
    answer, right = (
        text.strip(".").strip("\n") for text in (str(reading.answer or ""), sample.target or "")
    )
    return relaxed(answer, right, years_of(sample))


def lmms_score(reading: Reading, sample: Sample) -> float:
    answer, right = (
        text.strip().strip(".").strip("\n")
        for text in (str(reading.answer or ""), sample.target or "")
    )
    exact = sample.tags["question_type"] in EXACT
    return relaxed(answer, right, years_of(sample), exact=exact)


def years_of(sample: Sample) -> Sequence[str]:
    """The flags that say which items of the answer are years."""
    years = texts(sample, "years")
    return years[-1:] if sample.tags["question_type"] == "Conversational" else years


def relaxed(answer: str, right: str, years: Sequence[str], *, exact: bool = False) -> float:
    """The mean score of the items of an answer. Missing and extra items score 0."""
    rights = items(quoted(right)) or [right]
    answers = items(answer) or [answer]
    flags = years if len(years) >= len(rights) else [*years] * len(rights)
    pairs = zip(answers, rights, strict=False)
    scores = [
        float(item.strip().lower() == wanted.strip().lower())
        if exact or (index < len(flags) and flags[index].upper() == "YES")
        else item_score(item, wanted)
        for index, (item, wanted) in enumerate(pairs)
    ]
    return sum(scores) / max(len(answers), len(rights))


def quoted(text: str) -> str:
    """A list with its words in quotes, so that Python can read it. The pattern quotes words, not
    items: many lists of longer items cannot be read, and stay as they are."""
    match = re.match(r"^\[(.*)\]$", text.strip())
    if not match:
        return text
    words = WORD.sub(r"'\1'", match[1])
    listed = f"[{words}]"
    return text if items(listed) is None else listed


def items(text: str) -> list[str] | None:
    """The items of a Python list. None if the text is no list."""
    try:
        value = literal(text)
    except ValueError:
        return None
    return [str(item).strip(" '") for item in value] if isinstance(value, list) else None


def item_score(answer: str, right: str) -> float:
    pair = [text.strip().strip("%").strip() for text in (answer, right)]
    try:
        value, target = (float(text.strip("%")) for text in pair)
    except ValueError:
        # The words of anls 0.0.2, whose threshold is strict.
        alike = similarity(*(" ".join(text.lower().split()) for text in pair))
        return alike if 1 - alike < 0.5 else 0.0
    return float(value == 0 if target == 0 else abs(value - target) / abs(target) <= 0.05)


def robust_answer(reply: Reply, sample: Sample) -> Reading:
    """Parse a list as it is. Otherwise, parse the value or the phrase that a reply settles on."""
    text = reply.text.strip()
    if items(text):
        return Reading(answer=text, rule="list")
    is_text = number(cleaned(sample.target or "")) is None
    return parse_phrase(reply, sample) if is_text else parse_value(reply, sample)


METRICS = {"relaxed_accuracy": Metric(mean, better="higher")}
SCORINGS = {
    **{
        name: Scoring(
            version=1,
            source=source,
            parse=parse_verbatim,
            score=score,
            metrics=METRICS,
            missing="wrong",
            partial=True,
        )
        for name, source, score in (
            ("official", f"{AUTHORS}:evaluate_predictions.py#L14-L150", official_score),
            (
                "lmms-eval",
                f"{pins.LMMS_EVAL}:lmms_eval/tasks/chartqapro/utils.py#L62-L177",
                lmms_score,
            ),
        )
    },
    "robust": Scoring(
        version=1,
        source="ours",
        parse=robust_answer,
        score=lambda reading, sample: (
            0.0 if reading.answer is None else lmms_score(reading, sample)
        ),
        metrics=METRICS,
        partial=True,
    ),
}
