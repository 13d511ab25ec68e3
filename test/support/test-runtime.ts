/**
 * The runtime whose boxes the tests look at. Without AGENTBOX_TEST_RUNTIME it is the embedded one; with it, daemons of
 * the tests make every box there, on an engine of this run's own, unless a test names a runtime itself.
 */
import {
  type EngineKind,
  engineUnavailable,
  gvisorUnavailable,
  rootlessUser,
  startEngine,
} from "./engines.ts";
import { whyNoBubblewrap } from "./host-facts.ts";

interface TestRuntime {
  readonly name: "docker" | "gvisor";
  readonly engine: EngineKind;
  readonly why: string | undefined;
  /** Whose daemon can use the engine, where that is not any daemon of the tests' own user. */
  readonly user?: { readonly uid: number; readonly gid: number };
}

const asked = process.env["AGENTBOX_TEST_RUNTIME"];

function findRuntime(): TestRuntime | undefined {
  switch (asked) {
    case undefined:
      return undefined;
    case "docker":
      return { name: "docker", engine: "docker", why: engineUnavailable("docker") };
    case "gvisor":
      return { name: "gvisor", engine: "docker", why: gvisorUnavailable() };
    case "podman":
      return {
        name: "docker",
        engine: "podman-rootless",
        why: engineUnavailable("podman-rootless"),
        user: rootlessUser,
      };
    default:
      throw new Error(`AGENTBOX_TEST_RUNTIME is docker, podman or gvisor, not ${asked}.`);
  }
}

/** The runtime that was asked for, or undefined for the embedded one. */
export const testRuntime = findRuntime();

/** The runtime settings by default: for a person's own config.toml. */
export const runtimeConfig: string =
  testRuntime === undefined ? "" : `[runtime]\nname = "${testRuntime.name}"\n`;

/** Why boxes of the runtime under test cannot run here, or undefined when they can. For `ctx.skip(reason)`. */
export const whyNoBoxes = async (user?: { uid: number; gid: number }): Promise<string | undefined> =>
  testRuntime === undefined ? whyNoBubblewrap(user) : testRuntime.why;

export async function engineEnv(): Promise<Readonly<Record<string, string>>> {
  if (testRuntime === undefined) return {};
  if (testRuntime.why !== undefined) throw new Error(testRuntime.why);
  return { AGENTBOX_ENGINE: `unix://${(await startEngine(testRuntime.engine)).socket}` };
}

/** Where the daemon and, where boxes are containers, the engine keep what they write. */
export async function disksOf(home: string): Promise<readonly string[]> {
  return testRuntime === undefined ? [home] : [home, (await startEngine(testRuntime.engine)).directory];
}
