/** What pip fetches from: its index, which its help names with every setting applied, and the extra indexes. */
import { type ToolHost, notInstalled } from "./tool-host.ts";

const programs = ["pip3", "pip"];

export async function readPip(host: ToolHost): Promise<readonly string[]> {
  const help = await host.ask(programs, ["install", "--help"]);
  const settings = await host.ask(programs, ["config", "list"]);
  if (help === undefined || settings === undefined) throw notInstalled("pip");
  const configured = [...settings.matchAll(/^[^=\n]*\.(index-url|extra-index-url|find-links)=(.*)$/gm)];
  const urls = configured.flatMap(([, , value = ""]) => value.match(/https?:\/\/[^\s'"\\]+/g) ?? []);
  // A setting replaces the built-in index; the help would show a password, so it is asked second.
  if (configured.some(([, key]) => key === "index-url")) return urls;
  const index = /--index-url[^(]*\(default\s+(\S+?)\)/.exec(help)?.[1];
  return index === undefined ? urls : [index, ...urls];
}
