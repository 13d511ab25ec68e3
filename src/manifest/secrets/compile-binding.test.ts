import { describe, expect, it } from "vitest";
import { parseManifest } from "../index.ts";
import { SecretBinding } from "../../contract/secret/binding.ts";
import { compileBinding } from "./compile-binding.ts";
import { gitPaths } from "../../contract/secret/services.ts";

const file = { file: "agentbox.toml" };
const codes = (text: string) =>
  parseManifest(`version = 1\n[secrets.x]\n${text}`, file).findings.map(({ code }) => code);

/** The binding of a manifest that passes all rules. */
function binding(text: string) {
  const { manifest, findings } = parseManifest(`version = 1\n[secrets.x]\n${text}`, file);
  expect(findings).toEqual([]);
  const compiled = compileBinding("x", manifest!.secrets!["x"]!);
  return SecretBinding.parse({ ...compiled, isOrdered: false });
}
const destinations = (text: string) => {
  const { use } = binding(text);
  return use.kind === "inject" || use.kind === "ssh" ? use.destinations : [];
};
const at = (host: string, how = "bearer") => `how = "${how}"\nhosts = ["${host}"]`;

describe("hosts", () => {
  it.each([
    ["api.example.org", { scheme: "https", host: { name: "api.example.org", isWildcard: false }, port: 443 }],
    ["API.example.org.", { host: { name: "api.example.org" } }],
    ["*.example.org", { scheme: "https", host: { name: "example.org", isWildcard: true }, port: 443 }],
    ["api.example.org:8443", { scheme: "https", port: 8443 }],
    ["http://api.example.org:8080", { scheme: "http", host: { name: "api.example.org" }, port: 8080 }],
    ["http://wiki.agentbox.internal:8080", { host: { name: "wiki.agentbox.internal" }, port: 8080 }],
    ["wiki.agentbox.internal", { scheme: "https", port: 443 }],
  ])("%s is a place for a token", (host, destination) => {
    expect(destinations(at(host))).toMatchObject([destination]);
  });

  it.each([
    ["http://api.example.org", "E033"],
    ["http://*.example.org:80", "E033"],
    ["https://api.example.org", "E033"],
    ["git@api.example.org", "E033"],
    ["api.example.org/v1", "E033"],
    ["wiki.agentbox.internal:70000", "E033"],
    ["*.com", "E034"],
    ["*.s3.eu-west-1.amazonaws.com", "E034"],
    ["*", "E034"],
    ["10.0.0.5", "E035"],
    ["localhost:8080", "E035"],
    ["http://127.0.0.1:8080", "E035"],
    ["metadata.google.internal", "E035"],
    ["model.agentbox.internal", "E035"],
    ["http://model.agentbox.internal:80", "E035"],
    ["*.agentbox.internal", "E035"],
  ])("%s is refused", (host, code) => {
    expect(codes(at("api.example.org"))).toEqual([]);
    expect(codes(at(host))).toEqual([code]);
  });

  it("for ssh are servers by name, with a user and a port where they have one", () => {
    expect(destinations(at("git@git.example.org:2222", "ssh"))).toEqual([
      { host: "git.example.org", port: 2222, user: "git" },
    ]);
    expect(destinations(at("git.example.org", "ssh"))).toEqual([{ host: "git.example.org", port: 22 }]);
    for (const host of [
      "*.example.org",
      "-oProxyCommand=x@git.example.org",
      "a@b@git.example.org",
      "http://a.b:1",
    ])
      expect(codes(at(host, "ssh")), host).toEqual(["E033"]);
  });
});

describe("what a box may do with a secret", () => {
  it("is the vault's secret of the same name, or the one that is named", () => {
    expect(binding(at("api.example.org")).secret).toBe("x");
    expect(binding(`from = "vault:other"\n${at("api.example.org")}`).secret).toBe("other");
  });

  it("git: its own paths and no others, unless they are named", () => {
    expect(destinations(at("git.example.org", "git"))).toMatchObject([
      { paths: gitPaths, as: { kind: "basic", username: "x-access-token" } },
    ]);
    expect(
      destinations(`${at("git.example.org", "git")}\npaths = ["/a/b.git/**"]\nusername = "oauth2"`),
    ).toMatchObject([{ paths: ["/a/b.git/**"], as: { kind: "basic", username: "oauth2" } }]);
  });

  it("a service: its hosts, its variables and the form of its tokens", () => {
    const github = binding('service = "github"');
    expect(github).toMatchObject({ env: ["GH_TOKEN", "GITHUB_TOKEN"], prefix: "ghp_" });
    expect(
      destinations('service = "github"').map(
        (destination) => "as" in destination && [destination.host.name, destination.as.kind],
      ),
    ).toEqual([
      ["github.com", "basic"],
      ["api.github.com", "bearer"],
      ["uploads.github.com", "bearer"],
    ]);
    expect(destinations('service = "gitlab"')).toMatchObject([
      { paths: gitPaths, as: { kind: "basic", username: "oauth2" } },
      { paths: ["/api/**"], as: { kind: "bearer" } },
    ]);
  });

  it("each way with what it needs", () => {
    const header = `${at("a.example.org", "header")}\nheader = "X-Api-Key"\nheader_prefix = "Token "`;
    expect(destinations(header)).toMatchObject([
      { as: { kind: "header", name: "X-Api-Key", prefix: "Token " } },
    ]);
    expect(destinations(`${at("a.example.org", "query")}\nparameter = "key"`)).toMatchObject([
      { as: { kind: "query", name: "key" } },
    ]);
    expect(binding(at("s3.eu-west-1.amazonaws.com", "aws")).env).toEqual([
      "AWS_ACCESS_KEY_ID",
      "AWS_SECRET_ACCESS_KEY",
    ]);
    expect(binding('how = "env"\nenv = "TOKEN"')).toMatchObject({
      use: { kind: "env", variable: "TOKEN" },
      env: [],
    });
    expect(binding('how = "file"\nfile = "/run/secrets/t"').use).toEqual({
      kind: "file",
      path: "/run/secrets/t",
    });
    for (const how of ["bearer", "git", "aws", "ssh"]) expect(codes(`how = "${how}"`)).toEqual(["E013"]);
    expect(codes(at("a.example.org", "header"))).toEqual(["E013"]);
    expect(codes(at("a.example.org", "query"))).toEqual(["E013"]);
    expect(codes('how = "env"')).toEqual(["E013"]);
    expect(codes('how = "env"\nenv = ["A", "B"]')).toEqual(["E014"]);
    expect(codes('how = "file"')).toEqual(["E013"]);
  });
});

it("a value that was written in the place of a name is not repeated", () => {
  const { findings } = parseManifest(
    'version = 1\n[secrets.x]\nservice = "github"\nfrom = "ghp_canary"',
    file,
  );
  expect(findings.map(({ code }) => code)).toEqual(["E057"]);
  expect(JSON.stringify(findings)).not.toContain("canary");
});

it("suggests what was probably meant", () => {
  const hint = (text: string) => parseManifest(`version = 1\n[secrets.x]\n${text}`, file).findings[0]?.hint;
  expect(hint('service = "githb"')).toBe('Did you mean "github"?');
  expect(hint('how = "baerer"')).toBe('Did you mean "bearer"?');
  expect(hint('how = "env"\nenvv = "A"')).toBe('Did you mean "env"?');
});
