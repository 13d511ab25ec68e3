/** npm in several boxes of one project at once: each has a cache of its own, and a new box may begin with a kept one. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hasProgram } from "../support/host-facts.ts";
import { makeNpmSite } from "../support/internet-sites.ts";
import { boxOn, onNetwork, recordsOf, shell } from "../support/network-ground.ts";

const registry = "https://npm.test/files/";
const install = (...flags: string[]): string =>
  [
    "cd $(mktemp -d)",
    `npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0 --registry=${registry} ${flags.join(" ")} hello-test`,
    `node -p 'require("hello-test")'`,
  ].join(" && ");
const hello = /hello from the internet/;

onNetwork(
  "package caches",
  (ground) => {
    it("are each box's own while several work on one project, and come along when they are kept", async (ctx) => {
      if (!hasProgram("npm")) ctx.skip("npm is not installed");
      const { daemon, network } = ground;
      const project = mkdtempSync(join(daemon.scratch, "project-"));
      writeFileSync(join(project, "a.txt"), "a");
      const make = (name: string, allow: readonly string[]) =>
        boxOn(
          daemon,
          name,
          { allow: [...allow] },
          { workspace: { mode: "empty", cache: "project" } },
          project,
        );
      const names = ["npm-one", "npm-two", "npm-three"];
      await Promise.all(names.map((name) => make(name, ["npm.test"])));
      // All at once, twice in each: none waits for or breaks the others' locks.
      const ran = await Promise.all(
        [...names, ...names].map((name) => shell(daemon, name, install(), 120_000)),
      );
      for (const { code, stdout, stderr } of ran) {
        expect(code, stderr).toBe(0);
        expect(stdout).toMatch(hello);
      }
      // Each has fetched for itself.
      for (const name of names) {
        const fetched = (await recordsOf(daemon, name, "npm.test")).length;
        expect(fetched, name).toBeGreaterThan(0);
        expect((await shell(daemon, name, install("--offline"))).code).toBe(0);
      }

      // The control: a new box has nothing, and nowhere to get it from.
      await make("npm-four", []);
      expect((await shell(daemon, "npm-four", install("--offline"))).code).not.toBe(0);
      await daemon.client.stopBox("npm-one", { graceMs: 1_000 });
      const cache = await daemon.client.saveCache("npm-one");
      expect(cache.paths).toContain(".npm/_cacache");
      await make("npm-five", []);
      await network.forget();
      const later = await shell(daemon, "npm-five", install("--offline"));
      expect(later.code, later.stderr).toBe(0);
      expect(later.stdout).toMatch(hello);
      expect(await network.arrivals()).toEqual([]);
    }, 240_000);
  },
  { prepare: ({ network }) => makeNpmSite(network.directory) },
);
