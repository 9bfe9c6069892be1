"""What a recipe holds: who asked, which data sets, with which prompts and settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from snellen.core.sample import Sample
from snellen.errors import UsageError
from snellen.media.content import Message
from snellen.recipes.facts import CardFigure, Evidence, Figure, RecipeScoring, RecipeThinking
from snellen.recipes.prompts import Loads, Piece, VideoFrame, as_text, expanded, pieces_of, rendered
from snellen.recipes.tiles import Tiles, scaled


class Manner(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How data sets are asked: the fields of `[defaults]`, `[[asks]]`, and `[variants.NAME]`."""

    prompt: str
    """The name of the prompt's template."""
    benchmark: str | None = None
    """The benchmark in Snellen, with its options; None if there is none."""
    question: str = ""
    """The field of a sample's data that is the question; empty: the sample's own question."""
    system: str = ""
    """The system message; empty if none is sent."""
    raw: str = ""
    """The form of a prompt with the model's control words, where `{}` is the user's turn; empty if
    messages are sent. What follows `{}` is a template that sees the `turn`."""
    variables: dict[str, str | list[str]] = {}
    """Further names for the template."""
    generation: dict[str, object] = {}
    """The settings of the model call, by the source's own names."""
    unset: list[str] = []
    """Settings that the source passes without a value."""
    picture: dict[str, int] = {}
    """Limits for each picture, such as `max_pixels`, by the source's own names."""
    tiles: Tiles | None = None
    """How pictures are cut into tiles; None if they are not, or if it is unknown."""
    tiles_together: bool = False
    """Whether the source counts the tiles of all pictures of a question together."""
    resized: bool = False
    """Whether the settings name the size to which the first picture is scaled."""
    fault: str = ""
    """What is wrong in the source, which the recipe repeats; empty if nothing is."""
    builder: str = ""
    """The toolkit whose fault it is, if the recipe has the maker's name: such a run names it."""
    evidence: Evidence | None = None
    """Who vouches for this way of asking; None: as for the whole recipe."""
    scoring: RecipeScoring | None = None
    """How the figures were scored; None if it is unknown."""
    thinking: RecipeThinking | None = None
    """Whether the model thinks; None if it is unknown, or the model cannot."""
    conflicts: list[str] = []
    """Where sources contradict each other about this way of asking."""
    unknown: list[str] = []
    """What no source says about it."""
    source: str = ""
    """Where it is written: repository@commit:file#lines, or the end of it, after the recipe's."""
    figures: list[Figure] = []
    """Published figures; `unknown` says if they may have been measured in another way."""

    def is_of(self, benchmark: str) -> bool:
        """Whether this is a benchmark in Snellen, by its name with or without options."""
        spec = (self.benchmark or "").casefold()
        return bool(spec) and benchmark.casefold() in (spec, spec.partition(":")[0])


