import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { run } from "../../host/run.ts";
import { whyNoSshClient } from "../../../test/support/host-facts.ts";
import { destination, findHostKeys, isSafeDestination, parseKnownHosts, unknownServer } from "./host-keys.ts";
import { FixtureHost } from "./ssh-keys.fixture.ts";

const [one, two, gone] = [new FixtureHost(), new FixtureHost(), new FixtureHost()];
const base64 = (host: FixtureHost) => host.blob.toString("base64");
const missing = whyNoSshClient();
let dir: string;
let files: string[];
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "abx-hosts-"));
  files = [join(dir, "first"), join(dir, "missing"), join(dir, "second")];
  await writeFile(
    files[0]!,
    `# a comment\n${one.line("git.example,203.0.113.7")}${two.line("[git.example]:2222")}` +
      `@cert-authority ${two.line("*.example")}${gone.line("git.example")}not a line\n`,
  );
  await writeFile(files[2]!, `@revoked ${gone.line("git.example")}${two.line("hashed.example")}`);
  if (missing === undefined) await run(["ssh-keygen", "-q", "-H", "-f", files[2]!]);
});
afterAll(() => rm(dir, { recursive: true }));

describe("host keys of a server", () => {
  beforeEach((ctx) => {
    if (missing !== undefined) ctx.skip(missing);
  });

  test.each([
    ["by name, without what was revoked and without authorities", { host: "git.example", port: 22 }, [one]],
    ["in any case of letters", { host: "Git.Example", port: 22 }, [one]],
    ["on another port, which is another server", { host: "git.example", port: 2222 }, [two]],
    ["with a hashed name", { host: "hashed.example", port: 22 }, [two]],
    ["not known", { host: "unknown.org", port: 22 }, []],
    ["not a name", { host: "-F", port: 22 }, []],
  ])("%s", async (_, destination, hosts) => {
    const keys = await findHostKeys(destination, files);
    expect(keys.map((key) => key.base64)).toEqual(hosts.map(base64));
  });
});

test.each(["-oProxyCommand=x", "a>b", "*", "*.example", "a@b", "", "a b", "a\nb", "a,b", "!a", "[a]", "a\0"])(
  "the host %j is bound to no key",
  (host) => {
    expect(isSafeDestination({ host, port: 22 })).toBe(false);
    expect(unknownServer({ host, port: 22 }).message).not.toContain("host key of");
    expect(isSafeDestination({ host: "git.example", port: 22 })).toBe(true);
  },
);

test.each(["-l", "a@b", "*", "", "a b", "a>b", "g?t"])("the user %j is bound to no key", (user) => {
  expect(isSafeDestination({ host: "git.example", port: 22, user })).toBe(false);
  expect(isSafeDestination({ host: "git.example", port: 22, user: "git" })).toBe(true);
});

test("a destination has the form that ssh-add takes", () => {
  expect(destination({ host: "Git.Example", port: 22, user: "git" })).toBe("git@git.example");
  expect(destination({ host: "git.example", port: 2222 })).toBe("[git.example]:2222");
});

test("what is not a line of known_hosts is not read as one", () => {
  for (const text of ["", "# a", "a", "a b", "|1|x|y ssh-ed25519", "a ssh-ed25519 !!!", "@revoked a b"])
    expect(parseKnownHosts(text)).toEqual([]);
});
