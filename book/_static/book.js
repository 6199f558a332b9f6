// A region that scrolls sideways can be reached with the keyboard; one that does not is no stop on the way.
function markScrollable() {
  for (const region of document.querySelectorAll(".katex-display, .pst-scrollable-table-container, .cell_output .output")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}

window.addEventListener("load", markScrollable);
window.addEventListener("resize", markScrollable);

// A report of an error names the section that the reader is looking at.
const report = document.querySelector(".btn-report-button");
report?.addEventListener("click", () => {
  const seen = [...document.querySelectorAll("article section[id]")].filter(
    section => section.getBoundingClientRect().top < innerHeight / 2,
  );
  const url = new URL(report.href);
  for (const [key, value] of url.searchParams) {
    if (seen.length && value.endsWith(".html")) url.searchParams.set(key, `${value}#${seen.at(-1).id}`);
  }
  report.href = url;
});
