"""The options of a run. Each option is declared once.

The command line, plan files, `evaluate`, the manifest, and the documentation are derived from
`RunOptions`. To add an option, add a field there and use its value in this package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from snellen.core.missing import Missing
from snellen.core.profile import Amount, Count, Profile, Seconds
from snellen.run import option_text
from snellen.store import RunPart, data_at, path_of, runs_at
from snellen.transforms.blind_kinds import CHANGES, Blind

Role = Literal["identity", "amount", "environment"]


@dataclass(frozen=True)
class OptionGroup:
    """Options that appear under one heading in `--help` and in the documentation."""

    title: str
    """The heading."""
    role: Role
    """What the options change. `identity`: the content of requests; `amount`: the number of
    requests; `environment`: only how requests are sent and results are stored."""


@dataclass(frozen=True)
class Option:
    """The declaration of an option, except for its name and type."""

    group: OptionGroup
    """The group that lists the option."""
    help: str
    """One or two sentences, as `--help` shows them."""
    _: KW_ONLY
    default: Any = None
    """The value if the option is not set anywhere."""
    default_text: str | None = None
    """The default as the documentation shows it; None: the value of `default`, if it is
    informative."""
    metavar: str | None = None
    """The placeholder for the option's value in `--help`; None: derived from its type."""
    flag: str | None = None
    """The name on the command line and in plan files; None: the name of the field."""
    expected: str | None = None
    """A description of the option's valid values, for messages; None: derived from its type."""
    read: Callable[[Any], Any] | None = None
    """Parses a value from text, or raises ValueError; None: the text itself is the value."""
    is_setting: bool = False
    """Whether each use of the flag adds a separate run."""


BENCHMARK = OptionGroup("Benchmark", "identity")
QUESTIONS = OptionGroup("Which questions", "amount")
HOW = OptionGroup("How they are asked", "identity")
TOOLS = OptionGroup("Tools", "identity")
SHOTS = OptionGroup("Few-shot examples", "identity")
PROBES = OptionGroup("Probes", "identity")
MODEL = OptionGroup("Model", "identity")
SERVER = OptionGroup("Server and replicas", "environment")
SAMPLING = OptionGroup("Sampling", "identity")
DRIVERS = OptionGroup("Several drivers", "environment")
REQUESTS = OptionGroup("Requests", "environment")
BUDGET = OptionGroup("Budget", "amount")
OUTPUT = OptionGroup("Replies and results", "environment")
GROUPS = (
    *(BENCHMARK, MODEL, QUESTIONS, HOW, SAMPLING, TOOLS, SHOTS, PROBES),
    *(SERVER, REQUESTS, DRIVERS, BUDGET, OUTPUT),
)
"""All groups, in the order of `--help`."""


