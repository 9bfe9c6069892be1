"""Write what the code of EMMA and MathVerse makes of generated replies and of generated verdicts.

usage: python scripts/maths_judges.py EMMA MATHVERSE VLMEVALKIT

The arguments are checkouts of EMMA-Bench/EMMA, ZrrSkywalker/MathVerse, and open-compass/VLMEvalKit.
Their functions build the prompts of their judges and read the verdicts; no model is asked. The
result, tests/parity/maths_judges.json.gz, has the digest of each prompt, and which verdicts count.
"""

import gzip
import hashlib
import importlib
import json
import sys
import tempfile
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

OUT = Path(__file__).parents[1] / "tests/parity/maths_judges.json.gz"
STUBS = ("latex2sympy2", "sympy", "word2number", "openai", "tqdm", "PIL", "PIL.Image")
REPLIES = (
    "\\boxed{B}",
    "It is 3.5.\n",
    "{0} {answer} 'x' % \\n",
    "  two  spaces ",
    "答案是 B",
    "Extracted Answer: 5 Judgement: 1",
    " ".join(f"w{number}" for number in range(70)),
    "x \n" * 40,
)
QUESTIONS = ("", "What is {x}?", "Find L.\nChoices:\nA:2√{3}\nB:3", "求 x")
ANSWERS = ("B", "d", "\\frac{1}{2}", "{gt}")
PREFIXES = ("", " ", "\n", "Judgement:", "Judgement: ", "judgement: ", "**", "Correct_or_not: ")
WORDS = ("1", "0", "01", "\uff11", "2", "Correct", "correct", "CORRECT", "Incorrect", "true", "")
SUFFIXES = ("", " ", ".", "\n", " because", "**")
VERDICTS = ["".join(parts) for parts in product(PREFIXES, WORDS, SUFFIXES)]


def imported(folder: Path, *names: str) -> list[Any]:
    for name in ("utils", "prompts"):
        sys.modules.pop(name, None)
    sys.modules.update({stub: MagicMock() for stub in STUBS})
    sys.modules["tqdm"].tqdm = lambda items: items  # type: ignore[attr-defined]
    sys.path.insert(0, str(folder / "evaluation"))
    return [importlib.import_module(name) for name in names]


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def emma(folder: Path) -> dict[str, Any]:
    (module,) = imported(folder, "evaluate")

    def judged(rows: list[tuple[str, str]], words: list[str]) -> tuple[list[str], list[bool]]:
        """The prompts, and whether a verdict counts, as evaluate.py finds."""
        prompts: list[str] = []

        def call(_: object, __: str, prompt: str) -> str:
            prompts.append(prompt)
            return words[len(prompts) - 1].strip()  # as call_gpt does

        module.call_gpt = call
        arguments = SimpleNamespace(
            response_label="response",
            gpt_eval=True,
            rerun=True,
            api_key="",
            model="",
            save_every=1e9,
        )
        records = {
            str(number): {"pid": str(number), "response": reply, "answer": answer}
            for number, (reply, answer) in enumerate(rows)
        }
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / "model.json"
            path.write_text(json.dumps(records))
            module.gen_true_false(path, arguments)
            results = json.loads(path.read_text())
        return prompts, [row["true_false"] for row in results.values()]

    rows = [*product(REPLIES, ANSWERS)]
    prompts, _ = judged(rows, ["Correct"] * len(rows))
    _, counts = judged([("x", "A")] * len(VERDICTS), VERDICTS)
    return {
        "prompts": [[*row, sha256(prompt)] for row, prompt in zip(rows, prompts, strict=True)],
        "verdicts": [[*pair] for pair in zip(VERDICTS, counts, strict=True)],
    }


def mathverse(folder: Path) -> dict[str, Any]:
    first, second = imported(folder, "extract_answer_s1", "score_answer_s2")
    prompts: list[str] = []

    def extract(reply: str) -> str:
        end = first.trunk_response(reply, 30)
        return sha256(first.create_test_prompt(first.demo_prompt_extract, end, None))

    def compare(question: str, answer: str, words: str) -> str:
        extraction = words.replace("Extracted Answer: ", "").strip()  # as extract_answer_s1.py#L95
        row = {"question": question, "answer": answer, "extraction": extraction}
        second.get_chat_response = lambda prompt, _: prompts.append(prompt) or "1"
        second.match_answer(row, "")
        return sha256(prompts[-1])

    def verdict(words: str) -> int | None:
        second.get_chat_response = lambda *_: words.strip()  # as utils.py does
        text = second.match_answer({"question": "", "answer": "", "extraction": ""}, "")
        return int(text) if text.strip() in ["0", "1"] else None

    return {
        "extract": [[reply, extract(reply)] for reply in REPLIES],
        "compare": [[*row, compare(*row)] for row in product(QUESTIONS, ANSWERS, REPLIES)],
        "verdicts": [[words, verdict(words)] for words in VERDICTS],
    }


def vlmevalkit(folder: Path) -> dict[str, Any]:
    stubs = ("numpy", "pandas", "vlmeval", "vlmeval.smp", "vlmeval.smp.file")
    sys.modules.update({stub: MagicMock() for stub in stubs})
    sys.path.insert(0, str(folder / "vlmeval/dataset/utils"))
    module = importlib.import_module("mathverse")

    def compare(question: str, answer: str, words: str) -> str:
        row = {"question_for_eval": question, "answer": answer, "extract": words}
        return sha256(module.build_mathverse_gpt4_score_prompt(row))

    def verdict(words: str) -> int | None:
        model = SimpleNamespace(generate=lambda *_, **__: words)
        row = {"question_for_eval": "", "answer": "a", "extract": "b", "prediction": ""}
        result = module.MathVerse_auxeval_score(model, row)
        return int(result["score"]) if result["log_score"].endswith("Succeed") else None

    return {
        "extract": [
            [reply, sha256(module.build_mathverse_gpt4_extract_prompt({"prediction": reply}))]
            for reply in REPLIES
        ],
        "compare": [[*row, compare(*row)] for row in product(QUESTIONS, ANSWERS, REPLIES)],
        "verdicts": [[words, verdict(words)] for words in VERDICTS],
    }


def main() -> None:
    folders = [Path(argument) for argument in sys.argv[1:]]
    if len(folders) != 3:
        sys.exit(__doc__)
    content = {
        "emma judged": emma(folders[0]),
        "mathverse official": mathverse(folders[1]),
        "mathverse vlmevalkit": vlmevalkit(folders[2]),
    }
    raw = json.dumps(content, ensure_ascii=False).encode()
    OUT.write_bytes(gzip.compress(raw, mtime=0))


if __name__ == "__main__":
    main()
