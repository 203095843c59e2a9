// The standings as they change: an event says that they did, the new part of the page is fetched.
"use strict";
const part = document.querySelector("[data-live]");
const live = document.getElementById("live");
const source = new EventSource("/api/standings/stream");
let busy = false;
let again = false;
async function fresh() {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch(part.dataset.live, { credentials: "same-origin" });
    if (answer.ok) part.innerHTML = await answer.text();
    live.textContent = answer.ok ? "Live" : "Your invitation is not valid any more";
    if (answer.status === 401 || answer.status === 403) source.close();
  } catch {
    live.textContent = "No connection; trying again";
  }
  busy = false;
  if (again) { again = false; fresh(); }
}
source.onmessage = fresh;
source.onopen = () => { live.textContent = "Live"; };
source.onerror = () => { live.textContent = "No connection; trying again"; };
