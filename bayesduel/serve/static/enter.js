// The token stands behind # in the link, which is never sent; it goes once, in the body of a form,
// with what the address says of a participant. Some recruiters write that behind the #, too.
"use strict";
const token = document.getElementById("token");
const [given, ...behind] = location.hash.slice(1).split(/[?&]/);
if (token) {
  const said = [location.search.slice(1), ...behind].filter(Boolean).join("&");
  document.getElementById("arrival").value = said.slice(0, 4000);
  if (given) {
    history.replaceState(null, "", location.pathname + location.search);
    token.value = decodeURIComponent(given);
    token.form.submit();
  }
}
