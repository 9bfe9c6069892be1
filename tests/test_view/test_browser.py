"""What a person does in a browser, and what must never happen there."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

from snellen import api, registry
from snellen.store import Run
from tests.viewers import Viewer, question, reply, run_in, score, viewing

pytestmark = pytest.mark.browser

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
HOSTILE = [
    "<script>window.caught = 'script'</script>",
    "<img src=x onerror=\"window.caught = 'onerror'\">",
    "</pre></div><svg onload=\"window.caught = 'onload'\"></svg>",
    "<iframe srcdoc=\"<script>parent.caught = 'frame'</script>\"></iframe>",
    "javascript:window.caught='link' <a href=\"javascript:window.caught='link'\">x</a>",
    "{{ 7 * 7 }} {% raw %} ${7*7} <style>*{display:none}</style>",
    "\u202eright to left\u202c \u2066isolated \x1b[31mred\x1b[0m \0 \x07 \u200b",
    "<meta http-equiv=refresh content='0;url=http://192.0.2.1/'>",
    "<link rel=stylesheet href=http://192.0.2.1/x.css><img src=http://192.0.2.1/x.png>",
    "\" autofocus onfocus=\"window.caught='attribute'",
    "<button data-zoom><img src=x></button><i data-live='http://192.0.2.1/'></i>",
]


@dataclass
class WatchedPage:
    """A page, and what it asked for and did that it should not have."""

    page: Page
    urls: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("there is no chromium: `apt-get install chromium`")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def watched(browser: Browser) -> Iterator[WatchedPage]:
    """A fresh page; afterwards nothing has left this machine, run, or failed."""
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    watch = WatchedPage(context.new_page())

    def answered(dialog: Dialog) -> None:
        watch.faults.append(dialog.message)
        dialog.dismiss()

    context.on("request", lambda request: watch.urls.append(request.url))
    watch.page.on("pageerror", lambda error: watch.faults.append(str(error)))
    watch.page.on("dialog", answered)
    watch.page.set_default_timeout(15_000)
    expect.set_options(timeout=15_000)
    yield watch
    elsewhere = [url for url in watch.urls if urlsplit(url).hostname != "127.0.0.1"]
    caught = watch.page.evaluate("window.caught")
    context.close()
    assert elsewhere == []
    assert watch.faults == []
    assert caught is None
    assert watch.urls


@pytest.fixture
def page(watched: WatchedPage) -> Page:
    return watched.page


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two models' runs of the eye chart, and one with everything that a model may say."""
    out = tmp_path_factory.mktemp("runs")
    plan = api.Plan(
        benchmarks=[registry.benchmark("eyechart")],
        models=["baseline/reader", "baseline/first"],
        out=out,
        limit=60,
    )
    api.run_plan(plan)
    names = [f"h{n}" for n in range(len(HOSTILE))]
    run_in(
        out / "hostile" / "model" / "0",
        [
            question(name, number, question=text, messages=[("user", [text])], tags={"kind": text})
            for number, (name, text) in enumerate(zip(names, HOSTILE, strict=True))
        ],
        [
            *(reply(name, text) for name, text in zip(names, HOSTILE, strict=True)),
            reply("long", HOSTILE[0] + "y" * 5_000_000),
        ],
        [
            score(name, 0.0, answer=text, rule=text, candidates=[text])
            for name, text in zip(names, HOSTILE, strict=True)
        ],
        model=HOSTILE[1],
        sessions=[{"command": ["run", HOSTILE[0]], "started": HOSTILE[1]}],
    ).close()
    return out


@pytest.fixture(scope="module")
def viewer(folder: Path) -> Iterator[Viewer]:
    with viewing(folder) as open_viewer:
        yield open_viewer


