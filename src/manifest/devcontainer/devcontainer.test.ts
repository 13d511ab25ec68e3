import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { costRatio } from "../../../test/support/cost.ts";
import { readDevcontainer } from "./devcontainer.ts";
import { parseJsonc } from "./jsonc.ts";

const file = ".devcontainer.json";
const read = (value: unknown) =>
  readDevcontainer(file, typeof value === "string" ? value : JSON.stringify(value));

describe("JSON with comments", () => {
  it("is JSON without its comments and trailing commas", () => {
    const text = `\ufeff// first
{ "a": [1, 2, /* two */ ], /* "b": 2, */
  "c": "// no comment, /* either */,]", // end
  "d": "quote \\" and // more",
}`;
    expect(parseJsonc(text)).toEqual({
      value: { a: [1, 2], c: "// no comment, /* either */,]", d: 'quote " and // more' },
    });
  });

  it("refuses what is neither, at the cost of any text of that length", async () => {
    for (const text of [
      "",
      "{",
      "{/*",
      '{"a',
      "{a: 1}",
      "1 2",
      '{"a": 1 /**/ 2}',
      "undefined",
      "/".repeat(9),
    ])
      expect(parseJsonc(text), text).toHaveProperty("problem");
    const parts = ["/*", '"\\"', ",", "[", "//\n", "/", '"'];
    const harmless = `[${Array.from({ length: 130_000 }, () => 1).join(",")}]`;
    expect(parseJsonc(harmless)).toHaveProperty("value");
    const ratio = await costRatio(
      () => parts.map((part) => parseJsonc(part.repeat(260_000 / part.length))),
      () => parts.map(() => parseJsonc(harmless)),
    );
    // One that looks back over the text for every character would cost a hundred thousand times as much.
    expect(ratio).toBeLessThan(50);
    expect(parseJsonc(" ".repeat(300_000))).toEqual({ problem: "it is larger than 256 KiB" });
  });

  it("reads all JSON as JSON.parse does", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonc(text)).toEqual({ value: JSON.parse(text) as unknown });
      }),
    );
  });
});

describe("a devcontainer.json", () => {
  it("gives its image and plain variables", () => {
    expect(
      read({ name: "app", image: "debian:12", containerEnv: { NODE_ENV: "test" }, customizations: {} }),
    ).toEqual({
      file,
      image: "debian:12",
      env: { NODE_ENV: "test" },
      warnings: [],
    });
    expect(read({})).toEqual({ file, env: {}, warnings: [] });
  });

  it("has nothing done that would run a command or open the box, and each is named", () => {
    const keys = [
      "postCreateCommand",
      "initializeCommand",
      "mounts",
      "runArgs",
      "privileged",
      "build",
      "dockerFile",
      "dockerComposeFile",
    ];
    const { warnings } = read(Object.fromEntries(keys.map((key) => [key, "x"])));
    expect(warnings).toHaveLength(keys.length);
    for (const key of keys)
      expect(warnings.some((text) => text.startsWith(`"${key}" of ${file} is not used: `))).toBe(true);
  });

  it("that builds from a Dockerfile is refused that, with what to do instead", () => {
    const found = read('{ "build": { "dockerfile": "Dockerfile", /* here */ }, // and no image\n}');
    expect(found).toEqual({
      file,
      env: {},
      warnings: [`"build" of ${file} is not used: nothing is built from it; name an image in runtime.image.`],
    });
  });

  it("has Debian packages in the place of well-known features, and names the others", () => {
    const text = `{ // features only
      "features": {
        "ghcr.io/devcontainers/features/python:1": { "version": "latest", },
        "ghcr.io/devcontainers/features/node": "lts",
        "ghcr.io/devcontainers/features/go:1@sha256:00": {"version": "1.21"},
        "ghcr.io/devcontainers/features/docker-in-docker:2": {},
        "ghcr.io/evil/features/python:1": {},
        "./local": {}, /* the last */
      },
    }`;
    const found = read(text);
    expect(found.packages).toEqual(["golang-go", "nodejs", "npm", "python3", "python3-pip", "python3-venv"]);
    expect(found).not.toHaveProperty("image");
    expect(found.warnings).toEqual([
      expect.stringMatching(/features\/go:1@sha256:00" of .* is Debian's version, not 1\.21\.$/),
      expect.stringMatching(/docker-in-docker:2" of .* is not used: .*runtime\.packages/),
      expect.stringMatching(/evil\/features\/python:1" of .* is not used/),
      expect.stringMatching(/"\.\/local" of .* is not used/),
    ]);
  });

  it("cannot add features to an image that it names, and says so for each", () => {
    const found = read({
      image: "debian:12",
      features: { "ghcr.io/devcontainers/features/python:1": {}, "x/constructor": {} },
    });
    expect(found).toMatchObject({ image: "debian:12" });
    expect(found).not.toHaveProperty("packages");
    expect(found.warnings).toHaveLength(2);
    for (const warning of found.warnings) expect(warning).toContain("packages cannot be added");
    for (const features of ["x", [], 7, null]) {
      expect(read({ features })).not.toHaveProperty("packages");
    }
    expect(read({ features: { "ghcr.io/devcontainers/features/__defineGetter__": {} } })).not.toHaveProperty(
      "packages",
    );
  });

  it.each([
    ["HOME", "/root"],
    ["AGENTBOX_HOME", "/x"],
    ["LD_PRELOAD", "/workspace/x.so"],
    ["https_proxy", "http://10.0.0.1"],
    ["TOKEN", "${localEnv:GITHUB_TOKEN}"],
    ["A B", "x"],
    ["COUNT", 3],
  ])("the variable %s is left out", (name, value) => {
    const { env, warnings } = read({ containerEnv: { [name]: value, OTHER: "kept" } });
    expect(env).toEqual({ OTHER: "kept" });
    expect(warnings).toHaveLength(1);
  });

  it.each(["debian;id", "-v", "$(id)", 7, ["debian"], "a b"])("an image such as %j is left out", (image) => {
    expect(read({ image })).toMatchObject({
      env: {},
      warnings: [expect.stringContaining("not a plain reference")],
    });
    expect(read({ image })).not.toHaveProperty("image");
  });

  it("that cannot be trusted as a text is not used at all", () => {
    for (const text of [
      '{"__proto__": {"image": "debian"}}',
      '{"image": "debian", "containerEnv": {"A": "a\\u202eb"}}',
      '{"image": "debian", "containerEnv": []}',
      "[]",
      "null",
      "{",
      "[".repeat(200_000),
    ]) {
      const found = read(text);
      expect(found, text.slice(0, 40)).toMatchObject({
        env: {},
        warnings: [expect.stringContaining("is not used")],
      });
      expect(found).not.toHaveProperty("image");
    }
  });
});
