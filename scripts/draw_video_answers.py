"""Generate replies about videos, with what the code of authors and toolkits gives for them.

usage: python scripts/draw_video_answers.py LMMS_EVAL KIT VIDEO_HOLMES VIDEO_CHATGPT MLVU MMVU
       CG_BENCH

The arguments are checkouts of EvolvingLMMs-Lab/lmms-eval@75571cf, open-compass/VLMEvalKit@e8e78f0,
TencentARC/Video-Holmes@52ef8da, mbzuai-oryx/Video-ChatGPT@659e04b, JUNJIE99/MLVU@fd060c1,
yale-nlp/MMVU@4d54223, and CG-Bench/CG-Bench@f826608. Only the functions that score are run, so that
most packages need not be installed. Needs numpy, pandas, pillow, and pysubs2. The result is
tests/parity/video_answers.jsonl.gz.
"""

import argparse
import ast
import contextlib
import csv
import gzip
import importlib
import io
import json
import os
import re
import runpy
import sys
import tempfile
import types
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from random import Random
from string import Template
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pandas as pd
from draw_choice_rules import FORMS, code

OUT = Path(__file__).parents[1] / "tests/parity/video_answers.jsonl.gz"
CHOICES = (
    ("a cat", "a dog", "a big dog", "A and B", "nothing of the kind"),
    ("he runs away", "he waves", "the ball", "Because it rains", "3"),
    ("DNA", "FBI agent", "C", "left", "right"),
)
TAGS = (
    "{}", "{}", "<answer>{}</answer>", "<think>A: no</think><answer> {} </answer>",
    "<answer>B</answer> or <answer>\n{}\n</answer>", "<answer>{}", "{}</answer>",
    "<answer></answer>{}",
)  # fmt: skip
WORDS = ("yes", "no", "Yes", "NO.", "maybe", "yes and no", "unknown", "nope", "")
SCORES = ("0", "1", "5", "4.8", "'3'", "'2.5'", "None", "-1", "True", "[1]", "10", "1e2")
SHAPES = (
    "{{'pred': '{w}', 'score': {s}}}", '{{"pred": "{w}", "score": {s}}}',
    "{{'score': {s}, 'pred': '{w}'}}", "Sure: {{'pred': '{w}', 'score': {s}}}.",
    "```python\n{{'pred': '{w}', 'score': {s}}}\n```", " {{'pred': '{w}', 'score': {s}}}",
    "{{'pred': '{w}'}}", "{{'pred': {s}, 'score': {s}}}", "['{w}', {s}]", "{w} {s}",
    "{{'pred': '{w}',",
    "{{{{'pred': '{w}', 'score': {s}}}}}",
)  # fmt: skip
RATINGS = (
    "0", "1", "2", "3", "3\n", " 2", "2.0", "3.", "4", "-1", "10", "True", "", "three", "3 3",
    "'3'", "Rating: 3", "03", "[3]", "None", "3!", "1+1",
)  # fmt: skip

GRADES = ("1", "3", "5", "4.5", "3.67", "five", " 2", "5}", "nan", "")
GRADED = (
    "{{'score_{a}': {x}, 'score_{b}': {y}, 'total_score': {t}}}",
    "First.\n```json\n{{\n\"score_{a}\": {x},\n\"score_{b}\": {y},\n\"total_score\": {t}\n}}\n```",
    "{{'score_{b}': {y}, 'score_{a}': {x}, 'total_score': {t}}}",
    "{{'score_{a}':{x}, 'score_{b}':{y}}}",
    "{{'score_{a}': {x}, 'score_{b}': {y}}}", "{{'score_{a}': {x}, 'total_score': {t}}}", "{x} {y}",
    "score_{a} is {x}, score_{b}: {y}, so",
    "{{'score_{a}': {x},'score_{b}': {y},'total_score': {t}}}",
)  # fmt: skip


