"""The cost of scoring VQAv2 val, without pictures: 214,354 questions with ten answers each.

usage: python perf/vqav2.py [--questions 214354] [--work DIR] [--keep]

Writes files in the authors' form (questions, annotations of some 190 MB, a list of results), with
answers that repeat as often as people's do. Then it measures, each in a separate process: the loop
of the authors' evaluation, in plain Python; our official scoring (every reply parsed and scored);
`snellen.score` on the files, with breakdowns and intervals, for the official scoring (which
corresponds to the authors' evaluation, so the budget is for it) and for all five; and the intervals
alone. Prints CPU seconds, with the budgets and as a ratio, and peak memory. A run takes two minutes
and 250 MB of disk.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

QUESTIONS = "v2_OpenEnded_mscoco_val2014_questions.json"
ANNOTATIONS = "v2_mscoco_val2014_annotations.json"
RESULTS = "results.json"
BUDGET = {"evaluate": 3.2, "official": 8.0, "memory": 700, "intervals": 1.0}
PARTS = ("authors", "evaluate", "official", "whole", "intervals")
ALL = (*PARTS, "make")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--questions", type=int, default=214_354)
    parser.add_argument("--work", type=Path, default=Path("/tmp/snellen-vqav2"))
    parser.add_argument("--keep", action="store_true", help="keep the files for the next time")
    parser.add_argument("--measure", choices=ALL, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        if args.measure == "make":
            make(args.work, args.questions)
            print("{}")
        else:
            print(json.dumps(globals()[args.measure](args.work)))
        return
    args.work.mkdir(parents=True, exist_ok=True)
    if not (args.work / RESULTS).exists():
        # In a separate process, since children inherit the peak memory of this one.
        child("make", args)
    actual = {part: child(part, args) for part in PARTS}
    values = {actual[part]["accuracy"] for part in PARTS}
    assert max(values) - min(values) < 1e-9, values
    authors = actual["authors"]["cpu"]
    print(f"{args.questions:,} questions, {actual['official']['accuracy']:.4f}")
    print(f"{'':10} {'CPU s':>6} {'budget':>6} {'x authors':>9} {'MB':>6} {'budget':>6}")
    for part in PARTS:
        item = actual[part]
        budget = BUDGET.get(part, "")
        most = BUDGET["memory"] if part in ("official", "whole") else ""
        ratio = item["cpu"] / authors
        print(f"{part:10} {item['cpu']:6.2f} {budget:>6} {ratio:9.3f} {item['mb']:6.0f} {most:>6}")
    if not args.keep:
        shutil.rmtree(args.work)


def child(part: str, args: argparse.Namespace) -> dict[str, float]:
    command = [sys.executable, __file__, "--measure", part, "--work", str(args.work)]
    command += ["--questions", str(args.questions)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=dict(os.environ))
    document: dict[str, float] = json.loads(done.stdout)
    return document


def measured(cpu: float, accuracy: float) -> dict[str, float]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"cpu": cpu, "accuracy": accuracy, "mb": peak}


# -- the files


def make(work: Path, n: int) -> None:
    """Write the files. All answers to a question are of one type, and people agree as often as on
    VQAv2, where the thousand most common answers make up nine of ten."""
    rng = Random("vqav2")
    words = [f"{a}{b}{c}" for a in "bdfgklmnprstvw" for b in "aeiou" for c in ("n", "rt", "sk", "")]
    common = words + [f"{rng.choice(words)} {rng.choice(words)}" for _ in range(2_700)]
    rare = [" ".join(rng.choices(words, k=rng.choice((2, 2, 3, 4)))) for _ in range(60_000)]
    rare[::9] = [f"the {sample}" for sample in rare[::9]]
    rare[1::11] = [sample.replace(" ", "-", 1) for sample in rare[1::11]]
    rare[2::13] = [f"{sample}." for sample in rare[2::13]]
    zipf = list(accumulate(1 / (rank + 3) for rank in range(len(common))))
    numbers = [*map(str, range(60)), "100", "1,000", "12:30"]
    falling = list(accumulate(1 / (rank + 1) ** 1.3 for rank in range(len(numbers))))
    kinds = [f"what kind {word}" for word in words[:40]] + [f"is {word}" for word in words[:25]]
    request, answered, text = [], [], []

    def drawn(kind: str) -> str:
        if kind == "yes/no":
            return rng.choice(("yes", "no"))
        if kind == "number":
            return rng.choices(numbers, cum_weights=falling)[0]
        return rng.choices(common, cum_weights=zipf)[0] if rng.random() < 0.9 else rng.choice(rare)

    for number in range(n):
        image, kind = number * 40_504 // n, rng.choices(("yes/no", "number", "other"), (38, 13, 49))
        question_id, agreed = image * 1000 + number % 1000, rng.choice((0.3, 0.6, 0.9, 1.0, 1.0))
        main_answer = drawn(kind[0])
        answers = [main_answer if rng.random() < agreed else drawn(kind[0]) for _ in range(10)]
        request.append(
            {
                "image_id": image,
                "question": f"What is it that {rng.choice(words)} {rng.choice(words)} has here?",
                "question_id": question_id,
            }
        )
        answered.append(
            {
                "question_type": rng.choice(kinds),
                "multiple_choice_answer": main_answer,
                "answers": [
                    {"answer": sample, "answer_confidence": "yes", "answer_id": position}
                    for position, sample in enumerate(answers, 1)
                ],
                "image_id": image,
                "answer_type": kind[0],
                "question_id": question_id,
            }
        )
        guess = main_answer if rng.random() < 0.7 else drawn(kind[0])
        text.append({"question_id": question_id, "answer": guess.capitalize()})
    about = {"info": {}, "license": {}, "data_type": "mscoco", "data_subtype": "val2014"}
    (work / ANNOTATIONS).write_text(json.dumps({**about, "annotations": answered}))
    (work / QUESTIONS).write_text(json.dumps({**about, "questions": request}))
    (work / RESULTS).write_text(json.dumps(text))


# -- the authors' evaluation, in plain Python

SIGNS = (";", "/", "[", "]", '"', "{", "}", "(", ")", "=", "+", "\\", "_", "-", ">", "<", "@", "`")
COMMA = re.compile(r"(\d)(,)(\d)")
STOP = re.compile(r"(?!<=\d)(\.)(?!\d)")


def authors(work: Path) -> dict[str, float]:
    from snellen.text.vqa import ARTICLES, CONTRACTIONS, NUMBERS

    truth = json.loads((work / ANNOTATIONS).read_bytes())["annotations"]
    by_question = {item["question_id"]: item for item in json.loads((work / RESULTS).read_bytes())}
    numbers, articles = dict(NUMBERS), list(ARTICLES)

    def punctuation(text: str) -> str:
        out = text
        for sign in (*SIGNS, ",", "?", "!"):
            if sign + " " in text or " " + sign in text or re.search(COMMA, text) is not None:
                out = out.replace(sign, "")
            else:
                out = out.replace(sign, " ")
        return STOP.sub("", out, 32)

    def digits(text: str) -> str:
        out = []
        for word in text.lower().split():
            word = numbers.setdefault(word, word)
            if word not in articles:
                out.append(word)
        for position, word in enumerate(out):
            if word in CONTRACTIONS:
                out[position] = CONTRACTIONS[word]
        return " ".join(out)

    def line(text: str) -> str:
        return text.replace("\n", " ").replace("\t", " ").strip()

    started = time.process_time()
    scores = []
    for item in truth:
        for answer in item["answers"]:
            answer["answer"] = line(answer["answer"])
        reply = line(by_question[item["question_id"]]["answer"])
        if len({answer["answer"] for answer in item["answers"]}) > 1:
            for answer in item["answers"]:
                answer["answer"] = digits(punctuation(answer["answer"]))
            reply = digits(punctuation(reply))
        shares = []
        for answer in item["answers"]:
            others = [other for other in item["answers"] if other != answer]
            same = [other for other in others if other["answer"] == reply]
            shares.append(min(1, len(same) / 3))
        scores.append(sum(shares) / len(shares))
    return measured(time.process_time() - started, sum(scores) / len(scores))


# -- ours


def evaluate(work: Path) -> dict[str, float]:
    from snellen import registry
    from snellen.core.model import Reply

    benchmark = registry.benchmark("vqav2", data=work)
    samples = [benchmark.read(row) for row in benchmark.data]
    by_question = {
        str(entry["question_id"]): entry for entry in json.loads((work / RESULTS).read_bytes())
    }
    scoring = benchmark.scorings["official"]
    started = time.process_time()
    scores = []
    for sample in samples:
        reading = scoring.parse(Reply(text=by_question[sample.id]["answer"]), sample)
        scores.append(scoring.score(reading, sample) or 0.0)
    return measured(time.process_time() - started, sum(scores) / len(scores))


def official(work: Path) -> dict[str, float]:
    return score_all(work, ["official"])


def score_all(work: Path, scorings: list[str] | None = None) -> dict[str, float]:
    import snellen

    result: Any = snellen.score(work / RESULTS, "vqav2", data=work, scorings=scorings)
    value = result.report.scorings["official"].metrics["accuracy"].value
    return measured(time.process_time(), value)


def intervals(work: Path) -> dict[str, float]:
    """Compute the intervals of the official accuracy and its breakdowns, as in the report."""
    import numpy as np

    from snellen import registry
    from snellen.core.model import Reply
    from snellen.metrics import Category, Columns, mean

    benchmark = registry.benchmark("vqav2", data=work)
    by_question = {
        str(entry["question_id"]): entry for entry in json.loads((work / RESULTS).read_bytes())
    }
    scoring = benchmark.scorings["official"]
    scores: list[float] = []
    clusters: dict[str, int] = {}
    tags: dict[str, dict[str, int]] = {tag: {} for tag in benchmark.presentation.break_down_by}
    codes: dict[str, list[int]] = {
        tag: [] for tag in ("cluster", *benchmark.presentation.break_down_by)
    }
    for row in benchmark.data:
        sample = benchmark.read(row)
        reading = scoring.parse(Reply(text=by_question[sample.id]["answer"]), sample)
        scores.append(scoring.score(reading, sample) or 0.0)
        shared = str(sample.data["image"])
        codes["cluster"].append(clusters.setdefault(shared, len(clusters)))
        for tag, names in tags.items():
            codes[tag].append(names.setdefault(sample.tags[tag], len(names)))
    nothing = np.empty(len(scores), dtype=object)
    columns = Columns(
        score=np.array(scores),
        answer=nothing,
        target=nothing,
        references=nothing,
        state=Category(codes=np.zeros(len(scores), dtype=np.int32), names=("answered",)),
        tags={
            tag: Category(codes=np.array(codes[tag], dtype=np.int32), names=tuple(names))
            for tag, names in tags.items()
        },
        cluster=np.array(codes["cluster"], dtype=np.int32),
    )
    started = time.process_time()
    value = mean(columns).value or 0.0
    for category in columns.tags.values():
        for code in range(len(category.names)):
            mean(columns.where(category.codes == code))
    return measured(time.process_time() - started, value)


if __name__ == "__main__":
    main()
