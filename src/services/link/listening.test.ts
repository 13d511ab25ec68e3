import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../host/clock.ts";
import { listenForBox } from "./listening.ts";

describe("listenForBox", () => {
  const owner = { uid: process.getuid!(), gid: process.getgid!() };
  let dir: string;
  const options = () => ({
    linkDir: dir,
    owner,
    clock: systemClock,
    accept: () => undefined,
    violated: () => undefined,
  });
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "abx-"));
  });
  afterAll(() => rm(dir, { recursive: true, force: true }));

  it("lets only the box's own user connect", async () => {
    const server = await listenForBox(options());
    expect((await stat(join(dir, "link.sock"))).mode & 0o777).toBe(0o600);
    await server.close();
  });

  it("leaves the modes of what others make at the same moment alone", async () => {
    const expected = 0o777 & ~process.umask();
    for (let round = 0; round < 100; round += 1) {
      const made = Array.from({ length: 8 }, (_, i) => join(dir, `${round}-${i}`));
      // The directories are made in other threads, while this one listens.
      const making = Promise.all(made.map((path) => mkdir(path)));
      const server = await listenForBox(options());
      await making;
      await server.close();
      for (const path of made) expect((await stat(path)).mode & 0o777, path).toBe(expected);
    }
  });
});
