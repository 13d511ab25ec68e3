/** A store in a directory of its own, fed by a registry of its own. */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { InstallRecipe } from "../../contract/agent.ts";
import { inheritedEnv, readHostEnv } from "../../host/env.ts";
import { OrderFiles } from "../../host/ownership.ts";
import { removeTree } from "../../host/files.ts";
import type { InstallRequest, ToolStore } from "../../ports/tool-store.ts";
import { openToolStore } from "./index.ts";
import { type Registry, openRegistry } from "./registry.fixture.ts";

export type NpmRecipe = Extract<InstallRecipe, { kind: "npm" }>;

export interface TestStore extends AsyncDisposable {
  readonly root: string;
  readonly dir: string;
  readonly lockFile: string;
  readonly registry: Registry;
  readonly env: NodeJS.ProcessEnv;
  readonly store: ToolStore;
  /** As a daemon that starts anew would. */
  reopen(env?: NodeJS.ProcessEnv): ToolStore;
  install(recipe: InstallRecipe, more?: Partial<InstallRequest>): ReturnType<ToolStore["install"]>;
}

export const agent = "tester";
export const recipe: NpmRecipe = { kind: "npm", package: "@try/tester", version: "1.0.0", bin: "tester" };

export async function openTestStore(): Promise<TestStore> {
  const root = await mkdtemp(join(tmpdir(), "abx-tools-"));
  const registry = await openRegistry();
  let now = 1_000;
  const clock: Clock = { nowMs: () => ++now, monotonicMs: () => now, after: () => () => undefined };
  const env = {
    PATH: inheritedEnv()["PATH"],
    HOME: root,
    npm_config_registry: registry.url,
    npm_config_cache: join(root, "cache"),
  };
  const [dir, lockFile] = [join(root, "agents"), join(root, "agentbox.lock")];
  const orders = new OrderFiles(readHostEnv());
  const reopen = (other: NodeJS.ProcessEnv = env): ToolStore =>
    openToolStore({ dir, lockFile, orders, isRoot: readHostEnv().isRoot, env: other, clock });
  const store = reopen();
  return {
    root,
    dir,
    lockFile,
    registry,
    env,
    store,
    reopen,
    install: (what, more = {}) =>
      store.install({
        agent,
        recipe: what,
        onProgress: () => undefined,
        signal: new AbortController().signal,
        ...more,
      }),
    async [Symbol.asyncDispose]() {
      await registry[Symbol.asyncDispose]();
      await removeTree(root);
    },
  };
}

/** A small agent in plain JavaScript. */
export const publishTester = (
  { registry }: TestStore,
  version = "1.0.0",
  more: Record<string, unknown> = {},
) =>
  registry.publish({
    name: "@try/tester",
    version,
    files: { "bin/tester.js": `#!/usr/bin/env node\nconsole.log("${version}");\n`, "lib/text.txt": "text\n" },
    manifest: { bin: { tester: "bin/tester.js" }, ...more },
  });
