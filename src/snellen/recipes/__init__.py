"""How makers of models asked each benchmark: recipes as data, and the messages they give.

A recipe is a TOML file: who asked, with which prompts, pictures, and settings, and where that is
written. `load("qwen2-vl")` reads one; `Recipe.ask("mmstar")` says how it asks a data set; and
`Ask.messages(sample)` builds the messages that the maker's code would send.

May import `core`, `media`, and `errors`; knows no model.
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
