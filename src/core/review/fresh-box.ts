import type { Box } from "../../contract/box.ts";
import { noNetwork } from "../../contract/network/policy.ts";
import type { Core } from "../context.ts";
import { raiseBox } from "../create-box.ts";
import { withoutSecretRules } from "../policy/secret-rules.ts";
import { removeBox } from "../remove-box.ts";
import { withLink } from "./quiet-box.ts";
import { restoreInto } from "./restore-checkpoint.ts";
import type { ReviewSubject } from "./read-review.ts";

/** A box of its own with the state of a checkpoint in it, under the policy and limits of the box it came from. */
export async function forkBox(
  core: Core,
  { box, repository, to }: ReviewSubject,
  { name, keepsAgent }: { readonly name: string; readonly keepsAgent: boolean },
): Promise<Box> {
  const { network, projectDir, manifestDigest, isolation, spec } = box;
  const plain: Box["spec"]["workspace"] = { mode: "empty", carry: "none" };
  const fork = await raiseBox(core, {
    name,
    spec: {
      ...spec,
      agent: keepsAgent ? spec.agent : { name: "shell", args: [], autonomy: "full", options: {} },
      workspace:
        spec.workspace.mode === "clone" && spec.workspace.url === undefined
          ? { ...spec.workspace, carry: "none" }
          : plain,
      services: keepsAgent ? spec.services : [],
      // SECURITY: a check runs what the agent wrote, where nobody looks on. A person agreed that the agent uses the
      // secrets, not that whatever its tests start does; a check that needs one would also be a check of the world.
      secrets: keepsAgent ? spec.secrets : [],
    },
    isolation,
    main: undefined,
    run: undefined,
    projectDir,
    // SECURITY: a host of a secret is not an open one. Without the secret nothing at the gate would keep a token of
    // somebody else's from being sent there.
    network: keepsAgent ? (network ?? noNetwork) : withoutSecretRules(network ?? noNetwork),
    manifestDigest,
    isStarted: false,
  });
  try {
    await withLink(core, fork.name, (made, link) => restoreInto(made, link, repository, to));
    return await sameBase(core, fork.name, box);
  } catch (error) {
    await removeBox(core, fork.name, { force: true });
    throw error;
  }
}

/** The person may have gone on meanwhile: what the fork did is what it did since its origin's base, not since theirs. */
const sameBase = (core: Core, name: string, { baseCommit }: Box): Promise<Box> =>
  core.locked(name, async () => {
    const fork = await core.getBox(name);
    if (baseCommit === undefined) return fork;
    const update = { ...fork, baseCommit };
    await core.commit({ update, events: [] });
    return update;
  });

export async function freeName(core: Core, base: string): Promise<string> {
  const taken = new Set((await core.ports.store.listBoxes()).map(({ name }) => name));
  if (!taken.has(base)) return base;
  for (let count = 2; ; count += 1) if (!taken.has(`${base}-${count}`)) return `${base}-${count}`;
}