CLUES = (
    [[8, 11]], [[2, 4], [10, 30]], [[0, 1]], [[5, 6], [5, 6], [40, 59]],
    [[1, 2], [20, 21], [58, 60]], [[30, 32], [3, 50]],
)  # fmt: skip
RATES = {"v25": 25.0, "v30": 30.0, "v1": 1.0}
SUBTITLES = {
    "v25": "1\n00:00:00,500 --> 00:00:09,000\nOne\nline\n\n"
    "2\n00:00:08,120 --> 00:00:40,999\n{x}\n\n3\n00:00:50,000 --> 00:01:00,000\nOne\nline\n",
    "v30": "1\n00:00:02,500 --> 00:00:02,533\nshort\n\n"
    '2\n00:00:05,1 --> 01:00:00,000\n\xe4\xf6 "it\'s"\n',
}
RESULTS = (
    "0", "1", "2", '"1"', '"2"', "3", "true", "false", "null", "1.0", "-1", "[1]", "{}", '""',
    "NaN", "x", "10", "no",
)  # fmt: skip
IN_JSON = (
    "```json\n{{\"result\": {r}}}\n```", "{r}", "Result: {r}", "```json\n{{\"result\": {r}}}",
    "```json\n{{\"verdict\": {r}}}\n```", "It is {r} or 1.", "```json\n{r}\n```",
    "```\n{{\"result\": {r}}}\n```", "2 reasons.\n```json\n{{\"result\": {r}}}\n``` or 0",
    "```json {{\"result\": {r}, \"why\": \"0\"}}```", "",
)  # fmt: skip
ANSWERS = ("White", 'two\\n "dogs"', "\\u00e9t\\u00e9", "it's {{x}}")


