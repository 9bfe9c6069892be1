"""What the framework records on a benchmark that it makes or changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.core.source import Source


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a benchmark was loaded and transformed. The registry and the transforms set it, with
    `vary`; part of a run's identity, but for the notes."""

    options: Mapping[str, object] = field(default_factory=dict)
    """The options that it was loaded with."""
    shots: Mapping[str, object] = field(default_factory=dict)
    """The examples before each question (`transforms.shots`); empty: none."""
    probe: Mapping[str, object] = field(default_factory=dict)
    """How else the questions are asked (`transforms.probes`); empty: as they are."""
    recipe: Mapping[str, object] = field(default_factory=dict)
    """How a recipe asks in its own words (`transforms.recipe`); empty: in the benchmark's."""
    recipe_source: Mapping[str, str] = field(default_factory=dict)
    """The recipe's name, data set, evidence, source, and mode of thinking, for the manifest. They
    are not in the identity, since recipes that ask the same are one run."""
    called: str | None = None
    """The name that models with prompts of their own know it by; None: its own name."""
    notes: tuple[str, ...] = ()
    """Sentences that every result shows after those of the author."""
    from_catalog: bool = field(default=False, repr=False, compare=False)
    """Whether the catalog can rebuild it from what a run stores. `dataclasses.replace` of the
    benchmark drops it, because a changed benchmark is a different benchmark."""
    source: Source | None = field(default=None, repr=False, compare=False)
    """Where somebody's own benchmark comes from; None: from the catalog, or not yet known. Only the
    registry sets it, and `dataclasses.replace` drops it too."""
