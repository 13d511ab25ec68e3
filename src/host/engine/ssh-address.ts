/** Where an engine behind ssh is, taken apart and checked: nothing in it can be read as an option or as a second word. */
export interface SshAddress {
  /** As ssh takes it: user@host, or a host of the person's own ssh configuration. */
  readonly destination: string;
  readonly port: number | undefined;
  /** The engine's socket over there. */
  readonly socketPath: string;
}

const usualSocket = "/var/run/docker.sock";

/**
 * SECURITY: a host such as `-oProxyCommand=…` would be run by a shell of this host. The first character is never a
 * dash; a path has no colon, which would part it, and no `%` or `$`, which ssh expands.
 */
const pattern =
  /^ssh:\/\/(?<destination>(?:[A-Za-z0-9_][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9._-]*)(?::(?<port>\d{1,5}))?(?<path>\/[A-Za-z0-9._@+/-]*)?$/;

/** Undefined for an invalid address, also one with a password: keys are for that. */
export function parseSshUrl(url: string): SshAddress | undefined {
  const { destination, port, path } = pattern.exec(url)?.groups ?? {};
  if (destination === undefined || Number(port ?? 22) > 65_535) return undefined;
  return {
    destination,
    port: port === undefined ? undefined : Number(port),
    socketPath: path === undefined || path === "/" ? usualSocket : path,
  };
}