def letters(lmms: Path, kit: Path, holmes: Path) -> Iterator[dict[str, Any]]:
    drawn = SimpleNamespace(choice=lambda _: "random")
    tasks, random = lmms / "lmms_eval/tasks", Random(16)
    perception = code(tasks / "perceptiontest/val/utils.py", random=drawn)
    next_qa = code(tasks / "nextqa/utils.py", random=drawn)
    by_lmms = code(tasks / "video_holmes/utils.py", random=drawn)
    by_kit = code(kit / "vlmeval/dataset/utils/videoholmes.py")
    rows = []
    for number in range(720):
        choices, letter, other = random.choice(CHOICES), *random.sample("ABCDE", 2)
        texts = [choices["ABCDE".index(name)] for name in (letter, other)]
        reply = FORMS[number % len(FORMS)].format(
            L=letter, l=letter.lower(), M=other, c=texts[0], C=texts[0].upper(), d=texts[1]
        )
        reply = TAGS[number // len(FORMS) % len(TAGS)].format(reply)
        rows.append({"id": str(number), "choices": choices, "reply": reply})
    chosen = by_authors(holmes, rows)
    for row in rows:
        reply, choices = row["reply"], dict(zip("ABCDE", row["choices"], strict=True))
        doc = {"answer_id": 0, "video_name": "v", "question": "q"}
        index = perception.perceptiontest_val_process_results_mc(doc, [reply])["accuracy"][
            "pred_id"
        ]
        yield {
            "kind": "letter", **row,
            "perceptiontest": "ABCD"[index] if index >= 0 else "",
            "next_qa": next_qa.parse_multi_choice_response(reply, [*"ABCDE"], choices),
            "holmes": chosen[row["id"]].replace("WRONG", ""),
            "holmes_kit": by_kit.extract_option(reply).replace("WRONG", ""),
            "holmes_lmms": by_lmms.parse_multi_choice_response(reply, [*"ABCDE"], choices),
        }  # fmt: skip


def by_authors(folder: Path, rows: list[dict[str, Any]]) -> dict[str, str]:
    """The letters that Video-Holmes's own script finds, with a stub in place of a model."""
    replies = {f"question {row['id']}": row["reply"] for row in rows}

    def predict(_key: object, _model: object, prompt: str, _video: object) -> str:
        return replies[re.search(r"question \d+(?=\.)", prompt)[0]]

    evaluate = code(folder / "evaluate.py", tqdm=iter, csv=csv).evaluate
    evaluate.__globals__["predict_gemini"] = predict
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "questions.json")
        items = [
            {"Question ID": row["id"], "Question Type": "SR", "Question": f"question {row['id']}",
             "Options": dict(zip("ABCDE", row["choices"], strict=True)), "Answer": "A",
             "video ID": "v"}
            for row in rows
        ]  # fmt: skip
        path.write_text(json.dumps(items), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            evaluate(scratch, str(path), scratch, "gemini", None)
        results = json.loads(Path(scratch, "Results-gemini.json").read_text(encoding="utf-8"))
    return {row["Question ID"]: row["Predicr Answer"] for row in results}


def activitynet(lmms: Path, chatgpt: Path) -> Iterator[dict[str, Any]]:
    random = Random(17)
    script = code(chatgpt / "quantitative_evaluation/evaluate_activitynet_qa.py", ast=ast,
                  argparse=argparse, Pool=None)  # fmt: skip
    os.environ.setdefault("HF_HOME", "")
    review = code(
        lmms / "lmms_eval/tasks/activitynetqa/utils.py", ast=ast,
        eval_logger=SimpleNamespace(error=lambda _: None, info=lambda _: None),
    )  # fmt: skip
    for number in range(640):
        word, score = random.choice(WORDS), random.choice(SCORES)
        words = SHAPES[number % len(SHAPES)].format(w=word, s=score)
        question, answer, reply = f"what {{x}} is {number}", random.choice(WORDS), f"a {word}\nb"
        prompt, official = verdict_of(script, words, (question, answer, reply))
        by_lmms = review.parse_score(words)
        yield {
            "kind": "activitynet", "words": words, "question": question, "answer": answer,
            "reply": reply, "prompt": prompt, "official": official,
            "lmms": None if by_lmms is None else [plain(by_lmms[0]), by_lmms[1]],
        }  # fmt: skip


def plain(word: str) -> str:
    """The word, as the averages of lmms-eval read it."""
    return "yes" if "yes" in word.lower() else "no" if "no" in word.lower() else "neither"


def verdict_of(script: Any, words: str, pair: tuple[str, str, str]) -> tuple[str, Any]:
    """The digest of Video-ChatGPT's prompt, and what its script reads, next to a yes with 5."""
    messages: list[Any] = []

    script.annotate.__globals__["openai"] = client_of(messages, words)
    question, answer, reply = pair
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()) as out:
        folder = Path(scratch, "out")
        folder.mkdir()
        sample = {"q": question, "a": answer, "pred": reply}
        script.annotate({"v_0": sample}, ["v_0.json"], str(folder))
        if not (folder / "v_0.json").exists():
            return digest(messages), None
        known = [{"pred": "yes", "score": 5}, sample]
        (folder / "w_0.json").write_text(json.dumps(known), encoding="utf-8")
        samples = [{"video_name": name, "Q": "", "A": "", "pred": ""} for name in "vw"]
        path = Path(scratch, "samples.json")
        path.write_text(json.dumps(samples), encoding="utf-8")
        options = {
            **{"pred_path": path, "output_dir": folder, "output_json": Path(scratch, "all.json")},
            **{"api_key": "x", "num_tasks": 1},
        }
        sys.argv = ["x", *(f"--{name}={value}" for name, value in options.items())]
        try:
            script.main()
        except (TypeError, KeyError, ValueError, AttributeError):
            return digest(messages), None
    printed = dict(line.split(": ") for line in out.getvalue().splitlines() if ": " in line)
    yes, no = int(printed["Yes count"]) - 1, int(printed["No count"])
    score = round(float(printed["Average score"]) * 2 - 5)
    return digest(messages), ["yes" if yes else "no" if no else "neither", score]


def client_of(messages: list[Any], words: str) -> Any:
    """A stub of the judge's client, which keeps the messages and replies with these words."""

    def create(**request: Any) -> dict[str, Any]:
        messages.extend(request["messages"])
        return {"choices": [{"message": {"content": words}}]}

    return SimpleNamespace(ChatCompletion=SimpleNamespace(create=create))


def digest(messages: list[Any]) -> str:
    return sha256("\n".join(part["content"] for part in messages).encode()).hexdigest()


