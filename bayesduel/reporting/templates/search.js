// Search in the file that is embedded below a table: the page holds all rows, and shows the first.
for (const form of document.querySelectorAll("form.search")) {
  form.hidden = false;
  const box = form.querySelector(".scroll");
  const most = 100;
  let rows = null;

  async function read() {
    const files = form.parentElement.querySelectorAll("p.files a[download*='.csv']");
    const after = [...files].find((a) => form.compareDocumentPosition(a) & 4);
    const [head, body] = after.href.split("base64,");
    const bytes = Uint8Array.from(atob(body), (c) => c.charCodeAt(0));
    let stream = new Blob([bytes]).stream();
    if (head.includes("gzip")) stream = stream.pipeThrough(new DecompressionStream("gzip"));
    return parsed(await new Response(stream).text());
  }

  function parsed(text) {
    const found = [[]];
    const cell = /("(?:[^"]|"")*"|[^,\n]*)(,|\n|$)/g;
    let match;
    while (cell.lastIndex < text.length && (match = cell.exec(text))) {
      const value = match[1];
      found[found.length - 1].push(value[0] === '"' ? value.slice(1, -1).replaceAll('""', '"') : value);
      if (match[2] === "\n") found.push([]);
    }
    return found.filter((row) => row.length > 1);
  }

  function shown(lines) {
    const table = document.createElement("table");
    for (const [k, line] of lines.entries()) {
      const row = table.insertRow();
      for (const value of line) {
        const cell = k ? row.insertCell() : row.appendChild(document.createElement("th"));
        cell.textContent = value;
      }
    }
    return table;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    box.textContent = "Reading...";
    try {
      rows = rows || (await read());
    } catch (error) {
      box.textContent = `This browser cannot read the file in the page (${error.message}).`;
      return;
    }
    const wanted = form.querySelector("input").value.toLowerCase();
    const at = rows[0].indexOf(form.dataset.column);
    const found = rows.slice(1).filter((row) => row[at].toLowerCase().includes(wanted));
    const note = document.createElement("p");
    note.className = "small";
    note.textContent = `${found.length.toLocaleString()} rows found`;
    if (found.length > most) note.textContent += `; the first ${most} are shown`;
    box.replaceChildren(note, shown([rows[0], ...found.slice(0, most)]));
  });
}
