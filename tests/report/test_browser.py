"""The page in a real browser: Chromium, headless, without network."""

import base64
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from gsl_scale.report.page import write_page
from tests.report.test_page import NASTY

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = {"wide": 1280, "narrow": 390}


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[webdriver.Chrome]:
    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if missing := [name for name, path in found.items() if path is None]:
        pytest.skip(f"no {' and no '.join(missing)} here: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = found["chromium"]
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('chromium')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found["chromedriver"]))
    yield driver
    driver.quit()


@pytest.fixture
def look(browser):
    """Open a page of a size and in a scheme; no message of the console is passed over."""

    def open_page(path: Path, size: str = "wide", scheme: str = "light") -> webdriver.Chrome:
        screen = {"width": SIZES[size], "height": 900, "deviceScaleFactor": 1}
        screen["mobile"] = size == "narrow"
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        # Scrolling that takes its time would move buttons away from under a click.
        wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wanted.items()]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(path.as_uri())
        WebDriverWait(browser, 20).until(
            lambda b: b.find_element(By.ID, "explorer").get_attribute("data-ready") == "yes"
        )
        return browser

    yield open_page
    assert browser.get_log("browser") == []


def shown(browser) -> str:
    return browser.find_element(By.ID, "shown").text


def ask(browser, text: str) -> str:
    field = browser.find_element(By.ID, "node")
    field.clear()
    field.send_keys(text, Keys.ENTER)
    return browser.find_element(By.ID, "answer").text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_everything_is_drawn_and_fits(look, make_run, size, scheme):
    browser = look(write_page(make_run()), size, scheme)
    for chart in browser.find_elements(By.CSS_SELECTOR, "svg"):
        assert chart.size["width"] > 200, chart.get_attribute("aria-label")
        assert chart.size["height"] >= 20
    assert len(browser.find_elements(By.CSS_SELECTOR, "svg")) == 13
    # Text of a chart neither leaves the page nor lies upon other text of the chart.
    assert browser.execute_script(OVERLAPS) == []
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    assert wide <= SIZES[size]
    # Ink and paper are told apart as WCAG AA asks.
    assert browser.execute_script(CONTRAST) >= 4.5
    dark = browser.execute_script(
        "return matchMedia('(prefers-color-scheme: dark)').matches"
        " && getComputedStyle(document.body).backgroundColor === 'rgb(17, 21, 27)'"
    )
    assert dark == (scheme == "dark")
    image = base64.b64decode(browser.get_screenshot_as_base64())
    assert len(image) > 20_000  # something is to be seen


def test_the_explorer_answers(look, make_run):
    browser = look(write_page(make_run()))
    assert "Node 7" in ask(browser, "7")
    answer = ask(browser, "12")
    assert shown(browser) == "Node 12"
    assert "Before, given graph" in answer
    assert "After, learned graph" in answer
    assert "Its label: cat" in answer
    neighbour = browser.find_element(By.CSS_SELECTOR, ".neighbours button")
    name = neighbour.text
    neighbour.click()
    assert shown(browser) == f"Node {name}"
    assert "There is no node “9999” here. There are 60 nodes" in ask(browser, "9999")


def test_by_keyboard_alone(look, make_run):
    """From the top of the page to a node's neighbour, with Tab, letters and Enter."""
    browser = look(write_page(make_run()))

    def tab_to(found) -> None:
        for _ in range(60):
            ActionChains(browser).send_keys(Keys.TAB).perform()
            active = browser.switch_to.active_element
            outline = active.value_of_css_property("outline-style")
            assert outline != "none", active.get_attribute("outerHTML")  # focus is to be seen
            if found(active):
                return
        raise AssertionError("never reached")

    tab_to(lambda at: at.get_attribute("class") == "skip")
    tab_to(lambda at: at.get_attribute("id") == "node")
    browser.switch_to.active_element.send_keys(Keys.CONTROL, "a")
    ActionChains(browser).send_keys("21", Keys.ENTER).perform()
    assert shown(browser) == "Node 21"
    tab_to(lambda at: at.find_elements(By.XPATH, "ancestor::ul[@class='neighbours']"))
    name = browser.switch_to.active_element.text
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert shown(browser) == f"Node {name}"
    assert browser.switch_to.active_element.get_attribute("id") == "shown"


def test_ids_are_never_run(look, make_run):
    ids = tuple(f"{NASTY}{i}" for i in range(60))
    browser = look(write_page(make_run(ids=ids, classes=(NASTY, "dog"))))
    ask(browser, ids[3])
    assert shown(browser) == ids[3]
    assert browser.find_elements(By.TAG_NAME, "img") == []
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 2


def test_a_large_graph(look, large_run):
    browser = look(write_page(large_run), "narrow")
    assert shown(browser).startswith("https://example.org/paper/")
    browser.find_element(By.ID, "random").click()
    assert "neighbours" in browser.page_source
    assert "of 169,343 nodes" in ask(browser, "someone else")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390


def test_without_javascript_the_charts_are_there(look, browser, make_run):
    path = write_page(make_run())
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(path.as_uri())
        assert len(browser.find_elements(By.CSS_SELECTOR, "svg")) == 13
        assert "This section needs JavaScript" in browser.find_element(By.ID, "explore").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


OVERLAPS = """
const bad = [];
for (const svg of document.querySelectorAll("svg")) {
  const boxes = [...svg.querySelectorAll("text:not([transform])")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  for (const [text, box] of boxes)
    if (box.left < 0 || box.right > innerWidth + 0.5) bad.push(text + " leaves the page");
  boxes.forEach(([one, a], i) => boxes.slice(i + 1).forEach(([other, b]) => {
    if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)
      bad.push(svg.getAttribute("aria-label").slice(0, 30) + ": " + one + " upon " + other);
  }));
}
return bad;
"""

CONTRAST = """
const light = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const paper = light(getComputedStyle(document.body).backgroundColor);
const ratios = [...document.querySelectorAll("p, a, h1, h2, h3, .note, .fate, .group, svg .tick")].map((element) => {
  const style = getComputedStyle(element);
  const ink = light(element.tagName === "text" ? style.fill : style.color);
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
});
return Math.min(...ratios);
"""
