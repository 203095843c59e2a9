// The judge's page. Every answer is kept in localStorage until the server has it; sent twice, it
// counts once, because its key names the ticket and how often that was taken back.
"use strict";
const page = $("page").dataset.key;
const place = "bayesduel." + page;
let queue = load();
let state = null;
let sending = false;
let ready = false; // whether the keys answer the pair that is shown
let wait = 1;
const started = Date.now();
let toldAtStart = null;

function load() {
  try { return JSON.parse(localStorage.getItem(place)) || []; } catch { return []; }
}

function keep() {
  try {
    if (queue.length) localStorage.setItem(place, JSON.stringify(queue));
    else localStorage.removeItem(place);
  } catch { /* a private window keeps nothing: the queue is in this page alone */ }
}

function say(text, warning) {
  $("status").textContent = text;
  $("status").classList.toggle("warning", Boolean(warning));
}

async function request(path, body) {
  const stop = new AbortController();
  const clock = setTimeout(() => stop.abort(), 15000);
  try {
    const answer = await fetch(path, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal: stop.signal,
    });
    const found = await answer.json().catch(() => ({}));
    return { status: answer.status, found };
  } catch {
    return { status: 0, found: {} };
  } finally {
    clearTimeout(clock);
  }
}

// Send what waits, in order; with nothing waiting, read the state.
async function flush() {
  if (sending) return;
  sending = true;
  for (;;) {
    const next = queue[0];
    const { status, found } = next ? await request(next.path, next.body) : await request("/api/judge");
    if (status === 200) {
      wait = 1;
      if (next) { queue.shift(); keep(); }
      if (queue.length) continue;
      say("");
      show(found);
      break;
    }
    if (status === 0 || status === 429 || status >= 500) {
      const what = next ? t("Your answer is kept here and will be sent again.") : t("Trying again.");
      say((status === 0 ? t("No connection.") : t("The study is busy.")) + " " + what, true);
      setTimeout(flush, wait * 1000);
      wait = Math.min(wait * 2, 15);
      break;
    }
    if (status === 401 || status === 403) {
      say(t("Your invitation is not valid any more. Open your link again, or ask for a new one."), true);
      break;
    }
    if (next) { // refused: read the state to see whether this page is still that of the judge
      const now = await request("/api/judge");
      if (now.status === 200 && now.found.page !== page) {
        say(t("Another invitation was opened in this browser. Open your link again."), true);
        break;
      }
      if (now.status !== 200) { setTimeout(flush, 2000); break; }
      queue.shift();
      keep();
      show(now.found);
      say(t("That answer was not taken: {reason}.", { reason: found.error || status }), true);
      if (!queue.length) break;
    } else {
      say(found.error || t("Something went wrong. Load this page again."), true);
      break;
    }
  }
  sending = false;
}

function send(path, body) {
  ready = false;
  document.querySelectorAll("#answers button").forEach((b) => { b.disabled = true; });
  queue.push({ path, body });
  keep();
  flush();
}

// Since when a pair is on the screen, also where the page was loaded again in between.
function shownAt(key) {
  const name = place + ".shown." + key;
  const now = Date.now();
  try {
    const before = Number(sessionStorage.getItem(name));
    if (before > 0 && before <= now) return before;
    sessionStorage.setItem(name, String(now));
  } catch { /* a private window keeps nothing */ }
  return now;
}
let shown = Date.now();

function answer(what, more) {
  if (!ready || !state || !state.ticket) return;
  const seen = Math.min(Math.max(Date.now() - shown, 0) / 1000, 1e7);
  const chosen = document.querySelector(`[data-answer="${what}"]`);
  if (chosen) chosen.classList.add("chosen");
  send("/api/judge/answer", { key: state.ticket.key, answer: what, seen, ...more });
}

// A form is sent as a whole: the answer to every question, what was chosen and what was written.
const form = $("form");
const questions = [...document.querySelectorAll(".question")];
let active = 0;

function chosenIn(question) {
  const found = question.querySelector("input:checked");
  return found && found.value;
}

function sendForm() {
  const missing = questions.findIndex((q) => !chosenIn(q));
  if (missing >= 0) {
    activate(missing);
    say(t("Please answer every question first."), true);
    return;
  }
  const criteria = {};
  let what = null;
  questions.forEach((question, k) => {
    if ("decides" in question.dataset) what = chosenIn(question);
    else criteria[state.asking.criteria[k]] = chosenIn(question);
  });
  const chosen = [...form.querySelectorAll("[data-reason]:checked")].map((r) => r.dataset.reason);
  const reasons = state.asking.reasons.filter((r) => chosen.includes(r.key)).map((r) => r.reason);
  const comment = $("comment") ? $("comment").value.trim() : "";
  answer(what, { criteria, reasons, ...(comment ? { comment } : {}) });
}

