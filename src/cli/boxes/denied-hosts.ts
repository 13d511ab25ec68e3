import type { Client } from "../../client/index.ts";

/** Hosts that a box was denied in its whole life, the latest first. */
export async function listDeniedHosts(client: Client, box: string): Promise<readonly string[]> {
  const { hosts } = await client.getNet(box);
  return [...new Set(hosts.filter(({ denials }) => denials > 0).map(({ host }) => host))];
}
