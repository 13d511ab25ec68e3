/** The package sources of go: its module proxies and its checksum database, as go itself reports them. */
import { type ToolHost, notInstalled } from "./tool-host.ts";

export async function readGo(host: ToolHost): Promise<readonly string[]> {
  const output = await host.ask(["go"], ["env", "GOPROXY", "GOSUMDB"]);
  if (output === undefined) throw notInstalled("go");
  const [proxies = "", database = ""] = output.split("\n");
  return [...proxies.split(/[,|]/), databaseUrl(database)].map((url) => url.trim());
}

/** `name`, `name+key` or `name+key url`; without an address of its own the name is the host. */
function databaseUrl(database: string): string {
  const [name = "", url] = database.trim().split(/\s+/);
  if (url !== undefined) return url;
  return name === "" || name === "off" ? "" : `https://${name.split("+", 1)[0]}`;
}
