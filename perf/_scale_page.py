"""docs/scale.md: what `scale.py` measured, beside what the model of a run foretells, and carried
over to machines that are not here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from _scale_predictions import (
    ALLOWED,
    GPUS,
    HTTP_BODY,
    PICTURE,
    SAMPLES,
    SMALL,
    SURPLUS,
    VLMS,
    WIRE,
    bears,
    drivers,
    first_full,
    points,
    predicted,
    under_way,
)

from snellen.run.limiter import MOST

# -- numbers in words


def shown(number: float) -> str:
    """Three significant digits, thousands with commas."""
    if not math.isfinite(number):
        return "-"
    if abs(number) >= 100:
        return f"{round(number, 2 - math.floor(math.log10(abs(number)))):,.0f}"
    return f"{number:.3g}"


def times(seconds: float) -> str:
    if seconds < 90:
        return f"{shown(seconds)} s"
    if seconds < 5400:
        return f"{shown(seconds / 60)} min"
    return f"{shown(seconds / 3600)} h"


def size(n: float) -> str:
    power = min(4, max(0, math.floor(math.log10(max(n, 1)) / 3)))
    return f"{shown(n / 1000**power)} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


def percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def slope(figures: Mapping[str, float], other: Mapping[str, float], by: str, what: str) -> float:
    """How much more there is of something for one more of another."""
    return (other[what] - figures[what]) / (other[by] - figures[by])


# -- the page


def page(figures: Mapping[str, Any]) -> str:
    there = figures["machine"]
    first, last = there["load"]
    message = (
        f"# How far it scales\n\nMade by `python perf/scale.py --figures perf/scale.json --write "
        f"docs/scale.md` on {there['date']}: {there['cores']} cores ({there['cpu']}), Python "
        f"{there['python']}, load {first:.1f} before and {last:.1f} after, medians of "
        f"{there['reps']} rounds. What is a prediction is called so; all else was measured there. "
        "Milliseconds are that machine's; ratios carry over.\n"
    )
    parts = (
        message,
        at_a_glance(figures),
        the_driver(figures),
        the_journal(figures),
        the_media(figures),
        the_network(figures),
        the_memory(figures),
        the_model(figures),
        the_predictions(figures),
        full_driver(figures),
        many_samples(figures),
        the_changes(figures),
        NOT_HERE,
    )
    return "\n".join(parts)


def per_key(figures: Mapping[str, Any], part: str, what: str) -> float:
    """What a key more costs, between the two runs that were loaded and scored."""
    small, large = ({"keys": item["keys"], **item[part]} for item in figures["keys"])
    return slope(small, large, "keys", what)


def at_a_glance(figures: Mapping[str, Any]) -> str:
    rate = bears(figures)
    full = " and ".join(f"{shown(rate / vlm.rate)} GPUs of a {vlm.name}" for vlm in VLMS)
    at_once = VLMS[0].at_once
    keys = size(per_key(figures, "load", "memory") * SAMPLES)
    load = times(per_key(figures, "load", "seconds") * SAMPLES)
    score = times(per_key(figures, "score", "seconds") * SAMPLES)
    return (
        "## In one look\n\n"
        f"- One driver asks {shown(rate)} questions a second with a picture of 100 kB each; then "
        f"its one core is full. By prediction that is what {full} answer.\n"
        f"- Before that `--concurrency auto` is: it ends at {MOST} questions under way, which fill "
        f"{MOST // at_once} GPUs with {at_once} requests each. Give a number beyond.\n"
        f"- {SAMPLES / 1e6:.0f} million samples, by prediction, take one driver at least "
        f"{times(SAMPLES / rate)}, {keys} of memory for the keys, {load} to go on after an end, "
        f"and {score} to score.\n"
    )


SIZE_NAMES = {"54000": "54 kB", "100000": "100 kB", "1000000": "1 MB"}
STEPS = (
    "rows",
    "samples",
    "prompts",
    "pictures",
    "request digests",
    "bodies",
    "journal",
    "running score",
)
STEP_WORDS = {
    "rows": "rows read",
    "samples": "samples made of them",
    "prompts": "prompts",
    "pictures": "pictures read, checked, SHA-256",
    "request digests": "digests of the requests",
    "bodies": "bodies: base64, JSON",
    "journal": "question and reply into the journal",
    "running score": "running score",
}


def the_driver(figures: Mapping[str, Any]) -> str:
    here = figures["here"]
    rows = [
        (
            f"over HTTP, {SIZE_NAMES[name]}",
            shown(1e3 * item["driver"]),
            shown(1 / item["driver"]),
            shown(item["rate"]),
        )
        for name in SIZE_NAMES
        for item in [figures["sizes"][name]]
    ]
    rows.append(
        (
            "model in the driver's process, 54 kB",
            shown(1e3 * here["driver"]),
            shown(1 / here["driver"]),
            shown(here["rate"]),
        )
    )
    head = (
        "a model that takes no time",
        "CPU ms a question",
        "a second, core full",
        "a second had",
    )
    stages = []
    for step in STEPS:
        cells = [shown(1e6 * figures["stages"][name][step]) for name in SIZE_NAMES]
        stages.append((STEP_WORDS[step], *cells))
    clients = {
        name: figures["post"][name]["cpu"] / figures["post"][name]["n"] for name in SIZE_NAMES
    }
    stages.append(("HTTP client alone", *(shown(1e6 * clients[name]) for name in SIZE_NAMES)))
    rest = []
    for name in SIZE_NAMES:
        known = sum(figures["stages"][name].values()) + clients[name]
        rest.append(shown(1e6 * (figures["sizes"][name]["driver"] - known)))
    stages.append(("the rest: tasks, slots, progress, caches gone cold", *rest))
    return (
        "## The driver\n\nOne process and one thread: the runner, the journal, and for a model on "
        "a server its pictures. Measured from the first call to the last reply, 32 under way, with "
        "progress and journal, without the score.\n\n"
        + table(head, rows)
        + "\nWhere the time goes, in µs a question: each step called by itself, with what it needs "
        "at hand; the rest is what is left.\n\n" + table(("step", *SIZE_NAMES.values()), stages)
    )


def the_journal(figures: Mapping[str, Any]) -> str:
    rows = []
    for chars, item in figures["append"].items():
        rows.append(
            (
                "a letter" if chars == "1" else f"{int(chars):,} characters",
                shown(item["n"] / item["cpu"]),
                shown(item["n"] / item["seconds"]),
                size(item["bytes"] / item["seconds"]),
                size(item["bytes"] / item["n"]),
            )
        )
    head = ("reply", "a second, core full", "a second had", "bytes a second", "bytes a question")
    loads = []
    for item in figures["keys"]:
        load, score = item["load"], item["score"]
        loads.append(
            (
                f"{item['keys']:,}",
                size(item["bytes"]),
                f"{load['seconds']:.2f}",
                shown(load["memory"] / item["keys"]),
                shown(score["seconds"]),
                shown(score["more"] / item["keys"]),
            )
        )
    return (
        "## The journal\n\nA question and its reply appended, one `write` each, `fsync` once a "
        "second.\n\n"
        + table(head, rows)
        + "\nWhat a resumed run reads first, and scoring with intervals and report (CPU "
        "seconds):\n\n"
        + table(
            ("keys", "journal", "load s", "bytes a key", "score s", "bytes a sample"),
            loads,
        )
    )


def the_media(figures: Mapping[str, Any]) -> str:
    rows = []
    for name, item in figures["decode"].items():
        if name != "video":
            steps = ("digest", "checked", "base64", "pixels")
            rows.append((name, *(size(item["bytes"] / item[step]) for step in steps)))
    video = figures["decode"]["video"]
    took, frames = video["question"], video["frames"]
    head = ("noise", "SHA-256", "read as for a model", "base64", "decoded to pixels")
    return (
        "## Pictures and video\n\nBytes a second of one core. A model on a server is sent the "
        "file's bytes, and nothing is decoded.\n\n"
        + table(head, rows)
        + f"\nOf a video of 640x360 (H.264, a minute) {frames} frames, delivered as JPEG, take "
        f"{times(took)} of one core: {shown(frames / took)} frames a second. At most 8 threads "
        "decode.\n"
    )


def the_network(figures: Mapping[str, Any]) -> str:
    rows = []
    for name in SIZE_NAMES:
        item = figures["post"][name]
        n, sent = item["n"], item["n"] * int(name)
        rows.append(
            (
                SIZE_NAMES[name],
                shown(n / item["seconds"]),
                size(sent / item["seconds"]),
                shown(1e3 * item["cpu"] / n),
            )
        )
    return "## The network\n\nThe HTTP client alone, over loopback, 8 at once.\n\n" + table(
        ("body", "requests a second", "bytes a second", "CPU ms of the client"), rows
    )


def run_memory(figures: Mapping[str, Any]) -> tuple[float, float]:
    """Bytes of a run for a sample more, and for a question more under way (100 kB)."""
    return slope(*figures["run"], "n", "memory"), slope(*figures["under_way"], "slots", "memory")


def the_memory(figures: Mapping[str, Any]) -> str:
    sample, under_way = run_memory(figures)
    most = figures["run"][0]
    return (
        "## Memory\n\n"
        f"A run of {most['n']:,} questions, 32 under way with pictures of 1 kB, has at most "
        f"{size(most['memory'])}; each further question adds {shown(sample)} bytes (up to "
        f"{figures['run'][1]['n']:,}), and each further one under way, with its picture of 100 kB, "
        f"{size(under_way)} (up to {figures['under_way'][1]['slots']}). Benchmarks whose questions "
        "share pictures or videos ask these together, and keep what is still to be asked in "
        f"memory: {shown(figures['groups']['memory'])} bytes a question here.\n"
    )


def the_model(figures: Mapping[str, Any]) -> str:
    rows = []
    for point in points(figures):
        rows.append(
            (
                point.kind,
                str(point.replicas),
                shown(point.measured),
                shown(point.simulated),
                f"{point.ratio:.2f}" if point.held else f"**{point.ratio:.2f}**",
                percent(point.driver),
                f"{point.cores:.2f}",
            )
        )
    head = (
        "a call costs",
        "servers",
        "measured",
        "simulated",
        "ratio",
        "driver busy",
        "cores",
    )
    off = sum(not point.held for point in points(figures))
    verdict = (
        f"All are within {percent(ALLOWED)}."
        if not off
        else f"**{off} of {len(rows)} are off by more than {percent(ALLOWED)}.**"
    )
    over = figures["sizes"][SMALL]
    return (
        "## The model of a run\n\n`perf/_scale_model.py` plays a run through, event by event: "
        "questions under way, a driver that does one thing at a time, a wire, replicas with their "
        "processes and calls, and cores that all that is busy shares in equal parts. It is given "
        f"what was measured with a free model, {shown(1e3 * over['driver'])} ms of the driver and "
        f"{shown(1e3 * over['handling'])} ms of the server for a question among many, "
        f"{shown(1e3 * figures['alone']['driver'])} ms of the driver for one alone (the loop turns "
        "for it, where it turns for many at once otherwise), what a call costs, "
        "and the cores (what as many busy processes got together, before and after each run); "
        "nothing is fitted to the runs below. These are `snellen`'s runner, journal and "
        "HTTP client on 1, 2 and 4 servers on loopback, pictures of 54 kB, replies a second from "
        "the first request to the last reply.\n\n" + table(head, rows) + f"\n{verdict} "
        f"Calls that take CPU grow with the servers until the {figures['machine']['cores']} cores "
        "are full. Calls that wait, as for a GPU, grow with them until the driver is busy all the "
        "time.\n"
    )


def the_predictions(figures: Mapping[str, Any]) -> str:
    rows = []
    for vlm in VLMS:
        for gpus in GPUS:
            wanted = under_way(vlm, gpus)
            auto = predicted(figures, vlm, gpus, min(wanted, MOST))
            inputs = auto if wanted <= MOST else predicted(figures, vlm, gpus, wanted)
            offered = gpus * vlm.rate
            rows.append(
                (
                    vlm.name,
                    f"{gpus:,}",
                    shown(offered),
                    f"{shown(auto.rate)}, {percent(auto.rate / offered)}",
                    f"{wanted:,}",
                    f"{shown(inputs.rate)}, {percent(inputs.rate / offered)}",
                    percent(min(1.0, inputs.rate / bears(figures))),
                    first_full(figures, vlm, gpus, inputs),
                    times(SAMPLES / inputs.rate),
                )
            )
    assumed = " and ".join(
        f"a {vlm.name} gives {vlm.rate:g} replies a second on a GPU, {vlm.at_once} requests at "
        f"once in it (so {shown(vlm.call)} s each, give or take half)"
        for vlm in VLMS
    )
    head = (
        "model",
        "GPUs",
        "bear",
        "`auto` brings",
        "at once",
        "brings",
        "driver",
        "first full",
        f"{SAMPLES / 1e6:.0f} million",
    )
    return (
        "## Predictions: GPUs\n\n**Predicted by the model, not measured.** Assumed: "
        f"{assumed}; a replica a GPU behind one address, pictures of 100 kB, a driver of the speed "
        "measured here on a core of its own, 25 Gbit/s. Throughput of real models differs several "
        "times by the length of replies and the size of pictures: put your own into "
        "`perf/_scale_predictions.py`.\n\nReplies a second that the GPUs *bear*, and what part of "
        "these comes: with `--concurrency auto`, and with a number of requests *at once* that is "
        f"{SURPLUS:g} times those that fit, so that no GPU waits. *driver* is the part of the time "
        f"in which it is busy then, and the last column how long {SAMPLES / 1e6:.0f} million "
        "samples take so.\n\n" + table(head, rows)
    )


def full_driver(figures: Mapping[str, Any]) -> str:
    rows = []
    costs = {f"HTTP, {item}": figures["sizes"][name]["driver"] for name, item in SIZE_NAMES.items()}
    costs["model in the driver's process, 54 kB"] = figures["here"]["driver"]
    costs["the same, pictures opened by others (the way to these not counted)"] = (
        figures["here"]["driver"] - figures["stages"][SMALL]["pictures"]
    )
    for name, cost in costs.items():
        full = (f"{1 / cost / vlm.rate:,.0f}" for vlm in VLMS)
        rows.append((name, shown(1 / cost), *full))
    wire = WIRE / HTTP_BODY / int(PICTURE)
    full = (f"{wire / vlm.rate:,.0f}" for vlm in VLMS)
    rows.append(("25 Gbit/s, 100 kB", shown(wire), *full))
    video = figures["decode"]["video"]["question"]
    full = (f"{1 / video / vlm.rate:.2g}" for vlm in VLMS)
    rows.append(("one core that decodes video, 64 frames of 640x360", shown(1 / video), *full))
    names = (f"GPUs of a {vlm.name}" for vlm in VLMS)
    return (
        "## Predictions: what fills one driver\n\nThe number of GPUs, at the rates assumed above, "
        "from which on a part keeps them waiting.\n\n"
        + table(("part", "questions a second", *names), rows)
        + "\nVideo is the one whose decoding is full before the driver is: it takes a core for "
        "each of these parts, and a driver has 8 threads for it at most.\n"
    )


def many_samples(figures: Mapping[str, Any]) -> str:
    large = figures["keys"][-1]
    sample, under_way = run_memory(figures)
    rate = bears(figures)
    journal = large["bytes"] / large["keys"]
    long_replies = figures["append"]["2000"]
    rows = [
        (
            "hours of one driver, if nothing else is full",
            times(SAMPLES / rate),
            "pictures of 100 kB over HTTP",
        ),
        (
            "memory of the driver: keys",
            size(per_key(figures, "load", "memory") * SAMPLES),
            "after a resume",
        ),
        (
            "memory of the driver: questions of this session",
            size(sample * SAMPLES),
            "from a new run",
        ),
        (
            "memory of the driver: questions that share media",
            size(figures["groups"]["memory"] * SAMPLES),
            "of benchmarks that ask these together",
        ),
        *(
            (
                f"memory of the driver: {slots:,} under way",
                size(under_way * slots),
                "whatever the samples",
            )
            for slots in (MOST, GPUS[-1] * VLMS[0].at_once)
        ),
        ("run folder, replies of a letter", size(journal * SAMPLES), "no pictures in it"),
        (
            "run folder, replies of 2,000 characters",
            size(long_replies["bytes"] / long_replies["n"] * SAMPLES),
            "",
        ),
        (
            "to go on after an end: the journal",
            times(per_key(figures, "load", "seconds") * SAMPLES),
            f"linear from {figures['keys'][0]['keys']:,} to {large['keys']:,} keys",
        ),
        (
            "score and report",
            times(per_key(figures, "score", "seconds") * SAMPLES),
            f"{size(per_key(figures, 'score', 'more') * SAMPLES)} of memory",
        ),
    ]
    return (
        f"## Predictions: {SAMPLES / 1e6:.0f} million samples\n\nStraight on from what a key more "
        f"cost between {figures['keys'][0]['keys']:,} and {large['keys']:,}.\n\n"
        + table(("what", "predicted", ""), rows)
    )


def the_changes(figures: Mapping[str, Any]) -> str:
    small, middling, large = GPUS
    rate = bears(figures)
    rows = [
        (
            f"{small} GPUs",
            "nothing: `--concurrency auto` finds its number"
            if under_way(VLMS[0], small) <= MOST
            else f"`--concurrency {under_way(VLMS[0], small)}`",
            "yes",
        ),
        (
            f"{middling} GPUs",
            f"`--concurrency {under_way(VLMS[0], middling)}`: `auto` ends at {MOST}. One address "
            "for all: a load balancer before the servers. As many open files (`ulimit -Hn`)",
            "yes",
        ),
        (
            f"{large:,} GPUs",
            f"{drivers(figures, VLMS[0], large)} drivers for a {VLMS[0].name} "
            f"({shown(large * VLMS[0].rate)} replies a second), "
            f"{drivers(figures, VLMS[1], large)} for a {VLMS[1].name}: share benchmarks and models "
            "out over processes, a run each, on nodes of their own; `report`, `compare` and `view` "
            "read them all",
            "yes",
        ),
        (
            "one benchmark, more than one driver",
            "rows in several files, a run each; each has a score of its own, and the whole's is "
            "not theirs put together. `--limit` and `--sample` take no disjoint parts. A run of "
            "a part (`--part 3/8`), and `score` of several parts as one: a run's files are read "
            "in segments already, and two halves of a run whose files were laid together by hand "
            "scored as the whole",
            "no: to be built",
        ),
        (
            "pictures of 1 MB",
            f"a driver bears {shown(bears(figures, '1000000'))} a second: smaller ones "
            "(`max_pixels` of a profile), or models in processes that open them themselves "
            "(`--executor ray`)",
            "yes",
        ),
        (
            "video",
            "questions about one video share a decode, in as many threads as there are cores, 8 at "
            "most; beyond, the replicas decode themselves (`--executor ray`)",
            "yes",
        ),
        (
            f"{SAMPLES / 1e6:.0f} million samples",
            f"one driver takes {times(SAMPLES / rate)}, however many GPUs there are; memory, "
            "resume and scoring are no limit on a large node. A `--sample` of them: `snellen "
            "power` says how many a difference needs",
            "yes",
        ),
        (
            "as many that share pictures or videos",
            f"{size(figures['groups']['memory'] * SAMPLES)} of memory before the first question: "
            "groups that keep the places of rows, not the rows",
            "no: to be built",
        ),
    ]
    return "## What to change\n\n" + table(("at", "what", "is it there?"), rows)


NOT_HERE = """## What was not measured

No GPU, no network but loopback, no file system but a local one, no more than 4 servers, no more
than 512 questions under way. Servers answered at once or after a fixed time: real calls differ in
length, which costs at the end of a run, when few are left.
"""
