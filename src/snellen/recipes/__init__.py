"""Recipes: how the makers of models asked the questions of each benchmark.

A recipe is a TOML file. It says who asked, with which prompts, pictures, and settings, and where
that is documented. `load("qwen2-vl")` reads a recipe, `Recipe.ask("mmstar")` returns how it asks
the questions of a data set, and `Ask.messages(sample)` builds the messages that the maker's code
would send.

This package may import `core`, `media`, and `errors`. It does not depend on models.
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
