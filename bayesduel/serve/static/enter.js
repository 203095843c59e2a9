// The token stands behind # in the link, which is never sent; it goes once, in the body of a form.
"use strict";
const token = document.getElementById("token");
const given = decodeURIComponent(location.hash.slice(1));
const query = new URLSearchParams(location.search);
document.getElementById("participant").value = query.get("PROLIFIC_PID") || query.get("participant") || "";
if (given) {
  history.replaceState(null, "", location.pathname + location.search);
  token.value = given;
  token.form.submit();
}
