// What is compared: pictures are enlarged, both sides played and scrolled together.
"use strict";
const $ = (id) => document.getElementById(id);
const texts = JSON.parse($("page").dataset.texts);

// A text of the page in its language, with values in place of its {names}.
function t(text, values) {
  return texts[text].replace(/\{(\w+)\}/g, (whole, name) => (values && name in values ? values[name] : whole));
}

function dress(part) {
  formulas(part);
  enlargeable(part);
}

// A picture is a button that shows it in full size; one inside of a link stays a link.
function enlargeable(part) {
  part.querySelectorAll(".text img:not(a img)").forEach((picture) => {
    const button = document.createElement("button");
    button.className = "zoom";
    picture.alt = picture.alt || t("Picture");
    button.setAttribute("aria-label", t("Enlarge: {name}", { name: picture.alt }));
    picture.replaceWith(button);
    button.append(picture);
    button.addEventListener("click", () => {
      $("zoomed").src = picture.src;
      $("zoomed").alt = picture.alt;
      $("zoom").showModal();
      $("zoom").scrollTo(0, 0);
    });
  });
}

// Both recordings or films start at once, from the beginning, and stop at once.
let sounds = [];
$("both").addEventListener("click", () => {
  const start = sounds.some((s) => s.paused);
  sounds.forEach((s) => {
    if (!start) { s.pause(); return; }
    s.currentTime = 0;
    s.play();
  });
});

function playing() {
  $("both").textContent = sounds.some((s) => !s.paused && !s.ended) ? t("Pause both") : t("Play both");
}

// Sides that are longer than the window scroll in it, the other one by the same share.
const sides = ["left", "right"].map((id) => $(id).closest(".card"));
let led = null; // the side that is scrolled by the other one
sides.forEach((side, k) => side.addEventListener("scroll", () => {
  if (led === side) { led = null; return; }
  const other = sides[1 - k];
  const share = side.scrollTop / Math.max(side.scrollHeight - side.clientHeight, 1);
  const place = Math.round(share * (other.scrollHeight - other.clientHeight));
  if ($("step").ariaPressed !== "true" || place === Math.round(other.scrollTop)) return;
  led = other;
  other.scrollTop = place;
}));

$("step").addEventListener("click", () => {
  $("step").ariaPressed = String($("step").ariaPressed !== "true");
});

function beside() {
  sounds = ["left", "right"].map((id) => $(id).querySelector("audio, video")).filter(Boolean);
  sounds.forEach((s) => ["play", "pause", "ended"].forEach((what) => s.addEventListener(what, playing)));
  $("both").hidden = sounds.length < 2;
  if (sounds.length > 1) playing();
  sides.forEach((side) => { side.scrollTop = 0; side.classList.remove("long"); side.removeAttribute("tabindex"); });
  const wide = matchMedia("(min-width: 44.01rem)").matches;
  const long = wide && sides.some((side) => side.scrollHeight > innerHeight);
  if (long) sides.forEach((side) => { side.classList.add("long"); side.tabIndex = 0; });
  $("step").hidden = !long;
  $("together").hidden = sounds.length < 2 && !long;
}