class RunOptions(TypedDict, total=False):
    """The options of `snellen run`, plan files, and `evaluate`. Within each group, `--help` shows
    the options in the order of this class."""

    data: Annotated[
        str | Path | None,
        Option(
            BENCHMARK,
            "The file or folder with the benchmark's rows, or `synthetic` for the bundled rows.",
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
            "Use the column COL of a file of rows as the given field; repeatable.",
            flag="map",
            metavar="COL=FIELD",
            expected="a mapping of columns to fields",
        ),
    ]
    run_toolkit_code: Annotated[
        bool | None,
        Option(
            BENCHMARK,
            "Run the prompts and the scoring of an installed toolkit, for -b vlmevalkit:NAME and "
            "lmms-eval:TASK.",
        ),
    ]
    prompt: Annotated[
        str | None,
        Option(
            HOW,
            "A prompt preset of the benchmark. Repeat the option to compare several presets, each "
            "in its own run.",
            metavar="PRESET",
            is_setting=True,
        ),
    ]
    recipe: Annotated[
        str | None,
        Option(
            HOW,
            "Ask the questions as a model's maker did. NAME is a recipe from `snellen list "
            "recipes` or a recipe file, followed by :DATA_SET and :VARIANT if needed.",
            metavar="NAME",
        ),
    ]
    recipe_without: Annotated[
        Sequence[str],
        Option(
            HOW,
            "Leave out this setting of the recipe, because the model does not support it; "
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
            "Which frames of videos to show: uniform:64, fps:1,max=256,pixels=151200, last:4@1, or "
            "a preset; repeatable, like --prompt.",
            metavar="POLICY",
            is_setting=True,
        ),
    ]
    image_size: Annotated[
        Count | Literal["original"] | None,
        Option(
            HOW,
            "The maximum longer side of pictures, in pixels; repeatable, like --prompt.",
            metavar="PX|original",
            is_setting=True,
            read=option_text.image_size,
        ),
    ]
    adapter: Annotated[
        str | None,
        Option(
            HOW,
            "How much of a stream a model without streaming support sees: window:4 (the newest "
            "four frames), window:all, or reask:POLICY.",
            metavar="KIND",
        ),
    ]
    tools: Annotated[
        Sequence[str],
        Option(
            TOOLS,
            "Let the model call these tools before it answers: zoom, rotate, grid, frame, window, "
            "image_zoom_in_tool, or python:FILE:NAME for a function of your own; repeatable.",
            metavar="NAME,NAME",
            default=(),
            expected="a list of tools",
        ),
    ]
    tool_form: Annotated[
        Literal["native", "text"] | None,
        Option(
            TOOLS,
            "How the model gets the tools and writes calls: in the service's own form, or as text. "
            "By default, native if the back end supports it.",
        ),
    ]
    max_steps: Annotated[
        Count | None,
        Option(TOOLS, "The maximum number of replies to a question with tools.", default_text="6"),
    ]
    question_tokens: Annotated[
        Count | None,
        Option(
            TOOLS,
            "Ask no further step of a question once the replies to it have N tokens in total.",
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
    retry_truncated: Annotated[
        Count | None,
        Option(
            QUESTIONS,
            "If a reply was cut at the token limit, ask its question again with N tokens.",
            metavar="N",
        ),
    ]
    shots: Annotated[
        Count | None,
        Option(SHOTS, "The number of answered examples before each question.", metavar="K"),
    ]
    shots_from: Annotated[
        str | None,
        Option(
            SHOTS,
            "The source of the examples: a file in the same format, or another split (split=dev). "
            "By default, the examples are rows of the benchmark, and these rows are not asked.",
            metavar="FILE|OPTIONS",
        ),
    ]
    shots_seed: Annotated[int, Option(SHOTS, "The seed for drawing examples.", default=0)]
    blind: Annotated[
        Blind | None,
        Option(
            PROBES,
            "Test whether the score depends on the pictures: ask "
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
    oracle_crop: Annotated[
        bool,
        Option(
            PROBES,
            "Also show the part of the picture that the question is about: the score that zooming "
            "could reach.",
            default=False,
        ),
    ]
    probe_seed: Annotated[
        int, Option(PROBES, "The seed for --blind other and --permute-options.", default=0)
    ]
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
            "Start a server on this machine for the model openai/NAME, for this run only.",
        ),
    ]
    serve_args: Annotated[
        Sequence[str],
        Option(
            SERVER,
            "Add a word to the server's command line (--serve-arg=--dtype=float16); repeatable.",
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
            "The number of copies of a local model. Ray runs each copy in its own process.",
            metavar="N",
        ),
    ]
    executor: Annotated[
        Literal["ray"] | None,
        Option(
            SERVER,
            "Run copies of a local model with Ray; without --replicas, one copy per GPU. With "
            "--drivers N, Ray runs the drivers instead, on the nodes of a cluster.",
        ),
    ]
    ray_address: Annotated[
        str | None,
        Option(
            SERVER,
            "The address of the Ray cluster for the copies or drivers. By default, RAY_ADDRESS, or "
            "else, for copies, a cluster that this run starts on this machine.",
            metavar="HOST:PORT|auto",
        ),
    ]
    gpus_per_replica: Annotated[
        Amount | None,
        Option(
            SERVER,
            "The number of GPUs for each copy, or a fraction of a GPU. By default, each copy gets "
            "an equal share of all GPUs.",
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
            "The profile of the model, a TOML file.",
            expected="a Profile or the path of a TOML file",
        ),
    ]
    coordinates: Annotated[
        str | None,
        Option(
            MODEL,
            "The coordinates in which the model writes boxes and points: 0-1, 0-999, 0-1000, "
            "pixels-original, pixels-shown, pixels-shown:qwen2.5-vl, or yxyx-0-1000.",
            metavar="CONVENTION",
            expected="a convention of coordinates",
            read=option_text.coordinates,
        ),
    ]
    concurrency: Annotated[
        Count | Literal["auto"] | None,
        Option(
            REQUESTS,
            "The number of concurrent requests. With auto, the number adapts to the server. "
            "Your own function gets one request at a time unless the function is async.",
            metavar="N|auto",
            default_text="auto",
            read=option_text.concurrency,
        ),
    ]
    max_tokens: Annotated[
        Count | None, Option(SAMPLING, "The token limit of a reply, in place of the benchmark's.")
    ]
    temperature: Annotated[
        Amount | Literal["default"] | None,
        Option(
            SAMPLING,
            "The sampling temperature. With default, no temperature is sent, for services "
            "that reject the parameter.",
            metavar="X|default",
            read=option_text.temperature,
        ),
    ]
    effort: Annotated[
        Count | Literal["none", "low", "medium", "high"] | None,
        Option(
            SAMPLING,
            "How much the model thinks before it answers: a level, or a maximum number of tokens; "
            "repeatable, like --prompt.",
            metavar="none|low|medium|high|TOKENS",
            is_setting=True,
            read=option_text.effort,
        ),
    ]
    on_truncation: Annotated[
        str,
        Option(
            SAMPLING,
            "What to do if over 5 % of a run's first 50 replies are cut at the token limit: only "
            "warn, stop, or raise the limit to N tokens and ask the affected questions again.",
            default="continue",
            metavar="continue|stop|raise:N",
            read=option_text.on_truncation,
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
    drivers: Annotated[
        Count | None,
        Option(
            DRIVERS,
            "The number of processes that send the questions of a run, each a part of them, within "
            "one budget and one --concurrency. They run on this machine, or with --executor ray on "
            "the nodes of a Ray cluster.",
        ),
    ]
    part: Annotated[
        RunPart | None,
        Option(
            DRIVERS,
            "Send only the questions of this part of the run, such as 3/8. Other processes, also "
            "on other machines, may send the other parts at the same time.",
            metavar="I/N",
            expected="a part, such as 3/8",
            read=option_text.part,
        ),
    ]
    max_requests: Annotated[
        Count | None,
        Option(
            BUDGET,
            "Stop when this command has sent this many requests. Repeat the command to resume.",
        ),
    ]
    max_cost: Annotated[
        Amount | None,
        Option(
            BUDGET,
            "Stop when this command has spent this much. The profile must have prices.",
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
        Option(OUTPUT, "How failed questions count. By default, all means leave them out."),
    ]
    allow_urls: Annotated[
        bool,
        Option(
            REQUESTS,
            "Fetch pictures from URLs in the data. Without this option, such a URL is an error.",
            default=False,
        ),
    ]
    frame_cache: Annotated[
        str | None,
        Option(
            REQUESTS,
            "Keep the frames of videos in this folder, up to this size (20GB if left out), so that "
            "another run on the same videos decodes nothing.",
            metavar="DIR[:SIZE]",
            expected="a folder, and a size such as 50GB after a colon",
            read=option_text.frame_cache,
        ),
    ]
    reuse: Annotated[
        Sequence[str | Path],
        Option(
            OUTPUT,
            "Reuse replies of this run folder (of the same model) to identical requests; "
            "repeatable.",
            metavar="RUN",
            default=(),
            expected="a list of run folders",
            read=runs_at,
        ),
    ]
