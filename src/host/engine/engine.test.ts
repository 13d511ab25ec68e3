import { createServer, type Server } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseEngineUrl } from "./address.ts";
import { engineFacts, isOlderApi } from "./facts.ts";
import { explainEngineError, openEngine } from "./index.ts";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "abx-eng-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const addressOf = (name: string) => parseEngineUrl(`unix://${join(directory, name)}`, "the test");

async function serve(name: string, api: string): Promise<Server> {
  const server = createServer((request, response) => {
    response.setHeader("content-type", "application/json");
    const isVersion = request.url?.includes("/version");
    response.end(JSON.stringify(isVersion ? { Version: "1.2", ApiVersion: api } : { CgroupVersion: "2" }));
  });
  await new Promise<void>((resolve) => server.listen(join(directory, name), resolve));
  return server;
}

describe("openEngine", () => {
  it("opens one that is new enough, and refuses an older one by name", async () => {
    const [good, old] = [await serve("good", "1.41"), await serve("old", "1.40")];
    try {
      expect((await openEngine({ address: addressOf("good") })).facts).toMatchObject({ cgroupVersion: 2 });
      await expect(openEngine({ address: addressOf("old") })).rejects.toMatchObject({
        code: "runtime.broken",
        message: expect.stringContaining("1.40") as unknown,
      });
    } finally {
      good.close();
      old.close();
    }
  });

  it("speaks to the engine it is given, whatever DOCKER_HOST says", async () => {
    const server = await serve("given", "1.41");
    vi.stubEnv("DOCKER_HOST", "tcp://127.0.0.1:1");
    try {
      expect((await openEngine({ address: addressOf("given") })).facts.version).toBe("1.2");
    } finally {
      vi.unstubAllEnvs();
      server.close();
    }
  });

  it("says how to start one that is not running", async () => {
    await expect(openEngine({ address: addressOf("absent") })).rejects.toMatchObject({
      code: "runtime.broken",
      hint: expect.stringContaining("systemctl start docker") as unknown,
    });
  });

  it("warns that the group docker is root", () => {
    const error = Object.assign(new Error("connect"), { code: "EACCES" });
    expect(explainEngineError(error, addressOf("x")).hint).toMatch(/is root on this host/);
  });
});

it("takes no limit for granted that a rootless engine on the first control groups has not", () => {
  const version = { ApiVersion: "1.41", Components: [{ Name: "Podman Engine" }] };
  const info = { Rootless: true, CgroupVersion: "1", MemoryLimit: true, CpuCfsQuota: true, PidsLimit: true };
  expect(engineFacts({ version, info })).toMatchObject({
    kind: "podman",
    isRootless: true,
    limits: { cpus: false, memory: false, pids: false },
  });
  expect(engineFacts({ version, info: { ...info, Rootless: false } }).limits.memory).toBe(true);
  expect(engineFacts({ version, info: { ...info, CgroupVersion: "2" } }).limits.memory).toBe(true);
});

it("compares versions as numbers", () => {
  expect(isOlderApi("1.9")).toBe(true);
  expect(isOlderApi("1.41")).toBe(false);
  expect(isOlderApi("1.100")).toBe(false);
  expect(isOlderApi("2.0")).toBe(false);
});
