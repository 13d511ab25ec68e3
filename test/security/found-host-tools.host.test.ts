/**
 * Explaining a denial looks for a preset that has the host, and that runs package managers of the host. A caller who may
 * only look at a box must not be able to start them, as often as they like.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Scope } from "../../src/contract/access/scope-names.ts";
import { type Visitor, askRoute } from "../support/ask-route.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { signIn } from "../support/web-client.ts";

const box = "explained-box";
const tools = ["npm", "pip3", "pip", "apt-get", "cargo", "go"];

describe("an explanation of a denial", () => {
  let dir: string;
  let daemon: TestDaemon;
  let port: number;
  const mark = () => join(dir, "ran");

  beforeAll(async () => {
    dir = mkdtempSync(join(process.env["AGENTBOX_TEST_RUN"] ?? tmpdir(), "tools-"));
    chmodSync(dir, 0o777);
    const bin = join(dir, "bin");
    mkdirSync(bin);
    for (const tool of tools)
      writeFileSync(join(bin, tool), `#!/bin/sh\necho ${tool} >> ${mark()}\nexit 1\n`, { mode: 0o755 });
    daemon = await startDaemon({ env: { PATH: `${bin}:${process.env["PATH"] ?? ""}` } });
    await daemon.client.createBox({ name: box, flags: { workspace: { mode: "empty" } }, start: false });
    ({ port } = await signIn(daemon));
    // Whatever making a box has asked.
    rmSync(mark(), { force: true });
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    rmSync(dir, { recursive: true });
  });

  const explain = async (scopes: Scope[]) => {
    const { value } = await daemon.client.createToken({ name: scopes.join("+"), scopes });
    const who: Visitor = {
      name: scopes.join("+"),
      where: { port },
      headers: { authorization: `Bearer ${value}` },
    };
    const { status, text } = await askRoute(who, "explainPolicy", box, {
      url: "https://nowhere.example.org/",
      method: "GET",
    });
    expect(status, text).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ verdict: "deny", reason: "no_rule" });
  };

  it("runs no program of the host for a token that may only look, and does for one that may work", async () => {
    await explain(["read"]);
    expect(existsSync(mark()), "may look").toBe(false);
    await explain(["read", "work"]);
    expect(existsSync(mark()), "may work").toBe(true);
  });
});
