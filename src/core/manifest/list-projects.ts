/** Directories that boxes were made from, that a person has trusted, or that the user config lists. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { KnownProject } from "../../contract/api/schemas/forms.ts";
import type { Box } from "../../contract/box.ts";
import type { Using } from "../using.ts";
import { allProjects } from "../toolchains/find-toolchains.ts";
import { manifestName } from "./find-project.ts";

interface Seen {
  /** Boxes of the caller. */
  readonly boxes: readonly Box[];
  /** Also directories without a box; only for the owner of the host. */
  readonly includesTrusted: boolean;
  /** Directories that are theirs to use, whether or not there is a box. */
  readonly more?: readonly string[];
}

export async function listProjects(
  core: Using<"host" | "storage" | "store">,
  { boxes, includesTrusted, more = [] }: Seen,
): Promise<KnownProject[]> {
  const trust = includesTrusted ? await core.ports.store.listTrust() : [];
  const trusted = new Map(
    trust
      .filter(({ projectDir }) => projectDir !== allProjects)
      .map(({ projectDir, grantedAtMs }) => [projectDir, grantedAtMs]),
  );
  const dirs = new Set([
    ...boxes.flatMap(({ projectDir }) => (projectDir === undefined ? [] : [projectDir])),
    ...trusted.keys(),
    ...more,
  ]);
  const projects = await Promise.all(
    [...dirs].map(async (dir): Promise<KnownProject> => {
      const own = boxes.filter(({ projectDir }) => projectDir === dir);
      const branch = await core.ports.storage.branch("", { mounted: dir });
      const used = [...own.map(({ createdAtMs }) => createdAtMs), trusted.get(dir) ?? 0];
      return {
        dir,
        boxes: own.length,
        // Unreadable files are found out when a box is to be made from it.
        hasManifest: (await core.ports.host.readProjectFile(dir, manifestName).catch(() => "")) !== undefined,
        ...omitUndefined({ branch: branch === undefined ? undefined : printable(branch) }),
        isTrusted: trusted.has(dir),
        lastUsedAtMs: Math.max(...used),
      };
    }),
  );
  return projects.sort((a, b) => (b.lastUsedAtMs ?? 0) - (a.lastUsedAtMs ?? 0));
}
