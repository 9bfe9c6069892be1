#!/usr/bin/env python3
"""Draw docs/assets/viewer-*.png: a sample of `eyechart:tasks=box` in the viewer, at two widths.

usage: python scripts/draw_viewer.py

It needs the extra [view], playwright, and chromium. The sample is the one on which baseline/reader
has the lowest score.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from playwright.sync_api import sync_playwright

from snellen import api, registry

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
SIZES = {"wide": (1200, 640), "narrow": (390, 780)}
LIMIT = 120


def worst(run: Path) -> str:
    """The sample with the lowest score."""
    rows = map(json.loads, (run / "scores.jsonl").read_text().splitlines())
    return str(min(rows, key=lambda row: row["score"])["sample"])


def draw(address: str, folder: Path) -> None:
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    with (
        sync_playwright() as playwright,
        closing(
            playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        ) as browser,
    ):
        for name, (width, height) in SIZES.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.goto(address)
            page.locator(".legend").wait_for()
            page.wait_for_load_state("networkidle")
            page.screenshot(path=folder / f"viewer-{name}.png")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        plan = api.Plan(
            benchmarks=[registry.benchmark("eyechart:tasks=box")],
            models=["baseline/reader"],
            out=Path(folder),
            limit=LIMIT,
        )
        run = api.run_plan(plan)[0].run
        where = f"sample/{run.relative_to(folder)}?s={worst(run)}"
        command = [sys.executable, "-m", "snellen", "view", folder, "--port", "0", "--no-open"]
        with subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE) as viewer:
            assert viewer.stdout is not None
            try:
                draw(json.loads(viewer.stdout.readline())["address"] + where, ASSETS)
            finally:
                viewer.terminate()


if __name__ == "__main__":
    main()
