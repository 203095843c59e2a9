// Sorting, filter, copies, comparisons and the matrix of pairs, from what is in the page; without it, the page is whole.
const spaced = (text) => text.replaceAll("\u00a0", " ").trim();

async function fileOf(link) {
  const [head, body] = link.href.split("base64,");
  const bytes = Uint8Array.from(atob(body), (c) => c.charCodeAt(0));
  let stream = new Blob([bytes]).stream();
  if (head.includes("gzip")) stream = stream.pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

function fileAfter(node, suffix) {
  const files = node.parentElement.querySelectorAll(`p.files a[download*='.${suffix}']`);
  return [...files].find((a) => node.compareDocumentPosition(a) & 4);
}

for (const form of document.querySelectorAll("form.board")) {
  const table = form.parentElement.querySelector("table.board");
  const heads = [...table.tHead.rows[0].cells];
  const choice = form.querySelector("select");
  const bodies = [...table.tBodies].map((body) => [body, [...body.rows]]);
  let [body, rows] = bodies[0];
  const told = form.querySelector("output");
  const texts = (row) => [...row.cells].map((cell) => spaced(cell.textContent));
  const shown = () => [...body.rows].filter((row) => !row.hidden);
  form.hidden = false;

  function key(row, at) {
    const text = spaced(row.cells[at].textContent).replaceAll(",", "");
    const number = row.cells[at].classList.contains("n") ? parseFloat(text.replace(/^[<>] /, "")) : NaN;
    return Number.isNaN(number) ? text : number;
  }

  heads.forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const compare = new Intl.Collator(undefined, { numeric: true }).compare;
      const order = rows.map((row, place) => [key(row, at), place]).sort(([a, i], [b, j]) => {
        const apart = typeof a === "number" && typeof b === "number" ? a - b : compare(`${a}`, `${b}`);
        return (down ? -apart : apart) || i - j;
      });
      for (const [, place] of order) {
        rows[place].classList.remove("rule");
        body.append(rows[place]);
      }
    });
  });

  const filter = () => {
    const wanted = spaced(form.querySelector("input").value).toLowerCase();
    for (const row of rows) {
      const name = row.querySelector("td.name");
      row.hidden = !spaced(name.title || name.textContent).toLowerCase().includes(wanted);
    }
    told.textContent = wanted ? `${shown().length} of ${rows.length}` : "";
  };
  form.querySelector("input").addEventListener("input", filter);
  if (choice) choice.addEventListener("change", () => {
    body.hidden = true;
    [body, rows] = bodies[choice.selectedIndex];
    body.hidden = false;
    for (const head of heads) head.removeAttribute("aria-sort");
    filter();
  });

  function markdown() {
    const line = (cells) => `| ${cells.map((c) => c.replace(/[\\|<>[\]*_`]/g, "\\$&")).join(" | ")} |`;
    const lines = heads.map((h) => (h.classList.contains("n") ? "--:" : ":--"));
    return [line(heads.map((h) => spaced(h.innerText).replace(/\s+/g, " "))), `| ${lines.join(" | ")} |`,
      ...shown().map((row) => line(texts(row)))].join("\n");
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("click", async (event) => {
    const kind = event.target.dataset.copy;
    if (!kind) return;
    try {
      const link = kind === "markdown" ? null : fileAfter(form, kind);
      if (kind !== "markdown" && !link) throw new Error("the page holds no such file");
      await navigator.clipboard.writeText(link ? await fileOf(link) : markdown());
      told.textContent = "Copied.";
    } catch (error) {
      told.textContent = `Not copied: ${error.message}.`;
    }
  });
}

// Two arms in one sentence. Pairs are in the order (0, 1), (0, 2), ..., (1, 2), ...
const named = (arm) => (arm.length > 60 ? `${arm.slice(0, 59)}\u2026` : arm);

function sentence(data, a, b) {
  const percent = (p) => (p < 0.005 ? "<\u00a01" : p >= 0.995 ? ">\u00a099" : Math.round(100 * p).toFixed());
  const [one, two] = [named(data.arms[a]), named(data.arms[b])];
  if (a === b) return `Choose two different ${data.nouns}.`;
  const [i, j] = [Math.min(a, b), Math.max(a, b)];
  if (j >= data.paired) {
    const p = 1 / (1 + 10 ** ((data.rating[b] - data.rating[a]) / 400));
    return `${one} beats ${two} in about ${percent(p)}\u00a0% of decided duels, by their ratings.`;
  }
  const at = i * data.paired - (i * (i + 1)) / 2 + j - i - 1;
  const { mean, lower, upper, beats, won, lost, tied } = data.pairs;
  const swap = a > b;
  const [p, low, high] = swap ? [1 - mean[at], 1 - upper[at], 1 - lower[at]] : [mean[at], lower[at], upper[at]];
  const wins = swap ? lost[at] : won[at];
  const met = won[at] + lost[at] + tied[at];
  const tie = data.ties ? ", a tie counting half" : "";
  const counts = met ? `${met.toLocaleString("en")} ${met === 1 ? "duel" : "duels"}, ${wins.toLocaleString("en")} won` : "they did not meet in the log";
  const ties = met && data.ties ? `, ${tied[at].toLocaleString("en")} tied` : "";
  const better = swap ? 1 - beats[at] : beats[at];
  const leading = better >= 0.5 ? one : two;
  const sure = Math.max(better, 1 - better);
  let judged = `${leading} is ${sure >= data.confidence ? "" : "probably "}better (${percent(sure)}\u00a0% sure)`;
  if (sure < 0.75) judged = "It is open which of the two is better";
  if (low >= 0.5 - data.rope && high <= 0.5 + data.rope) judged = "The two are practically equal";
  return `${judged}: ${one} beats ${two} in ${percent(p)}\u00a0% [${percent(low)}, ${percent(high)}] of duels${tie}; ${counts}${ties}.`;
}

for (const form of document.querySelectorAll("form.compare")) {
  const data = JSON.parse(form.querySelector("script").textContent);
  const [first, second] = form.querySelectorAll("select");
  for (const select of [first, second]) {
    for (const arm of data.arms) select.add(new Option(named(arm)));
  }
  second.selectedIndex = 1;
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  const show = () => {
    form.nextElementSibling.textContent = sentence(data, first.selectedIndex, second.selectedIndex);
  };
  form.addEventListener("change", show);
  show();

  // The matrix of the same arms, under the pointer or the arrow keys.
  const matrix = (form.closest("article") || document).querySelector("table.matrix");
  if (!matrix) continue;
  const said = matrix.parentElement.nextElementSibling;
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  let [i, j] = [0, 1];
  const point = (row, column) => {
    const n = matrix.rows.length - 1;
    matrix.rows[i + 1].cells[j + 1].classList.remove("at");
    [i, j] = [row, column].map((k) => Math.max(0, Math.min(n - 1, k)));
    matrix.rows[i + 1].cells[j + 1].classList.add("at");
    said.textContent = i === j ? named(data.arms[i]) : sentence(data, i, j);
  };
  matrix.tabIndex = 0;
  matrix.addEventListener("focus", () => point(i, j));
  matrix.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("td");
    if (cell && cell.parentElement.rowIndex) point(cell.parentElement.rowIndex - 1, cell.cellIndex - 1);
  });
  matrix.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    point(i + step[0], j + step[1]);
  });
}

// Search in the file that is embedded below a table: the page holds all rows, and shows the first.
for (const form of document.querySelectorAll("form.search")) {
  form.hidden = false;
  const box = form.querySelector(".scroll");
  const most = 100;
  let rows = null;

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

  function tableOf(lines) {
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
      rows = rows || parsed(await fileOf(fileAfter(form, "csv")));
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
    box.replaceChildren(note, tableOf([rows[0], ...found.slice(0, most)]));
  });
}
