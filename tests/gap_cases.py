"""Cases for `--explain-gap`: two ways of asking, and a server that knows which fields matter.

A case is drawn from a seed. Its recipe differs from the benchmark's settings in some fields. The
server reads from each request which of these fields have the recipe's values, and answers right
with a probability that depends on the question and on the fields that matter: a question is
answered right if the level of the way exceeds the question's difficulty, which is uniform in
[0, 1], by more than a normal deviate of the request. So the score of a way is about its level, and
questions near the level go either way, as with a model that is sampled.
"""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal

import PIL.Image

import snellen
from snellen.analysis.gap import Gap
from tests.servers import Answer, ReceivedRequest, completion, serving

Kind = Literal["none", "single", "added", "joint", "either"]
NOISE = 0.15
"""The standard deviation of the deviate, in units of the score."""
BASE = 0.35
"""The level of the base."""
EFFECTS = (0.12, 0.37)
"""The range of effects: what makers' fields were reported to cost, from pictures to token
limits."""
ADDED_EFFECTS = (0.12, 0.25)
"""The range of each of two effects that add up."""
QUESTIONS = 400
LETTERS = "ABCD"
OFFICIAL = "Answer with the option's letter from the given choices directly."
THOUGHTFUL = "Think about the picture first. Then answer with the letter."
SYSTEM = "You are a careful reader."
TOML: Mapping[str, tuple[str, str]] = {
    "max_tokens": ("generation", "max_new_tokens = 4096"),
    "temperature": ("generation", "temperature = 0.7"),
    "top_p": ("generation", "top_p = 0.8"),
    "extra.top_k": ("generation", "top_k = 20"),
    "extra.repetition_penalty": ("generation", "repetition_penalty = 1.05"),
    "extra.presence_penalty": ("generation", "presence_penalty = 1.5"),
    "thinking": ("generation", "enable_thinking = true"),
    "images.min_pixels": ("picture", "min_pixels = 1024"),
}
"""The fields of a recipe by their names in a gap: the table and the line."""
FIELDS = ("prompt", "system", *TOML)


@dataclass(frozen=True)
class GapCase:
    """A recipe, and the rule by which a server answers."""

    seed: int
    kind: Kind
    fields: tuple[str, ...]
    """The fields in which the two ways differ."""
    effects: Mapping[str, float]
    """The effect of each field that matters; of fields that act together, the joint effect."""

    def level(self, recipes: frozenset[str]) -> float:
        """The level of a way in which these fields have the recipe's values."""
        active = [effect for name, effect in self.effects.items() if name in recipes]
        if not active or (self.kind == "joint" and len(active) < 2):
            return BASE
        return BASE + (active[0] if self.kind in ("joint", "either") else sum(active))

    def is_right(self, question: int, recipes: frozenset[str]) -> bool:
        difficulty = Random(f"{self.seed} {question}").random()
        deviate = Random(f"{self.seed} {question} {sorted(recipes)}").gauss(0, NOISE)
        return self.level(recipes) + deviate > difficulty


def drawn(seed: int, kind: Kind, most: int = 7) -> GapCase:
    """A case with 4 to `most` fields."""
    random = Random(f"case {seed}")
    fields = tuple(random.sample(FIELDS, random.randint(4, most)))
    names = random.sample(fields, {"none": 0, "single": 1}.get(kind, 2))
    if kind == "added":
        effects = {name: random.uniform(*ADDED_EFFECTS) for name in names}
    else:
        effects = dict.fromkeys(names, random.uniform(*EFFECTS))
    return GapCase(seed=seed, kind=kind, fields=fields, effects=effects)


@cache
def picture(question: int) -> str:
    """A question's own picture of 256 pixels, in base64: questions with one picture are one
    cluster."""
    out = io.BytesIO()
    PIL.Image.new("RGB", (16, 16), (question % 256, question // 256, 0)).save(out, "PNG")
    return base64.b64encode(out.getvalue()).decode()


def target(question: int) -> str:
    return LETTERS[question * 7 % 4]


def write_rows(path: Path, questions: int = QUESTIONS) -> None:
    rows = [
        {
            **{"id": f"q{n}", "question": f"Question {n}: which one?", "image": picture(n)},
            **{letter: f"thing {letter}" for letter in LETTERS},
            "answer": target(n),
        }
        for n in range(questions)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_recipe(path: Path, rows: Path, fields: tuple[str, ...]) -> None:
    tables: dict[str, list[str]] = {"generation": [], "picture": []}
    for name in fields:
        if name in TOML:
            table, line = TOML[name]
            tables[table].append(line)
    words = THOUGHTFUL if "prompt" in fields else OFFICIAL
    template = "{{ images | join }}{{ question }}\\n{{ choices | lettered }}" + words
    lines = [
        'family = "Stand-in"',
        'evidence = "maker-code"',
        'source = "stand-in/stand-in@0000000:ask.py"',
        f'prompts.words = "{template}"',
        "[[asks]]",
        'data_sets = ["stand-in"]',
        f'benchmark = "{rows}"',
        'prompt = "words"',
        *([f'system = "{SYSTEM}"'] if "system" in fields else []),
        *(f"{table} = {{ {', '.join(parts)} }}" for table, parts in tables.items() if parts),
    ]
    path.write_text("\n".join(lines) + "\n")


def fields_of(body: Mapping[str, Any], question: int) -> frozenset[str]:
    """The fields that have the recipe's values in a request."""
    *before, last = body["messages"]
    texts = [part["text"] for part in last["content"] if part["type"] == "text"]
    pictures = [part["image_url"]["url"] for part in last["content"] if part["type"] == "image_url"]
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    has: dict[str, bool] = {
        "prompt": THOUGHTFUL in texts[-1],
        "system": bool(before) and before[0]["role"] == "system",
        "max_tokens": limit == 4096,
        "temperature": body.get("temperature") == 0.7,
        "top_p": body.get("top_p") == 0.8,
        "extra.top_k": body.get("top_k") == 20,
        "extra.repetition_penalty": body.get("repetition_penalty") == 1.05,
        "extra.presence_penalty": body.get("presence_penalty") == 1.5,
        "thinking": bool(body.get("chat_template_kwargs", {}).get("enable_thinking")),
        "images.min_pixels": not pictures[0].endswith(picture(question)),
    }
    return frozenset(name for name, is_recipes in has.items() if is_recipes)


def rule(case: GapCase) -> Callable[[ReceivedRequest], Answer]:
    """The server's answers."""

    def answer(request: ReceivedRequest) -> Answer:
        body = request.json
        match = re.search(rb"Question (\d+):", request.body)
        assert match is not None
        question = int(match[1])
        recipes = fields_of(body, question)
        right = target(question)
        wrong = LETTERS[(LETTERS.index(right) + 1) % 4]
        return completion(right if case.is_right(question, recipes) else wrong)

    return answer


def explained(case: GapCase, folder: Path, budget: int = 3_000) -> Gap:
    """What `--explain-gap` says of a case, asked of a server on this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    rows, recipe = folder / "rows.jsonl", folder / "stand-in.toml"
    write_rows(rows)
    write_recipe(recipe, rows, case.fields)
    with serving(rule(case)) as server:
        result = snellen.card(
            f"{recipe}",
            "openai/m",
            explain_gap=True,
            budget=budget,
            base_url=server.url,
            out=folder / "runs",
        )
    (gap,) = result.card.gaps
    return gap
