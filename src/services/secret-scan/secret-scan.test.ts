import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { lintSource } from "@secretlint/core";
import { creator } from "@secretlint/secretlint-rule-preset-recommend";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxScanBytes } from "../../ports/secret-scan.ts";
import { findSecrets } from "./find-secrets.ts";
import type { openSecretScan as open } from "./index.ts";

// A thread cannot run TypeScript on every Node that is supported, so the scanner is tested as it is shipped: bundled.
let directory: string;
let openSecretScan: typeof open;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "secret-scan-"));
  await build({
    entryPoints: { index: join(import.meta.dirname, "index.ts") },
    outdir: directory,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outExtension: { ".js": ".mjs" },
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: "error",
  });
  ({ openSecretScan } = (await import(pathToFileURL(join(directory, "index.mjs")).href)) as {
    openSecretScan: typeof open;
  });
});

afterAll(() => rm(directory, { recursive: true, force: true }));

// Made at run time, so that nothing in this repository looks like a secret to a scanner.
const chars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const random = (length: number, from = chars) =>
  [...randomBytes(length)].map((byte) => from[byte % from.length]).join("");
const upper = chars.slice(0, 26);
const dashes = "-".repeat(5);
const privateKey = () =>
  [
    `${dashes}BEGIN RSA PRIVATE KEY${dashes}`,
    random(64),
    random(64),
    `${dashes}END RSA PRIVATE KEY${dashes}`,
  ].join("\n");

const kinds: readonly [what: string, make: () => string][] = [
  ["GitHub token", () => `ghp_${random(36)}`],
  ["AWS access key id", () => `AKIA${random(16, upper)}`],
  ["AWS secret access key", () => `AWS_SECRET_ACCESS_KEY="${random(40)}"`],
  ["npm token", () => `npm_${random(36)}`],
  ["Slack token", () => `xoxb-${random(12, "123456789")}-${random(24)}`],
  ["password in an address", () => `https://${random(8)}:${random(16)}@db.example.com`],
  ["OpenAI key", () => `sk-${random(20)}T3BlbkFJ${random(20)}`],
  ["Anthropic key", () => `sk-ant-api03-${random(93)}`],
  ["Google API key", () => `AIza${random(35)}`],
  ["GitLab token", () => `glpat-${random(20)}`],
  ["Stripe key", () => `sk_live_${random(24)}`],
  ["private key", privateKey],
];

describe("the secret scanner", () => {
  it.each(kinds)("finds: %s", async (what, make) => {
    const secret = make();
    const { scan } = openSecretScan();
    const found = await scan(`first\nsecond\nvalue = ${secret}\n`, "src/a.ts");
    expect(found).toContainEqual({ line: 3, endLine: 3 + secret.split("\n").length - 1, what });
    expect(JSON.stringify(found)).not.toContain(secret.slice(-12));
    expect(await scan("first\nsecond\nvalue = nothing of interest\n", "src/a.ts")).toEqual([]);
  });

  it("looks at .npmrc by its name, whatever its case", async () => {
    const { scan } = openSecretScan();
    const text = `//packages.example/:_authToken=${random(36)}`;
    expect(await scan(text, "sub/.NPMRC")).toEqual([{ line: 1, endLine: 1, what: "npm token" }]);
    expect(await scan(text, "a.txt")).toEqual([]);
  });

  it("is not switched off by a comment in the text", async () => {
    const text = `// secretlint-disable\nconst x = "ghp_${random(36)}"; // secretlint-disable-line\n`;
    expect(await openSecretScan().scan(text, "a.ts")).toMatchObject([{ line: 2 }]);
  });

  it("never opens the path, as a rule of secretlint would", async () => {
    const opened: unknown[] = [];
    const original = fs.readFileSync;
    const recording = (...args: Parameters<typeof original>) => {
      opened.push(args[0]);
      return original(...args);
    };
    fs.readFileSync = recording as typeof original;
    syncBuiltinESMExports();
    try {
      const path = join(directory, "planted.p12");
      const source = { content: "nothing", filePath: path, ext: ".p12", contentType: "text" } as const;
      const config = { rules: [{ id: creator.meta.id, rule: creator }] };
      await lintSource({ source, options: { config, noPhysicFilePath: true } });
      expect(opened).toContain(path);
      opened.length = 0;
      await findSecrets("nothing", path);
      expect(opened).not.toContain(path);
    } finally {
      fs.readFileSync = original;
      syncBuiltinESMExports();
    }
  });

  it("gives each of many texts at once its own lines", async () => {
    const { scan } = openSecretScan();
    const texts = Array.from({ length: 200 }, (_, at) =>
      at % 3 === 0 ? `${"x\n".repeat(at)}ghp_${random(36)}` : "\ufeffnothing\r\n",
    );
    const found = await Promise.all(texts.map((text, at) => scan(text, `f${at}`)));
    found.forEach((one, at) => {
      expect(one).toEqual(at % 3 === 0 ? [{ line: at + 1, endLine: at + 1, what: "GitHub token" }] : []);
    });
  });

  it("is not misled by a key that begins in one text and ends in another", async () => {
    const { scan } = openSecretScan();
    const [begin, end] = [privateKey().slice(0, 60), privateKey()];
    const [first, second] = await Promise.all([scan(begin, "a"), scan(end, "b")]);
    expect(first).toEqual([]);
    expect(second).toEqual([{ line: 1, endLine: 4, what: "private key" }]);
  });

  it("refuses a text that is too large", async () => {
    const { scan } = openSecretScan();
    expect(await scan("x".repeat(maxScanBytes), "a")).toEqual([]);
    await expect(scan("x".repeat(maxScanBytes + 1), "a")).rejects.toMatchObject({ code: "review.too_large" });
  });

  it("gives up a text that takes too long, and works for the next", async () => {
    const slow = `${dashes}BEGIN PRIVATE KEY${dashes}`.repeat(maxScanBytes / 32);
    const hurried = openSecretScan({ batchMs: 1, idleMs: 1_000 });
    await expect(hurried.scan(slow, "a")).rejects.toMatchObject({ code: "review.failed" });
    const patient = openSecretScan({ batchMs: 20_000, idleMs: 1_000 });
    await Promise.allSettled([patient.scan(slow, "a")]);
    expect(await patient.scan(`ghp_${random(36)}`, "a")).toHaveLength(1);
  });

  it("loads the scanner in a chunk of its own", async () => {
    const chunks = (await readdir(directory)).filter((name) => name.endsWith(".mjs"));
    const holding = await Promise.all(
      chunks.map(async (name) =>
        (await readFile(join(directory, name), "utf8")).includes("filter-comments") ? name : "",
      ),
    );
    expect(holding.filter((name) => name !== "")).not.toContain("index.mjs");
    expect(holding.some((name) => name.startsWith("find-secrets"))).toBe(true);
  });
});
