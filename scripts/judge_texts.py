"""Write what the authors' code makes of generated replies and of generated texts of their judges.

usage: python scripts/judge_texts.py VIBE_EVAL SIMPLEVQA CHARXIV WORLDVQA BABYVISION MISTRAL HLE

The arguments are checkouts of reka-ai/reka-vibe-eval, SimpleVQA/SimpleVQA, princeton-nlp/CharXiv,
MoonshotAI/WorldVQA, UniPat-AI/BabyVision, which needs the package regex, mistralai/mistral-evals,
which needs numpy, and centerforaisafety/hle, which needs numpy and pydantic. Their functions build
the prompts and read the texts; no model is asked. The result is tests/parity/judge_texts.json.gz:
the digest of each prompt, what is read from a text, and the averages of some judges.
"""

import asyncio
import contextlib
import copy
import gzip
import hashlib
import importlib
import io
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

OUT = Path(__file__).parents[1] / "tests/parity/judge_texts.json.gz"
QUESTIONS = ("What is x?", "{x} 是什么？", "Is <|response|> <|ground_truth|>?", 'a "b"\nc')
ANSWERS = ("3.50", "红色", "{answer}", "<|response|>")
REPLIES = ("", "It is 3.5.\n", "{0} {reply} <|question|>", "Rating: 5\n```json\n{}")
SCORES = ("0", "1", "true", "false", "1.0", "0.5", '"1"', "-1", "2", "null", "[1]", "NaN", "1e0")
SHAPES = ("{}", "{}\n", "```json\n{}\n```", " {} ", "{} x", "[{}]", '"{}', "{}}", "\ufeff{}")


def imported(folder: Path, name: str, *stubs: str) -> Any:
    for stub in stubs:
        sys.modules[stub] = MagicMock()
    sys.path.insert(0, str(folder))
    return importlib.import_module(name)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def shaped(text: str, shape: str) -> str:
    return shape.replace("{}", text, 1)


def attempt(read: Callable[[], Any]) -> Any:
    """What the authors' code returns, or None if it raises an exception."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            return read()
        except Exception:
            return None


def client(text: str) -> Any:
    """A stand-in for a client of OpenAI's API, whose every reply is this text."""
    message = SimpleNamespace(message=SimpleNamespace(content=text))
    create = lambda **_: SimpleNamespace(choices=[message])  # noqa: E731
    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))


# -- Vibe-Eval


def vibe_eval(folder: Path) -> dict[str, Any]:
    module = imported(folder, "evaluate", "dotenv", "reka", "reka.client", "requests", "tqdm")

    def example(question: str, answer: str, reply: str) -> Any:
        return module.Example("1", "hard", question, answer, "a", "b", generation=reply)

    def read(words: str) -> int | None:
        content = SimpleNamespace(message=SimpleNamespace(content=words))
        create = lambda **_: SimpleNamespace(responses=[content])  # noqa: E731
        module.CLIENT = SimpleNamespace(chat=SimpleNamespace(create=create))
        evaluator = module.Evaluator.REKA_CORE
        rated = attempt(lambda: module.evaluate(example("q", "a", "r"), evaluator))
        return None if rated is None else rated.score

    prefixes = ("", "Explanation: fine.\n", "Rating: none\n", "**", "rating: 2 ", "Rating:\n\n")
    words = ("Rating: ", "Rating:", "**Rating:** ", "rating: ", "Rating ", "Rating:\t")
    numbers = ("5", "1", "0", "6", "3.5", "10", "four", "", "5/5", "-2", "(4)", "٣")
    texts = ["".join(parts) for parts in product(prefixes, words, numbers)]
    return {
        "prompts": [
            [*row, sha256(module.make_evaluator_prompt(example(*row), include_image=False))]
            for row in product(QUESTIONS, ANSWERS, REPLIES)
        ],
        "verdicts": [[text, read(text)] for text in texts],
    }


# -- SimpleVQA


