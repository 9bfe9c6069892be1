"""The options of a run, each declared once.

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
    """Options that the documentation lists under one heading."""

    title: str
    """The heading."""
    role: Role
    """`identity`: part of what is asked; `amount`: how much of it; `environment`: how it runs."""


@dataclass(frozen=True)
class Option:
    """What an option means, beside its name and type."""

    group: OptionGroup
    """The options that it is listed with."""
    help: str
    """One or two sentences, as `--help` shows them."""
    _: KW_ONLY
    default: Any = None
    """The value where nothing sets it."""
    default_text: str | None = None
    """How the default is shown; None: as it is, if it says anything."""
    metavar: str | None = None
    """What stands for its value in `--help`; None: a word for its type."""
    flag: str | None = None
    """Its name on the command line and in plan files; None: the field's."""
    expected: str | None = None
    """What its value must be, for messages; None: derived from its type."""
    read: Callable[[Any], Any] | None = None
    """Gives the value that a text stands for, and raises ValueError; None: the text itself."""
    is_setting: bool = False
    """Whether repeating the flag asks for a run with each value."""


WHAT = OptionGroup("What is asked", "identity")
HOW_MUCH = OptionGroup("How much", "amount")
EXAMPLES = OptionGroup("Examples", "identity")
PROBES = OptionGroup("Probes", "identity")
MODEL = OptionGroup("The model", "identity")
SERVER = OptionGroup("Where the model runs", "environment")
SAMPLING = OptionGroup("Sampling", "identity")
REQUESTS = OptionGroup("Requests", "environment")
BUDGET = OptionGroup("Budget", "amount")
RESULTS = OptionGroup("Replies and results", "environment")


