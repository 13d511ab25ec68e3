/** The list of an image's parts, as CycloneDX. The same parts give the same text: no times and no random numbers. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { version as ownVersion } from "../../base/version.ts";
import type { ImageRecipe, ImageServer } from "../../ports/images.ts";
import type { Base } from "./base.ts";
import type { OwnDigests } from "./plan.ts";

interface Component {
  readonly type: "application" | "library" | "operating-system" | "data";
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly hashes?: readonly { readonly alg: "SHA-256"; readonly content: string }[];
}

export interface SbomSubject {
  readonly inputs: string;
  readonly base: Base;
  readonly recipe: ImageRecipe;
  readonly digests: OwnDigests;
}

export async function writeSbom({ inputs, base, recipe, digests }: SbomSubject): Promise<string> {
  const components: Component[] = [
    { type: "operating-system", name: base.name, version: base.layers[0]!.digest },
    ...base.packages.map(debianComponent),
    { type: "application", name: "node", version: process.version.slice(1), hashes: [sha256(digests.node)] },
    { type: "application", name: "agentbox-boxd", version: ownVersion, hashes: [sha256(digests.boxd)] },
    ...(await agentComponents(recipe)),
    ...(recipe.servers ?? []).map(serverComponent),
    ...skillsComponents(digests),
  ];
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: { type: "container", name: "agentbox", version: inputs } },
    components,
  };
  return `${JSON.stringify(document, undefined, 2)}\n`;
}

const serverComponent = ({ name, version, purl, digest }: ImageServer): Component => ({
  type: "application",
  name,
  version,
  purl,
  hashes: [sha256(digest)],
});

/** Texts of the project's own, which have no version but their content. */
const skillsComponents = ({ skills }: OwnDigests): Component[] =>
  skills === undefined ? [] : [{ type: "data", name: "skills", version: skills, hashes: [sha256(skills)] }];

const sha256 = (digest: string) => ({ alg: "SHA-256" as const, content: digest.replace("sha256:", "") });

const debianComponent = ({ name, version, architecture }: Base["packages"][number]): Component => ({
  type: "library",
  name,
  version,
  purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}`,
});

async function agentComponents({ agent: { name, tool } }: ImageRecipe): Promise<Component[]> {
  if (!tool) return [];
  const { version, digest, purl, dir } = tool;
  const own: Component = {
    type: "application",
    name,
    version,
    ...omitUndefined({ purl }),
    hashes: [sha256(digest)],
  };
  return [own, ...(await npmComponents(dir))];
}

const NpmLock = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional() }).loose()),
});

/** npm's own record of what it has put there; other agents have none, and are one part. */
async function npmComponents(dir: string): Promise<Component[]> {
  const text = await readFile(join(dir, "node_modules", ".package-lock.json"), "utf8").catch(() => undefined);
  if (text === undefined) return [];
  const { packages } = NpmLock.parse(JSON.parse(text));
  return Object.entries(packages)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([path, { version }]): Component[] => {
      const name = path.split("node_modules/").at(-1) ?? "";
      if (name === "" || version === undefined) return [];
      return [{ type: "library", name, version, purl: `pkg:npm/${name.replace("@", "%40")}@${version}` }];
    });
}
