"use strict";
// TeX becomes MathML. What Temml cannot read stays as it was written.
function formulas(part) {
  part.querySelectorAll("code.formula, pre.formula").forEach((code) => {
    const written = code.textContent.trim();
    const [, before, tex] = /^(\$\$|\$|\\\(|\\\[)([^]*?)(?:\$\$|\$|\\\)|\\\])$/.exec(written) || [];
    if (!tex) return;
    const displayMode = before === "$$" || before === "\\[";
    const set = document.createElement(displayMode ? "div" : "span");
    set.className = displayMode ? "formula display" : "formula";
    try {
      temml.render(tex, set, { displayMode, throwOnError: true, annotate: true });
    } catch {
      return;
    }
    code.replaceWith(set);
  });
}

document.querySelectorAll(".preview").forEach(formulas);
