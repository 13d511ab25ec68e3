/** The embedded runtime: Linux namespaces through bubblewrap, as root or as an ordinary user, without Docker. */
import { isDeepStrictEqual } from "node:util";
import type { RuntimeModule, RuntimeProbe } from "../../../ports/runtime.ts";
import { type BubblewrapHost, type ProgramVersion, systemHost } from "./bubblewrap-host.ts";
import { probeBubblewrap } from "./probe.ts";
import { openBubblewrap } from "./runtime.ts";

export function createBubblewrapModule(host: BubblewrapHost = systemHost()): RuntimeModule {
  let ready: { readonly programs: readonly ProgramVersion[]; readonly probe: RuntimeProbe } | undefined;
  let running: Promise<RuntimeProbe> | undefined;

  const examine = async (): Promise<RuntimeProbe> => {
    const programs = findPrograms(host);
    if (ready !== undefined && isDeepStrictEqual(ready.programs, programs)) return ready.probe;
    ready = undefined;
    const probe = await probeBubblewrap(host);
    if (probe.status === "ready") ready = { programs, probe };
    return probe;
  };

  return {
    kind: "runtime",
    name: "bubblewrap",
    apiVersion: 1,
    description: "Linux namespaces, seccomp and control groups through bubblewrap.",
    // A trial box takes a moment, so callers at the same time share one, and a success is kept while the programs are
    // the same files. Any other outcome is asked again: a package may have been installed, a switch turned.
    probe: () =>
      (running ??= examine().finally(() => {
        running = undefined;
      })),
    open: ({ boxesDir }) => openBubblewrap(host, boxesDir),
  };
}

/** The result of a trial box, keyed by the files that it was made with. */
const findPrograms = (host: BubblewrapHost): readonly ProgramVersion[] =>
  (["bwrap", "setpriv", "sh"] as const).map((name) => host.programVersion(name));

export default createBubblewrapModule();
