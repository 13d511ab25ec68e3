import { beforeEach } from "vitest";
import type { TestDaemon } from "./daemon.ts";

/** A second try of a test finds the boxes that its first try found: what that one had made since is removed. */
export function secondTryAfresh(daemonOf: () => Pick<TestDaemon, "client">): void {
  const before = new Map<string, ReadonlySet<string>>();
  beforeEach(async ({ task }) => {
    const { client } = daemonOf();
    const names = (await client.listBoxes()).map(({ name }) => name);
    const known = before.get(task.id);
    if (known === undefined) before.set(task.id, new Set(names));
    for (const name of names)
      if (known?.has(name) === false) await client.removeBox(name, { force: true, keep: false });
  });
}
