import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createOn, openTestCore, openTestHost, type TestHost } from "../../../test/support/core.ts";
import { memoryVault } from "../../../test/support/secrets.ts";
import { AgentBoxError } from "../../base/errors.ts";
import { waitFor } from "../../base/wait-for.ts";
import { CreateReceiverBody } from "../../contract/api/schemas/notices.ts";
import type { Box } from "../../contract/box.ts";
import type { NoticeSender } from "../../ports/notice-sender.ts";
import { socketOwner } from "../access/caller.ts";
import { createToken, removeToken } from "../access/keep-tokens.ts";
import type { Core } from "../context.ts";
import { createReceiver, listReceivers, removeReceiver } from "./keep-receivers.ts";

interface Sent {
  readonly address: string;
  readonly title: string;
  readonly link: string | undefined;
  readonly mayBePrivate: boolean;
}

let host: TestHost;
let core: Core & AsyncDisposable;
let sent: Sent[];
/** Errors of the next deliveries, one each. */
let failures: AgentBoxError[];
let vault: ReturnType<typeof memoryVault>;
let stop: () => void;

const noticeSender: NoticeSender = {
  async send({ address, mayBePrivate }, { title, link }) {
    const failure = failures.shift();
    if (failure) throw failure;
    sent.push({ address, title, link, mayBePrivate });
  },
};

const start = (): void => {
  stop = core.notices.start(() => "http://dashboard.test");
};

