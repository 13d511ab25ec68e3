import { PassThrough } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import type { SecretDenial } from "../../contract/network/policy.ts";
import { type Prepared, maxHeldBytes } from "../../ports/injection.ts";
import { rule } from "./fixtures/gate.fixture.ts";
import { guard, inject, placeholder, refuse, value } from "./fixtures/injection.fixture.ts";
import {
  type ManagedGround,
  echo,
  get,
  managed,
  name,
  post,
  raw,
} from "./fixtures/managed-ground.fixture.ts";

describe("a refusal", () => {
  const reasons: readonly [SecretDenial, number][] = [
    ["secret_not_granted", 403],
    ["secret_unavailable", 503],
    ["secret_misplaced", 403],
    ["secret_unusable", 403],
    ["foreign_credential", 403],
    ["secret_in_answer", 502],
  ];
  it.each(reasons)("%s is answered with %i and its words, and recorded once", async (reason, status) => {
    await using world = await managed();
    expect(await raw(await world.open(), get("/"))).toContain("200 OK");
    world.injection.decide = () => refuse(reason);
    const answer = await raw(await world.open(), get("/?t=hush"));
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    const body = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as object;
    expect(body).toMatchObject({
      error: `AgentBox: The secret says ${reason}. Ask a person.`,
      code: "egress.denied",
      reason,
      message: `The secret says ${reason}.`,
      hint: "Ask a person.",
    });
    expect(answer).not.toContain("hush");
    expect(world.seen).toHaveLength(1);
    expect(world.fixture.records).toHaveLength(2);
    expect(world.fixture.records[1]).toMatchObject({
      verdict: "deny",
      reason,
      secret: "github",
      isInjected: false,
    });
  });

  it("is what an error in deciding becomes, without the error's words", async () => {
    await using world = await managed();
    world.injection.decide = () => {
      throw new TypeError(`no ${value}`);
    };
    const thrown = await raw(await world.open(), get("/"));
    world.injection.decide = async () => await Promise.reject(new TypeError(`no ${value}`));
    const rejected = await raw(await world.open(), get("/"));
    for (const answer of [thrown, rejected]) {
      expect(answer).toMatch(/^HTTP\/1\.1 503/);
      expect(answer).not.toContain(value);
    }
    expect(world.seen).toHaveLength(0);
  });

  it("is what a head that cannot be sent becomes", async () => {
    await using world = await managed();
    world.injection.decide = (request) => ({ ...inject(request), headers: ["X-Key", `${value}\r\nX: y`] });
    const answer = await raw(await world.open(), get("/"));
    expect(answer).toContain('"reason":"secret_unusable"');
    expect(answer).not.toContain(value);
    expect(world.seen).toHaveLength(0);
    expect(world.fixture.records).toMatchObject([{ secret: "github", isInjected: false }]);
  });

  it("ends a request whose body turns out to have a placeholder, wherever it is cut", async () => {
    const bodies: string[] = [];
    await using world = await managed((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("close", () => void bodies.push(body));
      request.on("end", () => response.end("took it"));
    });
    expect(await raw(await world.open(), post("/", "nothing in it"))).toContain("took it");
    const socket = await world.open();
    const [first, second] = post("/", `abc ${placeholder} def`).split("holder-of");
    socket.write(`${first}`);
    await waitFor("both requests have arrived", () => world.seen.length === 2);
    const answer = await raw(socket, `holder-of${second}`);
    expect(answer).toMatch(/^HTTP\/1\.1 403/);
    expect(answer).toContain("The body has a placeholder.");
    expect(answer).toContain("Take it out.");
    await waitFor("both bodies have arrived", () => bodies.length === 2);
    expect(bodies[1]).not.toContain(placeholder);
    expect(world.fixture.records[1]).toMatchObject({ reason: "secret_misplaced", secret: "github" });
  });

  it("comes for a placeholder to a host that is read and not managed", async () => {
    await using world = await managed();
    world.injection.managed.clear();
    world.fixture.setPolicy(rule(name, world.server.port, { inspect: true }));
    expect(await raw(await world.open(), post("/", "fine"))).toContain('"body":"fine"');
    const answer = await raw(await world.open(), post("/", placeholder));
    expect(answer).toContain('"reason":"secret_misplaced"');
    expect(world.fixture.records.map(({ secret, isInjected }) => [secret, isInjected])).toEqual([
      [undefined, undefined],
      ["github", false],
    ]);
  });

  it("comes for an answer that cannot be looked through", async () => {
    await using world = await managed((request, response) => {
      response.setHeader(request.url === "/bad" ? "x-unreadable" : "x-fine", "1");
      response.end(value);
    });
    expect(await raw(await world.open(), get("/"))).toContain("200 OK");
    const answer = await raw(await world.open(), get("/bad"));
    expect(answer).toMatch(/^HTTP\/1\.1 502/);
    expect(answer).toContain('"reason":"secret_in_answer"');
    expect(answer).not.toContain(value);
    expect(world.fixture.records[1]).toMatchObject({ reason: "secret_in_answer", isInjected: true });
  });

  it.each(["gzip, chunked", "gzip", "chunked, gzip", "x-unknown, chunked"])(
    "comes for an answer that is packed on its way (%s)",
    async (coding) => {
      await using ground = await managed((request, response) => {
        const isPacked = request.url === "/packed";
        const packed = gzipSync(request.headers.authorization ?? "");
        const body = isPacked && !coding.endsWith("chunked") ? packed : chunk(packed);
        const head = `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${isPacked ? coding : "Chunked"}\r\n\r\n`;
        response.socket!.write(head);
        response.socket!.end(body);
      });
      const refused = await raw(await ground.open(), get("/packed"));
      expect(refused).toContain("secret_in_answer");
      expect(refused).not.toContain("\u001f\u008b");
      expect(await raw(await ground.open(), get("/"))).toMatch(/^HTTP\/1.1 200 /);
    },
  );

  it("breaks an answer off whose guard fails in the middle", async () => {
    await using world = await managed((_, response) => response.end("words"));
    const broken = new PassThrough();
    world.injection.decide = (request) => ({
      ...inject(request),
      answer: { ...guard, open: (_, headers) => ({ headers: [...headers], body: broken }) },
    });
    broken._transform = (_chunk, _encoding, done) => done(new TypeError("not to be read"));
    const answer = await raw(await world.open(), get("/"));
    expect(answer).not.toContain("words");
    expect(world.fixture.records).toMatchObject([{ reason: "secret_in_answer", secret: "github" }]);
  });
});

