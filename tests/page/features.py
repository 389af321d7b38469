"""What a person does on the page, step by step, and what must come of it.

One function for each feature.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import steelyard as sy
from tests.page.browser import Hand, eventually


@dataclass
class Visit:
    """One window that is worked in: by whom, in which folder."""

    hand: Hand
    folder: Path

    @property
    def robot(self) -> sy.Robot:
        return sy.load("planar_2r")

    def pose(self) -> np.ndarray:
        """Where the bodies are drawn: position and quaternion of the base and of each body."""
        return np.array(
            self.hand.page.get_attribute(".view", "data-pose").split(), dtype=float
        ).reshape(-1, 7)

    def shown_q(self) -> np.ndarray:
        return np.array(
            [
                float(x)
                for x in self.hand.page.eval_on_selector_all(
                    ".joint input[type=number]", "es => es.map(e => e.value)"
                )
            ]
        )


def opens(visit: Visit) -> None:
    """The page opens with the robot and the log of its command line, in the scheme of the
    system.
    """
    hand = visit.hand
    hand.wait(".view[data-built]")
    assert hand.says(".facts", "planar_2r: 2 joints")
    assert int(hand.page.get_attribute(".view", "data-built")) >= 4
    dark = hand.page.evaluate("document.body.classList.contains('body--dark')")
    assert dark == (hand.look.scheme == "dark")
    paper = hand.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(json.loads("[" + paper.partition("(")[2].strip(")") + "]")[:3]) < 200) == dark
    assert hand.page.evaluate("document.documentElement.scrollWidth") <= hand.look.width
    assert "token" not in hand.page.url


def moves(visit: Visit) -> None:
    """A slider moves the robot as kinematics predicts, and shows the gravity torque."""
    hand = visit.hand
    hand.tab("robot")
    before = visit.shown_q()
    hand.slide(".joint input[type=range]")
    assert eventually(lambda: abs(visit.shown_q()[0] - before[0]) > 1e-3)
    assert eventually(
        lambda: np.allclose(
            visit.pose()[-1, :3], body_origin(visit.robot, visit.shown_q()), atol=2e-3
        )
    )
    assert eventually(lambda: shows_gravity(visit))
    hand.press(".layers label:nth-child(4) input")
    hand.until("steelyard.shown.ellipsoids")
    hand.press(".layers label:nth-child(4) input")


def shows_gravity(visit: Visit) -> bool:
    """Whether the first bar tells the torque of gravity where the sliders are now."""
    gravity = float(visit.robot.gravity_torque(visit.shown_q())[0])
    return abs(gravity) < 0.01 or f"gravity {gravity:.2g}"[:9] in visit.hand.page.get_attribute(
        ".torques .bar", "aria-label"
    )


def body_origin(robot: sy.Robot, q: np.ndarray) -> np.ndarray:
    """The origin of the last body's frame."""
    return np.asarray(robot.forward_kinematics(q, robot.body_names[-1]))[:3, 3]


def postures(visit: Visit) -> None:
    """Configurations with the same pose are ghosts; a chosen one has that pose."""
    hand = visit.hand
    hand.press(
        "button.main:has-text('Find postures')"
        if not hand.look.keys
        else "[aria-label=Postures] button.main"
    )
    hand.until("Number(document.querySelector('.view').dataset.ghosts) >= 1")
    hand.wait("[aria-label='Postures that were found'] button")
    frame = visit.robot.end_effector
    before = visit.robot.forward_kinematics(visit.shown_q(), frame)
    hand.press("[aria-label='Postures that were found'] button:first-of-type")
    assert eventually(
        lambda: np.allclose(
            visit.robot.forward_kinematics(visit.shown_q(), frame), before, atol=3e-3
        )
    )
    hand.press("[aria-label=Postures] .quiet")
    hand.until("document.querySelector('.view').dataset.ghosts === '0'")


