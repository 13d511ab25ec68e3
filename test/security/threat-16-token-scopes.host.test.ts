/**
 * Threat 16, tokens: what a token says is a request and never an order. Every parameter that takes more than its route is
 * in the table of src/contract/api/routes.ts; each is tried here with every scope, in a browser, and by the owner.
 */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Need } from "../../src/contract/access/limits/limit.ts";
import { type Scope, scopes } from "../../src/contract/access/scope-names.ts";
import { type RouteName, routeNames, routeTable } from "../../src/contract/api/routes.ts";
import { type TestDaemon, startDaemon } from "../support/daemon.ts";
import { type Visitor, askRoute } from "../support/ask-route.ts";
import { makeCanary, setSecret } from "../support/vault-ground.ts";
import { type WebSession, signIn } from "../support/web-client.ts";
import { emptyBox, shellInBox } from "./attack.ts";

const box = "scope-box";
/** Made anew after each caller who may move it. */
const movable = "scope-made-movable";
/** A sign-in that the vault keeps. */
const connected = "connected";
const ordinary = scopes.filter((scope) => scope !== "trust" && scope !== "export");

const thiefs = {
  authorizationEndpoint: "https://thief.example.org/auth",
  tokenEndpoint: "https://thief.example.org/token",
};
/** They name another secret of the vault, and a destination that it is sent to. */
const tokens = Buffer.from(
  JSON.stringify({
    tokenEndpoint: thiefs.tokenEndpoint,
    clientId: "x",
    clientSecret: "token",
    scopes: [],
    accessToken: "x",
    refreshToken: "x",
    expiresAtMs: 1,
  }),
).toString("base64");

const ask = (who: Visitor, name: RouteName, body: unknown) =>
  askRoute(who, name, name === "moveBox" ? movable : box, body);

