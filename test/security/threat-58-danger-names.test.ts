/**
 * Threat 58: a list of dangerous names that is taken for complete. Only files that are known to do nothing by
 * themselves land without a look; a file that no rule has ever heard of is refused until a person has looked at its
 * kind.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isAgentBoxError } from "../../src/base/errors.ts";
import type { DangerKind } from "../../src/contract/review/danger.ts";
import { makeProject, reviewOf, stateOf, working } from "../support/review.ts";
import { type Ground, eventsOf, onOneDaemon } from "./attack.ts";

const cases = (ground: Ground): void => {
  /** Lands what was shown, and says which code refused it. */
  const land = async (box: string, accept: DangerKind[] = []): Promise<string> => {
    const { digest } = await reviewOf(ground.daemon, box);
    try {
      await ground.daemon.client.mergeWork(box, { mode: "squash", accept, digest });
      return "landed";
    } catch (error) {
      return isAgentBoxError(error) ? error.code : String(error);
    }
  };
  const kindsOf = async (box: string) => [
    ...new Set((await reviewOf(ground.daemon, box)).dangers.map(({ kind }) => kind)),
  ];

  it("source, prose and pictures land without a look", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    await working(
      daemon,
      project,
      "inert",
      "mkdir -p src docs; echo 'export const x = 1;' > src/price.js; echo '# Prices' > docs/prices.md; printf x > docs/x.png",
    );
    expect(await kindsOf("inert")).toEqual([]);
    expect(await land("inert")).toBe("landed");
    expect(project.read("src/price.js")).toBe("export const x = 1;\n");
  });

  it("files of tools that no rule knows are refused until their kind was looked at, all with one look", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon);
    const before = await stateOf(project);
    await working(
      daemon,
      project,
      "unknown",
      "mkdir -p .newtool deploy; echo x > .newtool/hooks.yml; echo x > newtool.config.js; echo x > Newtoolfile; echo x > .newtoolrc; echo x > deploy/new.hcl",
    );
    expect(await kindsOf("unknown")).toEqual(["unfamiliar"]);
    expect(await land("unknown")).toBe("merge.danger");
    expect(await land("unknown", ["build_file", "hook"])).toBe("merge.danger");
    expect(await stateOf(project)).toEqual(before);

    const refused = await eventsOf(daemon, "work.refused", "unknown");
    expect(refused.map(({ data }) => data["code"])).toEqual(["merge.danger", "merge.danger"]);

    expect(await land("unknown", ["unfamiliar"])).toBe("landed");
    expect(existsSync(join(project.dir, ".newtool/hooks.yml"))).toBe(true);
  });

  it("what is inside counts too: new packages, orders to tools, hidden code, changed programs", async () => {
    const { daemon } = ground;
    const project = await makeProject(daemon, {
      "package.json": '{"name":"shop"}\n',
      "src/cart.js": "export const cart = 1;\n",
    });
    project.write("bin/start", "#!/bin/sh\n", 0o755);
    await project.commit("A program");
    await working(
      daemon,
      project,
      "inside",
      [
        `printf '{"name":"shop","dependencies":{"left":"npm:evil@1"}}' > package.json`,
        `printf 'export const c\\320\\260rt = 2;\\n' >> src/cart.js`,
        `printf '<svg onload="x()"/>' > src/x.svg`,
        "echo 'echo more' >> bin/start",
        "mkdir -p vendor/x; echo 'x' > vendor/x/x.js",
      ].join("\n"),
    );
    const kinds: DangerKind[] = ["dependency", "executable", "hidden_text", "code_directive", "unreadable"];
    expect((await kindsOf("inside")).toSorted()).toEqual(expect.arrayContaining(kinds.toSorted()));
    for (const missing of kinds) {
      const rest = (await kindsOf("inside")).filter((kind) => kind !== missing);
      expect(await land("inside", rest), missing).toBe("merge.danger");
    }
    expect(await land("inside", await kindsOf("inside"))).toBe("landed");
  });

  it("what looks like text, data or a known package is judged as what it becomes", async () => {
    const { daemon } = ground;
    const resolved = (name: string, version: string) =>
      JSON.stringify({
        packages: {
          "node_modules/left": {
            version,
            resolved: `https://packages.test/${name}/-/${name}-${version}.tgz`,
          },
        },
      });
    const project = await makeProject(daemon, {
      "package-lock.json": resolved("left", "1.0.0"),
      "src/main.go": "package main\n",
      "docs/sketch.txt": "package x\n\n//go:generate sh -c id\n",
    });
    await working(
      daemon,
      project,
      "disguised",
      [
        "git mv docs/sketch.txt src/sketch.go",
        `echo '${resolved("evil", "1.0.1")}' > package-lock.json`,
        "mkdir -p src/__snapshots__ public l$(printf '\\321\\226')b; echo 'exports[`a`] = `${run()}`;' > src/__snapshots__/a.snap",
        "echo 'package lib' > l$(printf '\\321\\226')b/x.go",
        "printf '%s.dart' src/x | xargs -I{} sh -c 'printf \"a\\0b\" > {}'",
      ].join("\n"),
    );
    const { dangers } = await reviewOf(daemon, "disguised");
    const expected: readonly [DangerKind, string][] = [
      ["code_directive", "src/sketch.go"],
      ["dependency", "package-lock.json"],
      ["code_directive", "src/__snapshots__/a.snap"],
      ["path_trick", "l\u0456b/x.go"],
      ["hidden_text", "src/x.dart"],
    ];
    for (const [kind, path] of expected)
      expect(dangers.map((one) => [one.kind, one.path])).toContainEqual([kind, path]);
    expect(await land("disguised")).toBe("merge.danger");
    expect(await land("disguised", await kindsOf("disguised"))).toBe("landed");
  });

  it("what runs at a build, is moved into force, or is no longer checked lands only after a look", async () => {
    const { daemon } = ground;
    const locked = (left: object) => JSON.stringify({ packages: { "node_modules/left": left } });
    const left = { version: "1.0.0", resolved: "https://packages.test/left/-/left-1.0.0.tgz" };
    const project = await makeProject(daemon, {
      "package-lock.json": locked({ ...left, integrity: "sha512-first" }),
      "test/fixtures/bad/package.json": '{"scripts":{"postinstall":"id"}}',
      "src/page.css": "p { color: red }\n",
      "src/shop.py": "x = 1\n",
      ".gitattributes": "*.key filter=vault\n",
      "keys/.gitkeep": "",
    });
    await working(
      daemon,
      project,
      "later",
      [
        `echo '${locked(left)}' > package-lock.json`,
        "git mv test/fixtures/bad/package.json package.json",
        `echo '@plugin "./evil.js";' >> src/page.css`,
        "mkdir -p json docs; echo 'x = 2' > json/__init__.py",
        "echo '*.key -filter' > keys/.gitattributes",
        "printf '<\\0s\\0v\\0g\\0>\\0' > docs/x.svg",
        "printf 'x,=cmd|/c!A0\\n' > docs/prices.csv",
      ].join("\n"),
    );
    const { dangers } = await reviewOf(daemon, "later");
    const expected: readonly [DangerKind, string][] = [
      ["lockfile_source", "package-lock.json"],
      ["unfamiliar", "package.json"],
      ["code_directive", "src/page.css"],
      ["unfamiliar", "json/__init__.py"],
      ["git_settings", "keys/.gitattributes"],
      ["hidden_text", "docs/x.svg"],
      ["code_directive", "docs/prices.csv"],
    ];
    for (const [kind, path] of expected)
      expect(dangers.map((one) => [one.kind, one.path])).toContainEqual([kind, path]);
    expect(await land("later")).toBe("merge.danger");
    expect(await land("later", await kindsOf("later"))).toBe("landed");
  });
};

onOneDaemon("dangerous names", cases);