def simplevqa(folder: Path) -> dict[str, Any]:
    judger = imported(folder, "llm_as_a_vqa_judger", "o1_api_nostop", "tqdm")
    judger.tqdm = lambda rows: rows
    judger.traceback = MagicMock()
    script = imported(folder, "simpleVQA_eval", "pandas")
    ask = imported(folder / "data_engineering/vqa_request", "prompt")
    prompts: list[str] = []

    def judged(rows: list[Any], texts: Iterator[str]) -> list[Any]:
        def call(model: str, prompt: str) -> str:
            prompts.append(prompt)
            return next(texts)

        judger.call_llm = call
        judger.THREAD_NUM = 1
        with tempfile.TemporaryDirectory() as scratch:
            paths = Path(scratch, "in.json"), Path(scratch, "out.json")
            paths[0].write_text(json.dumps(rows), encoding="utf-8")
            judger.main(*map(str, paths))
            content: list[Any] = json.loads(paths[1].read_text(encoding="utf-8"))
        return content

    def read(text: str) -> str | None:
        row = {"question": "q", "answer": "a", "g4o_response": "r"}
        content = attempt(lambda: judged([row], iter([text])))
        if not content or "g4o_response" not in content[0]["judge_res"]:
            return None
        with tempfile.TemporaryDirectory() as scratch:
            paths = Path(scratch, "in.json"), Path(scratch, "out.json")
            paths[0].write_text(json.dumps(content), encoding="utf-8")
            attempt(lambda: script.SimpleVQAEval(*map(str, paths)))
            if not paths[1].exists():
                return None
            (figures,) = json.loads(paths[1].read_text(encoding="utf-8"))
        names = ("is_correct", "is_incorrect", "is_not_attempted")
        return next(name[3:].replace("_", " ") for name in names if figures[name] == 1)

    labels = ("正确", "错误", "未尝试", "**正确**", "正 确", "正确，因为", "", "A", "**", "**A**")
    values = [json.dumps(label, ensure_ascii=False) for label in labels]
    values += [f'{{"conclusion": {value}, "reason": "x"}}' for value in values]
    values += ["3", "null", "[]", '{"reason": "x"}', '{"conclusion": 1}']
    objects = [f'{{"预测答案0": {value}}}' for value in values]
    objects += ["{}", '{"a": "正确", "b": "错误"}', '{"预测答案0": "正确"', "正确", "", "}"]
    texts = [shaped(text, shape) for text, shape in product(objects, SHAPES)]
    rows = [*product(QUESTIONS, ANSWERS, REPLIES)]
    names = ("question", "answer", "g4o_response")
    questions = [dict(zip(names, row, strict=True)) for row in rows]
    judged(questions, iter(['{"预测答案0": "正确"}'] * len(rows)))
    digests = [*map(sha256, prompts)]
    words = {"Chinese": "vqa_cn_without_confidence", "English": "vqa_en_without_confidence"}
    return {
        "prompts": [[*row, digest] for row, digest in zip(rows, digests, strict=True)],
        "questions": [
            [language, text, sha256(ask.get_vqa_prompt(name).replace("[<question>]", text))]
            for language, name in words.items()
            for text in QUESTIONS
        ],
        "verdicts": [[text, read(text)] for text in texts],
    }


# -- CharXiv


