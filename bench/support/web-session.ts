import { existsSync } from "node:fs";
import { noBrowser } from "../../test/support/browser.ts";
import { whyNoBubblewrap } from "../../test/support/host-facts.ts";

/** Why a row with a browser and a box cannot be measured here, if so. */
export async function whyNoWebBench(): Promise<string | undefined> {
  if (!existsSync("dist/web/index.html")) return "the dashboard is not built";
  return noBrowser ?? (await whyNoBubblewrap());
}
