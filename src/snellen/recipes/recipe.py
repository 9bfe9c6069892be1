"""The contents of a recipe: the prompts and settings with which the questions of data sets are
asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from snellen.core.coordinates import Coordinates
from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Message
from snellen.media.sizes import in_squares
from snellen.media.stamps import STAMPS
from snellen.recipes.facts import CardFigure, Evidence, Figure, RecipeScoring, RecipeThinking
from snellen.recipes.prompts import (
    Loads,
    Piece,
    as_text,
    expanded,
    pieces_of,
    rendered,
    with_captions,
)
from snellen.recipes.tiles import Tiles


class Manner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How questions are asked: the fields of `[defaults]`, `[[asks]]`, and `[variants.NAME]`."""

    prompt: str
    """The name of the prompt's template."""
    benchmark: str | None = None
    """The benchmark in Snellen, with its options; None if there is none."""
    question: str = ""
    """The field of a sample's data that contains the question; empty: the sample's own question."""
    system: str = ""
    """The system message; empty if none is sent."""
    raw: str = ""
    """A raw prompt with the model's control words, in which `{}` stands for the user's turn; empty
    if messages are sent. The text after `{}` is a template with the variable `turn`."""
    lacks: str = ""
    """What the source's prompt shows but no benchmark in Snellen supplies, as in "the subtitles";
    empty if there is nothing of this kind. Questions cannot be sent without it."""
    variables: dict[str, str | list[str]] = {}
    """Additional variables of the template."""
    generation: dict[str, object] = {}
    """The generation settings, with the names that the source uses."""
    unset: list[str] = []
    """The settings that the source passes as None."""
    picture: dict[str, int] = {}
    """Limits for each picture, such as `max_pixels`, with the names that the source uses."""
    tiles: Tiles | None = None
    """How pictures are cut into tiles; None if they are not cut, or if the rule is not known."""
    tiles_together: bool = False
    """Whether the source passes only the total number of tiles of all pictures of a question."""
    resized: bool = False
    """Whether the settings include the size to which the first picture is scaled."""
    fault: str = ""
    """An error in the source that the recipe reproduces; empty if there is none."""
    builder: str = ""
    """The toolkit that contains the error; empty if no toolkit does.

    If the recipe is named after the maker, users must pass the toolkit as the variant.
    """
    evidence: Evidence | None = None
    """The kind of evidence for these settings; None: the same as for the whole recipe."""
    scoring: RecipeScoring | None = None
    """How the published figures were scored; None if not known."""
    thinking: RecipeThinking | None = None
    """How the model thinks; None if this is not known or if the model cannot think."""
    conflicts: list[str] = []
    """Where sources contradict each other about these settings."""
    unknown: list[str] = []
    """What the sources do not say about these settings."""
    coordinates: str = ""
    """The coordinates in which the model writes boxes and points (`core.coordinates`); empty if no
    source states them."""
    stamps: str = ""
    """The form of the text with the time or number of each frame of a video (`media.stamps`); empty
    if the source has none, or if the prompt contains it."""
    source: str = ""
    """The source of these settings: repository@commit:file#lines, or a suffix to the recipe's
    source."""
    figures: list[Figure] = []
    """Published figures. If a figure may come from other settings, the field `unknown` states
    this."""

    def __post_init__(self) -> None:
        if self.coordinates:
            Coordinates.read(self.coordinates)
        if self.stamps and self.stamps not in STAMPS:
            raise ValueError(f"`stamps` must be {' or '.join(STAMPS)}, not {self.stamps!r}")

    def is_of(self, benchmark: str) -> bool:
        """Return whether these settings are for this benchmark in Snellen. `benchmark` is the
        benchmark's name, with or without its options."""
        spec = (self.benchmark or "").casefold()
        return bool(spec) and benchmark.casefold() in (spec, spec.partition(":")[0])