def mmbench(kit: Path) -> Iterator[dict[str, Any]]:
    random = Random(18)
    smp = code(kit / "vlmeval/smp/misc.py")
    ratings = types.ModuleType("vlmeval.smp")
    ratings.__dict__["load"] = pd.DataFrame
    sys.modules.update({"vlmeval": types.ModuleType("vlmeval"), ratings.__name__: ratings})
    path = kit / "vlmeval/dataset/utils/mmbench_video.py"
    judge = SimpleNamespace(**runpy.run_path(str(path)))
    names = [*judge.L3_DIMS]
    for number in range(640):
        words = RATINGS[number % len(RATINGS)]
        item = {
            "question": f"{{x}} {number}?",
            "answer": random.choice(names),
            "prediction": "a\nb",
        }
        try:
            rating = int(words) if smp.istype(words, int) else -1
        except ValueError:
            rating = -1
        prompt = "\n".join([judge.system_prompt, judge.build_prompt(item)])
        digest = sha256(prompt.encode()).hexdigest()
        yield {"kind": "mmbench", "words": words, **item, "prompt": digest, "rating": rating}
    for _ in range(6):
        rows = [
            {"dimensions": str(random.sample(names, random.randint(1, 3))),
             "score": random.choice((0, 1, 2, 3, 3))}
            for _ in range(30)
        ]  # fmt: skip
        means = judge.get_dimension_rating(rows)["coarse_all"]
        yield {"kind": "mmbench means", "rows": rows, "means": means}


def mlvu(folder: Path) -> Iterator[dict[str, Any]]:
    random = Random(19)
    for task, evaluation, averages, names in (
        ("sub_scene", "evaluate_ssc", "calculate", ("accuracy", "relevance")),
        ("summary", "evaluate_summary", "calculate_sum", ("completeness", "reliability")),
    ):
        scripts = folder / "evaluation/generation_evaluation"
        ask = code(scripts / f"{evaluation}.py", tqdm=iter).annotate
        read = code(scripts / f"{averages}.py").extract_scores
        for number in range(320):
            first, second = random.choices(GRADES, k=2)
            words = GRADED[number % len(GRADED)].format(
                a=names[0], b=names[1], x=first, y=second, t="10"
            )
            question, answer, reply = (
                f"what {{x}}\nis {number}",
                random.choice(RATINGS),
                f"a {number}\nb",
            )
            points = [f"it's {number}", 'a "b"'][: number % 3]
            ask.__globals__["get_scoring_points"] = lambda q=question, p=points: {
                q.replace("\n", ""): p
            }
            messages: list[Any] = []
            ask.__globals__["openai"] = client_of(messages, words)
            with (
                tempfile.TemporaryDirectory() as scratch,
                contextlib.redirect_stdout(io.StringIO()),
            ):
                ask({"v": {"q": question, "a": answer, "pred": reply}}, ["v.json"], scratch)
            try:
                grades = read(words)
            except ValueError:
                grades = []
            yield {
                "kind": "mlvu", "task": task, "words": words, "question": question,
                "answer": answer, "reply": reply, "points": points, "prompt": digest(messages),
                "grades": grades if len(grades) == 2 else None,
            }  # fmt: skip


def mmvu(folder: Path) -> Iterator[dict[str, Any]]:
    random = Random(20)
    ask = code(folder / "utils/eval_utils.py").prepare_evaluation_message
    prompts = code(folder / "utils/constant.py", Template=Template)
    for number in range(240):
        kind = ("multiple-choice", "open-ended")[number % 2]
        choices = dict(zip("ABCDE", random.choice(CHOICES), strict=True))
        example = {"question": f"what {{x}} is $y {number}?", "question_type": kind,
                   "choices": choices, "answer": random.choice("ABCDE")}  # fmt: skip
        reply = f"a {number}\n{{b}}"
        listed = "\n".join(f"{letter}: {choice}" for letter, choice in choices.items())
        texts = {
            name: of[kind].substitute(question=example["question"], optionized_str=listed)
            for name, of in (("cot", prompts.COT_PROMPT), ("direct", prompts.DO_PROMPT))
        }
        yield {
            "kind": "mmvu", **example, "reply": reply, "prompt": digest(ask(example, reply)),
            **{name: sha256(text.encode()).hexdigest() for name, text in texts.items()},
        }  # fmt: skip


