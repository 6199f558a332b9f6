// A region that scrolls sideways can be reached with the keyboard; one that does not is no stop on the way.
function markScrollable() {
  for (const region of document.querySelectorAll(".katex-display, .pst-scrollable-table-container, .cell_output .output")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}

window.addEventListener("load", markScrollable);
window.addEventListener("resize", markScrollable);
