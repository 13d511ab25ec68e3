import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseManifest, parseUserConfig } from "../parse.ts";

const signIn = '[web.sign_in]\nissuer = "https://id.example.org"\nclient_id = "agentbox"\n';
const errorsOf = (text: string) =>
  parseUserConfig(text, { file: "config.toml" }).findings.filter(({ severity }) => severity === "error");

describe("[web]", () => {
  it("is taken from the owner's config", () => {
    const text = `[web]\nport = 7420\nurl = "https://agents.example.org"\nprojects = ["/srv/app"]\n${signIn}admin_group = "admins"\n`;
    expect(errorsOf(text)).toEqual([]);
    expect(errorsOf('[web]\nurl = "http://127.0.0.1:8000"\n')).toEqual([]);
  });

  it("is refused in a manifest: a repository must not say who is an admin", () => {
    const { findings } = parseManifest(`version = 1\n${signIn}`, { file: "agentbox.toml" });
    expect(findings).toMatchObject([{ code: "E009", path: "web" }]);
  });

  it.each([
    ["an issuer without TLS", signIn.replace("https://", "http://")],
    ["an issuer with a password", signIn.replace("https://", "https://me:secret@")],
    ["an issuer with a query", signIn.replace("example.org", "example.org/?a=b")],
    ["no client", '[web.sign_in]\nissuer = "https://id.example.org"\n'],
    ["a secret in the file", `${signIn}client_secret = "hunter2"\n`],
    ["a relative path", `${signIn}client_secret_file = "secret"\n`],
    ["an address without TLS", '[web]\nurl = "http://agents.example.org"\n'],
    ["an address with a path", '[web]\nurl = "https://agents.example.org/box"\n'],
    ["a key that is not known", `${signIn}admin_groups = ["a"]\n`],
    ["an empty list, which would let nobody in", `${signIn}allowed_groups = []\n`],
  ])("is refused with %s", (_, text) => {
    expect(errorsOf(text)).not.toEqual([]);
  });

  it("never shows what was written in the place of a secret", () => {
    const { findings } = parseUserConfig(`${signIn}client_secret = "hunter2"\n`, { file: "config.toml" });
    expect(JSON.stringify(findings)).not.toContain("hunter2");
  });
});

describe("docs/sign-in.md", () => {
  const page = readFileSync(new URL("../../../docs/sign-in.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/^```toml\n(.*?)^```$/gms)].map(([, text]) => text!);

  it("shows a config for each provider that it names", () => {
    expect(blocks.length).toBeGreaterThan(3);
  });

  it.each(blocks)("shows a config that is valid: %s", (text) => {
    expect(parseUserConfig(text, { file: "config.toml" }).findings).toEqual([]);
  });
});
