import { spawn } from "node:child_process";
import { platform } from "node:os";
import { inheritedEnv, readHostVariable } from "../host/env.ts";

/** Shows an address in the person's browser, if there is one here. */
export async function openBrowser(address: string): Promise<boolean> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // SECURITY: openers start whatever belongs to a scheme; an address from a server may only be a web page.
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:")) return false;
  const isMac = platform() === "darwin";
  if (!isMac && !["DISPLAY", "WAYLAND_DISPLAY"].some((name) => readHostVariable(name))) return false;
  // On its own, because some openers last as long as the browser does.
  const opener = spawn(isMac ? "open" : "xdg-open", [url.href], {
    detached: true,
    stdio: "ignore",
    env: inheritedEnv(),
  });
  return new Promise((resolve) => {
    opener.once("error", () => resolve(false));
    opener.once("spawn", () => {
      opener.unref();
      resolve(true);
    });
  });
}
