/**
 * The package sources of pip: its index, which its help names with every setting applied, the extra indexes, and the
 * host on which the index keeps its files, which only the index itself knows.
 */
import { type ToolHost, notInstalled } from "./tool-host.ts";

const programs = ["pip3", "pip"];

export async function readPip(host: ToolHost): Promise<readonly string[]> {
  const help = await host.ask(programs, ["install", "--help"]);
  const settings = await host.ask(programs, ["config", "list"]);
  if (help === undefined || settings === undefined) throw notInstalled("pip");
  const configured = [...settings.matchAll(/^[^=\n]*\.(index-url|extra-index-url|find-links)=(.*)$/gm)];
  const urls = configured.flatMap(([, , value = ""]) => value.match(/https?:\/\/[^\s'"\\]+/g) ?? []);
  // A setting replaces the built-in index; the help would show a password, so it is asked second.
  const isReplaced = configured.some(([, key]) => key === "index-url");
  const index = isReplaced ? undefined : /--index-url[^(]*\(default\s+(\S+?)\)/.exec(help)?.[1];
  return [...(index === undefined ? [] : [index]), ...urls, ...(await fileUrls(host))];
}

/** A trial run says where a package would come from. Nothing is installed, and only a wheel is looked at: no code runs. */
const trial =
  "install --dry-run --quiet --no-input --disable-pip-version-check --ignore-installed --no-deps --only-binary :all: --report - pip".split(
    " ",
  );

/** Empty when the index cannot be asked now; then its files need a line in network.allow. */
async function fileUrls(host: ToolHost): Promise<string[]> {
  const report = await host.ask(programs, trial).catch(() => undefined);
  return [...(report ?? "").matchAll(/"url":\s*"(https?:[^"]+)"/g)].map(([, url]) => url!);
}
