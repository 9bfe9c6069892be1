"""What the framework records about a benchmark that it loads or changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.core.source import Source


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a benchmark was loaded and transformed.

    The registry and the transforms set it with `vary`. It is part of a run's identity, except for
    the notes.
    """

    options: Mapping[str, object] = field(default_factory=dict)
    """The options that the benchmark was loaded with."""
    shots: Mapping[str, object] = field(default_factory=dict)
    """The solved examples before each question (`transforms.shots`); empty: none."""
    probe: Mapping[str, object] = field(default_factory=dict)
    """How a probe changes the questions (`transforms.probes`); empty: they are unchanged."""
    recipe: Mapping[str, object] = field(default_factory=dict)
    """How a recipe changes the prompt (`transforms.recipe`); empty: it is unchanged."""
    recipe_source: Mapping[str, str] = field(default_factory=dict)
    """The recipe's name, data set, evidence, source, and mode of thinking, for the manifest. They
    are not in the identity, since two recipes that send the same prompts are one run."""
    called: str | None = None
    """The benchmark's name for models that have their own prompts; None: the same as usual."""
    notes: tuple[str, ...] = ()
    """Sentences that every result shows after those of the author."""
    from_catalog: bool = field(default=False, repr=False, compare=False)
    """Whether the catalog can rebuild the benchmark from what a run stores. `dataclasses.replace`
    of the benchmark resets this field, because a changed benchmark is a different benchmark."""
    source: Source | None = field(default=None, repr=False, compare=False)
    """Where a user's own benchmark comes from; None: from the catalog, or not known yet. Only the
    registry sets this field, and `dataclasses.replace` resets it too."""
