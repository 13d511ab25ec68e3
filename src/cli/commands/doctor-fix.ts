/** `doctor --fix`: registers gVisor with the engine of this host, after a yes, and tells the engine to read it. */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { AgentBoxError } from "../../base/errors.ts";
import type { DoctorReport } from "../../contract/api/schemas/daemon.ts";
import { runscName, runscRegistration } from "../../contract/gvisor-registration.ts";
import { findEngineAddress } from "../../host/engine/address.ts";
import {
  applyChange,
  configFileOf,
  type EngineProcess,
  findEngineProcess,
  planRuntime,
  reloadEngine,
} from "../../host/engine/daemon-config.ts";
import { askYesNo } from "../render/ask.ts";
import type { CommandContext } from "../command.ts";

/** False when the person does not want it. */
export async function fixGvisor(context: CommandContext, report: DoctorReport): Promise<boolean> {
  const { screen } = context;
  const gvisor = report.runtimes.find(({ name }) => name === "gvisor");
  if (gvisor === undefined || gvisor.status === "ready") {
    screen.note("The runtime gvisor is ready: there is nothing to fix.");
    return true;
  }
  const { openEngine } = await import("../../host/engine/index.ts");
  const address = await findEngineAddress();
  const { facts } = await openEngine({ address });
  if (address?.socketPath === undefined || facts.kind !== "docker")
    throw new AgentBoxError(
      "runtime.unsupported",
      "gVisor is registered with a Docker Engine of this host.",
      {
        hint: "Podman passes no arguments to a runtime. Install docker.io, or name its socket in AGENTBOX_ENGINE.",
      },
    );
  const engine = await findEngineProcess(address.socketPath);
  const file = configFileOf(engine);
  const change = await planRuntime(file, runscName, runscRegistration(await findRunsc()));
  if (change !== undefined) {
    if (
      !(await isAgreed(context, `Add the runtime ${runscName} to ${change.file} and keep the rest as it is?`))
    )
      return false;
    const backup = await applyChange(change);
    screen.note(`Wrote ${change.file}${backup === undefined ? "" : `; the one before is ${backup}`}.`);
  }
  const isKnown = async () => (await openEngine({ address })).facts.ociRuntimes.includes(runscName);
  await reload(engine, isKnown);
  screen.note(`The engine knows ${runscName} now.`);
  return true;
}

async function isAgreed({ args, screen }: CommandContext, question: string): Promise<boolean> {
  if (args.isSet("yes")) return true;
  if (screen.isInteractive) return askYesNo(screen, question);
  throw new AgentBoxError(
    "input.invalid",
    "Changing the engine's configuration needs a yes, and there is no terminal to ask at.",
    {
      hint: "Add --yes: agentbox doctor --fix --yes",
    },
  );
}

async function findRunsc(): Promise<string> {
  for (const path of ["/usr/local/bin/runsc", "/usr/bin/runsc"])
    if (
      await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return path;
  throw new AgentBoxError("runtime.absent", "gVisor is not installed: there is no runsc.", {
    hint: "Install it: apt-get install runsc; then run the same again.",
  });
}

const reloadMs = 5_000;

async function reload(engine: EngineProcess | undefined, isKnown: () => Promise<boolean>): Promise<void> {
  if (await isKnown()) return;
  if (engine !== undefined && (await reloadEngine(engine))) {
    const deadline = performance.now() + reloadMs;
    while (performance.now() < deadline) {
      if (await isKnown()) return;
      await delay(50);
    }
  }
  throw new AgentBoxError("runtime.broken", "The engine has not read its new configuration yet.", {
    hint: "Run: systemctl reload docker; then: agentbox doctor",
  });
}
