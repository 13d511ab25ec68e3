/** How gVisor must be known to a container engine for boxes to run in it. */

export const runscName = "runsc";

/**
 * SECURITY: `open`, not `all`: the box connects to a socket of the host that lies in its mounts, of which the link is
 * the only one, and cannot make one that a program of the host could take for another's.
 */
const runscArguments: readonly string[] = ["--network=none", "--host-uds=open"];

export const runscRegistration = (path: string) => ({ path, runtimeArgs: [...runscArguments] });