function activate(number) {
  active = Math.max(0, Math.min(number, questions.length - 1));
  questions.forEach((q, k) => q.classList.toggle("active", k === active && questions.length > 1));
  questions[active].scrollIntoView({ block: "nearest" });
}

// A slider shows the answer that is chosen; one that nobody moved is no answer.
const sliders = [...document.querySelectorAll(".slider input")];
const placesOf = (slider) => [...slider.closest(".question").querySelectorAll(".chip[hidden] input")];

function follow() {
  sliders.forEach((slider) => {
    const places = placesOf(slider);
    const chosen = places.findIndex((choice) => choice.checked);
    const moved = chosen >= 0;
    slider.value = moved ? chosen : (places.length - 1) / 2;
    const text = moved ? places[chosen].parentNode.querySelector("span").textContent : t("Move the slider");
    slider.setAttribute("aria-valuetext", text);
    slider.closest(".slider").classList.toggle("moved", moved);
    slider.parentNode.querySelector("output").textContent = text;
  });
}

function filled() {
  follow();
  $("send").disabled = !questions.every(chosenIn);
}

function emptied() {
  if (!form) return;
  form.querySelectorAll("input").forEach((input) => { input.checked = false; });
  if ($("comment")) $("comment").value = "";
  activate(0);
  filled();
}

// Do what a key means in the form; return whether it means anything there.
function typed(key, event) {
  if (key === "Enter" && !event.target.closest("button, a")) sendForm();
  else if ((key === "ArrowUp" || key === "ArrowDown") && !event.target.closest("input")) {
    activate(active + (key === "ArrowDown" ? 1 : -1));
  } else if (key === "n" && $("comment")) $("comment").focus();
  else {
    const reason = form.querySelector(`[data-reason="${CSS.escape(key)}"]`);
    const choice = questions[active].querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!reason && !choice) return false;
    if (reason) reason.checked = !reason.checked;
    if (choice) {
      choice.checked = true;
      const next = questions.findIndex((q) => !chosenIn(q));
      if (next >= 0) activate(next);
    }
    filled();
  }
  return true;
}

function undo() {
  if (!state || !state.last || sending || queue.length) return;
  send("/api/judge/undo", { ticket: state.last });
}

function show(found) {
  const before = state;
  state = found;
  for (const id of ["instructions", "feedback", "pair", "end"]) $(id).hidden = true;
  const told = found.feedback && found.feedback.key !== explained;
  const judging = !told && found.phase === "judging" && found.ticket;
  $("answers").hidden = told || !(judging || (found.phase === "done" && found.last));
  $("answers").classList.toggle("only-undo", !judging);
  document.querySelectorAll("#answers button").forEach((b) => {
    b.disabled = false;
    b.classList.remove("chosen");
  });
  $("undo").disabled = !found.last;
  if (form) filled();
  progress(found);
  if (found.phase === "instructions") {
    $("instructions").hidden = false;
    $("welcome").focus();
  } else if (told) {
    ready = false;
    feedback(found.feedback);
  } else if (judging) {
    pair(found.ticket, before);
  } else {
    $("end").hidden = false;
    $("end-title").textContent = found.phase === "done" ? t("Finished") : t("Paused");
    $("end-text").textContent = found.message;
    const completion = found.completion || {};
    $("completion").hidden = !found.completion;
    $("code-line").hidden = !completion.code;
    $("code").textContent = completion.code || "";
    $("return-line").hidden = !completion.url;
    if (completion.url) $("return").href = completion.url;
    $("hand-in").hidden = !completion.form;
    if (completion.form) handIn(completion.form);
    $("end-title").focus();
    if (found.phase === "paused") setTimeout(flush, 15000);
  }
}

// The form by which a recruiter takes a participant back.
function handIn(found) {
  $("hand-in").action = found.action;
  $("hand-in-fields").replaceChildren(...Object.entries(found.fields).map(([name, value]) => {
    const input = document.createElement("input");
    Object.assign(input, { type: "hidden", name, value });
    return input;
  }));
}

// After a pair of the training: whether the answer was right, and why, until the judge goes on.
let explained = null;

