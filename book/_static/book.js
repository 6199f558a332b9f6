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
document.querySelector(".btn-report-button")?.addEventListener("click", event => {
  const sections = [...document.querySelectorAll("article section[id]")];
  const seen = sections.findLast(section => section.getBoundingClientRect().top < innerHeight / 2);
  const url = new URL(event.currentTarget.href);
  for (const [key, value] of url.searchParams) {
    if (seen) url.searchParams.set(key, value.replace(/(\.html)(#.*)?$/, `$1#${seen.id}`));
  }
  event.currentTarget.href = url;
});

// Paper is white: a page in dark mode is printed as in light mode.
{
  const page = document.documentElement.dataset;
  let shown;
  window.addEventListener("beforeprint", () => { shown = page.theme; page.theme = "light"; });
  window.addEventListener("afterprint", () => { page.theme = shown; });
}
