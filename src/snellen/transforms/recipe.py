"""Asks a benchmark's questions as a recipe describes: with the prompt of the model's maker instead
of the benchmark's own prompt."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import msgspec

from snellen import recipes
from snellen.core.benchmark import Benchmark, History, vary, with_note
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Message

Load = Callable[[str], recipes.Recipe]
"""Returns the recipe with a name or path."""


def ask_for(benchmark: Benchmark, name: str, load: Load = recipes.load) -> recipes.Ask:
    """Find the part of a recipe that describes how to ask a benchmark.

    Args:
        benchmark: The benchmark.
        name: RECIPE, RECIPE:DATA_SET, or RECIPE:DATA_SET:VARIANT. DATA_SET can be empty if only one
            of the recipe's data sets corresponds to this benchmark.
        load: Returns the recipe.

    Raises:
        UsageError: there is no such recipe, the recipe does not cover this benchmark, or several of
            the recipe's data sets correspond to this benchmark and `name` contains none of them.
    """
    recipe_name, _, rest = name.partition(":")
    data_set, _, variant = rest.partition(":")
    recipe = load(recipe_name)
    if data_set:
        return _of_builder(recipe.ask(data_set, variant))
    candidates = [
        data_set
        for (data_set, its_variant), ask in recipe.asks.items()
        if not its_variant and _is_of(ask, benchmark)
    ]
    if len(candidates) == 1:
        return _of_builder(recipe.ask(candidates[0], variant))
    if candidates:
        raise UsageError(
            f"The recipe {recipe_name} asks {benchmark.name} in {len(candidates)} ways: "
            f"{', '.join(candidates)}. Name one: --recipe {recipe_name}:{candidates[0]}."
        )
    known = sorted({data_set for data_set, _ in recipe.asks})
    raise UsageError(
        f"The recipe {recipe_name} does not say how {benchmark.name} is asked. If {benchmark.name} "
        f"has another name there, use --recipe {recipe_name}:NAME, where NAME is one of: "
        f"{', '.join(known)}."
    )


def _of_builder(ask: recipes.Ask) -> recipes.Ask:
    """Return `ask` if it does not reproduce a fault of an evaluation toolkit, or if its variant
    names this toolkit.

    Raises:
        UsageError: the result would attribute a toolkit's fault to the model's maker.
    """
    builder = ask.manner.builder
    if ask.manner.fault and builder and ask.variant != builder:
        raise UsageError(
            f"The recipe {ask.recipe} describes only how {builder} asks {ask.data_set}, which has "
            f"a fault: {ask.manner.fault} To reproduce it anyway, name the toolkit: "
            f"--recipe {ask.recipe}:{ask.data_set}:{builder}."
        )
    return ask


def _is_of(ask: recipes.Ask, benchmark: Benchmark) -> bool:
    """Return whether a data set in a recipe corresponds to this benchmark and to the benchmark's
    options."""
    name, _, options = (ask.manner.benchmark or "").partition(":")
    if name != benchmark.name:
        return False
    chosen = {key: str(value) for key, value in benchmark.provenance.options.items()}
    pairs = (pair.partition("=") for pair in options.split(",") if pair)
    return all(chosen.get(key) == value for key, _, value in pairs)


def in_words_of_recipe(benchmark: Benchmark, name: str, load: Load = recipes.load) -> Benchmark:
    """Return the benchmark with a recipe's prompt.

    The benchmark's identity contains a digest of the recipe's prompt, and the recipe's system
    message, but not the recipe's name. Two recipes with the same prompt and system message
    therefore share one run.

    Raises:
        UsageError: the recipe does not cover this benchmark or requires something that no back end
            can send or no benchmark supplies, the benchmark does not consist of separate questions
            that are answered with text, or an option of the benchmark would have no effect, since
            its content is only in the benchmark's prompt.
    """
    ask = ask_for(benchmark, name, load)
    procedure = benchmark.procedure
    if procedure.only_in_prompt:
        raise UsageError(
            f"{benchmark.name}:{procedure.only_in_prompt} would have no effect with the recipe "
            f"{ask.recipe}, whose prompt replaces the benchmark's. Leave out "
            f"{procedure.only_in_prompt} or --recipe."
        )
    if procedure.kind != "generate" or procedure.streaming is not None:
        raise UsageError(
            f"--recipe is only for separate questions with text answers, but {benchmark.name} asks "
            f"for {'sessions' if procedure.kind == 'session' else 'a ranking'} here."
        )
    if benchmark.provenance.shots:
        raise UsageError("--recipe asks questions without examples. Leave out --shots.")
    ask.check_sendable()
    ask.check_supplied()
    manner = ask.manner
    parts = [ask.template, manner.variables, *([manner.question] if manner.question else [])]
    changed = vary(
        benchmark,
        prompt=lambda sample, history: ask.messages(sample) if not history else (),
        recipe={
            "prompt": sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()[:16],
            **({"system": manner.system} if manner.system else {}),
        },
        recipe_source={
            "name": ask.recipe,
            "data_set": ask.data_set,
            "evidence": str(ask.evidence),
            "source": str(ask.manner.source),
            **({} if manner.thinking is None else {"thinking": manner.thinking.mode}),
        },
    )
    for note in notes_of(ask, benchmark):
        changed = with_note(changed, note)
    return changed


def notes_of(ask: recipes.Ask, benchmark: Benchmark) -> list[str]:
    """Return the notes about the recipe that a result must contain."""
    manner = ask.manner
    notes = [
        f"asked by the recipe {ask.recipe} (as {ask.data_set}; evidence: {ask.evidence}; "
        f"{manner.source})"
    ]
    if manner.scoring is not None:
        closest = manner.scoring.scoring
        scored = f" (closest here: the scoring {closest})" if closest in benchmark.scorings else ""
        notes.append(f"the recipe's figures were scored so: {manner.scoring}{scored}")
    if manner.thinking is not None:
        notes.append(f"the recipe's thinking: {manner.thinking}")
    if manner.fault:
        notes.append(f"fault of the recipe: {manner.fault}")
    return notes


def in_part_of_recipe(
    benchmark: Benchmark,
    name: str,
    load: Load = recipes.load,
    *,
    prompt: bool = False,
    system: bool = False,
) -> Benchmark:
    """Return the benchmark with only a recipe's prompt or only a recipe's system message. The other
    part is the benchmark's own. If `prompt` and `system` are both true, this is the same as
    `in_words_of_recipe`.

    Raises:
        UsageError: as in `in_words_of_recipe`.
    """
    by_recipe = in_words_of_recipe(benchmark, name, load)
    if prompt and system:
        return by_recipe
    if not prompt and not system:
        return benchmark
    ask = ask_for(benchmark, name, load)
    turn, head = (by_recipe, benchmark) if prompt else (benchmark, by_recipe)

    def messages(sample: Sample, history: History) -> tuple[Message, ...]:
        rest = tuple(part for part in turn.prompt(sample, history) if part.role != "system")
        if not rest:
            return ()
        first = tuple(part for part in head.prompt(sample, ()) if part.role == "system")
        return (*first, *rest)

    # "part" distinguishes it from a complete recipe without a system message.
    digest = by_recipe.provenance.recipe["prompt"]
    part = {"prompt": digest} if prompt else {"system": ask.manner.system}
    name_of_part = "prompt" if prompt else "system"
    changed = vary(benchmark, prompt=messages, recipe={**part, "part": name_of_part})
    return with_note(
        changed,
        f"only the {'prompt' if prompt else 'system message'} is that of the recipe {ask.recipe} "
        f"(as {ask.data_set}; {ask.manner.source})",
    )
