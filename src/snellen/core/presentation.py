"""How a benchmark's results are presented: the breakdowns, and what their categories mean."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from snellen.core.answer import Answer
from snellen.core.sample import Sample

UNMAPPED = "unmapped"


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """The capability that each category of a tag requires of a model."""

    tag: str
    """The tag whose values are the categories. If it is "", all samples are in one category, also
    called ""."""
    leaves: Mapping[str, str]
    """Maps each category to a leaf of `capabilities.TREE`, or to `unmapped`."""
    source: str
    """Where the benchmark's authors define the categories."""

    def leaf(self, sample: Sample) -> str:
        """The leaf of the capability tree that a sample belongs to; `unmapped` if the sample's
        category is not mapped."""
        return self.leaves.get(sample.tags.get(self.tag, ""), UNMAPPED)


@dataclass(frozen=True, kw_only=True)
class Presentation:
    """How results are broken down, and the notes that are shown with the results."""

    break_down_by: tuple[str, ...] = ()
    """The tags by which results are broken down. A random selection of samples is balanced by the
    first tag."""
    metric_tags: tuple[str, ...] = ()
    """Tags that are used only by metrics, not for breakdowns."""
    ladders: Mapping[str, str] = field(default_factory=dict)
    """The names of metrics, keyed by tag. The categories of each of these tags are levels of
    difficulty, and the metric estimates the threshold: the most difficult level that the model can
    still read."""
    capabilities: Capabilities | None = None
    """The capabilities that the categories require. None: there are no results by capability."""
    target_answer: Callable[[Sample], Answer | None] | None = None
    """Returns the right answer as an object, such as a box, so that the viewer can draw it over the
    picture. None: the right answer is text."""
    target_box: Callable[[Sample], tuple[float, float, float, float] | None] | None = None
    """Returns the left, top, right, and bottom edges of what the question is about, in pixels of
    its first picture, for `--oracle-crop`. None: the data have no such boxes."""
    notes: tuple[str, ...] = ()
    """Notes that are shown with every result."""
