"""A real browser, worked by mouse or by keys alone."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
ABSENT = (
    "there is no Chromium here: `apt-get install chromium` brings the browser that works the page"
    " (scripts/test.sh tries it)"
)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
]
MOST_TABS = 400
# what the browser notes of an upload that is refused in a sentence, as it should be
REFUSED = "status of 422"
PATIENCE = 300.0  # [s] that a step may take on a machine that has much else to do


@dataclass(frozen=True)
class Look:
    """Width and height of the window [px], light or dark, and whether only keys are used."""

    name: str
    width: int
    height: int
    scheme: str
    keys: bool = False


# The test command uses the first and the last one, `pytest tests/page --all-looks` all of them.
LOOKS = (
    Look("1440 light", 1440, 900, "light"),
    Look("1440 dark", 1440, 900, "dark"),
    Look("390 light", 390, 844, "light"),
    Look("390 dark", 390, 844, "dark"),
    Look("390 dark, keys alone", 390, 844, "dark", keys=True),
)


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium for the length of the block, with WebGL in software."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        result = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield result
        finally:
            result.close()


@dataclass
class Hand:
    """What a person does with the page. Errors of the page are kept, and are none at the end."""

    page: Any
    look: Look
    errors: list[str] = field(default_factory=list)

    @classmethod
    def at(cls, chromium: Any, url: str, look: Look) -> Hand:
        context = chromium.new_context(
            viewport={"width": look.width, "height": look.height},
            color_scheme=look.scheme,
            accept_downloads=True,
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE * 1000)
        result = cls(context.new_page(), look)
        result.page.on("pageerror", lambda error: result.errors.append(str(error)))
        result.page.on(
            "console",
            lambda message: (
                result.errors.append(message.text)
                if message.type == "error" and REFUSED not in message.text
                else None
            ),
        )
        result.page.goto(url)
        return result

    def wait(self, selector: str) -> Any:
        return self.page.wait_for_selector(selector)

    def until(self, script: str, seconds: float = PATIENCE) -> None:
        """Wait until a line of JavaScript is true."""
        self.page.wait_for_function(script, timeout=1000 * seconds)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def says(self, selector: str, *texts: str) -> bool:
        """Return whether an element comes to say one of the texts.

        What the page sends arrives piece by piece.
        """
        return eventually(lambda: any(text in self.text(selector) for text in texts))

    def focus(self, selector: str) -> None:
        """Bring the focus to an element by the Tab key, as one who has no mouse must."""
        reached = (
            "s => { const e = document.querySelector(s); return !!e && e ==="
            " document.activeElement }"
        )
        behind = """s => { const e = document.querySelector(s), a = document.activeElement;
            return a && a !== document.body &&
                !!(e.compareDocumentPosition(a) & Node.DOCUMENT_POSITION_FOLLOWING) }"""
        key = "Shift+Tab" if self.page.evaluate(behind, selector) else "Tab"
        for _ in range(MOST_TABS):
            if self.page.evaluate(reached, selector):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{selector} cannot be reached by the Tab key")

    def press(self, selector: str) -> None:
        """Press a button, tick a box, or open what folds."""
        if not self.look.keys:
            self.page.click(selector)
            return
        self.focus(selector)
        self.page.keyboard.press("Space")

    def tab(self, name: str) -> None:
        """Open a tab; by keys, with the number of its place."""
        if self.look.keys:
            names = self.page.eval_on_selector_all("[role=tab]", "es => es.map(e => e.id)")
            self.page.evaluate("document.activeElement.blur()")
            self.page.keyboard.press(str(names.index(f"tab-{name}") + 1))
        else:
            self.page.click(f"#tab-{name}")
        self.wait(f"#tab-{name}[aria-selected=true]")
        self.wait(f"#panel[aria-labelledby=tab-{name}]")

    def slide(self, selector: str) -> None:
        """Move a slider a few steps to the right."""
        if self.look.keys:
            self.focus(selector)
            for _ in range(5):
                self.page.keyboard.press("ArrowRight")
            return
        first = self.page.locator(selector).first
        first.scroll_into_view_if_needed()
        box = first.bounding_box()
        self.page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)

    def choose(self, selector: str, text: str) -> None:
        """Choose from a list; by keys, with its first letters."""
        if self.look.keys:
            self.focus(selector)
            self.page.keyboard.type(text)
            self.page.keyboard.press("Enter")
        else:
            self.page.select_option(selector, label=text)

    def download(self, selector: str) -> tuple[str, bytes]:
        """Press what downloads, and return the name and content of the file."""
        with self.page.expect_download() as begun:
            self.press(selector)
        return begun.value.suggested_filename, Path(begun.value.path()).read_bytes()

    def upload(self, selector: str, path: Path) -> None:
        """Upload a file."""
        with self.page.expect_file_chooser() as chosen:
            self.press(selector)
        chosen.value.set_files(path)


def eventually(true: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    """Return whether something becomes true in time."""
    began = time.monotonic()
    while not true():
        if time.monotonic() - began > seconds:
            return False
        time.sleep(0.02)
    return True