class RunOptions(TypedDict, total=False):
    """The options of `snellen run`, of a plan file, and of `evaluate`, in the order of `--help`."""

    data: Annotated[
        str | Path | None,
        Option(
            WHAT,
            "Where the rows are; `synthetic`: the bundled ones.",
            expected="a path",
            read=data_at,
        ),
    ]
    task: Annotated[
        str | None,
        Option(WHAT, "What a file of rows asks: mcq, vqa, yesno, count, caption.", metavar="KIND"),
    ]
    columns: Annotated[
        Mapping[str, str] | None,
        Option(
            WHAT,
            "What a column of a file of rows means; repeatable.",
            flag="map",
            metavar="COL=FIELD",
            expected="a mapping of columns to fields",
        ),
    ]
    prompt: Annotated[
        str | None,
        Option(
            WHAT,
            "A prompt preset of the benchmark; repeated, each is a run, and all are compared.",
            metavar="PRESET",
            is_setting=True,
        ),
    ]
    frames: Annotated[
        str | None,
        Option(
            WHAT,
            "How videos are shown: uniform:64, fps:1,max=256,pixels=151200, last:4@1, or a "
            "preset; repeatable, as --prompt.",
            metavar="POLICY",
            is_setting=True,
        ),
    ]
    image_size: Annotated[
        Count | Literal["original"] | None,
        Option(
            WHAT,
            "The longer side of pictures at most, in pixels; repeatable, as --prompt.",
            metavar="PX|original",
            is_setting=True,
            read=option_text.image_size,
        ),
    ]
    adapter: Annotated[
        str | None,
        Option(
            WHAT,
            "How a model that does not watch streams is shown them: window:4 (the newest four "
            "frames), window:all, reask:POLICY.",
            metavar="KIND",
        ),
    ]
    limit: Annotated[Count | None, Option(HOW_MUCH, "Only the first N rows.")]
    sample: Annotated[
        Count | None, Option(HOW_MUCH, "N rows drawn in proportion to the categories.")
    ]
    sample_seed: Annotated[int, Option(HOW_MUCH, "Draws other rows.", default=0)]
    repeats: Annotated[Count, Option(HOW_MUCH, "How often each question is asked.", default=1)]
    shots: Annotated[
        Count | None,
        Option(EXAMPLES, "K answered examples before each question.", metavar="K"),
    ]
    shots_from: Annotated[
        str | None,
        Option(
            EXAMPLES,
            "Where they come from: a file in the same form, or another split (split=dev); "
            "without it, rows of your own that are then not asked.",
            metavar="FILE|OPTIONS",
        ),
    ]
    shots_seed: Annotated[int, Option(EXAMPLES, "Draws other examples.", default=0)]
    blind: Annotated[
        Blind | None,
        Option(
            PROBES,
            "Is it about seeing? Ask "
            + ", ".join(f"{change} ({kind})" for kind, change in CHANGES.items())
            + ".",
        ),
    ]
    permute_options: Annotated[
        Annotated[int, msgspec.Meta(ge=2, le=120)] | None,
        Option(
            PROBES, "Ask each question up to K times with its options in other places.", metavar="K"
        ),
    ]
    open_ended: Annotated[
        bool, Option(PROBES, "Ask questions with options without showing them.", default=False)
    ]
    probe_seed: Annotated[int, Option(PROBES, "Draws other pictures or orders.", default=0)]
    out: Annotated[
        str | Path,
        Option(
            RESULTS,
            "For run folders; also s3://BUCKET/FOLDER.",
            default=Path("runs"),
            expected="a path",
            read=path_of,
        ),
    ]
    base_url: Annotated[
        str | None, Option(SERVER, "A compatible server: http://localhost:8000/v1", metavar="URL")
    ]
    api_key_env: Annotated[
        str | None,
        Option(SERVER, "Environment variable that holds the key.", metavar="NAME"),
    ]
    serve: Annotated[
        Literal["vllm", "sglang", "transformers"] | None,
        Option(
            MODEL,
            "Start a server of openai/NAME's NAME, here, for this run, and stop it at the end.",
        ),
    ]
    serve_args: Annotated[
        Sequence[str],
        Option(
            MODEL,
            "A word of that server's command line (--serve-arg=--dtype=float16); repeatable.",
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
            "N copies of a model that runs here, each in a process of its own, by Ray.",
            metavar="N",
        ),
    ]
    executor: Annotated[
        Literal["ray"] | None,
        Option(SERVER, "Copies by Ray: without --replicas as many as there are GPUs."),
    ]
    ray_address: Annotated[
        str | None,
        Option(
            SERVER,
            "The Ray cluster that they are in (RAY_ADDRESS); by default one of this run's "
            "own, here.",
            metavar="HOST:PORT|auto",
        ),
    ]
    gpus_per_replica: Annotated[
        Amount | None,
        Option(
            SERVER,
            "A copy's GPUs, or its part of one; by default an equal share of all.",
            metavar="G",
        ),
    ]
    trust_remote_code: Annotated[
        bool | None,
        Option(MODEL, "Let a model that runs here (hf/…) bring code of its own, and run it."),
    ]
    profile: Annotated[
        Profile | str | Path | None,
        Option(MODEL, "A model profile (TOML).", expected="a Profile or the path of a TOML file"),
    ]
    concurrency: Annotated[
        Count | Literal["auto"] | None,
        Option(
            REQUESTS,
            "Requests at once; auto finds what a server bears, and asks a sync function of "
            "your own one at a time.",
            metavar="N|auto",
            default_text="auto",
            read=option_text.concurrency,
        ),
    ]
    max_tokens: Annotated[
        Count | None, Option(SAMPLING, "For a reply, instead of the benchmark's limit.")
    ]
    temperature: Annotated[
        Amount | Literal["default"] | None,
        Option(
            SAMPLING,
            "Of sampling; default sends none, for services that refuse it.",
            metavar="X|default",
            read=option_text.temperature,
        ),
    ]
    seed: Annotated[int | None, Option(SAMPLING, "Sent with each request.")]
    timeout: Annotated[
        Mapping[Literal["connect", "first", "total"], Seconds] | None,
        Option(
            REQUESTS,
            "For one request.",
            metavar=option_text.TIMEOUTS,
            expected="a mapping of connect, first, or total to seconds",
            read=option_text.timeouts,
        ),
    ]
    max_requests: Annotated[
        Count | None, Option(BUDGET, "Stop after so many in this call, to go on later.")
    ]
    max_cost: Annotated[
        Amount | None,
        Option(
            BUDGET,
            "Stop when this call has spent so much; needs the profile's prices.",
            metavar="X",
            read=option_text.amount,
        ),
    ]
    max_time: Annotated[
        Amount | None,
        Option(BUDGET, "Stop after 90s, 10m, 2h.", metavar="TIME", read=option_text.seconds),
    ]
    missing: Annotated[
        Missing | None,
        Option(RESULTS, "What failed questions count as; by default they are in no mean."),
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
            RESULTS,
            "Take replies to the very same requests from this run of the same model; repeatable.",
            metavar="RUN",
            default=(),
            expected="a list of run folders",
            read=runs_at,
        ),
    ]
