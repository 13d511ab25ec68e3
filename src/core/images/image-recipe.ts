/** From a box's specification to everything its image is made from. */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { BoxSpec } from "../../contract/box.ts";
import { formatImageReference, parseImageReference } from "../../contract/image-reference.ts";
import type { McpServer } from "../../contract/mcp.ts";
import type { InstalledTool } from "../../contract/tool.ts";
import type { ImageAgent, ImageRecipe } from "../../ports/images.ts";
import { getAgent } from "../agents/get-agent.ts";
import { findTool } from "../agents/use-tool.ts";
import type { Using } from "../using.ts";
import { packagedServer, useServers } from "./packaged-servers.ts";

/** Where an image is asked for. */
export interface ImageOrigin {
  readonly projectDir: string | undefined;
  /** Of the manifest file; undefined without one. */
  readonly manifestDigest: string | undefined;
}

export type RecipePort = "agents" | "agentProblems" | "toolStore" | "serverStore" | "tools";

/** `base` is the reference by content; see `pinnedBase`. */
export async function imageRecipe(
  core: Using<RecipePort>,
  spec: BoxSpec,
  origin: ImageOrigin,
  base: string | undefined,
): Promise<ImageRecipe> {
  const { node, boxd } = core.ports.tools;
  const servers = await useServers(core, spec);
  return {
    ...omitUndefined({ base }),
    packages: spec.packages ?? [],
    tools: { node, boxd },
    agent: await agentOf(core, spec),
    ...(servers.length === 0 ? {} : { servers }),
    ...omitUndefined({
      skills: spec.agent.skills,
      manifest: origin.manifestDigest,
      projectDir: origin.projectDir,
    }),
    warnings: spec.mcp.flatMap(fetchedAtStart),
  };
}

async function agentOf(core: Using<RecipePort>, { agent: { name, version } }: BoxSpec): Promise<ImageAgent> {
  if (getAgent(core, name).install.kind === "none") return { name };
  const { tool, dir } = await findTool(core, name, version);
  const purl = purlOf(tool);
  return {
    name,
    tool: { version: tool.version, digest: tool.digest, dir, ...omitUndefined({ purl }) },
  };
}

const purlOf = ({ source, package: name, version }: InstalledTool): string | undefined =>
  name === undefined || source === "path"
    ? undefined
    : `pkg:${source}/${name.replace("@", "%40")}@${version}`;

const fetchers = ["npx", "pnpx", "bunx", "uvx", "pipx", "docker", "podman"];

/** Such a server brings nothing that could be put into an image: what runs is decided when it starts. */
function fetchedAtStart(server: McpServer): string[] {
  if (server.transport !== "stdio" || packagedServer(server) !== undefined) return [];
  const program = server.command.split("/").at(-1) ?? "";
  if (!fetchers.includes(program)) return [];
  const exact = program === "npx" ? " With an exact version it would be: npx -y NAME@1.2.3" : "";
  return [
    `The MCP server "${server.name}" is fetched by ${program} when it starts, so it is not in the image.${exact}`,
  ];
}

/** The content digest of the base: as written, or as in a lock file; undefined while it has not been looked up. */
export async function pinnedBase(
  core: Using<"toolStore">,
  reference: string,
  { projectDir, manifestDigest }: ImageOrigin,
): Promise<string | undefined> {
  const parsed = parseImageReference(reference);
  if (parsed === undefined) throw invalid(reference);
  if (parsed.digest !== undefined) return reference;
  const digest = await core.ports.toolStore.pinnedImage(
    lockDirectory({ projectDir, manifestDigest }),
    reference,
  );
  return digest === undefined ? undefined : formatImageReference({ name: parsed.name, digest });
}

/** A directory without a manifest is not made into a project by a flag; then this host's own lock remembers. */
export const lockDirectory = ({ projectDir, manifestDigest }: ImageOrigin): string | undefined =>
  manifestDigest === undefined ? undefined : projectDir;

const invalid = (reference: string): AgentBoxError =>
  new AgentBoxError("image.invalid", `${JSON.stringify(reference.slice(0, 120))} is no name of an image.`, {
    hint: "Use a name such as debian:12, or with a digest: name@sha256:…",
  });