def charxiv_reasoning(folder: Path) -> dict[str, Any]:
    module = imported(folder / "src", "reasoning_utils")

    def prompt(kind: int, question: str, answer: str, reply: str) -> str:
        row = {"figure_id": 1, "inst_category": kind, "answer": answer}
        replies = {"1": {"raw_question": question, "response": reply}}
        query = module.build_reasoning_grading_queries({"1": row}, replies)["1"]
        return str(query["grading_query"])

    def read(text: str) -> Any:
        extracted, score = attempt(
            lambda: module.get_reasoning_result_gpt(client(text), "", max_retries=10)
        )
        failed = extracted == "Failed to parse response"
        return None if failed else float(score) if score in [0, 1] else -1.0

    objects = [f'{{"extracted_answer": "a", "score": {score}}}' for score in SCORES]
    objects += [f'{{"extracted_answer": {score}, "score": 1}}' for score in SCORES[-4:]]
    objects += ['{"score": 1}', '{"extract_answer": "a", "score": 1}', '"score"', "{", "7", ""]
    return {
        "prompts": [
            [kind, *row, sha256(prompt(kind, *row))]
            for kind in (1, 2, 3, 4)
            for row in product(QUESTIONS[:3], ANSWERS[:3], REPLIES[:3])
        ],
        "verdicts": [
            [text, read(text)]
            for text in (shaped(text, shape) for text, shape in product(objects, SHAPES))
        ],
    }


def charxiv_descriptive(folder: Path) -> dict[str, Any]:
    module = imported(folder / "src", "descriptive_utils")
    draw = random.Random(7)

    def prompt(qid: int, pairs: list[Any]) -> str:
        groups = {qid: [("1_0", reply, answer) for answer, reply in pairs]}
        (query,) = module.build_descriptive_grading_queries(groups)
        text: str = query["grading_query"]
        return text

    def read(text: str, n: int) -> Any:
        result = attempt(
            lambda: module.get_descriptive_result_gpt(client(text), "", n, max_retries=10)
        )
        scores = [result[f"score_T{number}"] for number in range(1, n + 1)]
        return None if -1 in scores else [float(score) for score in scores]

    def text(n: int) -> str:
        if draw.random() < 0.05:
            return '{"extract_answer_T1": "cut'
        fields = [
            field
            for number in range(1, n + 1)
            for field in (
                f'"extract_answer_T{number}": "a"',
                f'"score_T{number}": {draw.choice(SCORES[:5] if draw.random() < 0.8 else SCORES)}',
            )
        ]
        if draw.random() < 0.2:
            fields.pop(draw.randrange(len(fields)))
        shape = "{}" if draw.random() < 0.7 else draw.choice(SHAPES)
        return shaped(f"{{{', '.join(fields)}}}", shape)

    batches = [
        (qid, [[draw.choice(ANSWERS), draw.choice(REPLIES)] for _ in range(1 + qid % 5)])
        for qid in range(1, 20)
        for _ in range(3)
    ]
    sizes = [(n, m) for n in range(1, 6) for m in (n, n, n, n, max(1, n - 1))]
    texts = [(text(n), m) for n, m in sizes for _ in range(12)]
    return {
        "prompts": [[qid, pairs, sha256(prompt(qid, pairs))] for qid, pairs in batches],
        "verdicts": [[words, n, read(words, n)] for words, n in texts],
    }


# -- WorldVQA


def worldvqa(folder: Path) -> dict[str, Any]:
    module = imported(folder / "eval", "eval", "pandas", "tqdm", "dotenv")
    world = object.__new__(module.WorldVQA)

    def judged(question: str, answer: str, reply: str, words: str = "") -> tuple[str, str]:
        model = MagicMock()
        model.generate.return_value = words
        result = world.judge_response({"question": question, "answer": answer}, reply, model)
        (message,) = model.generate.call_args.args[0]
        return message["value"], result["answer_category"]

    labels = ("Correct", "Incorrect", "Unattempted", "correct", "INCORRECT", "unattempted", "")
    heads = ("Label: ", "**Label**: ", "", "Evaluation: The answer is Correct.\nLabel: ")
    heads += ("Evaluation: Not attempted.\n", "Evaluation: 错误。\nLabel:", "2. **Label**: [")
    tails = ("", ".", "\n", "]", " or Incorrect")
    texts = ["".join(parts) for parts in product(heads, labels, tails)]
    thoughts = ("<think>so</think> that", "so</think>\n that \n", "<think>a</think>b</think>c")
    replies = (*REPLIES, *thoughts, "I think> it", "<think>open")
    return {
        "prompts": [
            [*row, sha256(judged(*row)[0])] for row in product(QUESTIONS, ANSWERS, replies)
        ],
        "verdicts": [[text, judged("q", "a", "r", text)[1]] for text in texts if text.strip()],
    }


