/**
 * The toolchains of a project on this host, and which of them a person has agreed to show to boxes. Those of the home
 * need a yes, by the digest of exactly these directories, for one project or for all.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/digest.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import type { TrustEntry } from "../../contract/api/schemas.ts";
import type { Toolchain, ToolchainOffer, ToolLanguage, ToolNeed } from "../../contract/toolchain.ts";
import { layerManifest } from "../../manifest/index.ts";
import type { FoundToolchain } from "../../ports/toolchains.ts";
import { readLayers } from "../manifest/read-layers.ts";
import type { ManifestInputs } from "../trust/mount-requests.ts";
import type { Using } from "../using.ts";
import { needFiles, projectNeeds } from "./project-needs.ts";

/** In the place of a project's directory, for a yes that holds for every project. */
export const allProjects = "*";

type Finding = Using<"host" | "store" | "toolchains">;

export async function findToolchains(
  core: Finding,
  { layers, projectDir }: Pick<ManifestInputs, "layers" | "projectDir">,
): Promise<readonly ToolchainOffer[]> {
  const { toolchains: section, workspace } = layerManifest(layers).values;
  if (section?.find === "none") return [];
  const isElsewhere = projectDir === undefined || workspace?.url !== undefined;
  const needs = section?.use?.map(namedNeed) ?? (isElsewhere ? [] : await readNeeds(core, projectDir));
  const found = needs.length === 0 ? [] : await core.ports.toolchains.find(needs);
  return Promise.all(found.map((one) => offerOf(core, one, projectDir)));
}

function namedNeed(text: string): ToolNeed {
  const [language, version] = text.split(" ");
  return { language: language as ToolLanguage, file: "agentbox.toml", ...omitUndefined({ version }) };
}

/** A file that another user could change, or that is too large, asks for nothing. */
async function readNeeds(
  { ports: { host } }: Using<"host">,
  projectDir: string,
): Promise<readonly ToolNeed[]> {
  const texts = await Promise.all(
    needFiles.map(
      async (name) => [name, await host.readProjectFile(projectDir, name).catch(() => undefined)] as const,
    ),
  );
  return projectNeeds(new Map(texts.flatMap(([name, text]) => (text === undefined ? [] : [[name, text]]))));
}

async function offerOf(
  { ports: { store } }: Using<"store">,
  { need, toolchain, system, installed }: FoundToolchain,
  projectDir: string | undefined,
): Promise<ToolchainOffer> {
  const common = {
    language: need.language,
    file: need.file,
    installed: [...installed],
    ...omitUndefined({ wanted: need.version, toolchain }),
  };
  if (toolchain === undefined) return { ...common, state: system === undefined ? "missing" : "system" };
  if (toolchain.directories.length === 0) return { ...common, state: "shown" };
  const digest = digestOf(toolchain);
  const isAgreed =
    (await store.findTrust(allProjects, digest)) !== undefined ||
    (projectDir !== undefined && (await store.findTrust(projectDir, digest)) !== undefined);
  return { ...common, state: isAgreed ? "shown" : "offered", digest };
}

const digestOf = ({ language, manager, version, directories }: Toolchain): string =>
  `sha256:${createHash("sha256")
    .update(canonicalJson({ kind: "toolchain", language, manager, version, directories }))
    .digest("hex")}`;

const toolchainSentence = ({ language, manager, version, directories }: Toolchain): string =>
  printable(
    `show ${language} ${version} of ${manager} to boxes, read-only: ${directories.map(({ target }) => target).join(", ")}`,
  );

/** A person's yes to toolchains that were shown to them, by digest. */
export async function allowToolchains(
  core: Using<
    "agents" | "clock" | "commit" | "event" | "host" | "presets" | "runtimes" | "store" | "toolchains"
  >,
  { digests, forAll = false, ...project }: RouteBody<"allowToolchains">,
): Promise<{ entries: TrustEntry[] }> {
  const { inputs } = await readLayers(core, project);
  const offers = await findToolchains(core, inputs);
  const entries = digests.map((digest): TrustEntry => {
    const toolchain = offers.find((offer) => offer.digest === digest)?.toolchain;
    if (toolchain === undefined) throw notOffered(digest);
    return {
      projectDir: forAll ? allProjects : inputs.projectDir!,
      digest,
      requests: [toolchainSentence(toolchain)],
      grantedAtMs: core.ports.clock.nowMs(),
    };
  });
  for (const trust of entries) {
    const { projectDir, digest, requests } = trust;
    await core.commit({
      trust,
      events: [core.event("trust.granted", undefined, { projectDir, digest, requests })],
    });
  }
  return { entries };
}

const notOffered = (digest: string): AgentBoxError =>
  new AgentBoxError("trust.digest_mismatch", `No toolchain of this project is ${digest.slice(0, 80)}.`, {
    hint: "Look at what is offered now: agentbox toolchains",
  });

/** The toolchains of a box's plan: those it gets, and a line for each that it does not. */
export function toolchainsOf(
  offers: readonly ToolchainOffer[],
  isImage: boolean,
): { readonly part: { readonly toolchains?: Toolchain[] }; readonly warnings: string[] } {
  const waiting = offers.flatMap(({ state, toolchain }) =>
    toolchain !== undefined && (isImage || state === "offered") ? [toolchain] : [],
  );
  const names = waiting.map(({ language, version, manager }) => `${language} ${version} (${manager})`);
  const way = isImage
    ? "An image has its own: name packages in [runtime], or features in devcontainer.json."
    : "Show it: agentbox toolchains allow";
  const warnings =
    names.length === 0
      ? []
      : [
          printable(
            `The project uses ${names.join(", ")} of this machine, which the box does not see. ${way}`,
          ),
        ];
  const shown = offers.flatMap(({ state, toolchain }) => (state === "shown" && toolchain ? [toolchain] : []));
  return { part: isImage || shown.length === 0 ? {} : { toolchains: shown }, warnings };
}
