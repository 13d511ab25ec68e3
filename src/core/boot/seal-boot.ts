/** The conditions of a box that is up: everything promised is there, and every required service runs. */
import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Box } from "../../contract/box.ts";
import type { Health, ServiceStatus } from "../../contract/link/messages.ts";
import type { BoxLink } from "../../ports/link.ts";
import type { Using } from "../using.ts";
import { promisedArtifacts } from "./promised-artifacts.ts";

/** Refuses a box in which something is missing; boxd has started nothing in it then. */
export async function requireWhole(
  core: Using<"note">,
  box: Box,
  link: BoxLink,
  agentProgram: string,
): Promise<void> {
  if (link.missing.length === 0) return;
  // SECURITY: only what the host itself has promised is repeated; the box's words are not.
  const missing = promisedArtifacts(box, agentProgram).filter(({ path }) => link.missing.includes(path));
  const artifacts = missing.map(({ what, path }) => ({ what, path }));
  await core.note("artifact.missing", box, { artifacts });
  const list = artifacts.map(({ what, path }) => `${path} (${what})`).join(", ");
  throw new AgentBoxError("boot.artifact_missing", `The box "${box.name}" lacks ${printable(list)}.`, {
    hint: "Nothing is installed at start: put it into the box's system, or take it out of agentbox.toml.",
    facts: { box: box.name, artifacts },
  });
}

/**
 * Waits until every service is ready or has given up, so that an agent finds what its manifest promises. One that is
 * required and does not run fails the boot.
 */
export async function servicesSettled(core: Using<"clock">, box: Box, link: BoxLink): Promise<void> {
  const limitMs = box.spec.services.reduce((sum, service) => sum + service.readyTimeoutMs, 0);
  const endMs = core.ports.clock.monotonicMs() + limitMs;
  let health = await link.health();
  while (!isSettled(health) && core.ports.clock.monotonicMs() <= endMs) {
    await new Promise<void>((resolve) => core.ports.clock.after(100, resolve));
    health = await link.health();
  }
  const required = new Set(box.spec.services.filter((spec) => spec.required ?? true).map(({ name }) => name));
  const failed = health.services.filter((service) => required.has(service.name) && !isUp(service));
  if (failed.length === 0) return;
  const list = failed.map(({ name, message }) => `${name}: ${printable(message) || "not ready in time"}`);
  throw new AgentBoxError(
    "box.start_failed",
    `The box "${box.name}" lacks services that it requires. ${list.join(" ")}`,
    {
      hint: `See what it printed: agentbox logs ${box.name} --source service:${failed[0]!.name}; or set services.${failed[0]!.name}.required = false.`,
      facts: { box: box.name, services: failed.map(({ name }) => name) },
    },
  );
}

const isSettled = ({ services }: Health): boolean =>
  services.every(({ state }) => state === "ready" || state === "failed" || state === "stopped");

/** A task that has ended well counts. */
const isUp = ({ state, exitCode }: ServiceStatus): boolean =>
  state === "ready" || (state === "stopped" && exitCode === 0);
