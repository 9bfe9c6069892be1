"""How a benchmark's results are presented: break-downs, and what their categories mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from snellen.core.sample import Sample

UNMAPPED = "unmapped"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What each category of a tag asks of a model."""

    tag: str
    """The tag of the categories; "" has one category, "", that all samples are in."""
    leaves: Mapping[str, str]
    """For each category a leaf of `capabilities.TREE`, or `unmapped`."""
    source: str
    """Where the benchmark's authors define the categories."""

    def leaf(self, sample: Sample) -> str:
        """The leaf that a sample counts for; `unmapped` for a category that is not mapped."""
        return self.leaves.get(sample.tags.get(self.tag, ""), UNMAPPED)


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """How results are broken down, and what readers must know about them."""

    break_down_by: tuple[str, ...] = ()
    """Tags that results are broken down by; the first also balances a selection of samples."""
    metric_tags: tuple[str, ...] = ()
    """Tags that metrics read, by which results are not broken down."""
    ladders: Mapping[str, str] = field(default_factory=dict)
    """Break-downs that are levels of difficulty, with the metric that says where reading ends."""
    capabilities: Capabilities | None = None
    """What its categories ask of a model; None: it has no figures by capability."""
    notes: tuple[str, ...] = ()
    """Sentences that every result shows."""
