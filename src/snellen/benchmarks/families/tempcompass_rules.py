"""TempCompass's rules and judge, llyx97/TempCompass@e1b463166400633e6061962d890a9ae85db29f70.

The files and lines are in the docstring of `tempcompass`.
"""

import re
from collections.abc import Collection, Mapping

import numpy as np

from snellen import stats
from snellen.benchmarks.families.judged import prompts
from snellen.benchmarks.families.judges import PERFECT
from snellen.core import Judge, Reading, Reply, Sample, Scoring
from snellen.media.content import Message, system, user
from snellen.metrics import Columns, mean, metric
from snellen.stats import Estimate

SOURCE = (
    "llyx97/TempCompass@e1b463166400633e6061962d890a9ae85db29f70:eval_multi-choice.py, "
    "eval_yes_no.py, eval_caption_matching.py, eval_captioning.py, utils/eval_utils.py"
)
SYSTEM = "You are an AI assistant for question answering."
VERDICTS = ("Correct", "Incorrect")
OPEN = "for the judge"
KINDS = {
    "multi-choice": ("multi-choice", "Multi-Choice"),
    "yes_no": ("Yes/No", "Yes/No"),
    "caption_matching": ("caption matching", "Caption Matching"),
}
OPTION = re.compile(r"^\s*[A-D]\.\s*(.*)$", re.MULTILINE)
LABEL = re.compile("Sentence |Option |Caption ")


# -- questions


def choices_of(task: str, question: str) -> tuple[str, ...]:
    """The choices of a question. The two captions of a matching question are not lettered, so
    they are no choices."""
    if task == "yes_no":
        return ("yes", "no")
    return tuple(OPTION.findall(question)) if task == "multi-choice" else ()


def target_of(task: str, answer: str) -> str:
    """The shortest right answer: the letter, yes or no, or the label of the caption. For a
    caption, the answer to the judge's question."""
    if task == "multi-choice":
        return answer[:1]
    return label_of(answer) if task == "caption_matching" else answer


def label_of(option: str) -> str:
    """The 2 of "Option 2: ..."."""
    return option.split(": ")[0].split()[1]


# -- rules


def by_rule(reply: Reply, sample: Sample) -> Reading:
    text = reply.text.replace("</s>", "").strip()
    task = sample.tags["task"]
    if task == "multi-choice":
        return letter(text, str(sample.data["answer"]))
    if task == "yes_no":
        answer = next((word for word in ("yes", "no") if text.lower().startswith(word)), None)
        return Reading(answer=answer, rule=f"begins with {answer}" if answer else OPEN)
    if task == "caption_matching":
        return caption(text, sample.question)
    return Reading(answer=None, rule=OPEN)


def letter(text: str, answer: str) -> Reading:
    """Parse the letter of a choice."""
    if text == answer:
        return Reading(answer=answer[:1], rule="the right choice")
    if text in [*"ABCD"]:
        return Reading(answer=text, rule="only a letter")
    if text[:1] in [*"ABCD"] and text[1:2] in (".", ")"):
        return Reading(answer=text[0], rule=f"letter before {text[1]}")
    return Reading(answer=None, rule=OPEN)


def caption(text: str, question: str) -> Reading:
    """Parse the caption, or the label, that a reply equals. Later rules win over earlier ones."""
    options = question.split("\n")[1:]
    labels, captions = zip(*(option.split(": ")[:2] for option in options), strict=True)
    behind = text.split(") ")[1] if ") " in text else text
    shown = [*labels, *(LABEL.sub("", label) for label in labels)]
    reading = Reading(answer=None, rule=OPEN)
    for texts, rule, candidates in (
        (options, "a choice", (text,)),
        (captions, "a caption", (text, behind)),
        (shown, "a label", (text, text.replace(".", ""))),
    ):
        for option in texts:
            if option in candidates:
                reading = Reading(answer=option, rule=rule)
    return reading


def score(reading: Reading, sample: Sample) -> float:
    answer = str(sample.data["answer"])
    right = {"Correct", str(sample.target)}
    if sample.tags["task"] == "caption_matching":
        right |= {answer, answer.split(":")[0], answer.split(": ")[1]}
    return float(reading.answer in right)


def score_by_rule(reading: Reading, sample: Sample) -> float | None:
    """The score without a judge. None for a caption, which no rule decides."""
    return None if sample.tags["task"] == "captioning" else score(reading, sample)