# -- BabyVision


def babyvision(folder: Path) -> dict[str, Any]:
    module = imported(folder / "babyvision_eval", "evaluate_model", "openai", "tqdm")

    def judged(question: str, answer: str, reply: str, words: str) -> tuple[str, bool]:
        prompts: list[str] = []

        def create(model: Any, messages: Any) -> Any:
            prompts.append(messages[0]["content"])
            message = SimpleNamespace(content=words)
            return SimpleNamespace(choices=[SimpleNamespace(message=message)])

        module.client = client(reply)
        completions = SimpleNamespace(create=create)
        module.client_judge = SimpleNamespace(chat=SimpleNamespace(completions=completions))
        row = {
            "Id": 1,
            "question": question,
            "answer": answer,
            "image": "",
            "Type": "",
            "Subtype": "",
        }
        result = attempt(lambda: module.process(row))
        return prompts[0], result["LLMJudgeResult"]

    inner = ("3.5", "\\frac{1}{2}", "a{b{c}d}e", "", "\\boxed{7}", "x\ny", "\\text{红}")
    replies = [f"So \\boxed{{{text}}}." for text in inner]
    replies += [f"\\boxed{{1}} no, {text}" for text in (*replies, "\\boxed{2", "\\boxed {2}")]
    replies += [f"<|begin_of_box|>{text}<|end_of_box|>" for text in inner]
    replies += ["3.5", "", "boxed{3}", "\\boxed{", "\\boxed{\\boxed{4} is", "}{\\boxed{5}}"]
    words = ("True", "False", "true", "**TRUE**", "It is untrue.", "1", "0", "None", "Fals", "T")
    texts = [
        "".join(parts)
        for parts in product(
            ("", "Answer: ", "\n", "false or "), words, ("", ".", "\n", " no", " 1")
        )
    ]
    return {
        "prompts": [
            [question, answer, reply, sha256(judged(question, answer, reply, "True")[0])]
            for question, answer in product(QUESTIONS, ANSWERS[:2])
            for reply in replies
        ],
        "verdicts": [[text, judged("q", "a", "r", text)[1]] for text in texts],
    }


# -- MM-MT-Bench


