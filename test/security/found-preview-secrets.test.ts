/**
 * Found by trying: a page of a box sends data out over WebRTC, past every header of its time. The page reaches all that
 * the box knows, so a box that has secrets is shown after its owner's yes, to these secrets of this box.
 */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { EventType } from "../../src/contract/events.ts";
import { AgentBoxError } from "../../src/base/errors.ts";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import { waitFor } from "../../src/base/wait-for.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { endAll } from "../support/end-all.ts";
import { agree } from "../support/network-ground.ts";
import { makeDirectory } from "../support/review.ts";
import { describeUnless } from "../support/skipping.ts";
import { whyNoBoxes } from "../support/test-runtime.ts";
import { makeCanary, setSecret } from "../support/vault-ground.ts";
import { ask, claimLink, signIn, type WebSession } from "../support/web-client.ts";
import { emptyBox, eventsOf } from "./attack.ts";

const port = 3000;
const program = `require("http").createServer((q, s) => s.end("of the box")).listen(${port}, "127.0.0.1")`;
const manifest = `version = 1
[workspace]
mode = "empty"
[secrets.token]
how = "bearer"
hosts = ["api.example.org"]
`;

describeUnless(await whyNoBoxes())("a preview of a box with secrets", () => {
  let daemon: TestDaemon;
  let owner: WebSession;
  let lives = 0;
  let box: string;

  const serve = async (name: string): Promise<void> => {
    const spec = { argv: ["node", "-e", program], terminal: false, cols: 80, rows: 24 };
    await daemon.client.startSession(name, { session: "server", spec });
    await waitFor("it listens", async () =>
      (await daemon.client.listPorts(name)).some((one) => one.port === port),
    );
  };
  /** A box whose repository asks for a secret that has not been granted yet. */
  const askingBox = async (): Promise<string> => {
    const name = `asking-${(lives += 1)}`;
    const { dir } = await makeDirectory(daemon, { "agentbox.toml": manifest });
    await agree(daemon, dir);
    const file = join(dir, "agentbox.toml");
    await daemon.client.createBox({ name, projectDir: dir, manifest: { file, text: manifest } });
    await serve(name);
    return name;
  };

  beforeAll(async () => {
    daemon = await startDaemon();
    await setSecret(daemon, "token", makeCanary());
    owner = await signIn(daemon);
  });
  beforeEach(async () => {
    box = await askingBox();
  });
  afterAll(() => endAll(daemon));

  const post = (headers: Readonly<Record<string, string>>, agreed?: string) =>
    ask({
      port: owner.port,
      method: "POST",
      path: `/v1/boxes/${box}/preview`,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ port, ...omitUndefined({ agreed }) }),
    });
  const host = () => `p${port}-${box}.localhost:${owner.port}`;
  /** The cookie that a browser gets for the address that was opened. */
  const enter = async (url: string): Promise<string> => {
    const claimed = await ask({
      port: owner.port,
      method: "POST",
      path: "/.agentbox/enter",
      headers: { host: host(), origin: `http://${host()}`, "content-type": "application/json" },
      body: JSON.stringify({ pass: new URL(url).hash.slice("#pass=".length) }),
    });
    expect(claimed.status).toBe(200);
    return claimed.headers["set-cookie"]![0]!.split(";")[0]!;
  };
  const look = (cookie: string) => ask({ port: owner.port, path: "/", headers: { host: host(), cookie } });
  const questionOf = async (agreed?: string): Promise<{ digest: string; holds: string[] }> => {
    const refused: unknown = await daemon.client.openPreview(box, { port, agreed }).catch((error) => error);
    expect(refused).toBeInstanceOf(AgentBoxError);
    expect(refused).toMatchObject({ code: "preview.unconfirmed" });
    return (refused as AgentBoxError).facts as { digest: string; holds: string[] };
  };
  const eventsNamed = (type: EventType) => eventsOf(daemon, type, box);

  it("opens without a question where there are none", async () => {
    box = await emptyBox(daemon, "plain");
    await serve(box);
    const { url } = await daemon.client.openPreview(box, { port });
    expect((await look(await enter(url))).text).toBe("of the box");
    expect(await eventsNamed("preview.agreed")).toEqual([]);
  });

  it("is refused until its owner said yes to the list, and both are written down", async () => {
    const { digest, holds } = await questionOf();
    expect(holds).toEqual([
      "use the secret token as a bearer token for https://api.example.org, once you agree",
    ]);
    await questionOf("sha256:0");
    await waitFor("the refusal is written down", async () =>
      (await eventsNamed("preview.refused")).some(({ data }) => data["reason"] === "secrets"),
    );
    expect(await eventsNamed("preview.agreed")).toEqual([]);
    const { url } = await daemon.client.openPreview(box, { port, agreed: digest });
    expect((await look(await enter(url))).text).toBe("of the box");
    expect(await eventsNamed("preview.agreed")).toMatchObject([{ data: { port, by: "owner", holds } }]);
    // One yes is enough until a new secret comes.
    await daemon.client.openPreview(box, { port });
    expect(await eventsNamed("preview.agreed")).toHaveLength(1);
  });

  it("is asked about again when a secret is granted, also where it is open", async () => {
    const first = await questionOf();
    const cookie = await enter((await daemon.client.openPreview(box, { port, agreed: first.digest })).url);
    expect((await look(cookie)).status).toBe(200);
    await daemon.client.grantSecret({ name: "token", scope: "box", box });
    expect(await look(cookie)).toMatchObject({
      status: 409,
      headers: { "agentbox-error": "preview.unconfirmed" },
    });
    const second = await questionOf(first.digest);
    expect(second.holds).toEqual(["use the secret token as a bearer token for https://api.example.org"]);
    await daemon.client.openPreview(box, { port, agreed: second.digest });
    expect((await look(cookie)).status).toBe(200);
    // Less than what was agreed to is no other question.
    await daemon.client.revokeSecret({ name: "token", box });
    await daemon.client.openPreview(box, { port });
    expect(await eventsNamed("preview.agreed")).toHaveLength(2);
  });

  it("takes no yes of a guest, nor of a token", async () => {
    const { digest } = await questionOf();
    const { url } = await daemon.client.createShare(box, { may: "work", with: { link: true } });
    const guest = await claimLink(url!);
    const asked = await post(guest.headers);
    expect([asked.status, asked.code]).toEqual([409, "preview.unconfirmed"]);
    expect(asked.text).not.toContain("sha256:");
    expect(asked.text).not.toContain("token");
    const said = await post(guest.headers, digest);
    expect([said.status, said.code]).toEqual([403, "access.forbidden"]);
    const { value } = await daemon.client.createToken({ name: "work", scopes: ["work"] });
    const program = await post({ authorization: `Bearer ${value}` }, digest);
    expect([program.status, program.code]).toEqual([403, "access.forbidden"]);
    expect(await eventsNamed("preview.agreed")).toEqual([]);
    // The control: the same words of the owner's, and then the guest may look, too.
    expect((await post(owner.headers, digest)).status).toBe(200);
    expect((await post(guest.headers)).status).toBe(200);
  });

  it("is a question at the command line, with --yes as the answer", async () => {
    const refused = await daemon.cli(["preview", box, String(port), "--print"]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain(`agentbox preview ${box} ${port} --yes`);
    expect(await eventsNamed("preview.agreed")).toEqual([]);
    const opened = await daemon.cli(["preview", box, String(port), "--print", "--yes"]);
    expect(opened.code, opened.stderr).toBe(0);
    expect(opened.stderr).toContain("use the secret token");
    expect((await look(await enter(opened.stdout.trim()))).text).toBe("of the box");
    expect(await eventsNamed("preview.agreed")).toHaveLength(1);
  });

  it("counts what the person gave the box besides: values of variables, and directories of the host", async () => {
    const { dir } = await makeDirectory(daemon, { "notes.txt": "notes" });
    box = await emptyBox(daemon, "counts", {
      env: { GIVEN: "x" },
      mounts: [{ source: dir, target: "/data", access: "read" }],
    });
    expect((await questionOf()).holds).toEqual([
      "read the variable GIVEN, whose value you gave it",
      `read the directory ${dir} of this host`,
    ]);
  });
});
