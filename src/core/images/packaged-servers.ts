/**
 * MCP servers that the manifest starts with `npx NAME@VERSION`: put into the image, so that starting a box fetches
 * nothing and all boxes have the same. Without an exact version there is nothing to put there.
 */
import { createHash } from "node:crypto";
import { AgentBoxError, isAgentBoxError } from "../../base/errors.ts";
import { boxPaths } from "../../contract/box-paths.ts";
import type { BoxSpec } from "../../contract/box.ts";
import type { McpServer } from "../../contract/mcp.ts";
import type { BuildOptions, ImageServer } from "../../ports/images.ts";
import type { Using } from "../using.ts";
import { wantsImage } from "./wants-image.ts";

interface PackagedServer {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  /** The arguments of the server itself. */
  readonly args: readonly string[];
}

const packageSpec =
  /^((?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*)@(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;
const answers = new Set(["-y", "--yes"]);

/** Pure. Only the manifest's own: servers of a `.mcp.json` are not promised. */
export function packagedServer(server: McpServer): PackagedServer | undefined {
  if (server.transport !== "stdio" || server.isFound || server.command !== "npx") return undefined;
  const at = server.args.findIndex((argument) => !answers.has(argument));
  const [, name, version] = packageSpec.exec(server.args[at] ?? "") ?? [];
  if (name === undefined || version === undefined || name.length > 214) return undefined;
  return { name: server.name, package: name, version, args: server.args.slice(at + 1) };
}

interface Wanting {
  readonly mcp: readonly McpServer[];
  readonly image?: string | undefined;
  readonly packages?: readonly string[] | undefined;
}

/** SECURITY: only of a box that asks for an image, because only then a person was asked whether they may be fetched. */
export const packagedServers = (spec: Wanting): PackagedServer[] =>
  wantsImage(spec) ? spec.mcp.flatMap((server) => packagedServer(server) ?? []) : [];

/** Fetches what is missing. No script of a package runs on the host. */
export async function installServers(
  core: Using<"serverStore">,
  spec: BoxSpec,
  { onProgress, signal }: Pick<BuildOptions, "onProgress" | "signal">,
): Promise<void> {
  for (const server of packagedServers(spec)) {
    await core.ports.serverStore.install({
      agent: entryOf(server),
      recipe: recipeOf(server),
      onProgress,
      signal,
    });
  }
}

/** Verified. Fails with image.not_built when one has not been fetched yet, which a build does. */
export const useServers = (core: Using<"serverStore">, spec: BoxSpec): Promise<ImageServer[]> =>
  Promise.all(packagedServers(spec).map((server) => useServer(core, server)));

async function useServer(core: Using<"serverStore">, server: PackagedServer): Promise<ImageServer> {
  const { name, package: pkg, version } = server;
  try {
    const used = await core.ports.serverStore.use(entryOf(server), recipeOf(server), version);
    const { digest } = used.tool;
    const purl = `pkg:npm/${pkg.replace("@", "%40")}@${version}`;
    return { name, version, digest, dir: used.dir, program: used.program, purl };
  } catch (error) {
    if (isAgentBoxError(error, "tool.not_installed")) {
      throw new AgentBoxError("image.not_built", `The MCP server "${name}" is in no image yet.`, {
        hint: "Build it: agentbox build",
        facts: { server: name },
      });
    }
    if (!isAgentBoxError(error, "tool.tampered")) throw error;
    throw new AgentBoxError(
      "tool.tampered",
      `The package of the MCP server "${name}" was changed on this host.`,
      {
        hint: "Find out who changed it, then remove the directory tools/mcp of AGENTBOX_HOME and build again.",
        facts: { ...error.facts, server: name },
      },
    );
  }
}

/** The same box with its servers started from where the image has them. */
export function withServersInside(spec: BoxSpec, servers: readonly ImageServer[]): BoxSpec {
  const mcp = spec.mcp.map((server): McpServer => {
    const packaged = packagedServer(server);
    const inside = servers.find(({ name }) => name === server.name);
    if (server.transport !== "stdio" || packaged === undefined || inside === undefined) return server;
    return {
      ...server,
      command: `${boxPaths.mcp}/${server.name}/${inside.program}`,
      args: [...packaged.args],
    };
  });
  return { ...spec, mcp };
}

/** SECURITY: a digest, because the name of a package must not become a part of a path. */
const entryOf = (server: PackagedServer): string =>
  createHash("sha256").update(server.package).digest("hex").slice(0, 32);

const recipeOf = ({ package: name, version }: PackagedServer) =>
  ({ kind: "npm", package: name, version }) as const;
