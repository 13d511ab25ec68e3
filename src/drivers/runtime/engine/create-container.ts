/** Makes one container, or nothing: names that are taken, images that are missing and settings that must not be. */
import { lstat } from "node:fs/promises";
import type Docker from "dockerode";
import { AgentBoxError, messageOf } from "../../../base/errors.ts";
import { printable } from "../../../base/printable.ts";
import type { RuntimeBox } from "../../../ports/runtime.ts";
import type { ContainerBody } from "./container-config.ts";
import { engineStatus, isGone } from "./containers.ts";
import { forbiddenSettings } from "./forbidden-settings.ts";
import { containerName, type Installation, label } from "./labels.ts";

/** A box without an image of its own needs one all the same: made when the engine turns out to lack it. */
type MakeImage = () => Promise<void>;

export async function createContainer(
  client: Docker,
  installation: Installation,
  box: RuntimeBox,
  body: ContainerBody,
  makeImage?: MakeImage,
): Promise<string> {
  refuseForbidden(box, body);
  await refuseAbsent(box, body);
  const name = containerName(box.name);
  const make = async (free: string): Promise<string> => {
    try {
      return await create(client, free, body);
    } catch (error) {
      if (makeImage === undefined || !isGone(error)) throw error;
      await makeImage();
      return create(client, free, body);
    }
  };
  try {
    return await make(name);
  } catch (error) {
    if (!isNameTaken(error)) throw createFailure(error, box);
    await refuseForeign(client, name, box);
    return make(`${name}-${installation.id}`).catch((again: unknown) => {
      throw createFailure(again, box);
    });
  }
}

/** Podman says it without a status where only its storage still knows the name, after something was cut off. */
const isNameTaken = (error: unknown): boolean =>
  engineStatus(error) === 409 || /the container name \S+ is already in use/.test(messageOf(error));

/** The settings go in the body alone: said plainly, the client would repeat all of them in the address. */
const create = async (client: Docker, name: string, body: ContainerBody): Promise<string> => {
  const parts = { _query: { name }, _body: body };
  return (await client.createContainer(parts as Docker.ContainerCreateOptions)).id;
};

/** SECURITY: the last look before the engine's root acts on it. */
function refuseForbidden(box: RuntimeBox, body: ContainerBody): void {
  const exceptions = box.exceptions ?? [];
  const problems = forbiddenSettings(body, {
    devices: exceptions.flatMap(({ devices }) => devices),
    capabilities: exceptions.flatMap(({ capabilities }) => capabilities),
    directories: (box.toolchains ?? []).map(({ source }) => source),
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
async function refuseForeign(client: Docker, name: string, box: RuntimeBox): Promise<void> {
  const other = await client
    .getContainer(name)
    .inspect()
    .catch(() => undefined);
  if (other === undefined || other.Config.Labels[label.owner] !== undefined) return;
  throw new AgentBoxError("box.name_taken", `A container named ${name} exists that is not AgentBox's.`, {
    hint: `Choose another name for the box, or rename that one: docker rename ${name} other-name`,
    facts: { box: box.name, container: name },
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

export function startFailure(name: string, diagnostics: string, cause?: unknown): AgentBoxError {
  const words = printable(diagnostics.trim().split("\n").at(-1) ?? "").replace(
    /^\(HTTP code \d+\) [^-]*- /,
    "",
  );
  return new AgentBoxError("box.start_failed", `Box "${name}" did not come up: ${words}.`, {
    hint: "Run: agentbox doctor",
    facts: { box: name, diagnostics },
    cause,
  });
}