def until(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until something holds; the pages' rules let no script of a test do it there."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.05)


def wrong_by(folder: Path, model: str) -> set[str]:
    """The samples to which a stored score of 0 belongs, from the run's file."""
    (path,) = (folder / "eyechart" / model).iterdir()
    lines = (path / "scores.jsonl").read_text().splitlines()
    return {row["sample"] for row in map(json.loads, lines) if row["score"] == 0}


def sample_names(page: Page) -> list[str]:
    """The names in a list of samples once all of it has come. The page must be the one that has the
    list: a click alone does not wait for the next page."""
    page.wait_for_load_state()
    return page.locator("[data-open]").all_inner_texts()


def test_from_the_runs_to_a_wrong_sample_in_clicks_alone(
    page: Page, viewer: Viewer, folder: Path
) -> None:
    wrong = wrong_by(folder, "baseline__reader")
    page.goto(viewer.address)
    page.get_by_role("link", name="baseline/reader").click()
    expect(page.locator(".headline .value")).to_have_text(re.compile(r"[\d.]+ %"))
    page.get_by_role("link", name="Wrong", exact=True).click()
    expect(page.locator("h1")).to_have_text(f"{len(wrong)} of 60 samples")
    shown = sample_names(page)
    assert set(shown) == wrong
    page.locator("[data-open]").first.click()
    expect(page.locator("h1")).to_have_text(f"✗ {shown[0]}")
    expect(page.get_by_text(f"1 of {len(wrong)}")).to_be_visible()
    picture = page.locator(".zoom img")
    expect(picture).to_be_visible()
    until(lambda: picture.evaluate("i => i.complete && i.naturalWidth") == 336)


def test_an_address_shows_the_same_again_and_back_goes_back(page: Page, viewer: Viewer) -> None:
    page.goto(viewer.address)
    page.get_by_role("link", name="baseline/reader").click()
    page.get_by_role("link", name="All samples").click()
    page.get_by_role("link", name=re.compile("^wrong$|✗ wrong")).click()
    page.wait_for_url("**score=wrong**")  # loaded: the page's script answers to the order
    page.get_by_label("Order").select_option("length")
    page.wait_for_url("**by=length**")
    chosen, names = page.url, sample_names(page)
    page.locator("[data-open]").first.click()
    page.wait_for_url("**/sample/**")
    deep = page.url
    page.go_back()
    expect(page).to_have_url(chosen)
    expect(page.locator("[data-open]")).to_have_text(names)
    page.go_back()
    expect(page.locator(".chip")).to_have_count(1)

    other = page.context.new_page()
    other.goto(deep)
    expect(other.locator("h1")).to_contain_text(names[0])
    other.locator("[data-up]").click()
    expect(other.locator("[data-open]")).to_have_text(names)


def test_keys_move_open_turn_and_search(page: Page, viewer: Viewer, folder: Path) -> None:
    (run,) = (folder / "eyechart" / "baseline__reader").iterdir()
    page.goto(f"{viewer.address}samples/{run.relative_to(folder)}")
    names = sample_names(page)
    for key in "jjk":
        page.keyboard.press(key)
    page.keyboard.press("ArrowDown")
    expect(page.locator("tr.at [data-open]")).to_have_text(names[1])
    for key, name in (("Enter", names[1]), ("n", names[2]), ("ArrowLeft", names[1])):
        page.keyboard.press(key)
        expect(page.locator("h1")).to_contain_text(name)
        page.wait_for_load_state()
    for key, pager in (("u", "page 1 of 2"), ("n", "page 2 of 2"), ("p", "page 1 of 2")):
        page.keyboard.press(key)
        expect(page.locator(".pager")).to_contain_text(pager)
        page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#help")).to_be_hidden()
    for heading in ("eyechart × baseline/reader", "Runs"):
        page.keyboard.press("u")
        expect(page.locator("h1")).to_have_text(heading)
        page.wait_for_load_state()
    page.goto(f"{viewer.address}samples/{run.relative_to(folder)}")
    page.keyboard.press("/")
    page.keyboard.type("color")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=color**")
    names = sample_names(page)
    assert names
    assert all("colors" in name for name in names)


def test_a_filter_is_put_on_and_taken_off(page: Page, viewer: Viewer, folder: Path) -> None:
    (run,) = (folder / "eyechart" / "baseline__first").iterdir()
    page.goto(f"{viewer.address}samples/{run.relative_to(folder)}")
    page.locator(".facet a", has_text="empty").click()
    expect(page.locator("h1")).to_have_text("41 of 60 samples")
    page.locator(".facet a", has_text="counts").click()
    expect(page.locator(".chip")).to_have_count(2)
    page.locator(".chip", has_text="empty").click()
    expect(page.locator(".chip")).to_have_text("task counts ×")


def test_two_runs_are_compared_and_flips_looked_at(
    page: Page, viewer: Viewer, folder: Path
) -> None:
    reader, first = wrong_by(folder, "baseline__reader"), wrong_by(folder, "baseline__first")
    page.goto(viewer.address)
    form = page.locator(".board", has=page.get_by_role("link", name="baseline/first"))
    expect(form.get_by_role("button", name="Side by side")).to_be_disabled()
    form.get_by_label("Choose baseline/reader").check()
    form.get_by_label("Choose baseline/first").check()
    form.get_by_role("button", name="Is the difference real?").click()
    expect(page.locator(".said-of")).to_contain_text("baseline/reader is")
    expect(page.locator(".said-of")).to_contain_text("significant at 5 %")
    # What is significant stands out; a category leads to its samples, and can be taken off there.
    expect(page.get_by_role("row", name="accuracy").locator("strong")).to_have_count(1)
    expect(page.get_by_role("row", name="acuity").locator("strong")).to_have_count(0)
    page.get_by_role("link", name="counts").click()
    expect(page.locator(".chip")).to_have_text("task counts ×")
    page.locator(".chip").click()
    expect(page.locator(".chip")).to_have_count(0)
    page.get_by_role("link", name="only baseline/reader right").click()
    expect(page.locator("[data-open]").first).to_be_visible()
    names = sample_names(page)
    partly = {"letters", "rotation", "noise"}  # letters are scored one by one: 0.8 is not a flip
    assert {name for name in names if name.split("-")[0] not in partly} == {
        name for name in first - reader if name.split("-")[0] not in partly
    }
    page.locator("[data-open]").first.click()
    expect(page.locator(".answers section")).to_have_count(2)
    expect(page.locator(".answers .verdict.good")).to_have_count(1)


def test_a_picture_is_enlarged_zoomed_and_moved(page: Page, viewer: Viewer, folder: Path) -> None:
    (run,) = (folder / "eyechart" / "baseline__reader").iterdir()
    page.goto(f"{viewer.address}sample/{run.relative_to(folder)}?s=letters-0")
    page.locator(".zoom").click()
    large = page.locator(".lens img")
    expect(large).to_be_visible()

    def box(side: str) -> float:
        return float(large.evaluate(f"i => i.getBoundingClientRect().{side}"))

    fitted = box("width")
    page.mouse.move(600, 400)
    page.mouse.wheel(0, -400)
    until(lambda: box("width") > 2 * fitted)
    before = box("x")
    page.mouse.down()
    page.mouse.move(650, 400)
    page.mouse.up()
    until(lambda: box("x") == pytest.approx(before + 50, abs=1))
    page.keyboard.press("0")
    until(lambda: box("width") == pytest.approx(fitted, abs=1))
    page.keyboard.press("Escape")
    expect(large).to_have_count(0)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Viewer, Path]]:
    """A viewer of a run whose answers are boxes and points, and the run's folder."""
    out = tmp_path_factory.mktemp("places")
    plan = api.Plan(
        benchmarks=[registry.benchmark("eyechart:tasks=box+point")],
        models=["baseline/reader"],
        out=out,
        limit=4,
    )
    run = api.run_plan(plan)[0].run
    with viewing(out) as open_viewer:
        yield open_viewer, run.relative_to(out)


