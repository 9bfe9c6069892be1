"""The nouns: samples, replies, models, benchmarks, scorings, profiles.

May import media types, data tables, metrics, and statistics; never a back end or a file's name.
Start with `benchmark.py`: row, sample, prompt, reading, score.
"""

from snellen.core.benchmark import Benchmark, Check, History
from snellen.core.exchange import Interop, Published, Results, Submission
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
from snellen.core.presentation import Capabilities, Presentation
from snellen.core.procedure import Conversation, Procedure
from snellen.core.profile import Profile
from snellen.core.provenance import Provenance
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
    ToolCall,
    Video,
    assistant,
    system,
    tool,
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
    "Conversation",
    "Emission",
    "Estimate",
    "Forks",
    "Found",
    "Generates",
    "Generation",
    "History",
    "Image",
    "Interop",
    "Judge",
    "Message",
    "Metric",
    "Part",
    "Parts",
    "Presentation",
    "Procedure",
    "Profile",
    "Prompts",
    "Provenance",
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
    "ToolCall",
    "Usage",
    "Video",
    "assistant",
    "system",
    "tool",
    "user",
]
