/**
 * Threat 23, the dashboard's files: links that a box leaves in its workspace for readers and writers through the API. A
 * secret of the host is neither read nor changed, and of the box itself only the workspace is shown.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { AgentBoxError } from "../../src/base/errors.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { ask, signIn } from "../support/web-client.ts";
import {
  chownTree,
  emptyBox,
  eventsOf,
  type Ground,
  hostCases,
  inBox,
  onEachDaemon,
  shellInBox,
} from "./attack.ts";

/** Old, so that even a file system that writes access times rarely would write this one. */
const longAgo = new Date("2020-01-01T00:00:00Z");

const cases = (ground: Ground): void => {
  let directory: string;
  let secret: string;
  let box: string;
  let count = 0;

  const wasRead = () => statSync(secret).atimeMs !== longAgo.getTime();
  const read = async (path: string): Promise<string> => {
    try {
      let text = "";
      for await (const chunk of await ground.daemon.client.readFile(box, { path }))
        text += Buffer.from(chunk);
      return text;
    } catch (error) {
      return error instanceof AgentBoxError ? error.code : String(error);
    }
  };
  const list = async (path: string): Promise<string> => {
    try {
      return (await ground.daemon.client.listFiles(box, { path })).entries.map(({ name }) => name).join(" ");
    } catch (error) {
      return error instanceof AgentBoxError ? error.code : String(error);
    }
  };
  const write = async (path: string, text: string): Promise<string> => {
    try {
      const content = Buffer.from(text).toString("base64");
      await ground.daemon.client.writeFile(box, { path, content });
      return "written";
    } catch (error) {
      return error instanceof AgentBoxError ? error.code : String(error);
    }
  };

  beforeEach(async () => {
    directory = mkdtempSync("/tmp/abx-secret-");
    secret = join(directory, "secret");
    // Of the very user that the daemon is, so that only not following protects it.
    writeFileSync(secret, "host secret", { mode: 0o600 });
    if (isRoot && !ground.isRootDaemon) chownTree(directory, ordinaryUser);
    box = await emptyBox(ground.daemon, `dash-${++count}`);
    const { code, stderr } = await shellInBox(
      ground.daemon,
      box,
      `cd /workspace && echo fine > plain && mkdir sub && echo deep > sub/in && ln -s sub/in inner && ln -s sub dirlink
       echo box secret > /home/agent/private
       ln -s ${secret} file; ln -s ${directory} dir; ln -s / root; ln -s ../../../../../../../.. up; ln -s loop loop
       ln -s /home/agent home; ln -s /home/agent/private private; ln -s /proc/self/environ environ; ln -s /run run`,
    );
    expect(code, stderr).toBe(0);
    for (const path of [secret, directory]) utimesSync(path, longAgo, longAgo);
  });
  afterEach(() => {
    expect(wasRead()).toBe(false);
    expect(readFileSync(secret, "utf8")).toBe("host secret");
    expect(readdirSync(directory)).toEqual(["secret"]);
    rmSync(directory, { recursive: true });
  });

  it("shows links as links, and what is in the workspace", async () => {
    const { entries } = await ground.daemon.client.listFiles(box);
    const found = new Map(entries.map((entry) => [entry.name, entry]));
    expect(found.get("file")).toMatchObject({ kind: "symlink", target: secret, size: 0 });
    expect(found.get("dir")).toMatchObject({ kind: "symlink", target: directory });
    expect(found.get("plain")).toMatchObject({ kind: "file", size: 5 });
    expect(await list("sub")).toBe("in");
    expect(await list("dirlink")).toBe("in");
    expect(await read("plain")).toBe("fine\n");
    expect(await read("/workspace/sub/in")).toBe("deep\n");
    expect(await read("inner")).toBe("deep\n");
  });

  it("follows none of them out, to the host or to the rest of the box, and writes the attempt down", async () => {
    // The control: the host itself would follow them.
    const { workspace } = (await ground.daemon.client.getBox(box)).paths;
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("host secret");
    expect(wasRead()).toBe(true);
    utimesSync(secret, longAgo, longAgo);
    // And inside, the box follows its own.
    expect((await inBox(ground.daemon, box, ["cat", "/workspace/private"])).stdout).toBe("box secret\n");

    const refusals = ["file.unsafe_path", "file.not_found"];
    const paths = [
      "file",
      "dir/secret",
      `root${secret}`,
      `up${secret}`,
      "home/private",
      "private",
      "environ",
      "run/agentbox/box.json",
      "loop",
      "../home/agent/private",
      "sub/../../home/agent/private",
      "/home/agent/private",
      "/etc/passwd",
      secret,
    ];
    for (const path of paths) expect(refusals, path).toContain(await read(path));
    for (const path of ["dir", "root", "up", "home", "run", "..", "/", directory])
      expect(refusals, path).toContain(await list(path));
    const seen = async () =>
      (await eventsOf(ground.daemon, "files.refused", box)).map(({ data }) => data["path"]);
    await waitFor("the attempts are written down", async () => {
      const found = await seen();
      return ["private", "environ", "../home/agent/private", "home"].every((path) => found.includes(path));
    });
  });

  it("writes into the workspace, and through none of them", async () => {
    expect(await write("new/deep/file.txt", "hello")).toBe("written");
    expect((await inBox(ground.daemon, box, ["cat", "new/deep/file.txt"])).stdout).toBe("hello");
    for (const path of [
      "dir/new",
      "home/new",
      "root/tmp/new",
      "up/tmp/new",
      "../new",
      "/home/agent/new",
      "run/new",
    ])
      expect(await write(path, "evil"), path).toBe("file.unsafe_path");
    // A file at the name itself is replaced, and not written through.
    for (const path of ["file", "private"]) {
      expect(await write(path, "mine")).toBe("written");
      expect(await read(path)).toBe("mine");
    }
    expect((await inBox(ground.daemon, box, ["cat", "/home/agent/private"])).stdout).toBe("box secret\n");
    expect((await inBox(ground.daemon, box, ["sh", "-c", "ls /home/agent/new /tmp/new"])).code).not.toBe(0);
    await waitFor("the attempts are written down", async () =>
      (await eventsOf(ground.daemon, "files.refused", box)).some(({ data }) => data["op"] === "write"),
    );
    await waitFor("what was written is written down", async () =>
      (await eventsOf(ground.daemon, "files.copied", box)).some(
        ({ data }) => data["path"] === "new/deep/file.txt",
      ),
    );
  });

  it("is not talked out of it by a link that is swapped while it looks", async () => {
    const swap =
      "mkdir -p real && echo real > real/private; while :; do ln -sfn real flip; ln -sfn /home/agent flip; done";
    const spec = { argv: ["sh", "-c", swap], terminal: false, cols: 80, rows: 24 };
    await ground.daemon.client.startSession(box, { session: "swap", spec });
    await waitFor("it swaps", async () => (await read("flip/private")) === "real\n");
    const results = new Set<string>();
    for (let round = 0; round < 150; round++) results.add(await read("flip/private"));
    expect([...results].join()).not.toContain("box secret");
    for (const result of results) expect(["real\n", "file.unsafe_path", "file.not_found"]).toContain(result);
  });

  hostCases(() => {
    it("gives a file to a browser as bytes, and never as a page", async () => {
      await shellInBox(ground.daemon, box, "printf '<script>alert(1)</script>' > 'evil\"; filename=x.html'");
      const session = await signIn(ground.daemon);
      const name = encodeURIComponent('evil"; filename=x.html');
      const path = `/v1/boxes/${box}/file?path=${name}`;
      const { status, headers, text } = await ask({ port: session.port, path, headers: session.headers });
      expect([status, text]).toEqual([200, "<script>alert(1)</script>"]);
      expect(headers).toMatchObject({
        "content-type": "application/octet-stream",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "content-disposition": `attachment; filename*=UTF-8''${name}`,
      });
      expect((await ask({ port: session.port, path })).status).toBe(401);
    });
  });
};

onEachDaemon("the dashboard's files", cases);
