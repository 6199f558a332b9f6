// What a search result quotes: the text of the article or section, with each formula once and without the controls.
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  const place = (anchor && page.querySelector(`article ${anchor}`)) || page.querySelector("article");
  for (const extra of place.querySelectorAll(".headerlink, .katex-html, annotation, live-figure, style")) extra.remove();
  return place.textContent;
};

// A page that was opened as a file must not fetch others, so there results quote nothing.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
