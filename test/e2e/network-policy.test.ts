/** The policy in a person's hands: changed on a running box, explained, learned, and bounded by the person's own. */
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import type { Explanation } from "../../src/contract/api/schemas.ts";
import { addresses } from "../support/network.ts";
import {
  agree,
  boxOn,
  expectDenied,
  onNetwork,
  run,
  script,
  shell,
  withoutProxy,
} from "../support/network-ground.ts";
import { giveTo } from "../support/review.ts";
import { runtimeConfig } from "../support/test-runtime.ts";

const plain = withoutProxy.join(" ");

onNetwork("policy", (ground) => {
  it("changes on a running box: what is no longer allowed is closed, what is allowed goes on", async () => {
    const { daemon, network } = ground;
    await boxOn(daemon, "reload", { allow: ["api.test", "other.test", "echo.test:7000"] });
    const follow = (host: string) =>
      `${plain} sh -c 'for way in http https; do (curl -sSN -m 50 $way://${host}/slow > /tmp/${host}-$way; echo ended > /tmp/${host}-$way-ended) & done; wait'`;
    const [kept, cut] = ["api.test", "other.test"].map((host) =>
      run(daemon, "reload", ["sh", "-c", follow(host)], 60_000),
    );
    const size = async (host: string, mode: string) =>
      Number((await shell(daemon, "reload", `wc -c < /tmp/${host}-${mode}`)).stdout);
    const grows = async (host: string, mode: string) => {
      const before = await size(host, mode);
      await waitFor(`${host} over ${mode} goes on`, async () => (await size(host, mode)) > before);
    };
    for (const host of ["api.test", "other.test"])
      for (const mode of ["http", "https"]) await grows(host, mode);
    const applied = await daemon.cli(["policy", "apply", "reload", "--allow", "api.test"]);
    expect(applied.code, applied.stderr).toBe(0);
    await cut;
    expect((await shell(daemon, "reload", "cat /tmp/other.test-*-ended")).stdout).toBe("ended\nended\n");
    for (const mode of ["http", "https"]) await grows("api.test", mode);
    await network.forget();
    await expectDenied(daemon, "reload", { host: "other.test", reason: "no_rule" }, () =>
      shell(daemon, "reload", `${plain} curl -sS -m 5 http://other.test/x`),
    );
    const closed = (await daemon.client.listEgress({ box: "reload", host: "other.test", limit: 100 })).filter(
      ({ bytesIn }) => bytesIn > 0,
    );
    expect(closed.map(({ reason }) => reason)).toEqual(["no_rule", "no_rule"]);
    await shell(daemon, "reload", "pkill curl");
    await kept;
  }, 90_000);

  it("opens a new port on a running box", async () => {
    const { daemon } = ground;
    await boxOn(daemon, "new-port", { allow: ["api.test"] });
    const echo = `const socket = require("node:net").connect(7000, "echo.test"); let text = "";
      socket.on("connect", () => socket.end("hello\\n")).on("data", (chunk) => { text += chunk; })
        .on("error", (error) => { text = error.code; }).on("close", () => console.log(JSON.stringify(text)));`;
    expect(await script<string>(daemon, "new-port", echo)).not.toContain("hello");
    expect((await daemon.cli(["policy", "apply", "new-port", "--allow", "echo.test:7000"])).code).toBe(0);
    expect(
      await waitFor(
        "the port is open",
        async () => (await script<string>(daemon, "new-port", echo)) === "hello\n",
      ),
    ).toBe(true);
  });

  it("explains what would happen, and why", async () => {
    const { daemon } = ground;
    const project = mkdtempSync(join(daemon.scratch, "explained-"));
    writeFileSync(
      join(project, "agentbox.toml"),
      'version = 1\n[workspace]\nmode = "empty"\n[network]\nallow = ["api.test"]\n[[network.rules]]\nhost = "other.test"\nmethods = ["GET"]\n',
    );
    await giveTo(daemon, project);
    await agree(daemon, project);
    expect(
      (await daemon.cli(["create", "shell", "--name", "explained", "--start"], { cwd: project })).code,
    ).toBe(0);
    // A denial has an exit code of its own; the answer is there all the same.
    const explain = async (...args: string[]) => {
      const { stdout } = await daemon.cli(["policy", "explain", "--box", "explained", ...args, "--json"]);
      return JSON.parse(stdout) as Explanation;
    };
    expect(await explain("https://api.test/x")).toMatchObject({
      verdict: "allow",
      file: expect.stringContaining("agentbox.toml"),
      line: 5,
    });
    expect(await explain("https://other.test/x", "-X", "POST")).toMatchObject({
      verdict: "deny",
      reason: "wrong_method",
    });
    expect(await explain("https://denied.test/")).toMatchObject({
      verdict: "deny",
      reason: "no_rule",
      howToChange: expect.stringMatching(/\w/),
    });
    expect(await explain("http://169.254.169.254/")).toMatchObject({ verdict: "deny" });
    // The explanation matches the decision.
    expect((await shell(daemon, "explained", "curl -sSf https://api.test/x")).code).toBe(0);
    expect((await shell(daemon, "explained", "curl -sSf -d x https://other.test/x")).code).not.toBe(0);
    expect((await daemon.cli(["policy", "show", "explained"])).stdout).toMatch(/api\.test/);
  });

  it("learns what was wanted and lets nothing of it through", async () => {
    const { daemon, network } = ground;
    await boxOn(daemon, "learner", { learn: true, allow: ["api.test"] });
    for (const url of ["http://api.test/x", "https://git.test/x", "http://denied.test/x"])
      await shell(daemon, "learner", `curl -sS -m 5 ${url}`);
    expect((await network.arrivals()).flatMap((one) => (one.kind === "http" ? [one.host] : []))).toEqual([
      "api.test",
    ]);
    const { stdout } = await daemon.cli(["policy", "learn", "learner"]);
    for (const host of ["git.test", "denied.test"]) expect(stdout).toContain(host);
    expect(stdout).not.toContain("*");
    // It can be pasted: a box made from it reaches what was wanted.
    const project = mkdtempSync(join(daemon.scratch, "learned-"));
    writeFileSync(join(project, "agentbox.toml"), `version = 1\n[workspace]\nmode = "empty"\n${stdout}`);
    await giveTo(daemon, project);
    const checked = await daemon.cli(["validate"], { cwd: project });
    expect(checked.code, checked.stdout + checked.stderr + stdout).toBe(0);
    await agree(daemon, project);
    expect(
      (await daemon.cli(["create", "shell", "--name", "learned", "--start"], { cwd: project })).code,
    ).toBe(0);
    expect((await shell(daemon, "learned", "curl -sSf https://git.test/x")).code).toBe(0);
  });

  it("stays inside the person's own bound", async () => {
    const { daemon, network } = ground;
    const config = join(daemon.home, "config.toml");
    writeFileSync(config, `${runtimeConfig}[network]\nonly = ["api.test"]\n`, { mode: 0o600 });
    try {
      await boxOn(daemon, "bounded", { allow: ["api.test", "other.test"] });
      expect((await shell(daemon, "bounded", "curl -sSf http://api.test/x")).code).toBe(0);
      await network.forget();
      await expectDenied(daemon, "bounded", { host: "other.test", reason: "outside_bound" }, () =>
        shell(daemon, "bounded", "curl -sS http://other.test/x"),
      );
      expect(await network.arrivals()).toEqual([]);
    } finally {
      writeFileSync(config, runtimeConfig, { mode: 0o600 });
    }
  });

  it("opens one private address by name, with a reason, and no other", async () => {
    const { daemon, network } = ground;
    const reason = "the database of these tests";
    await boxOn(daemon, "private-box", {
      exceptions: { store: { address: `${addresses.private}:80`, reason } },
    });
    const reached = await shell(
      daemon,
      "private-box",
      `${plain} curl -sSf -m 5 http://store.agentbox.internal/x`,
    );
    expect(reached.stdout, reached.stderr).toContain("the internet");
    await network.forget();
    for (const url of [
      `http://${addresses.private}:443/`,
      "http://private.test/",
      "https://store.agentbox.internal/",
      `http://${addresses.metadata}/`,
    ])
      expect((await shell(daemon, "private-box", `curl -sSf -k -m 5 ${url}`)).code, url).not.toBe(0);
    expect((await network.arrivals()).filter(({ kind }) => kind !== "dns")).toEqual([]);
  });

  it("refuses a policy that says too much before anything starts", async () => {
    const { daemon } = ground;
    for (const allow of [
      "*",
      "*.test",
      "*.com",
      "a.*.test",
      "198.51.100.10",
      "api.test:0",
      "api.test:99999",
      "127.0.0.1",
      "*api.test",
    ]) {
      const project = mkdtempSync(join(daemon.scratch, "bad-"));
      writeFileSync(join(project, "agentbox.toml"), `version = 1\n[network]\nallow = ["${allow}"]\n`);
      await giveTo(daemon, project);
      const refused = await daemon.cli(["create", "shell", "--name", "too-much", "--start"], {
        cwd: project,
      });
      expect(refused.code, allow).not.toBe(0);
      expect(refused.stderr, allow).toMatch(/agentbox\.toml:3/);
    }
    expect((await daemon.client.listBoxes()).some(({ name }) => name === "too-much")).toBe(false);
  });
});
