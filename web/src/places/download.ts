import { AgentBoxError } from "../../../src/base/errors.ts";
import { client } from "../api/client.ts";
import { nameOf } from "./place-path.ts";

/** All of it is in the page's memory once; larger things are for the command line. */
const maxDownloadBytes = 256 * 2 ** 20;

/** SECURITY: fetched with the page's key and saved as bytes: a link could carry no key, and a browser never opens it as a page. */
export async function download(box: string, path: string): Promise<void> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of await client.readFile(box, { path })) {
    size += chunk.length;
    if (size > maxDownloadBytes) {
      throw new AgentBoxError("input.too_large", "The file is too large to be downloaded here.", {
        hint: `Copy it: agentbox cp ${box}:/workspace/${path} .`,
      });
    }
    parts.push(chunk as Uint8Array<ArrayBuffer>);
  }
  const url = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = nameOf(path);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
