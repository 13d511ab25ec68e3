import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { Sha256 } from "@aws-crypto/sha256-js";
import { SignatureV4 } from "@smithy/signature-v4";
import { describe, expect, it } from "vitest";
import type { OutgoingRequest } from "../../ports/injection.ts";
import { parseAwsAuthorization } from "./aws-authorization.ts";
import { sha256, signAgain } from "./aws-signature.ts";
import { binding, box, injected, destination, request, secretValue, setUp } from "./injection.fixture.ts";
import { placeholderOf } from "./placeholder.ts";

const key = {
  accessKeyId: "AKIAREALREALREALREAL",
  secretAccessKey: "real/secret+key0123456789abcdefghijklmno",
};
const withToken = { ...key, sessionToken: "session-token-of-the-real-key==" };
const anywhere = { host: { name: "amazonaws.com", isWildcard: true } };
const aws = binding(destination({ kind: "aws" }, anywhere), {
  name: "cloud",
  secret: "cloud",
  env: [],
  prefix: "",
});
const { accessKeyId, token } = placeholderOf(box, aws);
const placeholderKey = { accessKeyId: accessKeyId!, secretAccessKey: token };
const now = new Date("2026-03-01T12:00:00Z");

interface Case {
  readonly service: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** As AWS's own library signs it, for a box's request and for what must come out. */
async function signed({ service, method, path, headers = {}, body }: Case, credentials: typeof key) {
  const [pathname = "/", query = ""] = path.split("?");
  const signer = new SignatureV4({
    service,
    region: "eu-west-1",
    credentials,
    sha256: Sha256,
    uriEscapePath: service !== "s3",
    applyChecksum: service === "s3",
  });
  const host = `${service}.eu-west-1.amazonaws.com`;
  const parsed = [...new URLSearchParams(query)].reduce<Record<string, string[]>>((all, [name, value]) => {
    (all[name] ??= []).push(value);
    return all;
  }, {});
  const result = await signer.sign(
    {
      method,
      protocol: "https:",
      hostname: host,
      path: pathname,
      query: parsed,
      headers: { host, ...headers },
      body,
    },
    { signingDate: now },
  );
  return { host, headers: result.headers };
}

const flat = (headers: Record<string, string>): string[] =>
  Object.entries(headers)
    .filter(([name]) => name !== "host")
    .flat();

const authorizationIn = (headers: readonly string[]): string | undefined =>
  headers[headers.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === "authorization") + 1];

const open = (credentials: object = key, nowMs = now.getTime()) =>
  setUp([aws], { values: { cloud: secretValue(JSON.stringify(credentials), "aws") }, nowMs });

/** A request that a program in the box signed with what it has. */
async function fromBox(one: Case): Promise<OutgoingRequest> {
  const { host, headers } = await signed(one, placeholderKey);
  const { method, path, body } = one;
  return request({ host, method, path, headers: flat(headers), hasBody: body !== undefined });
}

const cases: Case[] = [
  { service: "s3", method: "GET", path: "/bucket/a%20key/with%2Bplus?list-type=2&prefix=a%2Fb" },
  {
    service: "s3",
    method: "GET",
    path: "/bucket/x",
    headers: { range: "bytes=0-99", "accept-encoding": "gzip" },
  },
  { service: "s3", method: "PUT", path: "/bucket/key", body: "contents" },
  { service: "dynamodb", method: "POST", path: "/", headers: { "x-amz-target": "T.ListTables" }, body: "{}" },
  { service: "sts", method: "GET", path: "/?Version=2011-06-15&Action=GetCallerIdentity" },
  { service: "es", method: "GET", path: "/index/_doc/a%20b%2Fc" },
];

