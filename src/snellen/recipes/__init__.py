"""Recipes: how the makers of models asked the questions of each benchmark.

A recipe is a TOML file with prompts, picture limits, and generation settings, and with the source
that documents each of them. `load("qwen2-vl")` reads a recipe. `Recipe.ask("mmstar")` returns the
prompt and settings for a data set. `Ask.messages(sample)` builds the messages that the maker's code
would send.

This package may import `core`, `media`, and `errors`, but not `models`.
"""

from snellen.recipes.facts import CardFigure, Figure, RecipeScoring, RecipeThinking
from snellen.recipes.prompts import VideoFrame, as_text
from snellen.recipes.published import FigureBenchmark, FigureMetric, benchmark_of, metric_of
from snellen.recipes.reading import load, names
from snellen.recipes.recipe import Ask, Manner, Recipe
from snellen.recipes.tiles import Tiles, tile_count

__all__ = [
    "Ask",
    "CardFigure",
    "Figure",
    "FigureBenchmark",
    "FigureMetric",
    "Manner",
    "Recipe",
    "RecipeScoring",
    "RecipeThinking",
    "Tiles",
    "VideoFrame",
    "as_text",
    "benchmark_of",
    "load",
    "metric_of",
    "names",
    "tile_count",
]