def plays(visit: Visit) -> None:
    """A log plays on the robot; cursor, sliders and clock follow it."""
    hand = visit.hand
    hand.tab("log")
    hand.wait(".timed .js-plotly-plot .trace")
    if hand.look.keys:
        hand.page.evaluate("document.activeElement.blur()")
        hand.page.keyboard.press("Space")
    else:
        hand.press("#play")
    hand.until("steelyard.player.time > 0.3")
    hand.press("#play")
    hand.until("!steelyard.player.playing")
    time = hand.page.evaluate("steelyard.player.time")
    hand.until("document.querySelector('.timed .cursor')?.style.display === 'block'")
    point = hand.page.evaluate(
        "(() => { const p = document.querySelector('.timed .js-plotly-plot'); const c ="
        " document.querySelector('.timed .cursor'); return p._fullLayout.xaxis.p2d(new"
        " DOMMatrix(getComputedStyle(c).transform).e - p._fullLayout.xaxis._offset) })()"
    )
    assert abs(point - time) < 0.05
    hand.tab("robot")
    log = sy.read_log(visit.folder / "log.csv", visit.robot)
    expected = np.array([np.interp(time, log.t, column) for column in log.q.T])
    assert eventually(lambda: np.allclose(visit.shown_q(), expected, atol=5e-3))


def examines(visit: Visit) -> None:
    """The doctor's findings are listed, and marked at their times."""
    hand = visit.hand
    hand.choose("#choose-log", "faulty.csv")
    hand.wait("#panel[aria-labelledby=tab-log] #doctor-start")
    hand.press("#doctor-start")
    hand.wait(".findings li.fault")
    assert hand.says(".findings", "saturated")
    hand.wait(".timed .shapelayer path")
    hand.choose("#choose-log", "log.csv")
    hand.wait("#panel[aria-labelledby=tab-log]:not(:has(.findings li))")


def designs(visit: Visit) -> None:
    """A motion is designed with progress and expected accuracy, and shown on the timeline."""
    hand = visit.hand
    hand.tab("design")
    for name, value in (("seconds", "3"), ("starts", "1")):
        hand.focus(f"#design-{name}") if hand.look.keys else hand.page.click(f"#design-{name}")
        hand.page.keyboard.press("Control+a")
        hand.page.keyboard.type(value)
        hand.page.keyboard.press("Tab")
    hand.press("#design-start")
    hand.wait("#designed")
    assert hand.says("#designed", "3 s")
    assert hand.says("#panel", "σ", "std")
    hand.until("document.body.dataset.motion === 'designed motion'")
    assert (
        abs(hand.page.evaluate("steelyard.player.motion.end - steelyard.player.motion.start") - 3.0)
        < 0.05
    )


def cancels(visit: Visit) -> None:
    """A running computation is cancelled at once and leaves nothing behind."""
    hand = visit.hand
    hand.tab("identify")
    hand.press("#identify-start")
    hand.wait("#identify-cancel")
    hand.press("#identify-cancel")
    hand.wait("#identify-start:not([disabled])")
    assert hand.says("#said", "Cancelled")
    assert hand.page.query_selector("#verdict") is None


def identifies(visit: Visit) -> None:
    """A log is identified with progress; verdict and figures equal the report's."""
    hand = visit.hand
    hand.tab("identify")
    hand.press("#identify-start")
    hand.wait("#verdict")
    assert hand.says("#verdict", "trusted")
    hand.until("document.querySelectorAll('#panel .js-plotly-plot .trace').length > 8")
    assert hand.says("#panel", "link2")


def validates(visit: Visit) -> None:
    """The latest fit is validated on another log, with the report's table and torques."""
    hand = visit.hand
    hand.choose("#choose-validation", "tuesday.csv")
    hand.press("#validate-start")
    assert hand.says("#said", "Validated: trusted")
    hand.wait("figure[aria-label='Another motion'] .js-plotly-plot .trace")
    assert hand.says("#panel .sheet[aria-label='Prediction errors']", "validation")
    assert hand.says("#panel .tiles", "relative error on the validation log")
    assert hand.says("#panel .sheet[aria-label='Verdict of each joint']", "trusted")
    assert "--validate tuesday.csv" in hand.page.text_content(
        "#panel .recipe pre[aria-label='command lines']"
    )


def compares(visit: Visit) -> None:
    """A second fit is compared with the first."""
    hand = visit.hand
    hand.choose("#panel select[aria-label=Estimator]", "wls")
    hand.press("#identify-start")
    hand.wait("#identify-start:not([disabled])")
    hand.until("document.querySelector('#panel pre').textContent.includes('wls')")
    hand.tab("compare")
    hand.wait(".sheet table")
    for text in ("1: auto", "2: wls", "differ by more than"):
        assert hand.says("#panel", text)


