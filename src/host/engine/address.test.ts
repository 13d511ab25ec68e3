import { createHash } from "node:crypto";
import { chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findEngineAddress, parseEngineUrl } from "./address.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "abx-addr-"));
  const digest = createHash("sha256").update("far").digest("hex");
  await mkdir(join(home, ".docker", "contexts", "meta", digest), { recursive: true });
  await writeFile(
    join(home, ".docker", "contexts", "meta", digest, "meta.json"),
    JSON.stringify({ Name: "far", Endpoints: { docker: { Host: "ssh://me@far" } } }),
  );
});
afterAll(() => rm(home, { recursive: true, force: true }));

const find = (variables: Record<string, string>, uid = 1000) =>
  findEngineAddress({ uid, userHome: home, variable: (name) => variables[name] });

describe("findEngineAddress", () => {
  it("takes what was named, the nearest name first", async () => {
    const both = { AGENTBOX_ENGINE: "unix:///a", DOCKER_HOST: "unix:///b", DOCKER_CONTEXT: "far" };
    expect(await find(both)).toMatchObject({ socketPath: "/a", source: "AGENTBOX_ENGINE" });
    expect(await find({ ...both, AGENTBOX_ENGINE: "" })).toMatchObject({ socketPath: "/b" });
    expect(await find({ DOCKER_CONTEXT: "far" })).toEqual({
      socketPath: undefined,
      url: "ssh://me@far",
      ssh: { destination: "me@far", port: undefined, socketPath: "/var/run/docker.sock" },
      source: 'the context "far"',
    });
  });

  it("refuses a context that is not there, and addresses that are none", async () => {
    await expect(find({ DOCKER_CONTEXT: "nowhere" })).rejects.toMatchObject({ code: "runtime.broken" });
    for (const url of ["", "docker.sock", "unix://relative", "file:///etc", "unix:///a\0b", "ssh://-oX=y"])
      expect(() => parseEngineUrl(url, "X"), url).toThrow(/names no container engine/);
    for (const url of ["tcp://1.2.3.4:2375", "ssh://me@host", "unix:///x y"])
      expect(parseEngineUrl(url, "X").url).toBe(url);
  });

  it.skipIf(process.getuid!() !== 0)("takes no context that another user has written", async () => {
    const variables = { DOCKER_CONTEXT: "far" };
    const digest = createHash("sha256").update("far").digest("hex");
    const file = join(home, ".docker", "contexts", "meta", digest, "meta.json");
    await chown(file, 1_999, 1_999);
    await expect(find(variables)).rejects.toMatchObject({ code: "file.foreign" });
    await chown(file, 0, 0);
    expect(await find(variables)).toMatchObject({ url: "ssh://me@far" });
  });

  it("finds an engine of one's own where it usually lies", async () => {
    await mkdir(join(home, "run", "podman"), { recursive: true });
    const socket = join(home, "run", "podman", "podman.sock");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    try {
      expect(await find({ XDG_RUNTIME_DIR: join(home, "run") })).toMatchObject({ socketPath: socket });
    } finally {
      server.close();
    }
  });
});
