/** Makes one container, or nothing: names that are taken, images that are missing and settings that must not be. */
import { lstat } from "node:fs/promises";
import type Docker from "dockerode";
import { AgentBoxError, messageOf } from "../../../base/errors.ts";
import { printable } from "../../../base/printable.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";
import type { ContainerBody } from "./container-config.ts";
import { engineStatus } from "./containers.ts";
import { forbiddenSettings } from "./forbidden-settings.ts";
import { containerName, type Installation, label } from "./labels.ts";

export async function createContainer(
  client: Docker,
  installation: Installation,
  box: RuntimeBox,
  body: ContainerBody,
): Promise<string> {
  refuseForbidden(box, body);
  await refuseAbsent(box, body);
  const name = containerName(box.name);
  try {
    return await create(client, name, body);
  } catch (error) {
    if (engineStatus(error) === 409) return await createBeside(client, name, installation, box, body);
    throw createFailure(error, box);
  }
}

const create = async (client: Docker, name: string, body: ContainerBody): Promise<string> =>
  (await client.createContainer({ name, ...body })).id;

/** SECURITY: the last look before the engine's root acts on it. */
function refuseForbidden(box: RuntimeBox, body: ContainerBody): void {
  const exceptions = box.exceptions ?? [];
  const problems = forbiddenSettings(body, {
    devices: exceptions.flatMap(({ devices }) => devices),
    capabilities: exceptions.flatMap(({ capabilities }) => capabilities),
    gpus: exceptions.reduce((sum, { gpus }) => sum + gpus, 0),
  });
  if (problems.length === 0) return;
  throw new AgentBoxError(
    "runtime.unsupported",
    `Box "${box.name}" cannot be made as asked: ${problems.join("; ")}.`,
    { hint: "Take this out of [security.exceptions]; no reason makes it safe.", facts: { box: box.name } },
  );
}

/** SECURITY: an engine may make a directory of root's where a source is missing, on the host, and mount that. */
async function refuseAbsent(box: RuntimeBox, { HostConfig }: ContainerBody): Promise<void> {
  const sources = (HostConfig.Mounts ?? []).filter(({ Type }) => Type === "bind").map(({ Source }) => Source);
  await Promise.all(
    sources.map((source) =>
      lstat(source).catch((error: unknown) => {
        throw startFailure(box.name, `${source} cannot be mounted: ${messageOf(error)}`, error);
      }),
    ),
  );
}

/** Another installation's box may have the same name; what does not come from AgentBox is left alone, and said. */
async function createBeside(
  client: Docker,
  name: string,
  { id }: Installation,
  box: RuntimeBox,
  body: ContainerBody,
): Promise<string> {
  const other = await client
    .getContainer(name)
    .inspect()
    .catch(() => undefined);
  if (other !== undefined && other.Config.Labels[label.owner] === undefined) {
    throw new AgentBoxError("box.name_taken", `A container named ${name} exists that is not AgentBox's.`, {
      hint: `Choose another name for the box, or rename that one: docker rename ${name} other-name`,
      facts: { box: box.name, container: name },
    });
  }
  return create(client, `${name}-${id}`, body).catch((error: unknown) => {
    throw createFailure(error, box);
  });
}

function createFailure(error: unknown, box: RuntimeBox): unknown {
  const status = engineStatus(error);
  if (status === undefined) return error;
  if (status === 404 && box.image !== undefined) {
    return new AgentBoxError("image.not_found", `The engine has no image ${printable(box.image)}.`, {
      hint: "Run: agentbox build",
      facts: { box: box.name, image: box.image },
    });
  }
  return startFailure(box.name, messageOf(error), error);
}

export function startFailure(name: string, said: string, cause?: unknown): AgentBoxError {
  const words = printable(said.trim().split("\n").at(-1) ?? "").replace(/^\(HTTP code \d+\) [^-]*- /, "");
  return new AgentBoxError("box.start_failed", `Box "${name}" did not come up: ${words}.`, {
    hint: "Run: agentbox doctor",
    facts: { box: name, diagnostics: said },
    cause,
  });
}