def exports(visit: Visit) -> None:
    """Report, robot, C and fit are saved and downloaded; the robot is read back."""
    hand, folder = visit.hand, visit.folder
    hand.tab("identify")
    before = set(folder.glob("results*"))
    hand.press("#save")
    assert eventually(lambda: len(set(folder.glob("results*")) - before) == 1)
    result = (set(folder.glob("results*")) - before).pop()
    assert eventually(lambda: (result / "report.html").exists())
    assert sy.load(result / "identified.toml").n == 2
    assert any((result / "c").glob("*.c"))
    name, data = hand.download("#download-report")
    assert name == "report.html"
    assert data.startswith(b"<!doctype html>")
    name, data = hand.download("#download-c")
    assert any(each.endswith(".h") for each in zipfile.ZipFile(io.BytesIO(data)).namelist())


def recalls(visit: Visit) -> None:
    """A saved fit is opened and compared with one of this window."""
    hand = visit.hand
    hand.tab("compare")
    hand.choose("#choose-fit", "results/fit.json")
    for text in ("2: wls", "results/fit.json", "0 of", "differ by more than"):
        assert hand.says("#panel", text)
    hand.upload("#upload-fit", visit.folder / "results" / "fit.json")
    assert hand.says("#panel", "uploaded fit.json")
    hand.tab("identify")


def copies(visit: Visit) -> None:
    """The equivalent commands are shown, and the Python code gives the same result."""
    hand = visit.hand
    hand.press("#panel .recipe summary")
    lines = hand.page.eval_on_selector_all("#panel .recipe pre", "es => es.map(e => e.textContent)")
    assert lines[1].startswith("steelyard identify planar_2r ")
    results: dict[str, object] = {}
    exec(lines[0].replace("print(", "str("), results)
    assert results["fit"].estimator  # type: ignore[attr-defined]
    hand.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    hand.press("#panel .recipe button")
    assert eventually(lambda: hand.page.evaluate("navigator.clipboard.readText()") == lines[0])


def weighs(visit: Visit) -> None:
    """The payload is identified against the log without it."""
    hand = visit.hand
    hand.choose("#choose-log", "loaded.csv")
    hand.wait("#panel[aria-labelledby=tab-log]")
    hand.tab("payload")
    hand.choose("#choose-empty", "log.csv")
    hand.press("#payload-start")
    hand.wait("#load-verdict")
    assert hand.says("#panel table", "kg")


def simulates(visit: Visit) -> None:
    """A motion is simulated; moving a gain changes it."""
    hand = visit.hand
    hand.tab("simulate")
    hand.press("#simulate")
    hand.wait("#simulated")
    hand.until("document.body.dataset.motion === 'simulated motion'")
    before = hand.text("#simulated")
    hand.slide("input[aria-label='Gain of the velocity error']")
    assert eventually(lambda: hand.text("#simulated") != before)


def uploads(visit: Visit) -> None:
    """A robot and a log are uploaded; forbidden files are refused and change nothing."""
    hand = visit.hand
    hand.upload("#upload-robot", visit.folder / "arm.xacro")
    hand.until("document.querySelector('#said').textContent.includes('is not taken')")
    assert "planar_2r" in hand.text(".facts")
    hand.upload("#upload-robot", visit.folder / "arm.toml")
    hand.until("document.querySelector('.facts').textContent.includes('arm: 2 joints')")
    hand.upload("#upload-log", visit.folder / "log.csv")
    hand.until("document.querySelector('.facts').textContent.includes('samples')")


def reloads(visit: Visit) -> None:
    """A reloaded window keeps its robot, log and fits; a new one is empty."""
    hand = visit.hand
    hand.tab("identify")
    hand.page.reload()
    hand.wait(".view[data-built]")
    hand.wait("#tab-identify[aria-selected=true]")
    assert hand.says("#verdict", "trusted", "doubtful")
    other = hand.page.context.new_page()
    other.goto(hand.page.url.partition("/w/")[0] + "/")
    other.wait_for_selector(".view[data-built]")
    other.click("#tab-identify")
    other.wait_for_selector("#identify-start")
    assert other.query_selector("#verdict") is None
    other.close()


FEATURES: dict[str, Callable[[Visit], None]] = {
    "open": opens, "move": moves, "postures": postures, "play a log": plays, "examine": examines,
    "design": designs, "cancel": cancels, "identify": identifies, "validate": validates,
    "compare": compares, "export": exports, "compare with a saved fit": recalls, "copy": copies,
    "reload": reloads, "simulate": simulates, "weigh": weighs, "upload": uploads,
}  # fmt: skip
"""In the order in which they are done: later ones build on earlier ones."""
