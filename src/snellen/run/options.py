"""The options of a run; each is declared once.

The command line, plan files, `evaluate`, the manifest, and the documentation read them from
`RunOptions`. To add an option, add a field there, and use its value in this room.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from snellen.core.profile import Amount, Count, Profile, Seconds
from snellen.core.scoring import Missing
from snellen.run import option_text
from snellen.store import data_at, path_of, runs_at
from snellen.transforms.probes import CHANGES, Blind

Role = Literal["identity", "amount", "environment"]


@dataclass(frozen=True)
class OptionGroup:
    """Options under one heading of `--help` and the documentation."""

    title: str
    """The heading."""
    role: Role
    """`identity`: part of the requests; `amount`: how many of them; `environment`: how they run."""


@dataclass(frozen=True)
class Option:
    """The declaration of an option, besides its name and type."""

    group: OptionGroup
    """The group that lists the option."""
    help: str
    """One or two sentences, as `--help` shows them."""
    _: KW_ONLY
    default: Any = None
    """The value if nothing sets it."""
    default_text: str | None = None
    """How the default is shown; None: unchanged, if it says anything."""
    metavar: str | None = None
    """The placeholder for its value in `--help`; None: a word for its type."""
    flag: str | None = None
    """The name on the command line and in plan files; None: the name of the field."""
    expected: str | None = None
    """A description of its valid values, for messages; None: derived from its type."""
    read: Callable[[Any], Any] | None = None
    """Parses a value from text, or raises ValueError; None: the text itself."""
    is_setting: bool = False
    """Whether each use of the flag makes a separate run."""


BENCHMARK = OptionGroup("Benchmark", "identity")
QUESTIONS = OptionGroup("Which questions", "amount")
HOW = OptionGroup("How they are asked", "identity")
SHOTS = OptionGroup("Few-shot examples", "identity")
PROBES = OptionGroup("Probes", "identity")
MODEL = OptionGroup("Model", "identity")
SERVER = OptionGroup("Server and replicas", "environment")
SAMPLING = OptionGroup("Sampling", "identity")
REQUESTS = OptionGroup("Requests", "environment")
BUDGET = OptionGroup("Budget", "amount")
OUTPUT = OptionGroup("Replies and results", "environment")
GROUPS = (
    *(BENCHMARK, MODEL, QUESTIONS, HOW, SAMPLING, SHOTS, PROBES),
    *(SERVER, REQUESTS, BUDGET, OUTPUT),
)
"""All groups, in the order of `--help`."""


class RunOptions(TypedDict, total=False):
    """The options of `snellen run`, of a plan file, and of `evaluate`. `--help` shows each group in
    this order."""

    data: Annotated[
        str | Path | None,
        Option(
            BENCHMARK,
            "The benchmark's rows: a file or a folder; `synthetic` for the bundled rows.",
            expected="a path",
            read=data_at,
        ),
    ]
    task: Annotated[
        str | None,
        Option(
            BENCHMARK,
            "The kind of question in a file of rows: mcq, vqa, yesno, count, caption.",
            metavar="KIND",
        ),
    ]
    columns: Annotated[
        Mapping[str, str] | None,
        Option(
            BENCHMARK,
            "The field that a column of a file of rows holds; repeatable.",
            flag="map",
            metavar="COL=FIELD",
            expected="a mapping of columns to fields",
        ),
    ]
    prompt: Annotated[
        str | None,
        Option(
            HOW,
            "A prompt preset of the benchmark; repeat it to compare several, with a run for each.",
            metavar="PRESET",
            is_setting=True,
        ),
    ]
    recipe: Annotated[
        str | None,
        Option(
            HOW,
            "Ask as a model's maker did: a name of `snellen list recipes` or a file, and if needed "
            ":DATA_SET and :VARIANT.",
            metavar="NAME",
        ),
    ]
    recipe_without: Annotated[
        Sequence[str],
        Option(
            HOW,
            "A setting of the recipe that is left out, because the model cannot take it; "
            "repeatable.",
            metavar="SETTING",
            default=(),
            expected="a list of settings",
        ),
    ]
    frames: Annotated[
        str | None,
        Option(
            HOW,
            "The frames of videos to show: uniform:64, fps:1,max=256,pixels=151200, last:4@1, or "
            "a preset; repeatable, like --prompt.",
            metavar="POLICY",
            is_setting=True,
        ),
    ]
    image_size: Annotated[
        Count | Literal["original"] | None,
        Option(
            HOW,
            "The largest allowed longer side of pictures, in pixels; repeatable, like --prompt.",
            metavar="PX|original",
            is_setting=True,
            read=option_text.image_size,
        ),
    ]
    adapter: Annotated[
        str | None,
        Option(
            HOW,
            "What a model that cannot watch streams sees of them: window:4 (the newest four "
            "frames), window:all, reask:POLICY.",
            metavar="KIND",
        ),
    ]
    limit: Annotated[Count | None, Option(QUESTIONS, "Use only the first N rows.")]
    sample: Annotated[
        Count | None, Option(QUESTIONS, "Draw N rows in proportion to the categories.")
    ]
    sample_seed: Annotated[
        int, Option(QUESTIONS, "The seed for drawing rows, and for their random order.", default=0)
    ]
    until_stderr: Annotated[
        Seconds | None,
        Option(
            QUESTIONS,
            "Ask rows in a random order until the standard error of the headline is at most X "
            "(0.01 is one percentage point).",
            metavar="X",
            expected="a number above 0",
            read=option_text.positive,
        ),
    ]
    repeats: Annotated[
        Count, Option(QUESTIONS, "The number of replies to each question.", default=1)
    ]
    shots: Annotated[
        Count | None,
        Option(SHOTS, "The number of answered examples before each question.", metavar="K"),
    ]
    shots_from: Annotated[
        str | None,
        Option(
            SHOTS,
            "The source of the examples: a file in the same form, or another split (split=dev); "
            "by default the benchmark's own rows, which are then not asked.",
            metavar="FILE|OPTIONS",
        ),
    ]
    shots_seed: Annotated[int, Option(SHOTS, "The seed for drawing examples.", default=0)]
    blind: Annotated[
        Blind | None,
        Option(
            PROBES,
            "Test whether the score depends on seeing: ask "
            + ", ".join(f"{change} ({kind})" for kind, change in CHANGES.items())
            + ".",
        ),
    ]
    permute_options: Annotated[
        Annotated[int, msgspec.Meta(ge=2, le=120)] | None,
        Option(
            PROBES,
            "Ask each question up to K times, with its choices in different orders.",
            metavar="K",
        ),
    ]
    open_ended: Annotated[
        bool, Option(PROBES, "Ask questions without showing their choices.", default=False)
    ]
    probe_seed: Annotated[int, Option(PROBES, "The seed for pictures or orders.", default=0)]
    out: Annotated[
        str | Path,
        Option(
            OUTPUT,
            "The folder for run folders; also s3://BUCKET/FOLDER.",
            default=Path("runs"),
            expected="a path",
            read=path_of,
        ),
    ]
    base_url: Annotated[
        str | None,
        Option(
            SERVER, "The address of a compatible server: http://localhost:8000/v1", metavar="URL"
        ),
    ]
    api_key_env: Annotated[
        str | None,
        Option(SERVER, "The environment variable that holds the key.", metavar="NAME"),
    ]
    serve: Annotated[
        Literal["vllm", "sglang", "transformers"] | None,
        Option(
            SERVER,
            "Start a server for NAME of openai/NAME on this machine, for this run only.",
        ),
    ]
    serve_args: Annotated[
        Sequence[str],
        Option(
            SERVER,
            "A word of the server's command line (--serve-arg=--dtype=float16); repeatable.",
            flag="serve_arg",
            metavar="WORD",
            default=(),
            expected="a list of words",
        ),
    ]
    replicas: Annotated[
        Count | None,
        Option(
            SERVER,
            "The number of copies of a local model, each in its own process, by Ray.",
            metavar="N",
        ),
    ]
    executor: Annotated[
        Literal["ray"] | None,
        Option(SERVER, "Run copies by Ray; without --replicas, one per GPU."),
    ]
    ray_address: Annotated[
        str | None,
        Option(
            SERVER,
            "The Ray cluster for the copies (RAY_ADDRESS); by default one that this run starts "
            "on this machine.",
            metavar="HOST:PORT|auto",
        ),
    ]
    gpus_per_replica: Annotated[
        Amount | None,
        Option(
            SERVER,
            "The GPUs of a copy, or its fraction of one; by default an equal share of all.",
            metavar="G",
        ),
    ]
    trust_remote_code: Annotated[
        bool | None,
        Option(MODEL, "Run the code that comes with a local model (hf/…)."),
    ]
    profile: Annotated[
        Profile | str | Path | None,
        Option(
            MODEL,
            "The profile of the model (TOML).",
            expected="a Profile or the path of a TOML file",
        ),
    ]
    concurrency: Annotated[
        Count | Literal["auto"] | None,
        Option(
            REQUESTS,
            "The number of concurrent requests; auto adapts to the server, and calls a sync "
            "function of your own one request at a time.",
            metavar="N|auto",
            default_text="auto",
            read=option_text.concurrency,
        ),
    ]
    max_tokens: Annotated[
        Count | None, Option(SAMPLING, "The token limit of a reply, instead of the benchmark's.")
    ]
    temperature: Annotated[
        Amount | Literal["default"] | None,
        Option(
            SAMPLING,
            "The sampling temperature; default sends none, for services that refuse it.",
            metavar="X|default",
            read=option_text.temperature,
        ),
    ]
    seed: Annotated[int | None, Option(SAMPLING, "The sampling seed, sent with each request.")]
    timeout: Annotated[
        Mapping[Literal["connect", "first", "total"], Seconds] | None,
        Option(
            REQUESTS,
            "Time limits of a request, in seconds.",
            metavar=option_text.TIMEOUTS,
            expected="a mapping of connect, first, or total to seconds",
            read=option_text.timeouts,
        ),
    ]
    max_requests: Annotated[
        Count | None,
        Option(BUDGET, "Stop after this many requests in this call; the same command resumes."),
    ]
    max_cost: Annotated[
        Amount | None,
        Option(
            BUDGET,
            "Stop when this call has cost this much; needs the profile's prices.",
            metavar="X",
            read=option_text.amount,
        ),
    ]
    max_time: Annotated[
        Amount | None,
        Option(
            BUDGET, "Stop after this time: 90s, 10m, 2h.", metavar="TIME", read=option_text.seconds
        ),
    ]
    missing: Annotated[
        Missing | None,
        Option(OUTPUT, "How failed questions count; by default they are in no mean."),
    ]
    allow_urls: Annotated[
        bool,
        Option(
            REQUESTS,
            "Fetch pictures from URLs in the data. Without this option, such a URL is an error.",
            default=False,
        ),
    ]
    reuse: Annotated[
        Sequence[str | Path],
        Option(
            OUTPUT,
            "Reuse replies to identical requests from this run of the same model; repeatable.",
            metavar="RUN",
            default=(),
            expected="a list of run folders",
            read=runs_at,
        ),
    ]
