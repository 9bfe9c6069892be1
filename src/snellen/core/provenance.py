"""What the framework records about a benchmark that it loads or changes."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.core.source import Source


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a benchmark was loaded and transformed.

    The registry and the transforms set this object by calling `vary`. All fields except the notes
    are part of a run's identity.
    """

    options: Mapping[str, object] = field(default_factory=dict)
    """The options that the benchmark was loaded with."""
    shots: Mapping[str, object] = field(default_factory=dict)
    """The solved examples before each question (`transforms.shots`); empty: none."""
    probe: Mapping[str, object] = field(default_factory=dict)
    """How a probe changes the questions (`transforms.probes`); empty: the questions are
    unchanged."""
    recipe: Mapping[str, object] = field(default_factory=dict)
    """How a recipe changes the prompt (`transforms.recipe`); empty: the prompt is unchanged."""
    recipe_source: Mapping[str, str] = field(default_factory=dict)
    """The recipe's name, data set, evidence, source, and mode of thinking, for the manifest. These
    facts are not part of the run's identity, because two recipes that send the same prompts lead to
    the same run."""
    called: str | None = None
    """The name of the benchmark for which a model with its own prompts chooses a prompt; None if it
    is the name of this benchmark."""
    notes: tuple[str, ...] = ()
    """Notes that are shown with every result, after the author's notes."""
    from_catalog: bool = field(default=False, repr=False, compare=False)
    """Whether the catalog can rebuild the benchmark from what a run stores. Calling
    `dataclasses.replace` on the benchmark resets this field, because a changed benchmark is a
    different benchmark."""
    source: Source | None = field(default=None, repr=False, compare=False)
    """Where a user's own benchmark comes from; None: the benchmark is from the catalog, or its
    source is not known yet. Only the registry sets this field, and calling `dataclasses.replace` on
    the benchmark resets the field to None."""