def cg_bench(folder: Path) -> Iterator[dict[str, Any]]:
    """The two steps of CG-Bench's judge, by the authors' script with a stub in place of models."""
    sys.modules["requests"] = MagicMock()
    sys.path.insert(0, str(folder / "run"))
    script, utils = importlib.import_module("run_api"), importlib.import_module("utils")
    utils.get_list_image_paths = lambda _, indexes: (["x"], [*map(int, indexes)])
    rows = {str(number): row for number, row in enumerate(drawn_verdicts())}
    digests: dict[tuple[str, str], str] = {}

    def infer(args: Any, begin: str, prompt: str, _images: object) -> str:
        name = re.search(r"question (\d+)", prompt)[1]
        digests[name, args.task_mode] = sha256((begin + prompt).encode()).hexdigest()
        return rows[name]["words"][args.task_mode]

    script.inference = infer
    settings = {"model_name": "m", "model_size": "s", "num_segment": 32}
    settings |= {f"open_{name}": value for name, value in settings.items()}
    settings |= dict.fromkeys(("open_sub", "open_sub_time", "open_frame_time"), False)
    key = "open_m_s_32_False_False_False"
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()) as out:
        notes, spoken = Path(scratch, "cg_annotations"), Path(scratch, "subtitles")
        notes.mkdir()
        spoken.mkdir()
        for name, text in SUBTITLES.items():
            (spoken / f"{name}.srt").write_text(text, encoding="utf-8")
        for name, row in rows.items():
            known = {"qid": name, **row["fields"], "version": 0, "results": {}}
            (notes / f"{name}.json").write_text(json.dumps(known), encoding="utf-8")
        paths = {"anno_root": str(notes), "sub_root": str(spoken), "image_root": scratch}
        rates = {name: {"fps": fps, "max_frame": 60 * fps} for name, fps in RATES.items()}
        for mode in ("open", "eval_open_step_1", "eval_open_step_2"):
            is_last = mode == "eval_open_step_2"
            shown = dict.fromkeys(("sub", "sub_time", "frame_time"), is_last)
            args = SimpleNamespace(task_mode=mode, vdict=rates, **settings, **paths, **shown)
            for path in script.get_json_files(args):
                script.process_single_file(args, path)
        results = {
            name: json.loads((notes / f"{name}.json").read_text())["results"].get(key, {})
            for name in rows
        }
        stat = (folder / "run/stat_with_key.py").read_text()
        stat = stat.replace("clue_acc_gpt-4o_2024-08-06_32_True_True_True", key)
        with contextlib.chdir(scratch):
            exec(compile(stat, "stat_with_key.py", "exec"), {})
    for name, row in rows.items():
        fps, spans = RATES[row["fields"]["video_uid"]], row["fields"]["clue_intervals"]
        final = results[name].get("step_2")
        yield {
            "kind": "cg_bench", **row["fields"], "fps": fps, **row["words"],
            "prompts": [digests.get((name, mode)) for mode in row["words"]],
            "frames": utils.sample_frames_clue_average(spans, 32, fps),
            "is_right": None if final is None else final["result"] == 1,
        }  # fmt: skip
    yield {"kind": "cg_bench subtitles", **SUBTITLES}
    (accuracy,) = re.findall(r"Accuracy: (\S+)", out.getvalue())
    yield {"kind": "cg_bench mean", "accuracy": float(accuracy)}


def drawn_verdicts() -> Iterator[dict[str, Any]]:
    random = Random(26)
    for number in range(720):
        result, other = RESULTS[number % len(RESULTS)], random.choice(RESULTS)
        answer = random.choice(ANSWERS)
        reply = random.choice((*IN_JSON, '```json\n{{"result": "{r}"}}\n```')).format(r=answer)
        words = {
            "open": reply,
            "eval_open_step_1": IN_JSON[number // len(RESULTS) % len(IN_JSON)].format(r=result),
            "eval_open_step_2": random.choice(IN_JSON).format(r=other),
        }
        fields = {
            "video_uid": random.choice([*RATES]), "question": f"what {{x}} is question {number}?",
            "answer": random.choice(ANSWERS), "clue_intervals": random.choice(CLUES),
        }  # fmt: skip
        yield {"words": words, "fields": fields}


def main() -> None:
    lmms, kit, holmes, chatgpt, long, expert, clues = map(Path, sys.argv[1:8])
    rows = [*letters(lmms, kit, holmes), *activitynet(lmms, chatgpt), *mmbench(kit)]
    rows += [*mlvu(long), *mmvu(expert), *cg_bench(clues)]
    text = "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
    OUT.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
