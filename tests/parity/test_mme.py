"""MME against the published outputs of LaVIN, and the official rule and sums on made replies."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import snellen
from snellen.benchmarks.mme import COGNITION, PERCEPTION, TASKS, mme
from snellen.model import Reply
from snellen.sample import Sample
from tests.golden_data import golden
from tests.parity.lines import Line

MODEL = "LaVIN"
SEEDS = range(1)
SUMS = {"score": "total", "perception": "perception", "cognition": "cognition"}
Rows = Mapping[str, Sequence[Sequence[str]]]
"""For each task the lines of its text: image, question, right answer, reply."""


def figures(path: Path, data: Path | None = None) -> dict[str, float | None]:
    result = snellen.score(path, "mme", data=data or golden("mme"), scorings=["official"])
    metrics = result.report.scorings["official"].metrics
    return {name: metric.value for name, metric in metrics.items()}


def parity() -> list[Line]:
    pack = golden("mme")
    expected = json.loads((pack / "expected.json").read_bytes())[MODEL]
    published = expected["published"]
    found = figures(pack / "outputs" / MODEL)

    def line(metric: str, n: int, told: float | None, official: float, reason: str = "") -> Line:
        return Line(
            benchmark="mme",
            model=MODEL,
            metric=metric,
            n=n,
            published=told,
            official=official,
            ours=found[metric],
            proof="published outputs",
            reason=reason or ("" if told is not None else "not published"),
        )

    lines = [
        line(ours, expected["n"], published.get(theirs), expected[theirs], CUT)
        for ours, theirs in SUMS.items()
    ]
    for task in TASKS:
        of, n = expected[task], expected[task]["n"]
        lines.append(line(f"score/{task}", n, published[task], of["score"], CUT))
        lines.append(line(f"acc/{task}", n, None, of["acc"]))
        lines.append(line(f"acc_plus/{task}", n, None, of["acc_plus"]))
        lines.append(line(f"precision/{task}", n, None, of["precision"]))
        lines.append(line(f"recall/{task}", n, None, of["recall"]))
    return lines


CUT = "published with one or two decimals"


def test_every_figure_is_the_official_scripts() -> None:
    lines = parity()
    assert len(lines) == 73
    for line in lines:
        assert line.ours == pytest.approx(line.official, abs=1e-9), line.metric
        if line.published is not None:
            assert line.ours == pytest.approx(line.published, abs=0.06), line.metric


def test_every_count_is_the_official_scripts() -> None:
    pack = golden("mme")
    expected = json.loads((pack / "expected.json").read_bytes())[MODEL]
    benchmark = mme(data=pack)
    parse = benchmark.scorings["official"].parse
    assert benchmark.layout is not None
    published = benchmark.layout(pack / "outputs" / MODEL)
    assert published is not None
    keys = ("TP", "FN", "TN", "FP", "other_num")
    counts = {task: dict.fromkeys(keys, 0) for task in TASKS}
    for row in benchmark.data:
        sample = benchmark.sample(row.place, row)
        answer = parse(Reply(text=published.replies[sample.id] or ""), sample).answer
        kind = ("T" if answer == sample.target else "F") + ("P" if answer == "yes" else "N")
        counts[sample.tags["task"]]["other_num" if answer is None else kind] += 1
    assert counts == {task: {key: expected[task][key] for key in keys} for task in TASKS}


def test_llavas_questions_are_these() -> None:
    pack = golden("mme")
    benchmark = mme(prompt="llava", data=pack)
    ours = set()
    for row in benchmark.data:
        sample = benchmark.sample(row.place, row)
        (message,) = benchmark.prompt(sample, ())
        ours.add((sample.tags["task"], sample.data["image"], message.text))
    lines = (pack / "annotations" / "llava_mme.jsonl").read_text(encoding="utf-8").split("\n")
    theirs = {
        (row["category"], Path(row["image"]).name, row["text"])
        for row in (json.loads(line) for line in lines if line)
    }
    assert len(ours) == 2374
    assert ours == theirs


def made() -> list[dict[str, Any]]:
    lines = (golden("mme") / "differential.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def test_every_made_reply_is_read_as_the_official_script_reads_it() -> None:
    parse = mme(data=golden("mme")).scorings["official"].parse
    differences = []
    for row in made():
        sample = Sample(id="1", question=row["question"], target=row["label"])
        answer = parse(Reply(text=row["prediction"]), sample).answer or "other"
        if answer != row["official_parsed"]:
            differences.append((row, answer))
    assert (len(made()), differences) == (2800, [])


def test_the_sums_of_all_made_replies_are_the_official_scripts(tmp_path: Path) -> None:
    """Of replies with a tab or a line's end too, which the script's own files cannot hold."""
    expected = json.loads((golden("mme") / "expected.json").read_bytes())["differential"]
    tables = tmp_path / "Your_Results"
    tables.mkdir()
    texts = dict.fromkeys(TASKS, "")
    replies = {}
    for place, row in enumerate(made()):
        texts[row["task"]] += f"{row['image']}\t{row['question']}\t{row['label']}\n"
        replies[f"{row['task']}/{row['image']}/{place % 2 + 1}"] = row["prediction"]
    for task, text in texts.items():
        (tables / f"{task}.txt").write_text(text, encoding="utf-8")
    path = tmp_path / "replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    found = figures(path, tmp_path)
    for task in TASKS:
        assert found[f"score/{task}"] == pytest.approx(expected[task], abs=1e-9), task
    for name in ("perception", "cognition"):
        assert found[name] == pytest.approx(expected[name], abs=1e-9), name


def by_formula(rows: Rows) -> dict[str, float]:
    """calculation.py's sums of these lines, of which two and two are one image, worked out again
    from what its page says."""
    found = {}
    for task, lines in rows.items():
        right = [
            answer.lower() == next((w for w in ("yes", "no") if w in reply.lower()[:4]), "other")
            for _, _, answer, reply in lines
        ]
        pairs = [a and b for a, b in zip(right[::2], right[1::2], strict=True)]
        found[f"score/{task}"] = 100 * sum(right) / len(right) + 100 * sum(pairs) / len(pairs)
    found["perception"] = sum(found[f"score/{task}"] for task in PERCEPTION)
    found["cognition"] = sum(found[f"score/{task}"] for task in COGNITION)
    return found


def written(rows: Rows, folder: Path) -> Path:
    folder.mkdir()
    for task, lines in rows.items():
        text = "".join("\t".join(line) + "\n" for line in lines)
        (folder / f"{task}.txt").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("seed", SEEDS)
def test_shuffled_halved_and_replaced_replies_score_as_the_script_would(
    tmp_path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    folder = golden("mme") / "outputs" / MODEL
    texts = [row["prediction"] for row in made() if not {"\t", "\n", "\r"} & set(row["prediction"])]
    shuffled, halved, replaced = {}, {}, {}
    for task in TASKS:
        lines = (folder / f"{task}.txt").read_text(encoding="utf-8").split("\n")[:-1]
        rows = [line.split("\t") for line in lines]
        pairs = [(a, b) for a, b in zip(rows[::2], rows[1::2], strict=True)]
        order = draw.sample(pairs, len(pairs))
        shuffled[task] = [row for pair in order for row in pair]
        halved[task] = shuffled[task][: 2 * (len(pairs) // 2)]
        replaced[task] = [
            [*row[:3], draw.choice(texts) if draw.random() < 0.3 else row[3]]
            for row in shuffled[task]
        ]
    for name, changed in (("shuffled", shuffled), ("halved", halved), ("replaced", replaced)):
        found = figures(written(changed, tmp_path / name))
        for metric, value in by_formula(changed).items():
            assert found[metric] == pytest.approx(value, abs=1e-9), (name, metric)
