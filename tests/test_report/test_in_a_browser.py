"""Reports in a real browser: wide, on a phone, in the dark, printed; and nothing hostile runs."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from snellen import report
from tests.test_report.results import HOSTILE, comparisons, result

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CELLS = """() => {
    const cells = [...document.querySelectorAll("tbody :is(td, th)")];
    const edge = cell => cell.closest(".scroll")?.getBoundingClientRect().right ?? innerWidth;
    const right = cell => cell.getBoundingClientRect().right;
    const cut = cells.filter(cell => right(cell) > Math.min(edge(cell), innerWidth) + 1);
    return [cells.length, cut.map(cell => cell.innerText)];
}"""
"""The number of cells of a page's tables, and the texts of those that end beyond the screen or
beyond the box in which the table scrolls."""
COLORS = """
() => {
  const rgb = text => text.match(/[0-9.]+/g).map(Number);
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const color = rgb(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("script, title, desc")) continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const color = element.closest("svg") ? style.fill : style.color;
    found.push([walker.currentNode.textContent.trim(), rgb(color).slice(0, 3), ground(element)]);
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    if CHROMIUM is None:
        pytest.skip("no chromium here: on Debian `apt-get install chromium`")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    names = ("openai/m", "hf/other", "third")
    hostile = result(HOSTILE, notes=["<img src=x onerror=document.title='ran'>", HOSTILE])
    html = {
        "several": report.html([result(), result("hf/other"), result("third")], comparisons(names)),
        "compared": report.compared_html(comparisons()),
        "hostile": report.html([hostile]),
        "settings": report.html([result(), result(), result("hf/other (max_side=168)")]),
    }
    for name, text in html.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in html}


@pytest.mark.parametrize("which", ["several", "compared", "hostile"])
@pytest.mark.parametrize("width", [1280, 360])
def test_a_page_fits_its_window_and_asks_for_nothing(
    browser: "Browser", pages: dict[str, Path], which: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 740})
    urls: list[str] = []
    messages: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    page.goto(pages[which].as_uri())

    assert urls == [pages[which].as_uri()]
    assert messages == []
    assert "ran" not in page.title()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    page.close()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("which", ["several", "compared", "settings"])
def test_no_cell_of_a_table_is_out_of_sight(
    browser: "Browser", pages: dict[str, Path], which: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(pages[which].as_uri())
    cells, cut = page.evaluate(CELLS)
    page.close()
    assert cells > 20
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("which", ["several", "compared"])
def test_every_text_stands_out_from_its_ground(
    browser: "Browser", pages: dict[str, Path], which: str, scheme: Any
) -> None:
    page = browser.new_page(color_scheme=scheme)
    page.goto(pages[which].as_uri())
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    texts = page.evaluate(COLORS)
    page.close()

    assert len(texts) > 50
    faint = [(text, contrast(ink, ground)) for text, ink, ground in texts]
    assert [entry for entry in faint if entry[1] < 4.5] == []


def contrast(ink: list[float], ground: list[float]) -> float:
    """The contrast ratio of two colors (WCAG 2.2, relative luminance)."""
    low, high = sorted((luminance(ink), luminance(ground)))
    return (high + 0.05) / (low + 0.05)


def luminance(rgb: list[float]) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in rgb)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_contrast_is_that_of_the_standard() -> None:
    # 21 for black on white and 4.54 for #767676 on white, the examples that are always given.
    assert contrast([0, 0, 0], [255, 255, 255]) == pytest.approx(21)
    assert contrast([118, 118, 118], [255, 255, 255]) == pytest.approx(4.54, abs=0.005)


def test_a_heading_sorts_by_number_and_again_the_other_way(
    browser: "Browser", pages: dict[str, Path]
) -> None:
    page = browser.new_page()
    page.goto(pages["several"].as_uri())
    board = page.locator("table", has=page.locator("caption", has_text="samples that all share"))
    models = board.locator("tbody th")
    assert models.all_inner_texts() == ["openai/m", "hf/other", "third"]
    heading = board.locator("thead th", has_text="value")

    heading.get_by_role("button").click()
    assert models.all_inner_texts() == ["third", "hf/other", "openai/m"]
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.get_by_role("button").press("Enter")
    assert models.all_inner_texts() == ["openai/m", "hf/other", "third"]
    page.close()


def test_on_paper_the_ground_is_white_and_what_is_folded_is_there(
    browser: "Browser", pages: dict[str, Path]
) -> None:
    page = browser.new_page(color_scheme="dark")
    page.goto(pages["several"].as_uri())
    page.emulate_media(media="print")

    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(255, 255, 255)"
    assert page.get_by_text("The service withheld the reply.").is_visible()
    assert not page.locator("nav.contents").is_visible()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")
    page.close()