describe("a body that the head depends on", () => {
  const signed = (world: ManagedGround): void => {
    world.injection.decide = (request) => ({
      ...inject(request),
      finish: (body) => [...request.headers, "X-Sum", String(body.length)],
    });
  };

  it("is held, and then sent with the head it made", async () => {
    await using world = await managed();
    signed(world);
    expect(await raw(await world.open(), get("/"))).toContain('"x-sum":"0"');
    expect(await raw(await world.open(), post("/", "12345"))).toMatch(/"x-sum":"5".*"body":"12345"/);
    const socket = await world.open();
    socket.write(post("/", "", "Expect: 100-continue\r\n").replace("Length: 0", "Length: 3"));
    const first = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
    expect(first.toString()).toBe("HTTP/1.1 100 Continue\r\n\r\n");
    const rest = await raw(socket, "abc");
    expect(rest).toMatch(/^HTTP\/1\.1 200[^]*"x-sum":"3"/);
    const answer = await raw(await world.open(), post("/", placeholder));
    expect(answer).toContain('"reason":"secret_misplaced"');
    expect(world.seen).toHaveLength(3);
    expect(world.fixture.records.at(-1)).toMatchObject({ secret: "github", isInjected: false });
  });

  it("is refused when it is too large, alone or with others", async () => {
    await using world = await managed(echo, { limits: { heldBytesPerBox: 100_000 } });
    signed(world);
    const small = "x".repeat(60_000);
    expect(await raw(await world.open(), post("/", small))).toContain('"x-sum":"60000"');
    // The room is given back, so it is there again.
    expect(await raw(await world.open(), post("/", small))).toContain('"x-sum":"60000"');
    const waiting = await world.open();
    waiting.write(post("/", small).slice(0, -1));
    const second = await world.open();
    await waitFor("three requests were judged", () => world.injection.requests.length === 3);
    expect(await raw(second, post("/", small))).toContain('"reason":"limit"');
    waiting.destroy();
    await waitFor("four records", () => world.fixture.records.length === 4);
    expect(await raw(await world.open(), post("/", small))).toContain('"x-sum":"60000"');

    await using large = await managed();
    signed(large);
    const answer = await raw(await large.open(), post("/", "x".repeat(maxHeldBytes + 1)));
    expect(answer).toContain('"reason":"secret_unusable"');
    expect(large.seen).toHaveLength(0);
  });
});

