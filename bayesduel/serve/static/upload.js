// Files are sent in parts, so that a slow connection sends each in time; a part that failed is sent again.
"use strict";
const PART = 524288;
const state = document.getElementById("upload-state");
let uploading = false;

async function part(name, file, offset) {
  const query = new URLSearchParams({ name, size: file.size, offset });
  for (let tries = 0; ; tries += 1) {
    let answer = null;
    try {
      answer = await fetch("/api/admin/upload?" + query, {
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        body: file.slice(offset, offset + PART),
        credentials: "same-origin",
      });
    } catch { /* no connection */ }
    if (answer && answer.ok) return;
    if (answer && answer.status !== 429 && answer.status < 500) {
      const found = await answer.json().catch(() => ({}));
      throw new Error(found.error || `${name}: status ${answer.status}`);
    }
    if (tries === 8) throw new Error(`${name}: no connection`);
    await new Promise((done) => setTimeout(done, 500 * 2 ** tries));
  }
}

async function upload(event) {
  if (uploading) return;
  uploading = true;
  const refused = [];
  const files = [...event.target.files].filter((f) => !f.name.startsWith("."));
  for (const [k, file] of files.entries()) {
    const path = file.webkitRelativePath.split("/").slice(1).join("/") || file.name;
    state.textContent = `${k + 1} of ${files.length}: ${path}`;
    try {
      if (!file.size) throw new Error(`${path} is empty`);
      for (let offset = 0; offset < file.size; offset += PART) await part(path, file, offset);
    } catch (error) {
      refused.push(error.message);
    }
  }
  state.textContent = `${files.length - refused.length} of ${files.length} files are uploaded.` +
    (refused.length ? " Refused: " + refused.join("; ") + "." : "");
  event.target.value = "";
  uploading = false;
}

["folder", "files"].map((id) => document.getElementById(id)).filter(Boolean).forEach((input) => {
  input.addEventListener("change", upload);
});
