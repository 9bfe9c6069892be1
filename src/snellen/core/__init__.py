"""The nouns: samples, replies, models, benchmarks, scorings, profiles.

May import media types, data tables, metrics, and statistics; never a back end or a file's name.
Start with `benchmark.py`: row, sample, prompt, reading, score.
"""

from snellen.core.benchmark import Benchmark, Capabilities, Check, History
from snellen.core.exchange import Published, Results, Submission
from snellen.core.model import (
    Emission,
    Forks,
    Generates,
    Generation,
    Prompts,
    Query,
    Ranked,
    Ranking,
    Ranks,
    Reply,
    Request,
    Session,
    SessionSpec,
    Streams,
    Times,
    Usage,
)
from snellen.core.profile import Profile
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Parts, Reading, ReplyTable, Resolution, Scoring
from snellen.core.streaming import Streaming
from snellen.data import Found, Row, Table
from snellen.media.content import (
    Address,
    Image,
    Message,
    Part,
    Role,
    Text,
    Video,
    assistant,
    system,
    user,
)
from snellen.metrics import Category, Columns, Metric
from snellen.stats import Estimate

__all__ = [
    "Address",
    "Benchmark",
    "Capabilities",
    "Category",
    "Check",
    "Columns",
    "Emission",
    "Estimate",
    "Forks",
    "Found",
    "Generates",
    "Generation",
    "History",
    "Image",
    "Judge",
    "Message",
    "Metric",
    "Part",
    "Parts",
    "Profile",
    "Prompts",
    "Published",
    "Query",
    "Ranked",
    "Ranking",
    "Ranks",
    "Reading",
    "Reply",
    "ReplyTable",
    "Request",
    "Resolution",
    "Results",
    "Role",
    "Row",
    "Sample",
    "Scoring",
    "Session",
    "SessionSpec",
    "Streaming",
    "Streams",
    "Submission",
    "Table",
    "Text",
    "Times",
    "Usage",
    "Video",
    "assistant",
    "system",
    "user",
]
