import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nodeHeaders } from "./home-programs.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "headers-"));
});
afterEach(() => rmSync(root, { recursive: true }));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text, { mode: 0o755 });
};
const headers = (prefix: string, version: string): void => {
  const lines = ["MAJOR", "MINOR", "PATCH"].map((part, i) => {
    return `#define NODE_${part}_VERSION ${version.split(".")[i]}\n`;
  });
  write(`${prefix}/include/node/node_version.h`, lines.join(""));
};
const found = (...prefixes: string[]) =>
  nodeHeaders(prefixes.map((prefix) => join(root, prefix, "bin")).join(":"));
const gyp = (prefix: string, version: string): void =>
  write(`${prefix}/lib/node_modules/npm/node_modules/node-gyp/package.json`, JSON.stringify({ version }));

describe("nodeHeaders", () => {
  it("are those beside the Node that is found first, of exactly its version", () => {
    write("v20.1.0/bin/node", "");
    headers("v20.1.0", "20.1.0");
    gyp("v20.1.0", "12.4.0");
    write("v21.0.0/bin/node", "");
    headers("v21.0.0", "20.1.0");
    write("other/bin/node", "");
    headers("other", "20.1.0");
    const prefix = join(root, "v20.1.0");
    expect(found("nothing", "v20.1.0", "v21.0.0")).toEqual({ npm_package_config_node_gyp_nodedir: prefix });
    // Headers of another version, and a Node whose version is not known.
    expect(found("v21.0.0", "v20.1.0")).toEqual({});
    expect(found("other")).toEqual({});
    expect(found("nothing")).toEqual({});
    expect(nodeHeaders("")).toEqual({});
    // A link, as version managers make, leads to the Node itself.
    mkdirSync(join(root, "links/bin"), { recursive: true });
    symlinkSync(join(prefix, "bin/node"), join(root, "links/bin/node"));
    expect(found("links")).toEqual({ npm_package_config_node_gyp_nodedir: prefix });
  });

  it("are named as an older node-gyp reads it, where npm has one", () => {
    write("v18.0.0/bin/node", "");
    headers("v18.0.0", "18.0.0");
    gyp("v18.0.0", "10.2.0");
    const prefix = join(root, "v18.0.0");
    expect(found("v18.0.0")).toEqual({
      npm_package_config_node_gyp_nodedir: prefix,
      npm_config_nodedir: prefix,
    });
  });
});
