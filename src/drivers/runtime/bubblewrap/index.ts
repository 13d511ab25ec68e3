/** The embedded runtime: Linux namespaces through bubblewrap, as root or as an ordinary user, without Docker. */
import type { RuntimeModule, RuntimeProbe } from "../../../ports/runtime.ts";
import { type BubblewrapHost, systemHost } from "./bubblewrap-host.ts";
import { probeBubblewrap } from "./probe.ts";
import { openBubblewrap } from "./runtime.ts";

export function createBubblewrapModule(host: BubblewrapHost = systemHost()): RuntimeModule {
  let probed: Promise<RuntimeProbe> | undefined;
  return {
    kind: "runtime",
    name: "bubblewrap",
    apiVersion: 1,
    description: "Linux namespaces, seccomp and control groups through bubblewrap.",
    // A host does not change under a running daemon, and a trial box takes a moment.
    probe: () => (probed ??= probeBubblewrap(host)),
    open: ({ boxesDir }) => openBubblewrap(host, boxesDir),
  };
}

export default createBubblewrapModule();