@dataclass(frozen=True, kw_only=True)
class Ask:
    """How a recipe asks one data set."""

    recipe: str
    """The recipe's name."""
    data_set: str
    """The data set, by the name that the source uses, in lower case."""
    variant: str = ""
    """The way of asking; empty for the usual one."""
    evidence: Evidence
    """Who vouches for it."""
    manner: Manner
    """How it is asked."""
    load: Loads = field(repr=False, compare=False)
    """Returns a template by its name."""

    @property
    def template(self) -> str:
        """The prompt's template, with the templates that it includes."""
        return expanded(self.manner.prompt, self.load)

    def pieces(self, sample: Sample) -> list[Piece]:
        """The user's turn: texts, pictures, and videos in order.

        Raises:
            UsageError: the template does not fit the sample.
        """
        field = self.manner.question
        if field in sample.data:
            if not sample.data[field]:
                raise UsageError(
                    f"The recipe {self.recipe} asks {self.data_set} with the field {field!r} of "
                    f"the data, and sample {sample.id} has none. Use the published data."
                )
            sample = replace(sample, question=str(sample.data[field]))
        return pieces_of(self.manner.prompt, self.load, sample, self.manner.variables)

    def text(self, sample: Sample) -> str:
        """What is sent as text, with `<image>` and `<video>` where media stand.

        Raises:
            UsageError: the template does not fit the sample.
        """
        turn = as_text(self.pieces(sample))
        if not self.manner.raw:
            return turn
        before, _, after = self.manner.raw.partition("{}")
        return before + turn + rendered(after, {"turn": turn})

    def messages(self, sample: Sample) -> tuple[Message, ...]:
        """The messages for a model.

        Raises:
            UsageError: the template does not fit the sample, or the recipe sends what no back end
                can send: a prompt with control words, or frames between texts.
        """
        self.check_sendable()
        pieces = self.pieces(sample)
        if any(isinstance(piece, VideoFrame) for piece in pieces):
            raise UsageError(
                f"The recipe {self.recipe} sends {self.data_set} as frames with a text before "
                "each. No back end sends such prompts."
            )
        parts = tuple(piece for piece in pieces if not isinstance(piece, VideoFrame))
        system = (Message("system", (self.manner.system,)),) if self.manner.system else ()
        return (*system, Message("user", parts))

    def check_sendable(self) -> None:
        """Check that the prompt is one of messages.

        Raises:
            UsageError: it is a text with the model's control words.
        """
        if self.manner.raw:
            raise UsageError(
                f"The recipe {self.recipe} sends {self.data_set} as one prompt with the model's "
                "control words. No back end sends such prompts."
            )

    @property
    def modes(self) -> list[str]:
        """The source's modes, if it has several: each has settings of its own, and nothing else."""
        settings = self.manner.generation
        is_by_mode = settings and all(isinstance(value, dict) for value in settings.values())
        return [*settings] if is_by_mode else []

    def model_settings(self) -> dict[str, object]:
        """The settings of the model call that hold for all pictures.

        Raises:
            UsageError: the source has several modes, and the variant does not name one.
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
        """The settings of the model call, by the source's names, for pictures of these sizes.

        Args:
            sizes: The width and height of each picture in pixels.
        """
        settings = {**self.manner.generation, **dict.fromkeys(self.manner.unset)}
        if self.manner.resized and sizes:
            least, most = (self.manner.picture[name] for name in ("min_pixels", "max_pixels"))
            settings["resized"] = list(scaled(*sizes[0], least=least, most=most))
        if self.manner.tiles is not None:
            counts = self.manner.tiles.counts(sizes)
            settings["tiles"] = [sum(counts)] if self.manner.tiles_together else counts
        return settings


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a maker, or a toolkit, asked a family of models."""

    name: str
    """The name, as in `--recipe NAME`."""
    family: str
    """The family of models."""
    checkpoints: Sequence[str]
    """The checkpoints that it is for."""
    evidence: Evidence
    """Who vouches for it."""
    source: str
    """Where it is written: repository@commit:path."""
    asks: Mapping[tuple[str, str], Ask]
    """How each data set is asked, by its name and variant ("" is the usual one)."""
    variants: Sequence[str]
    """Other ways in which the source asks, such as `cot`."""
    notes: Sequence[str]
    """What a reader must know."""
    conflicts: Sequence[str]
    """Where sources contradict each other."""
    unknown: Sequence[str]
    """What no source says."""
    figures: Sequence[CardFigure] = ()
    """Published figures, also of benchmarks whose way of asking is unknown."""
    provider: str = "bundled"
    """Who provides it: `bundled`, the path of a file, or a package and its version."""

    def ask(self, data_set: str, variant: str = "") -> Ask:
        """How a data set is asked.

        Args:
            data_set: The data set, or the benchmark in Snellen if only one data set is it.
            variant: The variant or mode; empty for the usual way of asking.

        Raises:
            UsageError: the recipe does not say, or several of its data sets are this benchmark.
        """
        if data_set not in {name for name, _ in self.asks}:
            data_set = self._of_benchmark(data_set)
        ask = self.asks.get((data_set, variant))
        usual = self.asks.get((data_set, ""))
        if ask is None and usual is not None and variant in (*usual.modes, usual.manner.builder):
            return replace(usual, variant=variant)
        if ask is None:
            known = ", ".join(sorted({name for name, _ in self.asks}))
            wanted = f"{data_set} ({variant})" if variant else data_set
            raise UsageError(
                f"The recipe {self.name} does not say how {wanted} is asked. It has: {known}."
            )
        return ask

    def _of_benchmark(self, benchmark: str) -> str:
        """The data set that is a benchmark in Snellen; `benchmark` itself if none is.

        Raises:
            UsageError: several are.
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