describe("a decision that waits for a person", () => {
  it("ends when the program goes away, and holds no slot after it", async () => {
    await using world = await managed(echo, { limits: { approvalsPending: 1, secretPromptMs: 1 } });
    let isAborted = false;
    let asked = 0;
    world.injection.decide = (_, signal) => {
      asked += 1;
      return new Promise<Prepared>((resolve) =>
        signal.addEventListener("abort", () => {
          isAborted = true;
          resolve(refuse("secret_not_granted"));
        }),
      );
    };
    const socket = await world.open();
    socket.write(get("/waiting"));
    await waitFor("the question", () => asked === 1);
    // Its slot is taken, so the next one that waits gets none.
    const crowded = await raw(await world.open(), get("/crowded"));
    expect(crowded).toMatch(/^HTTP\/1\.1 429/);
    isAborted = false;
    socket.destroy();
    await waitFor("the question was given up", () => isAborted);
    const record = await world.fixture.waitForRecord(({ path }) => path === "/waiting");
    expect(record).toMatchObject({ reason: "secret_not_granted", secret: "github", isInjected: false });
    expect(world.seen).toHaveLength(0);

    world.injection.decide = (request) =>
      new Promise((resolve) => setTimeout(() => resolve(inject(request)), 30));
    expect(await raw(await world.open(), get("/later"))).toContain("200 OK");
    expect(world.fixture.records).toHaveLength(3);
  });

  it("is made again when secrets changed in the meantime", async () => {
    await using world = await managed();
    const answers: ((prepared: Prepared) => void)[] = [];
    world.injection.decide = () => new Promise((resolve) => void answers.push(resolve));
    const socket = await world.open();
    const answer = raw(socket, get("/"));
    await waitFor("the first question", () => answers[0]);
    world.fixture.gate.closeInjected("amber");
    answers[0]!(inject(world.injection.requests[0]!));
    (await waitFor("the second question", () => answers[1]))(refuse("secret_not_granted"));
    expect(await answer).toContain('"reason":"secret_not_granted"');
    expect(world.seen).toHaveLength(0);
    expect(world.fixture.records).toHaveLength(1);
  });

  it("is over when the policy no longer allows the request, also if the yes comes just then", async () => {
    await using world = await managed();
    let say: ((prepared: Prepared) => void) | undefined;
    let isAborted = false;
    world.injection.decide = (_, signal) => {
      signal.addEventListener("abort", () => (isAborted = true));
      return new Promise((resolve) => (say = resolve));
    };
    const answer = raw(await world.open(), get("/v1"));
    await waitFor("the question", () => say);
    // The connection is still allowed, so the request must learn of it by itself.
    world.fixture.setPolicy(rule(name, world.server.port, { paths: ["/v2"] }));
    say?.(inject(world.injection.requests[0]!));
    expect(await answer).toContain('"reason":"wrong_path"');
    await waitFor("the question was given up", () => isAborted);
    world.injection.decide = inject;
    expect(await raw(await world.open(), get("/v2"))).toContain("200 OK");
    expect(world.seen.map(({ url }) => url)).toEqual(["/v2"]);
    expect(world.fixture.records).toMatchObject([{ reason: "wrong_path" }, { isInjected: true }]);
  });
});

const chunk = (bytes: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from("\r\n0\r\n\r\n")]);
