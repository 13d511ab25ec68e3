/**
 * The package sources of cargo: the registries of the person's configuration, and the index that cargo has used before,
 * whose own description says where the packages lie. Cargo has no command that tells, so its files are read.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parse } from "smol-toml";
import { AgentBoxError } from "../../base/errors.ts";
import { type ToolHost, notInstalled } from "./tool-host.ts";

type Table = Readonly<Record<string, unknown>>;

export async function readCargo(host: ToolHost): Promise<readonly string[]> {
  const cargoHome = host.variable("CARGO_HOME") ?? join(host.home, ".cargo");
  const urls = [...(await configuredUrls(host, cargoHome)), ...(await usedIndexes(host, cargoHome))];
  if (urls.length === 0 && (await host.ask(["cargo"], ["--version"])) === undefined)
    throw notInstalled("cargo");
  if (urls.length > 0) return urls;
  const builtIn = await builtInIndex(host);
  if (builtIn.length === 0) {
    throw new AgentBoxError("policy.invalid", "cargo has not said yet which index it uses.", {
      hint: "Let cargo fetch something once on this host, or write the hosts in network.allow.",
      facts: { preset: "cargo" },
    });
  }
  return builtIn;
}

/**
 * The index that is built in: cargo names it only when it uses it. A search reads its description, in a home that is thrown
 * away; offline, its error has the address. SECURITY: nothing that installs or builds, for a package of whatever name would
 * run its build script on the host.
 */
async function builtInIndex(host: ToolHost): Promise<readonly string[]> {
  const home = await mkdtemp(join(tmpdir(), "agentbox-cargo-"));
  try {
    const env = { CARGO_HOME: home, CARGO_NET_RETRY: "0" };
    const printed = await host.tryOut(["cargo"], ["search", "--limit", "1", "agentbox"], env);
    const failed = [...(printed ?? "").matchAll(/`(?:sparse\+)?(https?:\/\/[^`\s]+)`/g)].map(
      ([, url]) => url!,
    );
    const used = await usedIndexes(host, home);
    return used.length > 0 ? used : failed;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function configuredUrls(host: ToolHost, cargoHome: string): Promise<string[]> {
  const text =
    (await host.readText(join(cargoHome, "config.toml"))) ?? (await host.readText(join(cargoHome, "config")));
  if (text === undefined) return [];
  const config = parseConfig(text);
  const sources = [config["registry"], ...tablesOf(config["registries"]), ...tablesOf(config["source"])];
  return sources.flatMap((source) => {
    const { index, registry } = (isTable(source) ? source : {}) as { index?: unknown; registry?: unknown };
    return [index, registry].filter((url) => typeof url === "string");
  });
}

/** A directory for each index, named after its host; its config.json says where packages and the API are. */
async function usedIndexes(host: ToolHost, cargoHome: string): Promise<string[]> {
  const urls: string[] = [];
  for (const directory of await host.list(join(cargoHome, "registry", "index"))) {
    const name = basename(directory).replace(/-[0-9a-f]{16}$/, "");
    urls.push(`https://${name}`);
    const text = await host.readText(join(directory, "config.json"));
    const { dl } = text === undefined ? {} : (parseJson(text) as { dl?: unknown });
    if (typeof dl === "string") urls.push(dl.replaceAll(/\{[^}]*\}/g, "x"));
  }
  return urls;
}

const isTable = (value: unknown): value is Table => value !== null && typeof value === "object";
const tablesOf = (value: unknown): unknown[] => (isTable(value) ? Object.values(value) : []);

function parseJson(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return isTable(value) ? value : {};
  } catch {
    return {};
  }
}

function parseConfig(text: string): Table {
  try {
    return parse(text);
  } catch (error) {
    throw new AgentBoxError("policy.invalid", "The configuration of cargo is not valid TOML.", {
      hint: "Correct config.toml in the home of cargo.",
      cause: error,
    });
  }
}
