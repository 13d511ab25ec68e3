import { describe, expect, it } from "vitest";
import { compareUrl, parsePushTarget, requireAllowedBranch, requireOwnBranch } from "./push-target.ts";

describe("a remote", () => {
  it.each([
    ["https://github.com/shop/app.git", "https://github.com/shop/app.git", "github"],
    ["https://GitHub.com/shop/app/", "https://github.com/shop/app", "github"],
    ["https://me:token@gitlab.com/a/b/c", "https://gitlab.com/a/b/c", "gitlab"],
    ["https://git.example/shop/app", "https://git.example/shop/app", "github"],
    ["http://127.0.0.1:3000/shop/app", "http://127.0.0.1:3000/shop/app", "gitea"],
    ["https://other.example/x", "https://other.example/x", undefined],
    ["https://github.com.evil.example/x", "https://github.com.evil.example/x", undefined],
    ["https://github.com:8443/x", "https://github.com:8443/x", undefined],
    ["git@github.com:shop/app.git", "https://github.com/shop/app.git", "github"],
    ["ssh://git@github.com/shop/app.git", "https://github.com/shop/app.git", "github"],
    ["ssh://git@ssh.github.com:443/shop/app.git", "https://github.com/shop/app.git", "github"],
    ["git@GitLab.com:a/b/c.git", "https://gitlab.com/a/b/c.git", "gitlab"],
    ["git@git.example:shop/app", "https://git.example/shop/app", "github"],
  ])("%s is %s", (text, url, forge) => {
    const settings = { github: ["git.example"], gitea: ["http://127.0.0.1:3000", "http://far.example"] };
    expect(parsePushTarget("origin", text, settings)).toMatchObject({ url, forge });
  });

  it.each([
    "git@unknown.example:shop/app.git",
    "ssh://git@unknown.example/shop/app.git",
    "git@github.com:shop/../app.git",
    "git@github.com:-shop/app.git x",
    "git@github.com.evil.example:shop/app.git",
    "git://github.com/shop/app.git",
    "file:///srv/app.git",
    "../app.git",
    "ext::sh -c touch",
    "http://github.com/shop/app",
    "http://127.0.0.1:3000/shop/app",
    "http://far.example/shop/app",
    "https://github.com",
    "https://github.com/shop/app?x=1",
    "--upload-pack=touch",
    "",
  ])("%s is refused as a target", (text) => {
    expect(() => parsePushTarget("origin", text, { github: ["http://far.example"] })).toThrow(
      expect.objectContaining({ code: "push.refused" }),
    );
  });

  it("over ssh at an unknown host comes with the way to name it", () => {
    expect(() => parsePushTarget("origin", "git@git.mine.example:shop/app.git", {})).toThrow(
      expect.objectContaining({
        hint: 'It would be pushed to as https://git.mine.example/shop/app.git. Say so in the user config, with the host\'s forge: [push] gitea = ["git.mine.example"] (or github, gitlab, hosts).',
      }),
    );
  });
});

describe("a branch", () => {
  const refused = expect.objectContaining({ code: "push.refused" });

  it("below agentbox/ is always allowed, others by the person's config", () => {
    expect(() => requireAllowedBranch("agentbox/shop", {})).not.toThrow();
    expect(() => requireAllowedBranch("feature/a/b", { branches: ["feature/**"] })).not.toThrow();
    for (const branch of ["main", "feature/a", "agentbox", "agentbox/", "agentboxes/x"])
      expect(() => requireAllowedBranch(branch, {}), branch).toThrow(refused);
    expect(() => requireAllowedBranch("feature/a/b", { branches: ["feature/*"] })).toThrow(refused);
  });

  it("that work is merged into never is", () => {
    expect(() => requireOwnBranch("agentbox/x", ["main", undefined])).not.toThrow();
    expect(() => requireOwnBranch("main", ["main"])).toThrow(refused);
    expect(() => requireOwnBranch("Main", ["main"])).toThrow(refused);
  });

  it("has a page where a person opens a pull request", () => {
    const at = (forge: "github" | "gitlab" | "gitea" | undefined) =>
      compareUrl({ url: "https://x.example/a/b.git", forge }, "main", "agentbox/a#b");
    expect(at("github")).toBe("https://x.example/a/b/compare/main...agentbox/a%23b?expand=1");
    expect(at("gitea")).toBe("https://x.example/a/b/compare/main...agentbox/a%23b");
    expect(at("gitlab")).toContain(
      "/a/b/-/merge_requests/new?merge_request%5Bsource_branch%5D=agentbox%2Fa%23b",
    );
    expect(at(undefined)).toBeUndefined();
  });

  it.each([
    "https://github.com/a%2f..%2f..%2fuser/x",
    "https://github.com/a/%2e%2e%2fx",
    "https://github.com/shop/%zz",
    "https://github.com/shop//app",
    "https://github.com/shop/a%5cb",
  ])("takes no path that could be read in another way: %s", (text) => {
    expect(parsePushTarget("origin", "https://github.com/shop/my%20app.git", {}).forge).toBe("github");
    expect(() => parsePushTarget("origin", text, {})).toThrow(
      expect.objectContaining({ code: "push.refused" }),
    );
  });

  it("knows which hosts a person has named", () => {
    const text = "https://code.example/shop/app.git";
    expect(parsePushTarget("origin", text, {})).toMatchObject({ isNamed: false, forge: undefined });
    expect(parsePushTarget("origin", text, { hosts: ["code.example"] })).toMatchObject({ isNamed: true });
    expect(parsePushTarget("origin", text, { gitea: ["code.example"] })).toMatchObject({ isNamed: true });
  });
});
