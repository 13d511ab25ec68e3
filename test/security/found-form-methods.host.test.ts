/**
 * Found by attack: where a rule permits POST and nothing more, a field `_method` in the body made it a DELETE at servers
 * with Rails, Laravel or Symfony. The server here does what such frameworks do. So did a secret that is bound to POST,
 * where another rule permits the host as a whole.
 */
import type { IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decideSafely } from "../../src/core/policy/decide-egress.ts";
import { compile } from "../../src/core/policy/policy.fixture.ts";
import { silentLogger } from "../../src/host/logger.ts";
import {
  type GateFixture,
  type TestServer,
  httpServer,
  openGateFixture,
  readAll,
} from "../../src/services/gate/fixtures/gate.fixture.ts";
import { openInjection } from "../../src/services/injection/index.ts";
import { binding, canary, destination, secretValue } from "../../src/services/injection/injection.fixture.ts";

const host = "api.example.org";
const amber = { name: "amber", incarnation: "i1" };
const injection = openInjection({
  logger: silentLogger,
  listener: {
    authorise: () => true,
    reveal: async () => secretValue(canary),
    revealAll: async () => [secretValue(canary)],
  },
});
let server: TestServer;
let fixture: GateFixture;
/** The actions of the server. */
const done: string[] = [];

async function act(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("latin1")) body += chunk as string;
  // Without a type, Rack reads a form.
  const type = request.headers["content-type"] ?? form;
  // ASP.NET looks for this name, in forms too.
  const names = ["_method", "X-HTTP-Method-Override"];
  const fields = type.includes("json")
    ? (JSON.parse(body) as Record<string, string>)
    : type.includes("multipart")
      ? Object.fromEntries(
          [...body.matchAll(/name="?([^"\r]+)"?\r\n\r\n(\w+)/g)].map((found) => [
            // As Rack takes them out of quotes.
            found[1]!.replaceAll("\\", ""),
            found[2]!,
          ]),
        )
      : type.includes("urlencoded")
        ? Object.fromEntries(new URLSearchParams(body))
        : {};
  return names.map((name) => fields[name]).find((value) => value !== undefined) ?? request.method ?? "";
}