@dataclass(frozen=True, kw_only=True)
class Ask:
    """How a recipe asks the questions of one data set."""

    recipe: str
    """The recipe's name."""
    data_set: str
    """The name of the data set in the source, in lowercase."""
    variant: str = ""
    """The recipe's variant; empty for the default."""
    evidence: Evidence
    """The kind of evidence for these settings."""
    manner: Manner
    """The prompt and settings."""
    load: Loads = field(repr=False, compare=False)
    """A function that returns a template by name."""

    @property
    def template(self) -> str:
        """The prompt's template, with included templates inserted."""
        return expanded(self.manner.prompt, self.load)

    def pieces(self, sample: Sample) -> list[Piece]:
        """Return the texts, pictures, and videos of the user's turn, in order.

        Raises:
            UsageError: the template cannot be rendered for the sample.
        """
        field = self.manner.question
        if field in sample.data:
            if not sample.data[field]:
                raise UsageError(
                    f"The recipe {self.recipe} takes the questions of {self.data_set} from the "
                    f"field {field!r}, which is empty in sample {sample.id}. Use the published "
                    "data."
                )
            sample = replace(sample, question=str(sample.data[field]))
        return pieces_of(self.manner.prompt, self.load, sample, self.manner.variables)

    def text(self, sample: Sample) -> str:
        """Return the text of the prompt, with `<image>` or `<video>` in place of each picture or
        video.

        Raises:
            UsageError: the template cannot be rendered for the sample.
        """
        turn = as_text(self.pieces(sample))
        if not self.manner.raw:
            return turn
        before, _, after = self.manner.raw.partition("{}")
        return before + turn + rendered(after, {"turn": turn})

    def messages(self, sample: Sample) -> tuple[Message, ...]:
        """Build the messages for a model.

        Raises:
            UsageError: the template cannot be rendered for the sample, or the recipe sends raw
                prompts, which no back end supports.
        """
        self.check_sendable()
        parts = with_captions(self.pieces(sample))
        system = (Message("system", (self.manner.system,)),) if self.manner.system else ()
        return (*system, Message("user", parts))

    def check_sendable(self) -> None:
        """Check that the recipe sends messages instead of a raw prompt.

        Raises:
            UsageError: the recipe sends a raw prompt with the model's control words.
        """
        if self.manner.raw:
            raise UsageError(
                f"The recipe {self.recipe} sends questions of {self.data_set} as raw prompts with "
                "the model's control words. No back end sends such prompts."
            )

    def check_supplied(self) -> None:
        """Check that Snellen's benchmarks supply everything that the prompt shows.

        Raises:
            UsageError: they do not.
        """
        if self.manner.lacks:
            raise UsageError(
                f"The recipe {self.recipe} asks {self.data_set} with {self.manner.lacks}, which "
                "Snellen does not supply to recipes. Use another data set of the recipe."
            )

    @property
    def modes(self) -> list[str]:
        """The names of the source's modes, which differ only in their settings; empty if there is
        only one mode."""
        settings = self.manner.generation
        is_by_mode = settings and all(isinstance(value, dict) for value in settings.values())
        return [*settings] if is_by_mode else []

    def model_settings(self) -> dict[str, object]:
        """Return the generation settings that do not depend on the pictures.

        Raises:
            UsageError: the source has several modes, and the variant is not one of them.
        """
        settings = self.manner.generation
        modes = self.modes
        if not modes:
            unset = self.manner.unset
            return {name: value for name, value in settings.items() if name not in unset}
        mode = settings.get(self.variant)
        if not isinstance(mode, dict):
            raise UsageError(
                f"The recipe {self.recipe} asks {self.data_set} in the modes {', '.join(modes)}. "
                f"Name one: --recipe {self.recipe}:{self.data_set}:{modes[0]}."
            )
        return mode

    def settings(self, sizes: Sequence[tuple[int, int]] = ()) -> dict[str, object]:
        """Return all generation settings for pictures of these sizes, with the names that the
        source uses.

        Args:
            sizes: The width and height of each picture in pixels.
        """
        settings = {**self.manner.generation, **dict.fromkeys(self.manner.unset)}
        if self.manner.resized and sizes:
            least, most = (self.manner.picture[name] for name in ("min_pixels", "max_pixels"))
            resized = in_squares(*sizes[0], factor=32, least=least, most=most)
            settings["resized"] = list(resized)
        if self.manner.tiles is not None:
            counts = self.manner.tiles.counts(sizes)
            settings["tiles"] = [sum(counts)] if self.manner.tiles_together else counts
        return settings


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The prompts and settings with which a maker or a toolkit evaluated a family of models."""

    name: str
    """The name of the recipe, as in `--recipe NAME`."""
    family: str
    """The family of models."""
    checkpoints: Sequence[str]
    """The checkpoints that the recipe is for."""
    evidence: Evidence
    """The kind of evidence for the recipe."""
    source: str
    """Where the recipe is documented: repository@commit:path."""
    asks: Mapping[tuple[str, str], Ask]
    """How each data set's questions are asked, keyed by name and variant ("" is the default)."""
    variants: Sequence[str]
    """The names of the variants, such as `cot`."""
    notes: Sequence[str]
    """What users of the recipe must know."""
    conflicts: Sequence[str]
    """Where sources contradict each other."""
    unknown: Sequence[str]
    """What the sources do not say."""
    figures: Sequence[CardFigure] = ()
    """Published figures, including those whose prompts and settings are not known."""
    provider: str = "bundled"
    """The origin of the recipe: `bundled`, the path of a file, or a package and its version."""

    def ask(self, data_set: str, variant: str = "") -> Ask:
        """Return how the questions of a data set are asked.

        Args:
            data_set: The data set, or the benchmark in Snellen that matches exactly one data set.
            variant: The variant or mode; empty for the default.

        Raises:
            UsageError: the recipe has no such data set or variant, or several of its data sets
                match.
        """
        if data_set not in {name for name, _ in self.asks}:
            data_set = self._of_benchmark(data_set)
        ask = self.asks.get((data_set, variant))
        usual = self.asks.get((data_set, ""))
        if ask is None and usual is not None and variant in (*usual.modes, usual.manner.builder):
            return replace(usual, variant=variant)
        if ask is not None:
            return ask
        variants = {name for key, name in self.asks if key == data_set and name}
        if usual is not None:
            variants |= {*usual.modes, usual.manner.builder} - {""}
        wanted, known = data_set, sorted({name for name, _ in self.asks})
        if data_set in known:
            wanted = f"{data_set} ({variant})" if variant else f"{data_set} without a variant"
            known = sorted(variants) or ["no variants or modes of this data set"]
        raise UsageError(
            f"The recipe {self.name} does not say how {wanted} is asked. It has: "
            f"{', '.join(known)}."
        )

    def _of_benchmark(self, benchmark: str) -> str:
        """Return the data set that matches a benchmark in Snellen, or `benchmark` itself if none
        does.

        Raises:
            UsageError: several data sets match the benchmark.
        """
        data_sets = [
            name
            for (name, variant), ask in self.asks.items()
            if not variant and ask.manner.is_of(benchmark)
        ]
        if len(data_sets) > 1:
            raise UsageError(
                f"The recipe {self.name} asks {benchmark} in {len(data_sets)} ways: "
                f"{', '.join(data_sets)}. Name one."
            )
        return data_sets[0] if data_sets else benchmark