def chunks(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def conversations() -> list[list[dict[str, Any]]]:
    """Conversations of one to four turns, some of them with unusual forms of a message."""
    drawn = []
    for number, question in enumerate(QUESTIONS):
        for turns in range(1, 5):
            messages: list[dict[str, Any]] = []
            for turn in range(turns):
                answer = ANSWERS[(number + turn) % len(ANSWERS)]
                texts = (question, f"\n{turn}") if (number + turn) % 3 == 2 else (question,)
                asks = {"role": "user", "content": chunks(*texts)}
                if turn % 3 == 2:
                    asks = {"content": f"{question}'", "role": "user"}
                answers = {"role": "assistant", "content": chunks(answer, "'\\x")}
                if number % 2:
                    answers["content"] = f'{answer} "é'
                messages += [asks, answers]
            messages[0]["content"].insert(0, {"type": "image"})
            drawn.append(messages)
    return drawn


def mm_mt_bench(folder: Path) -> dict[str, Any]:
    for name in [name for name in sys.modules if name.split(".")[0] == "eval"]:
        del sys.modules[name]
    stubs = ("openai", "tqdm", "datasets", "requests", "PIL")
    module = imported(folder, "eval.tasks.mm_mt_bench", *stubs)
    module.tqdm = lambda rows, *_, **__: rows
    judge = module.MultimodalLLMJudge("judge")
    judge.API_MAX_RETRY = 1

    def interactions(rows: list[dict[str, Any]]) -> Any:
        module.load_dataset = lambda _: {"eval": rows}
        bench = module.MultimodalMTBench()
        bench.load_eval()
        return bench

    def sent_to_judge(interaction: Any) -> list[dict[str, Any]]:
        sent: list[Any] = []

        def create(messages: Any, **_: Any) -> Any:
            sent.extend(messages)
            message = SimpleNamespace(content="[[5]]")
            return SimpleNamespace(choices=[SimpleNamespace(message=message)])

        judge.client = SimpleNamespace(chat=SimpleNamespace(completions=MagicMock()))
        judge.client.chat.completions.create = create
        judge.get_judgement(interaction)
        return sent

    def prompts(messages: list[dict[str, Any]], reply: str) -> list[str]:
        """The digests of the prompt that is sent, and of the one that the functions build if they
        get what their types declare."""
        row = {"conversation": json.dumps(messages), "image": None, "category": "a"}
        interaction = interactions([row]).interactions[-1]
        interaction.model_answer = reply
        system, user = sent_to_judge(interaction)
        texts = [[part["text"] for part in user["content"]]]
        plain = copy.deepcopy(messages)
        for message in plain:
            if message["role"] == "assistant" and not isinstance(message["content"], str):
                message["content"] = "".join(part["text"] for part in message["content"])
        plain[0]["content"][0]["type"] = "image_url"
        contents = [message["content"] for message in plain]
        built = judge._get_judge_prompt(contents[::2], contents[1::2], reply)
        texts.append([part["text"] for part in built])
        return [sha256(system["content"] + "".join(parts)) for parts in texts]

    def read(text: str) -> float | None:
        score = attempt(lambda: float(judge.get_score(text)))
        return None if score is None or score == -1 else float(score)

    def averages(seed: int) -> dict[str, Any]:
        draw = random.Random(seed)
        rows = []
        for _ in range(30):
            messages = draw.choice(conversations())
            category = draw.choice(["chart", "table", "misc"])
            rows.append({"conversation": json.dumps(messages), "image": None, "category": category})
        bench = interactions(rows)
        for interaction in bench.interactions:
            interaction.metrics["score"] = draw.choice([1, 3, 7, 8.5, 10])
        drawn = [
            [item.meta["category"], str(item.meta["turn"]), item.metrics["score"]]
            for item in bench.interactions
        ]
        return {"ratings": drawn, "averages": bench.aggregate_metrics()}

    heads = ("Fine. Rating: ", "", "**Rating**: ", "[[x]] ", "[[ 5 ]] ", "[[3]] or ")
    numbers = (
        "5",
        "10",
        "0",
        "11",
        "7.5",
        "7.",
        "05",
        "05.5",
        "00",
        "-1",
        "5/10",
        "five",
        "٣",
        "1e1",
    )
    forms = ("[[{}]]", "[{}]", "[[{}]", "[[[{}]]]\n", "{}", "[[{}]] of 10")
    texts = [head + shaped(n, form) for head, n, form in product(heads, numbers, forms)]
    return {
        "prompts": [
            [messages, reply, *prompts(messages, reply)]
            for messages in conversations()
            for reply in REPLIES
        ],
        "verdicts": [[text, read(text)] for text in texts],
        "averages": [averages(seed) for seed in range(3)],
    }


# -- HLE


def hle(folder: Path) -> dict[str, Any]:
    import numpy as np

    names = ("openai", "tqdm", "tqdm.asyncio", "datasets")
    module = imported(folder / "hle_eval", "run_judge_results", *names)
    ask = imported(folder / "hle_eval", "run_model_predictions")
    module.args = ask.args = SimpleNamespace(judge="judge", model="gpt")
    prompts: list[str] = []

    def judged(question: str, answer: str, reply: str, words: str = "") -> Any:
        async def parse(messages: Any, **_: Any) -> Any:
            (message,) = messages
            prompts.append(message["content"])
            parsed = module.ExtractedAnswer.model_validate_json(words)
            return SimpleNamespace(
                choices=[SimpleNamespace(message=SimpleNamespace(parsed=parsed))]
            )

        module.client.beta.chat.completions.parse = parse
        return attempt(lambda: asyncio.run(module.extract_answer(question, answer, reply)))

    def read(words: str) -> list[str] | None:
        content = judged("q", "a", "r", words)
        return None if content is None else [content["correct"], str(content["confidence"])]

    def error(confidence: list[int], right: list[bool], kind: Any) -> float:
        sort = np.argsort
        module.np.argsort = lambda values: sort(values, kind=kind)
        result = float(module.calib_err(np.array(confidence) / 100, np.array(right)))
        module.np.argsort = sort
        return result

    def figures(n: int, seed: int, ties: bool) -> dict[str, Any]:
        draw = random.Random(seed)
        stated = draw.choices(range(0, 101, 5), k=n) if ties else draw.sample(range(3 * n), k=n)
        right = [draw.random() < 0.3 for _ in stated]
        value = error(stated, right, "stable" if ties else None)
        return {"confidence": stated, "right": right, "calibration_error": value}

    common = {"extracted_final_answer": "a", "reasoning": "b"}
    values = product(
        ("yes", "no", "Yes", "", True, None),
        (0, 85, 100, 150, -5, "85", "85%", 85.0, 85.5, None, "x"),
        (True, False, None, "true", 1),
    )
    objects = [
        {**common, "correct": correct, "confidence": confidence, "strict": strict}
        for correct, confidence, strict in values
    ]
    full = objects[0]
    objects += [{key: full[key] for key in full if key != name} for name in full]
    objects += [{**full, "extracted_final_answer": 3}, {**full, "reasoning": None}, {}]
    objects += [{**full, "more": 1}, dict(reversed(full.items()))]
    objects += [
        {**full, "extracted_final_answer": answer, "reasoning": reason, "correct": correct}
        for answer in (*ANSWERS, "None", "a\ncorrect: no")
        for reason in (*REPLIES, '"correct": "no"', "é\u2028\\")
        for correct in ("yes", "no")
    ]
    objects += [{**full, "confidence": percent} for percent in range(101)]
    texts = [json.dumps(content) for content in objects]
    good = json.dumps(full)
    texts += [good[:-1], f"{good} x", f" {good}\n", f"[{good}]", f"{good[:-1]}}}}}", "{}", ""]
    texts += ["null", json.dumps(full, indent=2), f'{good[:-1]}, "correct": "no"}}']
    rows = [*product(QUESTIONS, ANSWERS, REPLIES)]
    for row in rows:
        judged(*row)
    digests = [*map(sha256, prompts)]
    picture = "data:image/png;base64,iVBORw0KGgo="
    return {
        "prompts": [[*row, digest] for row, digest in zip(rows, digests, strict=True)],
        "questions": [
            [text, image, ask.format_message({"question": text, "image": image})]
            for text in QUESTIONS
            for image in ("", picture)
        ],
        "verdicts": [[text, read(text)] for text in texts],
        "figures": [
            figures(n, seed, ties)
            for seed, (n, ties) in enumerate(product((200, 299, 300, 512), (True, False)))
        ],
    }


def main() -> None:
    vibe, simple, charts, world, baby, mistral, exam = map(Path, sys.argv[1:])
    content = {
        "vibe-eval": vibe_eval(vibe),
        "simplevqa": simplevqa(simple),
        "charxiv reasoning": charxiv_reasoning(charts),
        "charxiv descriptive": charxiv_descriptive(charts),
        "worldvqa": worldvqa(world),
        "babyvision": babyvision(baby),
        "mm-mt-bench": mm_mt_bench(mistral),
        "hle": hle(exam),
    }
    raw = json.dumps(content, ensure_ascii=False).encode()
    OUT.write_bytes(gzip.compress(raw, mtime=0))


if __name__ == "__main__":
    main()
