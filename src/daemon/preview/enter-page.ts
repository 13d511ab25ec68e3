import { createHash } from "node:crypto";

/**
 * SECURITY: no GET changes anything, so the pass comes in the part of the address that no server sees, and the page sends it.
 * It is gone from the address before anything of the box is loaded.
 */
const script = `
const pass = new URLSearchParams(location.hash.slice(1)).get("pass") ?? "";
history.replaceState(null, "", location.pathname);
fetch(location.pathname, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ pass }),
}).then((answer) => {
  if (answer.ok) location.replace("/");
  else document.getElementById("say").textContent = "This link has been used, or is too old. Open the preview again.";
}, () => { document.getElementById("say").textContent = "AgentBox does not answer."; });
`;

const scriptHash = createHash("sha256").update(script).digest("base64");

export const enterPage = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Preview</title></head>
<body><p id="say" role="status">Opening the preview…</p><script>${script}</script></body>
</html>
`;

export const enterHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; script-src 'sha256-${scriptHash}'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};