describe("the scopes of a token", () => {
  let daemon: TestDaemon;
  let web: WebSession;
  let owner: Visitor;
  /** A directory of the owner that is not listed. */
  let secretDir: string;
  /** Another, which a person may agree to in a browser. */
  let plainDir: string;
  let count = 0;

  const token = async (held: readonly Scope[]): Promise<Visitor> => {
    const { value } = await daemon.client.createToken({ name: held.join("+"), scopes: [...held] });
    return { name: held.join("+"), where: { port: web.port }, headers: { authorization: `Bearer ${value}` } };
  };
  const fresh = (): string => `scope-made-${(count += 1)}`;
  const mount = (source = secretDir) => [{ source, target: "/data", access: "write" }];
  const binding = { token: { how: "bearer", hosts: ["thief.example.org"] } };
  const reaching = { network: { allow: ["thief.example.org"] } };

  /** The other fields of a body, so that only the parameter in question can be refused. */
  const basics: Partial<Record<RouteName, () => object>> = {
    createBox: () => ({ name: fresh(), start: false }),
    installAgent: () => ({ version: "0.0.0-none" }),
    pushWork: () => ({ remote: "none" }),
  };
  const asked: Record<string, () => object> = {
    trust: () => ({ trust: "sha256:0" }),
    "flags.mounts": () => ({ flags: { mounts: mount(plainDir) } }),
    "flags.secrets": () => ({ flags: { secrets: binding } }),
    "flags.security": () => ({ flags: { security: { exceptions: {} } } }),
    "flags.runtime": () => ({ flags: { runtime: { name: "memory" } } }),
    variables: () => ({ variables: { OPENAI_API_KEY: "planted" } }),
    projectDir: () => ({ projectDir: plainDir }),
    flags: () => ({ flags: reaching }),
    accept: () => ({ accept: ["hook"] }),
    skipsChecks: () => ({ skipsChecks: true }),
  };
  /** The same in the queue, as the second of two tasks. */
  const queued = (parameter: string): object => {
    const { flags = {}, ...more } = asked[parameter]!() as { flags?: object };
    const plain = { task: "work", flags: { agent: { name: "claude" } } };
    return { tasks: [plain, { task: "work", flags: { ...plain.flags, ...flags } }], ...more };
  };
  const attempts: Record<string, () => object> = {
    "moveBox.runtime": () => ({ runtime: "memory" }),
    "openPreview.agreed": () => ({ port: 3000, agreed: "sha256:0" }),
    ...Object.fromEntries(
      [
        "flags.mounts",
        "flags.secrets",
        "flags.security",
        "flags.runtime",
        "flags",
        "trust",
        "variables",
        "projectDir",
      ].map((parameter) => [`addToQueue.${parameter}`, () => queued(parameter)]),
    ),
    "installAgent.from": () => ({ from: secretDir }),
    "pushWork.secret": () => ({ secret: "token" }),
    "exportWork.*": () => ({ format: "patch", file: join(secretDir, "authorized_keys") }),
    "allowEgress.*": () => ({ host: "thief.example.org", port: 443 }),
    "answerApproval.scope": () => ({ answer: "allow", scope: "project" }),
    "rekeyVault.*": () => ({ to: "keyfile" }),
    "exportVault.*": () => ({ passphrase: "the thief's own" }),
    "importVault.*": () => ({ sealed: "", passphrase: "the thief's own" }),
    "addSecret.source": () => ({
      name: `made-${(count += 1)}`,
      source: { kind: "command", argv: ["touch", join(secretDir, "ran")] },
    }),
    "addSecret.source.variable": () => ({
      name: `made-${(count += 1)}`,
      source: { kind: "env", variable: "HOME" },
    }),
    "addSecret.kind": () => ({ name: `made-${(count += 1)}`, kind: "oauth", value: tokens }),
    "rotateSecret.value": () => ({ name: connected, value: tokens }),
    "grantSecret.*": () => ({ name: "token", scope: "box", box }),
    "startConnection.issuer": () => ({ secret: `made-${(count += 1)}`, clientId: "x", ...thiefs }),
    "startConnection.clientSecret": () => ({
      secret: `made-${(count += 1)}`,
      clientId: "x",
      clientSecret: "token",
      ...thiefs,
    }),
    "openLink.*": () => ({}),
    "createToken.scopes": () => ({ name: "made", scopes: ["trust"] }),
  };
  /** Its question must be open first; src/daemon/member-limits.test.ts has that. */
  const elsewhere = ["answerApproval.secret"];

  interface Line {
    readonly name: RouteName;
    readonly parameter: string;
    readonly needs: Need;
    readonly body: () => object;
  }
  const lines = (): Line[] =>
    routeNames.flatMap((name) =>
      (routeTable[name].limits ?? []).flatMap(({ parameter, needs }) => {
        const key = `${name}.${parameter}`;
        if (elsewhere.includes(key)) return [];
        const more = attempts[key] ?? asked[parameter];
        if (more === undefined) throw new Error(`Nothing is tried for ${key}.`);
        return [{ name, parameter, needs, body: () => ({ ...basics[name]?.(), ...more() }) }];
      }),
    );

  /** The state that a thief would have changed. */
  const world = async () => ({
    boxes: (await daemon.client.listBoxes()).map(({ name }) => name),
    secrets: (await daemon.client.listSecrets()).map(({ secret, grants }) => [secret.name, grants.length]),
    trust: (await daemon.client.listTrust()).length,
    tokens: (await daemon.client.listTokens()).length,
    queue: (await daemon.client.listQueue()).tasks.length,
    signIns: (await daemon.client.listSignIns()).length,
    policy: (await daemon.client.getPolicy(box)).lines,
    files: existsSync(join(secretDir, "ran")) || existsSync(join(secretDir, "authorized_keys")),
  });
  const removeMade = async (): Promise<void> => {
    for (const { name } of await daemon.client.listBoxes())
      if (name.startsWith("scope-made-")) await daemon.client.removeBox(name, { force: true });
    await daemon.client.createBox({ name: movable, flags: { workspace: { mode: "empty" } }, start: false });
  };

  beforeAll(async () => {
    daemon = await startDaemon();
    secretDir = join(daemon.scratch, ".ssh");
    plainDir = join(daemon.scratch, "notes");
    mkdirSync(plainDir);
    mkdirSync(secretDir);
    // For a daemon of root, whose boxes have users of their own.
    chmodSync(secretDir, 0o777);
    writeFileSync(join(secretDir, "id_ed25519"), makeCanary());
    await setSecret(daemon, "token", makeCanary());
    await daemon.client.addSecret({ name: connected, kind: "oauth", value: tokens });
    await emptyBox(daemon, box);
    await removeMade();
    web = await signIn(daemon);
    owner = { name: "the owner", where: { socketPath: daemon.socket }, headers: {} };
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  it("write into no directory of the owner through a mount", async () => {
    const flags = { workspace: { mode: "empty" }, mounts: mount() };
    const thief = await token(["work"]);
    const stolen = await ask(thief, "createBox", { name: "scope-made-mount", flags });
    expect(stolen).toMatchObject({ status: 403, code: "access.forbidden" });
    expect(stolen.text).toContain("This needs a yes at the command line");
    // Nor by a manifest of the thief's own, nor with a yes of the thief's own.
    const text = `version = 1\n[[mounts]]\nsource = "${secretDir}"\ntarget = "/data"\naccess = "write"\n`;
    const manifest = { file: join(daemon.scratch, "agentbox.toml"), text };
    const asks = await ask(thief, "createBox", { name: "scope-made-mount", manifest });
    expect(asks.code).toBe("trust.required");
    const digest = /sha256:[0-9a-f]{64}/.exec(asks.text)?.[0];
    expect(digest).toBeDefined();
    const agreed = await ask(thief, "createBox", { name: "scope-made-mount", manifest, trust: digest });
    expect(agreed.code).toBe("access.forbidden");
    expect((await ask(thief, "grantTrust", { projectDir: secretDir, manifest, digest })).status).toBe(403);

    expect((await ask(owner, "createBox", { name: "scope-made-mount", flags })).status, "the owner").toBe(
      200,
    );
    await shellInBox(daemon, "scope-made-mount", "echo mine > /data/from-box");
    expect(existsSync(join(secretDir, "from-box"))).toBe(true);
    await removeMade();
  });

  it("find no yes that was given without a project", async () => {
    const text = `version = 1\n[workspace]\nmode = "empty"\n[[mounts]]\nsource = "${plainDir}"\ntarget = "/data"\n`;
    const manifest = { file: join(daemon.scratch, "agentbox.toml"), text };
    const make = (who: Visitor, more: object = {}) =>
      ask(who, "createBox", { name: fresh(), start: false, manifest, ...more });
    const digest = /sha256:[0-9a-f]{64}/.exec((await make(owner)).text)?.[0];
    expect((await make(owner, { trust: digest })).status, "the owner").toBe(200);
    expect((await make(await token(["work"]))).code).toBe("trust.required");
    expect(await daemon.client.listTrust()).toEqual([]);
    const { events } = await daemon.client.listEvents({ type: "trust.granted", limit: 1000 });
    expect(events.at(-1)?.data).toMatchObject({ digest });
    await removeMade();
  });

  it("bind no secret to a server of the thief's", async () => {
    const flags = { workspace: { mode: "empty" }, secrets: binding };
    const thief = await token(["work", "read", "approve"]);
    expect((await ask(thief, "createBox", { name: "scope-made-binding", flags })).code).toBe(
      "access.forbidden",
    );
    expect((await ask(thief, "changePolicy", { flags: { secrets: binding } })).code).toBe("access.forbidden");
    expect((await ask(owner, "createBox", { name: "scope-made-binding", flags })).status, "the owner").toBe(
      200,
    );
    // The owner's own values need no question: with such a one the thief would have had the secret.
    expect((await daemon.client.getBox("scope-made-binding")).box.spec.secrets).toMatchObject([
      { secret: "token", isOrdered: true },
    ]);
    await removeMade();
  });

  it("take no vault out", async () => {
    const body = { passphrase: "the thief's own" };
    expect((await ask(await token(["secrets"]), "exportVault", body)).code).toBe("access.forbidden");
    expect((await ask(await token(ordinary), "exportVault", body)).code).toBe("access.forbidden");
    expect((await ask(await token(["trust"]), "exportVault", body)).code).toBe("access.forbidden");
    const browser = {
      name: "browser",
      where: { port: web.port },
      headers: { ...web.headers, origin: web.origin },
    };
    const refused = await ask(browser, "exportVault", body);
    expect(refused.code).toBe("access.forbidden");
    expect(refused.text).toContain("This needs a yes at the command line: agentbox vault export");
    const { events } = await daemon.client.listEvents({ type: "access.refused", limit: 1000 });
    expect(events.at(-1)?.data).toMatchObject({ reason: "authority", route: "exportVault", who: "owner" });
    for (const who of [owner, await token(["export"])]) {
      const { status, text } = await ask(who, "exportVault", body);
      expect(status, who.name).toBe(200);
      expect((JSON.parse(text) as { sealed: string }).sealed.length).toBeGreaterThan(100);
    }
  });

  it("run nothing on the host", async () => {
    const source = { kind: "command", argv: ["touch", join(secretDir, "ran")] };
    for (const held of [["secrets", "work"], [...scopes]] as const)
      expect((await ask(await token(held), "addSecret", { name: "ran", source })).code).toBe(
        "access.forbidden",
      );
    const file = { kind: "file", path: join(secretDir, "id_ed25519") };
    expect((await ask(await token(scopes), "addSecret", { name: "read", source: file })).code).toBe(
      "access.forbidden",
    );
    expect((await ask(owner, "addSecret", { name: "ran", source })).status, "the owner").toBe(200);
    await daemon.client.removeSecret({ name: "ran" });
  });

  it("and a stolen session show no box the keys of the owner, whatever it agrees to", async () => {
    const browser = {
      name: "browser",
      where: { port: web.port },
      headers: { ...web.headers, origin: web.origin },
    };
    const make = (who: Visitor, more: object) =>
      ask(who, "createBox", { name: fresh(), start: false, ...more });
    const project = join(daemon.scratch, "project");
    mkdirSync(project);
    const text = `version = 1\n[[mounts]]\nsource = "${secretDir}"\ntarget = "/data"\naccess = "write"\n`;
    const manifest = { file: join(project, "agentbox.toml"), text };
    const asks = { projectDir: project, manifest };
    const { digest } = await daemon.client.askTrust(asks);
    const copied = { projectDir: secretDir, flags: { workspace: { mode: "copy" } } };
    const mounted = { flags: { workspace: { mode: "empty" }, mounts: mount() } };
    for (const more of [mounted, copied, asks, { ...asks, trust: digest }]) {
      const refused = await make(browser, more);
      expect(refused.code, refused.text).toBe("access.forbidden");
      expect(refused.text).toContain("This needs a yes at the command line");
    }
    const yes = { ...asks, digest };
    for (const [name, body] of [
      ["grantTrust", yes],
      ["changePolicy", { ...asks, trust: digest }],
    ] as const)
      expect((await ask(browser, name, body)).code, name).toBe("access.forbidden");
    const checked = await ask(browser, "checkManifest", mounted);
    expect(checked.text).toContain("A browser cannot show");
    expect(await daemon.client.listTrust()).toEqual([]);
    const { events } = await daemon.client.listEvents({ type: "access.refused", limit: 1000 });
    expect(events.map(({ data }) => data["directory"])).toContain(secretDir);

    for (const more of [mounted, copied]) expect((await make(owner, more)).status, "the owner").toBe(200);
    const plain = { flags: { workspace: { mode: "empty" }, mounts: mount(plainDir) } };
    expect((await make(browser, plain)).status, "another directory").toBe(200);
    // Once the owner has agreed at the command line, the browser makes the box as before.
    expect((await ask(owner, "grantTrust", yes)).status).toBe(200);
    expect((await make(browser, asks)).status).toBe(200);
    await removeMade();
  });

  it("hold on every route, for every parameter of the table", async () => {
    const before = await world();
    const thieves: Visitor[] = [];
    for (const scope of ordinary) thieves.push(await token([scope]));
    thieves.push(await token(ordinary));
    const all = lines();
    for (const thief of thieves)
      for (const { name, parameter, body } of all) {
        const outcome = await ask(thief, name, body());
        expect(outcome.isRefused, `${thief.name}: ${name}.${parameter}: ${outcome.text.slice(0, 300)}`).toBe(
          true,
        );
      }
    expect(await world()).toEqual({ ...before, tokens: before.tokens + thieves.length });

    const { events } = await daemon.client.listEvents({
      type: "access.refused",
      limit: 1000,
      order: "newest",
    });
    const noted = new Set(events.map(({ data }) => `${String(data["route"])}.${String(data["parameter"])}`));
    // The first two are refused where they are judged, and for the vault no ordinary token comes so far.
    const byTable = all.filter(
      ({ parameter, needs }) => parameter !== "flags" && parameter !== "projectDir" && needs !== "export",
    );
    for (const { name, parameter } of byTable)
      expect(noted, `${name}.${parameter}`).toContain(`${name}.${parameter}`);
    expect(noted).toContain("undefined.projectDir");
    const refused = await daemon.client.listEvents({ type: "trust.refused", limit: 1000 });
    expect(refused.events.length).toBeGreaterThan(0);
  });

  it.each<[string, () => Promise<Visitor>, readonly Need[]]>([
    ["a token for trust", () => token([...ordinary, "trust"]), ["look", "trust"]],
    ["a token for export", () => token([...ordinary, "export"]), ["export"]],
    [
      "the owner in a browser",
      async () => ({
        name: "browser",
        where: { port: web.port },
        headers: { ...web.headers, origin: web.origin },
      }),
      ["look", "trust"],
    ],
    ["the owner at the socket", async () => owner, ["look", "trust", "export", "socket"]],
  ])("let %s do what it may, and no more", async (who, visitor, allowed) => {
    const one = await visitor();
    for (const { name, parameter, needs, body } of lines()) {
      // It would build for a minute; the same limits have their control on createBox.
      if (name === "buildImage" && allowed.includes(needs)) continue;
      const outcome = await ask(one, name, body());
      const told = `${who}: ${name}.${parameter}: ${outcome.text.slice(0, 300)}`;
      expect(outcome.isRefused, told).toBe(!allowed.includes(needs));
    }
    await removeMade();
  });
});