def on_screen(page: Page, selector: str) -> list[float]:
    """The left, top, right, and bottom of an element on the screen."""
    page.wait_for_load_state("networkidle")
    edges: list[float] = page.locator(selector).first.evaluate(
        "e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }"
    )
    return edges


def assert_box_is_over_its_letter(page: Page, picture: str, mark: str) -> None:
    """Compare the right box on the screen with its place in the picture of 336 pixels. The first
    box of the chart is that of the row: (80.4375, 201.3125) to (110.4375, 231.3125)."""
    left, top, right, bottom = on_screen(page, picture)
    scale = (right - left) / 336
    expected = [left + 80.4375 * scale, top + 201.3125 * scale]
    expected += [left + 110.4375 * scale, top + 231.3125 * scale]
    assert bottom - top == pytest.approx(336 * scale, abs=1)
    # The picture on the page has a border of a pixel.
    assert on_screen(page, mark) == pytest.approx(expected, abs=2.5)


@pytest.mark.parametrize("width", [1300, 390])
def test_boxes_are_over_what_they_name_at_any_width_and_zoom(
    page: Page, places: tuple[Viewer, Path], width: int
) -> None:
    viewer, run = places
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{viewer.address}sample/{run}?s=box-0")
    expect(page.locator(".legend")).to_contain_text("IoU 0.9")
    assert_box_is_over_its_letter(page, ".zoom img", ".zoom .line.mark-right path")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.locator(".zoom").click()
    expect(page.locator(".lens .line")).to_have_count(2)
    for key in ("+", "+", "-", "0"):
        page.keyboard.press(key)
        assert_box_is_over_its_letter(page, ".lens img", ".lens .line.mark-right path")
    page.keyboard.press("2")
    expect(page.locator(".lens .line:not([hidden])")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator(".lens")).to_have_count(0)
    # What was hidden in the enlarged picture is hidden on the page.
    expect(page.get_by_role("checkbox")).to_have_count(2)
    expect(page.get_by_role("checkbox", name="official")).not_to_be_checked()