@metric(better="higher", unit="fraction")
def matched(columns: Columns) -> Estimate:
    """The share of replies that rules decide, without the judge. In [0, 1]. Missing replies count
    as undecided."""
    if not columns.n:
        return Estimate(value=None, n=0, reason="no replies")
    decided = [answer is not None and answer not in VERDICTS for answer in columns.answer]
    return stats.mean(np.array(decided, dtype=np.float64), columns.cluster)


# -- judge


def judge_prompt(sample: Sample, reply: Reply) -> tuple[Message, ...]:
    text = reply.text.replace("</s>", "").strip()
    if sample.tags["task"] == "captioning":
        prompt = (
            f"{prompts('tempcompass')['caption']}\nVideo Description:{text}\n"
            f"Multi-Choice Question:\n{sample.data['judged']}\n"
        )
    else:
        kind, heading = KINDS[sample.tags["task"]]
        prompt = (
            f"{prompts('tempcompass')['match'].format(kind=kind)}\n{heading} Question:\n"
            f"{sample.question}\nGround-Truth Answer: {sample.data['answer']}\n"
            f"Model Prediction: {text}"
        )
    return (system(SYSTEM), user(prompt))


def verdict(words: str, sample: Sample) -> Reading:
    if not words.strip():
        return Reading(answer=None, rule="nothing said")
    if sample.tags["task"] == "captioning":
        return answered(words, str(sample.data["answer"]))
    words = words.strip()
    if not any(word in words for word in VERDICTS):
        return Reading(answer=None, rule="neither Correct nor Incorrect")
    first = next((word for word in VERDICTS if words.startswith(word)), None)
    last = "Incorrect" if "Incorrect" in words else "Correct"
    return Reading(answer=first or last, rule="begins with" if first else "contains")


def answered(words: str, answer: str) -> Reading:
    """Whether the judge's answer to the question about a caption is right. It must contain exactly
    one of "A.", "B.", "C.", and "D."."""
    lines = [line.strip() for line in words.split("\n")]
    stated = [line.replace("Answer:", "").strip() for line in lines if "Answer" in line]
    text = stated[-1] if stated else words
    letters = sum(text.count(f"{letter}.") for letter in "ABCD")
    right = text.split(". ")[0] == answer.split(". ")[0] and letters == 1
    return Reading(answer=VERDICTS[not right], rule="answer" if stated else "no answer line")


def scorings(tasks: Collection[str]) -> Mapping[str, Scoring]:
    """The scorings of these tasks, keyed by name. The headline scoring comes first. Captions have
    no scoring by rules alone."""
    judge = Judge(
        name="gpt-3.5-turbo-1106",
        authors_model="gpt-3.5-turbo-1106",
        prompt=judge_prompt,
        parse=verdict,
        when=lambda reading: reading.rule == OPEN,
        max_answer_tokens=128,
        temperature=1.0,
        reads_cut=True,
    )
    metrics = {"accuracy": mean, "matched": matched}
    official = Scoring(
        version=1,
        source=SOURCE,
        parse=by_rule,
        score=score,
        metrics=metrics,
        missing="wrong",
        judge=judge,
    )
    by_rules = Scoring(
        version=1,
        source=SOURCE,
        parse=by_rule,
        score=score_by_rule,
        metrics=metrics,
        missing="wrong",
    )
    if {*tasks} == {"captioning"}:
        return {"official": official}
    return {"official": official, "rules": by_rules}


# -- check


def wrong_answer(sample: Sample) -> str:
    if sample.tags["task"] == "captioning":
        return "nothing of the kind"
    pairs = {"yes": "no", "no": "yes", "1": "2", "2": "1", "A": "B"}
    return pairs.get(str(sample.target), "A")


def perfect_verdict(sample: Sample, reply: Reply) -> str:
    right = reply.text == sample.target
    if sample.tags["task"] == "captioning":
        return f"Answer: {sample.data['answer'] if right else 'None of the choices are correct'}"
    return VERDICTS[not right]


# "Yes and no" begins with yes, which is right for one of the ten bundled questions. Two of them are
# captions.
EXPECT = {
    "official": {**PERFECT, "hedging": 1 / 10},
    "rules": {**PERFECT, "hedging": 1 / 8},
}
