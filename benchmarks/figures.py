"""How quickly a figure follows its slider: in the page, against ipywidgets and matplotlib over a kernel.

Prints the ratio of two medians that were measured in one run on one machine: from the slider's event to the
changed picture in the page's script, and from asking a local kernel to redraw the same curves with
matplotlib, as `ipywidgets.interact` does, to its answer with the picture. Needs the tests' packages (a
browser); without them it says so.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
ROUNDS = 30

REDRAW = """
import matplotlib.pyplot as plt, torch
grid = torch.linspace(-6, 6, 161, dtype=torch.float64)
def draw(s1, s2=0.5, s3=-1.0):
    scores = torch.stack([grid, torch.full_like(grid, s2), torch.full_like(grid, s3)], -1)
    fig, axes = plt.subplots()
    axes.plot(grid, scores.logsumexp(-1)); axes.plot(grid, scores.amax(-1))
    axes.plot([s1], [torch.tensor([s1, s2, s3]).logsumexp(0)], "o")
    axes.set(xlim=(-6, 6), ylim=(-6, 8))
    plt.show()
"""
FOLLOW = """(figure, rounds) => {
    const slider = figure.querySelector("input[type=range]");
    const times = [];
    for (let i = 0; i < rounds; i++) {
        slider.value = i % 2 ? slider.min : slider.max;
        const begin = performance.now();
        slider.dispatchEvent(new Event("input"));
        times.push(performance.now() - begin);
    }
    return times;
}"""


def page_times() -> list[float]:
    """Seconds of each update in the page."""
    import browser
    from playwright.sync_api import sync_playwright

    from mlloss.figures import logsumexp_and_max
    from mlloss.live.figure import SCRIPT

    program, html = browser.find(), logsumexp_and_max().html
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=browser.FLAGS)
        page = chromium.new_page()
        page.set_content(html)
        page.add_script_tag(content=SCRIPT)
        figure = page.locator("live-figure")
        figure.evaluate(FOLLOW, ROUNDS)
        times = figure.evaluate(FOLLOW, 10 * ROUNDS)
        chromium.close()
    return [milliseconds / 1000 for milliseconds in times]


def kernel_times() -> list[float]:
    """Seconds of each redrawing by a kernel, until the picture has arrived."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    times = []
    try:
        client.execute_interactive("%matplotlib inline\n" + REDRAW, output_hook=lambda message: None)
        for i in range(ROUNDS + 3):
            begin = time.perf_counter()
            client.execute_interactive(f"draw({i % 5})", output_hook=lambda message: None)
            times.append(time.perf_counter() - begin)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    return times[3:]


def main() -> None:
    print("\nA figure that follows its slider")
    try:
        page = statistics.median(page_times())
    except ImportError as missing:
        print(f"  left out, {missing.name} is not installed: `make test` sets it up")
        return
    print(f"  kernel and matplotlib / live figure: {statistics.median(kernel_times()) / page:.0f}")


if __name__ == "__main__":
    main()
