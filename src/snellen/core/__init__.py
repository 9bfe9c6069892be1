"""The core types: samples, replies, models, benchmarks, scorings, and profiles.

This package may import media types, data tables, metrics, and statistics, but no back end. Start
with `benchmark.py`, which leads from a row to a sample, a prompt, a reading, and a score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from snellen import lazy

if TYPE_CHECKING:
    from snellen.core.answer import (
        Answer as Answer,
        BoxAnswer as BoxAnswer,
        ChoiceAnswer as ChoiceAnswer,
        IntervalAnswer as IntervalAnswer,
        NamedAnswers as NamedAnswers,
        PointAnswer as PointAnswer,
        PolygonAnswer as PolygonAnswer,
        SeveralAnswers as SeveralAnswers,
        TableAnswer as TableAnswer,
        answer_words as answer_words,
    )
    from snellen.core.benchmark import Benchmark as Benchmark, Check as Check, History as History
    from snellen.core.coordinates import (
        Coordinates as Coordinates,
        CoordinateUse as CoordinateUse,
    )
    from snellen.core.exchange import (
        Interop as Interop,
        Published as Published,
        Results as Results,
        Submission as Submission,
    )
    from snellen.core.model import (
        Emission as Emission,
        Forks as Forks,
        Generates as Generates,
        Generation as Generation,
        Prompts as Prompts,
        Query as Query,
        Ranked as Ranked,
        Ranking as Ranking,
        Ranks as Ranks,
        Replays as Replays,
        Reply as Reply,
        Request as Request,
        Session as Session,
        SessionSpec as SessionSpec,
        Step as Step,
        Streams as Streams,
        Times as Times,
        Usage as Usage,
    )
    from snellen.core.presentation import (
        UNMAPPED as UNMAPPED,
        Capabilities as Capabilities,
        Presentation as Presentation,
    )
    from snellen.core.procedure import Conversation as Conversation, Procedure as Procedure
    from snellen.core.profile import Profile as Profile
    from snellen.core.provenance import Provenance as Provenance
    from snellen.core.sample import Sample as Sample
    from snellen.core.scoring import (
        JudgeBatches as JudgeBatches,
        Judge as Judge,
        Parts as Parts,
        Reading as Reading,
        ReplyTable as ReplyTable,
        Resolution as Resolution,
        Scoring as Scoring,
    )
    from snellen.core.streaming import Streaming as Streaming
    from snellen.core.tools import (
        MalformedCall as MalformedCall,
        ToolResult as ToolResult,
        ToolSpec as ToolSpec,
        call_arguments as call_arguments,
        is_malformed as is_malformed,
    )
    from snellen.data import DataFile as DataFile, Row as Row, Table as Table
    from snellen.media.content import (
        Address as Address,
        Image as Image,
        Message as Message,
        Part as Part,
        Role as Role,
        Text as Text,
        ToolCall as ToolCall,
        Video as Video,
        assistant as assistant,
        system as system,
        tool as tool,
        user as user,
    )
    from snellen.metrics import Category as Category, Columns as Columns, Metric as Metric
    from snellen.stats import Estimate as Estimate

_FILES = {
    "UNMAPPED": "presentation",
    "Address": ".media.content",
    "Answer": "answer",
    "Benchmark": "benchmark",
    "BoxAnswer": "answer",
    "Capabilities": "presentation",
    "Category": ".metrics",
    "Check": "benchmark",
    "ChoiceAnswer": "answer",
    "Columns": ".metrics",
    "Conversation": "procedure",
    "CoordinateUse": "coordinates",
    "Coordinates": "coordinates",
    "DataFile": ".data",
    "Emission": "model",
    "Estimate": ".stats",
    "Forks": "model",
    "Generates": "model",
    "Generation": "model",
    "History": "benchmark",
    "Image": ".media.content",
    "Interop": "exchange",
    "IntervalAnswer": "answer",
    "JudgeBatches": "scoring",
    "Judge": "scoring",
    "MalformedCall": "tools",
    "Message": ".media.content",
    "Metric": ".metrics",
    "NamedAnswers": "answer",
    "Part": ".media.content",
    "Parts": "scoring",
    "PointAnswer": "answer",
    "PolygonAnswer": "answer",
    "Presentation": "presentation",
    "Procedure": "procedure",
    "Profile": "profile",
    "Prompts": "model",
    "Provenance": "provenance",
    "Published": "exchange",
    "Query": "model",
    "Ranked": "model",
    "Ranking": "model",
    "Ranks": "model",
    "Reading": "scoring",
    "Replays": "model",
    "Reply": "model",
    "ReplyTable": "scoring",
    "Request": "model",
    "Resolution": "scoring",
    "Results": "exchange",
    "Role": ".media.content",
    "Row": ".data",
    "Sample": "sample",
    "Scoring": "scoring",
    "Session": "model",
    "SessionSpec": "model",
    "SeveralAnswers": "answer",
    "Step": "model",
    "Streaming": "streaming",
    "Streams": "model",
    "Submission": "exchange",
    "Table": ".data",
    "TableAnswer": "answer",
    "Text": ".media.content",
    "Times": "model",
    "ToolCall": ".media.content",
    "ToolResult": "tools",
    "ToolSpec": "tools",
    "Usage": "model",
    "Video": ".media.content",
    "answer_words": "answer",
    "assistant": ".media.content",
    "call_arguments": "tools",
    "is_malformed": "tools",
    "system": ".media.content",
    "tool": ".media.content",
    "user": ".media.content",
}
__all__ = [*_FILES]
__getattr__ = lazy.attributes(__name__, _FILES)