function feedback(found) {
  $("feedback").hidden = false;
  $("feedback-title").textContent = found.right ? t("That is right.") : t("Expected here: {answer}", { answer: found.expected });
  $("feedback-text").textContent = found.text;
  $("feedback").classList.toggle("wrong", !found.right);
  $("go-on").onclick = () => { explained = found.key; if (state) show(state); };
  scrollTo(0, 0);
  $("go-on").focus({ preventScroll: true });
}

function pair(ticket, before) {
  $("pair").hidden = false;
  if (state.warning) say(state.warning, true);
  $("question").textContent = ticket.question;
  if (before && before.ticket && before.ticket.key === ticket.key && $("left").childNodes.length) {
    ready = true;
    return;
  }
  shown = shownAt(ticket.key);
  $("practice").hidden = !ticket.training;
  $("note").hidden = !ticket.note;
  $("note").textContent = ticket.note || "";
  $("prompt").hidden = !ticket.prompt;
  $("prompt").innerHTML = ticket.prompt || ""; // clean: markdown-it-py without HTML, then nh3
  emptied();
  $("left").innerHTML = ticket.left;
  $("right").innerHTML = ticket.right;
  dress($("pair"));
  beside();
  scrollTo(0, 0);
  $("question").focus({ preventScroll: true });
  setTimeout(() => { ready = true; }, 250); // a key that is still pressed answers no new pair
}

const KEYS = new Set(["s", "u", "n"]);
const EQUAL = document.querySelector("[data-answer='='], input[value='=']").dataset.key;
document.querySelectorAll("[data-key], [data-reason]").forEach((e) => {
  KEYS.add(e.dataset.key || e.dataset.reason);
});

// What a key means: the letter or digit that it types, or, where it types another script or a sign
// (Cyrillic letters, digits of AZERTY without the shift key), the key of that place.
function meaning(event) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (key === "0" || key === "=") return EQUAL;
  if (KEYS.has(key) || key.length !== 1 || event.shiftKey) return key;
  const digit = /^(?:Digit|Numpad)([0-9])$/.exec(event.code);
  if (digit) return digit[1] === "0" ? EQUAL : digit[1];
  const letter = /^Key([A-Z])$/.exec(event.code);
  return letter && key > "\u007f" ? letter[1].toLowerCase() : key;
}

function progress(found) {
  if (toldAtStart === null) toldAtStart = found.told;
  const done = found.told - toldAtStart;
  let text = found.told === 0 ? "" : t("Answers: {n}", { n: found.told });
  if (found.quota) {
    text = t("{n} of {most}", { n: found.told, most: found.quota });
    $("meter").hidden = false;
    $("meter").value = Math.min(found.told / found.quota, 1);
    if (done >= 3 && found.left > 0) {
      const minutes = Math.ceil(((Date.now() - started) / done) * found.left / 60000);
      text += " · " + t("about {n} min left", { n: minutes });
    }
  }
  $("progress").textContent = text;
}

document.querySelectorAll("[data-answer]").forEach((b) => {
  b.addEventListener("click", () => answer(b.dataset.answer));
});
$("undo").addEventListener("click", undo);
if (form) {
  $("send").addEventListener("click", sendForm);
  form.addEventListener("change", filled);
  sliders.forEach((slider) => {
    const moved = () => { placesOf(slider)[slider.value].checked = true; filled(); };
    for (const event of ["input", "pointerup"]) slider.addEventListener(event, moved);
  });
}
$("zoom").addEventListener("click", () => $("zoom").close());
dress($("instructions"));
$("again").addEventListener("click", flush);
$("begin").addEventListener("click", () => {
  const agree = $("agree");
  if (agree && !agree.checked) {
    say(t("Please agree first, or close this page."), true);
    agree.focus();
    return;
  }
  send("/api/judge/begin", { agree: true });
});
document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if ($("zoom").open || event.target.closest("#agree, #go-on")) return;
  if (event.target.closest("textarea")) { // what is typed is a comment; Escape leaves it
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const key = meaning(event);
  const judging = state && state.phase === "judging" && state.ticket;
  const button = document.querySelector(`#answers [data-key="${CSS.escape(key)}"]`);
  if (key === "u") undo();
  else if (!judging) return;
  else if (key === "s") answer("s");
  else if (button) answer(button.dataset.answer);
  else if (!form || !typed(key, event)) return;
  event.preventDefault();
});
addEventListener("online", () => { wait = 1; flush(); });
addEventListener("pageshow", (event) => { if (event.persisted) { queue = load(); flush(); } });
flush();