def test_marks_are_shown_and_hidden_by_keys_and_boxes(
    page: Page, places: tuple[Viewer, Path]
) -> None:
    viewer, run = places
    page.goto(f"{viewer.address}sample/{run}?s=point-0")
    expect(page.locator(".legend")).to_contain_text("pixels away")
    visible = page.locator(".zoom .line:not([hidden])")
    expect(visible).to_have_count(2)
    page.keyboard.press("1")
    expect(visible).to_have_count(1)
    page.get_by_role("checkbox", name="official").click()
    expect(visible).to_have_count(0)
    page.keyboard.press("m")
    expect(visible).to_have_count(2)
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.keyboard.press("m")
    expect(visible).to_have_count(0)
    page.keyboard.press("n")  # the next sample shows its marks
    page.wait_for_url("**s=box-1**")
    expect(page.locator(".zoom .line:not([hidden])")).to_have_count(2)


def run_saying(text: str, spec: str, folder: Path) -> Path:
    """Ask the bundled rows of a benchmark of a model that always says the same. Returns the run's
    folder, relative to `folder`."""
    program = folder / "same.py"
    program.write_text(f"def answer(messages):\n    return {text!r}\n")
    plan = api.Plan(
        benchmarks=[registry.benchmark(spec, data=Path("synthetic"))],
        models=[f"python:{program}:answer"],
        out=folder / "runs",
    )
    return api.run_plan(plan)[0].run.relative_to(folder / "runs")


@pytest.mark.parametrize("width", [1300, 390])
def test_polygons_are_over_what_they_name(page: Page, tmp_path: Path, width: int) -> None:
    """The triangle of the bundled screenshot of 160 x 100 pixels: (20, 24), (60, 24), (90, 66)."""
    run = run_saying("[55, 35]", "osworld-g", tmp_path)
    page.set_viewport_size({"width": width, "height": 900})
    with viewing(tmp_path / "runs") as viewer:
        page.goto(f"{viewer.address}sample/{run}?s=desktop-3")
        expect(page.locator(".legend")).to_contain_text("inside")
        left, top, right, bottom = on_screen(page, ".zoom img")
        scale = (right - left) / 160
        assert bottom - top == pytest.approx(100 * scale, abs=1)
        corners = [left + 20 * scale, top + 24 * scale, left + 90 * scale, top + 66 * scale]
        triangle = ".zoom .line.mark-right path"
        assert on_screen(page, triangle) == pytest.approx(corners, abs=2.5)
        page.goto(f"{viewer.address}sample/{run}?s=desktop-5")
        expect(page.locator(".legend")).to_contain_text("outside")


def test_several_points_are_drawn_and_hidden_together(page: Page, tmp_path: Path) -> None:
    run = run_saying("[(0.25, 0.5), (0.75, 0.5), (0.5, 0.25)]", "refspatial", tmp_path)
    with viewing(tmp_path / "runs") as viewer:
        page.goto(f"{viewer.address}samples/{run}")
        page.locator("[data-open]").first.click()
        points = page.locator(".zoom .line:not([hidden]) path.dot")
        expect(points).to_have_count(3)
        page.wait_for_load_state()  # the keys work once the page's script has run
        page.keyboard.press("1")
        expect(points).to_have_count(0)


