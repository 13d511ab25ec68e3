/**
 * Where a box of Podman holds secrets. Podman's plain memory mounts cannot belong to the box's user; a volume in memory
 * does. It is the box's own, made before each start and removed with the container.
 */
import type Docker from "dockerode";
import { secretBytes } from "../box-baseline.ts";
import { isGone } from "./containers.ts";
import { type Installation, ownLabels } from "./labels.ts";

const secretsVolumeName = ({ id }: Installation, box: string): string => `agentbox-${id}-${box}-secrets`;

const pageBytes = 4096;
/** Podman takes `size` for a quota on a disk, so it is said in pages. */
const options = {
  type: "tmpfs",
  device: "tmpfs",
  o: `nr_blocks=${secretBytes / pageBytes},mode=0700,nosuid,nodev`,
};

export async function createSecretsVolume(
  client: Docker,
  installation: Installation,
  box: string,
): Promise<string> {
  const name = secretsVolumeName(installation, box);
  await client.createVolume({
    Name: name,
    Driver: "local",
    DriverOpts: options,
    Labels: { ...ownLabels(installation, box) },
  });
  return name;
}

export async function removeSecretsVolume(
  client: Docker,
  installation: Installation,
  box: string,
): Promise<void> {
  await client
    .getVolume(secretsVolumeName(installation, box))
    .remove()
    .catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
}