beforeEach(async () => {
  host = await openTestHost();
  [sent, failures, vault] = [[], [], memoryVault()];
  core = await openTestCore(host, { vault, noticeSender });
  start();
});
afterEach(async () => {
  stop();
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const owner = () => core.access.visibilityOf(socketOwner);
const slack = (address = "https://hooks.test/services/canary") =>
  CreateReceiverBody.parse({ kind: "slack", address });
const ended = (box: Box, verdict = "done") => core.note("agent.ended", box, { verdict, why: "It says so." });
const boxNamed = async (name: string) => (await createOn(core, { name, start: false })).box;
const titles = () => sent.map(({ title }) => title);
const told = (count: number) =>
  waitFor(`${count} notices are noted`, async () => {
    const events = await core.ports.store.listEvents({ limit: 1_000 });
    return events.filter(({ type }) => type === "notice.sent" || type === "notice.failed").length >= count;
  });
const add = async (body = slack()) => {
  const receiver = await createReceiver(core, owner(), body);
  sent.length = 0;
  return receiver;
};

/** A member of the team, and a box of theirs. */
async function person(id: string, box?: Box, facts: Record<string, unknown> = {}) {
  const nowMs = core.ports.clock.nowMs();
  const record = { id, issuer: "i", subject: id, name: id, isAdmin: false, signedInAtMs: nowMs, ...facts };
  await core.access.change((state) => ({
    ...state,
    people: [...state.people, record],
    boxOwners: box
      ? [...state.boxOwners, { box: box.name, incarnation: box.incarnation, person: id }]
      : state.boxOwners,
  }));
  const session = await core.access.openSession({ kind: "person", person: id }, { how: "test" });
  const caller = core.access.identifySession({ cookies: [session.cookie], key: session.key });
  return core.access.visibilityOf(caller);
}

describe("a receiver", () => {
  it("is kept once a trial has arrived, with its address in the vault only", async () => {
    const receiver = await createReceiver(core, owner(), slack());
    expect(titles()).toEqual(["AgentBox can reach you here"]);
    expect(receiver).toMatchObject({ kind: "slack", to: "hooks.test", holder: "owner" });
    const kept = JSON.stringify([
      core.access.records.state,
      await core.ports.store.listEvents({ limit: 100 }),
    ]);
    expect(kept).not.toContain("canary");
    const { bytes } = await vault.reveal(`notice/${receiver.id}`);
    expect(bytes.toString()).toContain("canary");
    await removeReceiver(core, owner(), receiver.id);
    expect(await vault.find(`notice/${receiver.id}`)).toBeUndefined();
    expect(listReceivers(core, owner())).toEqual([]);
  });

  it("that cannot be reached is not kept", async () => {
    failures = [new AgentBoxError("notice.refused", "it answered 404")];
    await expect(createReceiver(core, owner(), slack())).rejects.toMatchObject({ code: "notice.refused" });
    expect(listReceivers(core, owner())).toEqual([]);
    expect(await vault.list()).toEqual([]);
  });

  it("hears of each event once, with a link, and only of the kinds that were chosen", async () => {
    await add(CreateReceiverBody.parse({ ...slack(), wants: ["done"] }));
    const box = await boxNamed("shop");
    await ended(box, "failed");
    await ended(box);
    await told(1);
    expect(sent).toMatchObject([{ title: "shop is done", link: "http://dashboard.test/box/shop/review" }]);
  });

  it("is tried again when that may help, and a failure is noted with its reason", async () => {
    const { id } = await add();
    const box = await boxNamed("shop");
    failures = [new AgentBoxError("notice.refused", "it answered 410")];
    await ended(box);
    await told(1);
    const [event] = await core.ports.store.listEvents({ type: "notice.failed", limit: 10 });
    expect(event?.data).toMatchObject({ receiver: id, about: "shop", reason: "it answered 410" });
    expect(sent).toEqual([]);
  });

  it("hears after a restart what it has not heard, and nothing twice", async () => {
    await add();
    const box = await boxNamed("shop");
    await ended(box);
    await told(1);
    stop();
    await ended(box, "gave_up");
    const { state } = core.access.records;
    await core[Symbol.asyncDispose]();
    core = await openTestCore(host, { vault, noticeSender });
    await core.access.change(() => state);
    start();
    await told(2);
    expect(titles()).toEqual(["shop is done", "shop: gave up"]);
  });

  it("is not flooded: what comes too fast is counted", async () => {
    await add();
    const box = await boxNamed("shop");
    for (let count = 0; count < 40; count += 1) await ended(box);
    await told(12);
    expect(sent).toHaveLength(12);
  });
});

describe("who is told what", () => {
  it("a person hears of boxes that they see, and of no others", async () => {
    const [mine, theirs] = [await boxNamed("mine"), await boxNamed("theirs")];
    await createReceiver(core, await person("ada", mine), slack("https://hooks.test/ada"));
    await add(slack("https://hooks.test/owner"));
    await ended(theirs);
    await ended(mine);
    await told(3);
    const heard = (name: string) =>
      sent.filter(({ address }) => address.endsWith(name)).map(({ title }) => title);
    expect(heard("owner")).toEqual(["theirs is done", "mine is done"]);
    expect(heard("ada")).toEqual(["mine is done"]);
  });

  it("a person who may not come in any more hears nothing", async () => {
    const mine = await boxNamed("mine");
    await createReceiver(core, await person("ada", mine), slack("https://hooks.test/ada"));
    await add(slack("https://hooks.test/owner"));
    await core.access.change((state) => ({
      ...state,
      people: state.people.map((one) => ({ ...one, isBarred: true })),
    }));
    await ended(mine);
    await told(1);
    expect(sent.map(({ address }) => address)).toEqual(["https://hooks.test/owner"]);
  });

  it("a token's receiver ends with the token, and its address at the next start", async () => {
    const box = await boxNamed("shop");
    const { token, value } = await createToken(core, owner(), { name: "t", scopes: ["host", "read"] });
    const access = core.access.visibilityOf(core.access.identifyToken(value));
    const { id } = await createReceiver(core, access, slack("https://hooks.test/token"));
    await add(slack("https://hooks.test/owner"));
    await ended(box);
    await told(2);
    expect(sent).toHaveLength(2);
    await removeToken(core, owner(), token.id);
    await ended(box);
    await told(3);
    expect(sent.map(({ address }) => address.slice(-5))).toEqual(["token", "owner", "owner"]);
    stop();
    start();
    await waitFor("its address is gone", async () => (await vault.find(`notice/${id}`)) === undefined);
  });

  it("members reach public addresses by https, and their own mailbox; the owner any", async () => {
    const ada = await person("ada", undefined, { email: "ada@example.org", isEmailVerified: true });
    const mail = (address: string) => CreateReceiverBody.parse({ kind: "email", address });
    for (const body of [slack("http://hooks.test/x"), mail("eve@example.org")])
      await expect(createReceiver(core, ada, body)).rejects.toMatchObject({ code: "input.invalid" });
    await createReceiver(core, ada, slack("https://hooks.test/x"));
    expect(sent.map(({ mayBePrivate }) => mayBePrivate)).toEqual([false]);
    await createReceiver(core, owner(), slack("http://127.0.0.1/x"));
    expect(sent.map(({ mayBePrivate }) => mayBePrivate)).toEqual([false, true]);
    await expect(createReceiver(core, owner(), mail("a@b.test\r\nBcc: c@d.test"))).rejects.toMatchObject({
      code: "input.invalid",
    });
  });

  it("people list and remove their own only", async () => {
    const [ada, bob] = [await person("ada"), await person("bob")];
    const { id } = await createReceiver(core, ada, slack());
    expect(listReceivers(core, bob)).toEqual([]);
    await expect(removeReceiver(core, bob, id)).rejects.toMatchObject({ code: "access.not_found" });
    expect(listReceivers(core, owner())).toMatchObject([{ id, holder: "ada" }]);
    await removeReceiver(core, ada, id);
    expect(listReceivers(core, owner())).toEqual([]);
  });
});
