"""The types: samples, replies, models, benchmarks, scorings, profiles.

May import media types, data tables, metrics, and statistics, but no back end. It knows no file's
name. Start with `benchmark.py`: row, sample, prompt, reading, score.
"""

from snellen.core.answer import (
    Answer,
    BoxAnswer,
    ChoiceAnswer,
    IntervalAnswer,
    NamedAnswers,
    PointAnswer,
    PolygonAnswer,
    SeveralAnswers,
    TableAnswer,
    answer_words,
)
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
from snellen.core.presentation import UNMAPPED, Capabilities, Presentation
from snellen.core.procedure import Conversation, Procedure
from snellen.core.profile import Profile
from snellen.core.provenance import Provenance
from snellen.core.sample import Sample
from snellen.core.scoring import Judge, Parts, Reading, ReplyTable, Resolution, Scoring
from snellen.core.streaming import Streaming
from snellen.data import DataFile, Row, Table
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
    "UNMAPPED",
    "Address",
    "Answer",
    "Benchmark",
    "BoxAnswer",
    "Capabilities",
    "Category",
    "Check",
    "ChoiceAnswer",
    "Columns",
    "Conversation",
    "DataFile",
    "Emission",
    "Estimate",
    "Forks",
    "Generates",
    "Generation",
    "History",
    "Image",
    "Interop",
    "IntervalAnswer",
    "Judge",
    "Message",
    "Metric",
    "NamedAnswers",
    "Part",
    "Parts",
    "PointAnswer",
    "PolygonAnswer",
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
    "SeveralAnswers",
    "Streaming",
    "Streams",
    "Submission",
    "Table",
    "TableAnswer",
    "Text",
    "Times",
    "ToolCall",
    "Usage",
    "Video",
    "answer_words",
    "assistant",
    "system",
    "tool",
    "user",
]