beforeAll(async () => {
  server = await httpServer((request, response) => {
    act(request).then(
      (method) => {
        done.push(method);
        response.end(`did ${method}`);
      },
      () => undefined,
    );
  });
  fixture = await openGateFixture({ decide: decideSafely, injection });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const use = (...rules: string[]): void => {
  const all = rules.map((rule) => `[[network.rules]]\nhost = "${host}"\nports = [${server.port}]\n${rule}\n`);
  fixture.setWholePolicy(compile({ project: all.join("") }));
};
const onlyPost = 'methods = ["GET", "POST"]';

async function post(type: string, pieces: readonly string[]): Promise<string> {
  fixture.records.length = 0;
  done.length = 0;
  const socket = await fixture.open({ via: "tcp", host, port: server.port });
  const length = pieces.join("").length;
  const lines = ["POST /x HTTP/1.1", `Host: ${host}:${server.port}`, "Connection: close"];
  const types = type === "" ? [] : type.split("\n").map((one) => `Content-Type: ${one}`);
  socket.write(`${[...lines, ...types, `Content-Length: ${length}`].join("\r\n")}\r\n\r\n`);
  for (const piece of pieces) socket.write(piece, "latin1");
  return await readAll(socket);
}

const form = "application/x-www-form-urlencoded";
const multipart = "multipart/form-data; boundary=b";
const part = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; ${name}\r\n\r\n${value}\r\n`;
/** The beginning byte by byte, so that names come in pieces. */
const inBytes = (body: string): readonly string[] => [...body.slice(0, 9_000).split(""), body.slice(9_000)];
const hidden: readonly (readonly [string, string, string])[] = [
  ["a form", form, "a=1&_method=DELETE"],
  ["its first field", form, "_method=DELETE"],
  ["its last field", form, "a=1&_method"],
  ["encoded", form, "a=1&%5Fmethod=DELETE"],
  ["behind blanks", form, `a=1&${"+%20".repeat(2_000)}_method=DELETE`],
  ["as PHP reads it", form, "a=1&[method=DELETE"],
  ["behind much else", form, `a=${"x".repeat(70_000)}&_method=DELETE&b=${"y".repeat(70_000)}`],
  ["a form of parts", multipart, `${part('name="a"', "1")}${part('name="_method"', "DELETE")}--b--\r\n`],
  ["parts without quotes", multipart, `${part("name=_method", "DELETE")}--b--\r\n`],
  ["JSON", "application/json; charset=utf-8", '{"a": 1, "_method" : "DELETE"}'],
  ["escaped JSON", "application/vnd.api+json", '{"a":1,"\\u005fmethod":"DELETE"}'],
  ["a body without a type, which Rack takes for a form", "", "a=1&_method=DELETE"],
  [
    "parts of another kind, which Rack reads as well",
    "multipart/mixed; boundary=b",
    `${part('name="_method"', "DELETE")}--b--\r\n`,
  ],
  ["a quoted name with backslashes", multipart, `${part('name="\\_m\\ethod"', "DELETE")}--b--\r\n`],
  ["a name of ASP.NET", form, "a=1&X-HTTP-Method-Override=DELETE"],
  ["a name of ASP.NET in parts", multipart, `${part('name="X-HTTP-Method-Override"', "DELETE")}--b--\r\n`],
  ["JSON that Laravel finds in a parameter", "text/plain; as=/json", '{"_method":"DELETE"}'],
  ["the first of two types", `${multipart}\n${form}`, `${part('name="_method"', "DELETE")}--b--\r\n`],
];

describe("a method in the body of a POST", () => {
  it.each(hidden)("is refused in %s where rules decide by methods", async (_, type, body) => {
    // The control: where no rule is about methods, it passes.
    use("inspect = true");
    expect(await post(type, [body])).toContain("did ");
    expect(done).toHaveLength(1);
    for (const pieces of [[body], inBytes(body)]) {
      use(onlyPost);
      expect(await post(type, pieces)).toMatch(/^HTTP\/1\.1 403 .*"reason":"overridden"/s);
      expect(done).toEqual([]);
      const record = await fixture.waitForRecord(({ method }) => method === "POST");
      expect(record).toMatchObject({ verdict: "deny", reason: "overridden", path: "/x" });
    }
  });

  it("is refused where a denial is about methods", async () => {
    use("inspect = true", 'mode = "deny"\nmethods = ["DELETE"]');
    expect(await post(form, ["a=1"])).toContain("did POST");
    expect(await post(form, ["_method=DELETE"])).toContain("403");
    expect(done).toEqual([]);
  });

  it.each([
    ["a value that looks like it", form, "a=_method"],
    ["a longer name", form, "a=1&the_method=DELETE"],
    ["a longer name in pieces", form, "_methods=DELETE"],
    ["a method that JSON tells of", "application/json", '{"httpMethod":"DELETE"}'],
    ["text in JSON", "application/json", '{"a":"say \\"_method\\": 1"}'],
    ["another kind of body", "text/plain", "_method=DELETE"],
    ["a file's text", multipart, `${part('name="a"; filename="b"', "_method=DELETE")}--b--\r\n`],
  ])("is not seen in %s", async (_, type, body) => {
    use(onlyPost);
    expect(await post(type, inBytes(body))).toMatch(/^HTTP\/1\.1 200 /);
    expect(done).toHaveLength(1);
  });
});

describe("a method in the body of a POST with a secret", () => {
  const bind = (methods: string[]): void => {
    const to = destination({ kind: "bearer" }, { scheme: "http", port: server.port, methods });
    injection.setBox(amber, [binding(to)]);
  };
  afterAll(() => injection.drop(amber.name));

  it.each(hidden)("is refused in %s where the secret is bound to methods", async (_, type, body) => {
    use("inspect = true");
    for (const [methods, isRefused] of [
      [[], false],
      [["GET", "POST"], true],
    ] as const) {
      bind([...methods]);
      // The control, with the same secret: nothing hidden.
      expect(await post("text/plain", ["a=1"])).toContain("did POST");
      const answer = await post(type, inBytes(body));
      expect(answer.includes('"reason":"secret_misplaced"'), answer).toBe(isRefused);
      expect(done).toHaveLength(isRefused ? 0 : 1);
      const record = await fixture.waitForRecord(({ method }) => method === "POST");
      if (isRefused)
        expect(record).toMatchObject({ verdict: "deny", reason: "secret_misplaced", secret: "github-token" });
      else expect(record).toMatchObject({ verdict: "allow", secret: "github-token", isInjected: true });
    }
  });
});