describe("a request to AWS", () => {
  it.each(cases)("is signed again: $service $method $path", async (one) => {
    for (const credentials of [key, withToken]) {
      const prepared = injected(await open(credentials).prepare(await fromBox(one)));
      const body = Buffer.from(one.body ?? "");
      const headers = prepared.finish === undefined ? prepared.headers : prepared.finish(body);
      const expected = await signed(one, credentials);
      expect(authorizationIn(headers)).toBe(expected.headers["authorization"]);
      expect(headers.includes(withToken.sessionToken)).toBe(credentials === withToken);
      expect(headers.filter((name) => name.toLowerCase() === "authorization")).toHaveLength(1);
      expect(prepared.path).toBe(one.path);
    }
  });

  it("is held only where its body was not hashed by the program", async () => {
    const finishes = await Promise.all(
      cases.map(async (one) => injected(await open().prepare(await fromBox(one))).finish !== undefined),
    );
    expect(finishes).toEqual([false, false, false, true, false, false]);
  });

  it("is as in AWS's own examples", () => {
    const example = {
      accessKeyId: "AKIAIOSFODNN7EXAMPLE",
      secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    };
    const hash = sha256("");
    const head = {
      method: "GET",
      path: "/test.txt",
      hosts: ["examplebucket.s3.amazonaws.com"],
      headers: ["Range", "bytes=0-9", "x-amz-content-sha256", hash, "x-amz-date", "20130524T000000Z"],
      dateTime: "20130524T000000Z",
      payloadHash: hash,
    };
    const sent = (signature: string) =>
      parseAwsAuthorization(
        `AWS4-HMAC-SHA256 Credential=X/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=${signature}`,
      )!;
    const published = "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41";
    const again = signAgain(head, sent(published), example.secretAccessKey, example);
    expect(again?.signature).toBe(published);
    expect(signAgain(head, sent("0".repeat(64)), example.secretAccessKey, example)).toBeUndefined();
  });

  it("is refused when it is not signed with the placeholder", async () => {
    const good = await fromBox(cases[0]!);
    const { prepare } = open();
    expect(await prepare(good)).toMatchObject({ outcome: "inject" });
    const own = await signed(cases[0]!, { accessKeyId: "AKIAATTACKERATTACKER", secretAccessKey: "own" });
    const half = await signed(cases[0]!, { accessKeyId: accessKeyId!, secretAccessKey: "guessed" });
    const refusals = {
      foreign_credential: [
        { ...good, headers: flat(own.headers) },
        { ...good, headers: [...good.headers, "X-Amz-Security-Token", "own"] },
        { ...good, path: "/b/k?X-Amz-Signature=f", headers: [] },
      ],
      secret_misplaced: [
        { ...good, headers: ["Accept", "*/*"] },
        { ...good, headers: flat(half.headers) },
        { ...good, path: "/bucket/another" },
        { ...good, method: "DELETE" },
        { ...good, headers: ["Authorization", `Bearer ${token}`] },
        { ...good, path: `/b/k?X-Amz-Credential=${accessKeyId}%2F20260301`, headers: [] },
        {
          ...good,
          headers: good.headers.map((one) =>
            /^[0-9a-f]{64}$/.test(one) ? "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" : one,
          ),
        },
        { ...good, host: "elsewhere.org" },
      ],
    };
    for (const [reason, requests] of Object.entries(refusals))
      for (const one of requests) expect(await prepare(one)).toMatchObject({ outcome: "refuse", reason });
    for (const late of [-16, 16])
      expect(await open(key, now.getTime() + late * 60_000).prepare(good)).toMatchObject({
        reason: "secret_misplaced",
      });
    expect(await open({ accessKeyId: "x" }).prepare(good)).toMatchObject({ reason: "secret_unusable" });
    const held = injected(await prepare(await fromBox(cases[3]!)));
    expect(() => held.finish!(Buffer.from("{ }"))).toThrow(/not made with the placeholder/);
  });

  it("has an answer without the key, its token and the signature, packed as it came", async () => {
    const { headers, answer } = injected(await open(withToken).prepare(await fromBox(cases[0]!)));
    const signature = /Signature=([0-9a-f]{64})/.exec(authorizationIn(headers)!)![1]!;
    const raw = ["Content-Encoding", "gzip", "X-Key", key.secretAccessKey, "X-Id", key.accessKeyId];
    const opened = answer.open(403, [...raw, "X-Signature", signature, "X-Token", withToken.sessionToken]);
    expect(opened?.headers).toEqual([
      "Content-Encoding",
      "gzip",
      "X-Key",
      "*".repeat(40),
      "X-Id",
      key.accessKeyId,
      "X-Signature",
      "*".repeat(64),
      "X-Token",
      "*".repeat(withToken.sessionToken.length),
    ]);
  });

  const curl = promisify(execFile);
  it("may come from curl", async (context) => {
    const { stdout } = await curl("curl", ["--help", "all"]).catch(() => ({ stdout: "" }));
    context.skip(!stdout.includes("--aws-sigv4"), "there is no curl here that signs");
    const seen: { method: string; path: string; headers: string[] }[] = [];
    const server = createServer((incoming, response) => {
      const headers = incoming.rawHeaders.filter((_, i, all) => !/^host$/i.test(all[i - (i % 2)]!));
      seen.push({ method: incoming.method!, path: incoming.url!, headers });
      incoming.resume().on("end", () => response.end());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const local = destination(
      { kind: "aws" },
      { scheme: "http", host: { name: "s3.local", isWildcard: false }, port },
    );
    const bound = { ...aws, use: { kind: "inject" as const, destinations: [local] } };
    for (const [path, ...args] of [
      ["/bucket/key"],
      ["/bucket/a?b=2&a=1"],
      ["/bucket/put", "-d", "some text"],
    ]) {
      const credentials = ["--user", `${accessKeyId}:${token}`, "--aws-sigv4", "aws:amz:eu-west-1:s3"];
      const to = ["--connect-to", `s3.local:${port}:127.0.0.1:${port}`, `http://s3.local:${port}${path}`];
      await curl("curl", ["-sS", "--noproxy", "*", ...credentials, ...args, ...to]);
    }
    server.close();
    const { prepare } = setUp([bound], { values: { cloud: secretValue(JSON.stringify(key), "aws") } });
    for (const one of seen) {
      const hasBody = one.method === "POST";
      const sent = { ...one, scheme: "http" as const, host: "s3.local", port, hasBody };
      const prepared = injected(await prepare(sent));
      const headers = prepared.finish?.(Buffer.from("some text")) ?? prepared.headers;
      expect(authorizationIn(headers)).toContain(`Credential=${key.accessKeyId}/`);
      expect(await prepare({ ...sent, path: "/bucket/other", hasBody: false })).toMatchObject({
        outcome: "refuse",
      });
    }
    expect(seen).toHaveLength(3);
  });
});
