// The form that makes a link for a JupyterHub: what nbgitpuller wants to be told, put together as it is typed.
for (const form of document.querySelectorAll("form.hub-link")) {
  const {hub, repo, branch, page, link} = form.elements;

  function showLink() {
    link.value = "";
    if (![hub, repo, branch].every(field => field.checkValidity())) return;
    const address = repo.value.replace(/\/+$/, "");
    const folder = address.split("/").pop().replace(/\.git$/, "");
    const query = new URLSearchParams({
      repo: address,
      branch: branch.value,
      urlpath: ["lab/tree", folder, page.value].filter(Boolean).join("/"),
    });
    link.value = `${hub.value.replace(/\/+$/, "")}/hub/user-redirect/git-pull?${query}`;
  }

  form.addEventListener("input", showLink);
  form.addEventListener("submit", event => event.preventDefault());
  link.addEventListener("focus", () => link.select());
  showLink();
}