def test_intervals_are_lines_over_the_length_of_the_video(page: Page, tmp_path: Path) -> None:
    """The first row of the bundled ones: 4.4 to 4.6 seconds."""
    run = run_saying("3.0 - 6.0", "charades-sta", tmp_path)
    with viewing(tmp_path / "runs") as viewer:
        page.goto(f"{viewer.address}samples/{run}")
        page.locator("[data-open]").first.click()
        expect(page.locator(".legend")).to_contain_text("IoU 0.07")  # 0.2 of 3 seconds
        left, _, right, _ = on_screen(page, ".spans")
        expect(page.locator(".scale")).to_have_text(re.compile(r"^0 s\s*[0-9.]+ s$"))
        end = float(page.locator(".scale span").last.inner_text().removesuffix(" s"))
        assert 27 < end < 33
        for mark, span in ((".mark-right", (4.4, 4.6)), ("g:not(.mark-right)", (3.0, 6.0))):
            ends = [left + (right - left) * time / end for time in span]
            assert on_screen(page, f".spans {mark} path")[::2] == pytest.approx(ends, abs=5)


def test_nothing_that_a_model_says_runs(page: Page, viewer: Viewer) -> None:
    run = "hostile/model/0"
    for path in ("", f"run/{run}", f"samples/{run}", f"sample/{run}?s=long"):
        page.goto(viewer.address + path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.caught") is None
    for n, text in enumerate(HOSTILE):
        page.goto(f"{viewer.address}sample/{run}?s=h{n}")
        reply_text = page.locator(".said").first.inner_text()
        # Signs stand where marks were; all else is there to the letter.
        plain = re.sub(r"[\x00-\x1f\u200b-\u206f]", "", text)
        assert plain in re.sub(r"U\+[0-9A-F]{4}|ESC|NUL|BEL", "", reply_text)
        assert page.evaluate("window.caught") is None
        page.locator("[data-up]").click()
        page.wait_for_url("**/samples/**")


def test_a_run_under_way_is_shown_as_it_grows(page: Page, tmp_path: Path) -> None:
    program = tmp_path / "slow.py"
    program.write_text(
        textwrap.dedent("""
            import time
            def answer(messages):
                time.sleep(0.25)
                return "A"
        """)
    )
    runs = tmp_path / "runs"
    command = [sys.executable, "-m", "snellen", "run", "-b", "eyechart", "--limit", "24", "-m",
               f"python:{program}:answer", "--concurrency", "1", "--out", str(runs)]  # fmt: skip
    runs.mkdir()
    with (
        viewing(runs) as viewer,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running,
    ):
        try:
            # The run appears by itself on a page that was open before it.
            page.goto(viewer.address)
            expect(page.locator(".live")).to_be_visible()
            page.locator(".runs .name").click()
            done = page.locator(".progress .num").first
            expect(done).to_contain_text("of 24")
            before = int(done.inner_text().split()[0])
            until(lambda: int(done.inner_text().split()[0]) > before)
            assert running.poll() is None, "it grew while the run was under way"
            # When it is done the page has the result, by itself.
            expect(page.locator(".headline .value")).to_be_visible(timeout=40_000)
            assert running.wait(20) == 0
        finally:
            running.kill()
    (path,) = runs.glob("*/*/*")
    assert Run(path).manifest()["benchmark"] == "eyechart"


def test_frames_of_a_video_are_gone_through(page: Page, tmp_path: Path) -> None:
    plan = api.Plan(
        benchmarks=[registry.benchmark("eyechart-video")],
        models=["baseline/reader"],
        out=tmp_path,
        limit=1,
    )
    run = api.run_plan(plan)[0].run
    with viewing(tmp_path) as viewer:
        page.goto(f"{viewer.address}samples/{run.relative_to(tmp_path)}")
        page.locator("[data-open]").first.click()
        image = page.locator(".film img")
        first = image.get_attribute("src")
        expect(page.locator("output")).to_contain_text("frame 1 of")
        assert first is not None
        page.get_by_label("Next frame").click()
        expect(page.locator("output")).to_contain_text("frame 2 of")
        expect(image).not_to_have_attribute("src", first)
        until(lambda: image.evaluate("i => i.complete && i.naturalWidth") > 0)


def test_a_screen_that_is_narrow_or_dark_is_readable(viewer: Viewer, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = context.new_page()
    for path in ("", "run/hostile/model/0", "sample/hostile/model/0?s=h0"):
        page.goto(viewer.address + path)
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wider <= 0, f"{path} is wider than the screen by {wider}"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    context.close()


def test_a_phone_lists_questions_and_counts_verdicts(
    viewer: Viewer, browser: Browser, folder: Path
) -> None:
    (run,) = (folder / "eyechart" / "baseline__reader").iterdir()
    n_wrong = len(wrong_by(folder, "baseline__reader"))
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(f"{viewer.address}samples/{run.relative_to(folder)}")
    question_cell = page.locator(".list .asked").first
    expect(question_cell).to_be_visible()
    expect(question_cell).to_contain_text("letters")
    box = question_cell.bounding_box()
    assert box is not None
    assert box["width"] > 195, "the question has most of the line"
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    page.get_by_text("Filters", exact=True).click()  # folded on a phone
    expect(page.get_by_role("link", name="✗ wrong")).to_have_text(f"✗ wrong {n_wrong}")
    page.get_by_role("link", name="✗ wrong").click()
    expect(page.locator("h1")).to_have_text(f"{n_wrong} of 60 samples")
    context.close()


def test_a_phone_shows_every_interval(viewer: Viewer, browser: Browser, folder: Path) -> None:
    runs = [
        next((folder / "eyechart" / name).iterdir()).relative_to(folder)
        for name in ("baseline__reader", "baseline__first")
    ]
    context = browser.new_context(viewport={"width": 390, "height": 800})
    page = context.new_page()
    page.goto(viewer.address)
    score = page.locator(".runs tbody tr").filter(has_text="%").first
    interval = score.get_by_text(re.compile(r"^\[.+, .+\]$")).bounding_box()
    assert interval is not None and interval["x"] + interval["width"] <= 390
    for path in (f"run/{runs[0]}", f"compare?run={runs[0]}&run={runs[1]}"):
        page.goto(viewer.address + path)
        intervals = page.locator("[data-label='95 % interval']")
        expect(intervals.first).to_be_attached()  # comparisons are computed after the page is shown
        texts = [text for text in intervals.all_inner_texts() if text]
        assert texts and all(re.search(r"\[.+, .+\]", text) for text in texts)
        for cell in intervals.filter(has_text="[").all():
            box = cell.bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    context.close()


def test_what_both_runs_got_wrong_is_listed(page: Page, viewer: Viewer, folder: Path) -> None:
    both_wrong = wrong_by(folder, "baseline__reader") & wrong_by(folder, "baseline__first")
    (run,) = (folder / "eyechart" / "baseline__reader").iterdir()
    page.goto(f"{viewer.address}samples/{run.relative_to(folder)}")
    others = page.get_by_label("The other run")
    expect(others.locator("option")).to_contain_text(["baseline/first"])  # the only other run
    page.get_by_label("How the scores differ").select_option("wrong in both")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".chip")).to_contain_text("wrong in both: baseline/first")
    assert both_wrong <= set(sample_names(page))


def test_why_runs_cannot_be_compared_is_said(browser: Browser, tmp_path: Path) -> None:
    for model in ("m", "n"):
        run_in(
            tmp_path / "b" / model / "1",
            [question("a")],  # no task, on which this benchmark counts
            [reply("a", "A")],
            benchmark="eyechart",
            identity={"benchmark": "eyechart", "options": {}},
        ).close()
    with viewing(tmp_path) as viewer:
        page = browser.new_page()
        page.goto(f"{viewer.address}compare?run=b/m/1&run=b/n/1")
        expect(page.locator(".note")).to_contain_text("This page could not be made. eyechart: ")
        expect(page.locator(".live")).to_have_count(0)
        page.close()
