import { describe, expect, it } from "vitest";
import { isAgentBoxError } from "../base/errors.ts";
import { explainKey } from "./explain.ts";
import { listKeys } from "./key-table.ts";
import { defaultLayer, formatOrigin, layerManifest } from "./layers.ts";
import { parseFlags, parseManifest, parseUserConfig } from "./parse.ts";

const manifest = (text: string) => {
  const parsed = parseManifest(`version = 1\n${text}`, { file: "agentbox.toml" });
  if (!parsed.layer) throw new Error(JSON.stringify(parsed.findings));
  return parsed.layer;
};
const userConfig = (text: string) => {
  const parsed = parseUserConfig(text, { file: "config.toml" });
  if (!parsed.layer) throw new Error(JSON.stringify(parsed.findings));
  return parsed.layer;
};

describe("layers", () => {
  const layers = [
    defaultLayer,
    userConfig('[resources]\nmemory = "1GiB"\ncpus = 1\n[lifecycle]\nidle = "1h"'),
    manifest(
      '[resources]\nmemory = "2GiB"\n[env]\nA = "1"\nB = "1"\n[[mounts]]\nsource = "a"\ntarget = "/a"',
    ),
    parseFlags({ resources: { cpus: 4 }, env: { B: "2" }, mounts: [{ source: "/srv/b", target: "/a/" }] }),
  ];
  const { values, origins, mounts } = layerManifest(layers);

  it("later ones win key by key", () => {
    expect(values.resources).toEqual({ pids: 4096, memory: "2GiB", cpus: 4 });
    expect(values.env).toEqual({ A: "1", B: "2" });
    expect(values.lifecycle).toMatchObject({ ttl: "5d", idle: "1h" });
  });

  it("the lists of the network add up, its choices do not", () => {
    const { values: together } = layerManifest([
      defaultLayer,
      userConfig('[network]\nallow = ["a.example.org"]\ndefault = "ask"'),
      manifest('[network]\nallow = ["b.example.org"]\ndefault = "deny"'),
    ]);
    expect(together.network).toEqual({
      default: "deny",
      learn: false,
      allow: ["a.example.org", "b.example.org"],
    });
  });

  it("each value keeps its source", () => {
    const source = (key: string) => formatOrigin(origins.get(key)!);
    expect(source("resources.memory")).toBe("manifest agentbox.toml:3:1");
    expect(source("resources.cpus")).toBe("flag");
    expect(source("resources.pids")).toBe("default");
    expect(source("lifecycle.idle")).toBe("user config config.toml:5:1");
    expect(source("env.A")).toBe("manifest agentbox.toml:5:1");
    expect(source("env.B")).toBe("flag");
  });

  it("mounts add up, and a later one with the same target replaces", () => {
    expect(mounts.map(({ mount, origin }) => [mount.source, origin.source])).toEqual([["/srv/b", "flag"]]);
    const both = layerManifest([
      manifest('[[mounts]]\nsource = "a"\ntarget = "/a"'),
      parseFlags({ mounts: [{ source: "b", target: "/b" }] }),
    ]);
    expect(both.mounts.map(({ mount }) => mount.target)).toEqual(["/a", "/b"]);
  });

  it("arguments stay with the agent they were written for", () => {
    const file = manifest('[agent]\nname = "demo"\nargs = ["--fast"]');
    expect(layerManifest([file, parseFlags({ agent: { name: "demo" } })]).values.agent?.args).toEqual([
      "--fast",
    ]);
    expect(layerManifest([file, parseFlags({ agent: { name: "shell" } })]).values.agent?.args).toEqual([]);
    expect(
      layerManifest([file, parseFlags({ agent: { name: "shell", args: ["-c"] } })]).values.agent?.args,
    ).toEqual(["-c"]);
  });
});

describe("the user config", () => {
  it("may set limits, which a manifest may not", () => {
    expect(parseUserConfig('[limits]\nmax_ttl = "30d"', { file: "c" }).config).toEqual({
      limits: { max_ttl: "30d" },
    });
    const { findings } = parseManifest('version = 1\n[limits]\nmax_ttl = "30d"', { file: "m" });
    expect(findings.map((f) => f.code)).toEqual(["E009"]);
  });

  it("may name its version, and no other", () => {
    const { config, layer, findings } = parseUserConfig('version = 1\n[limits]\nmax_ttl = "30d"', {
      file: "c",
    });
    expect({ config, values: layer?.values, findings }).toEqual({
      config: { limits: { max_ttl: "30d" } },
      values: { limits: { max_ttl: "30d" } },
      findings: [],
    });
    expect(parseUserConfig("version = 2", { file: "c" }).findings.map((f) => f.code)).toEqual(["E008"]);
  });

  it("may not mount or set variables for every box", () => {
    expect(parseUserConfig('[env]\nA = "1"', { file: "c" }).findings.map((f) => f.code)).toEqual(["E009"]);
  });

  it("its own ttl is checked against its own maximum", () => {
    const ttl = '[lifecycle]\nttl = "10d"\n';
    expect(parseUserConfig(ttl, { file: "c" }).findings.map((f) => f.code)).toEqual(["E017"]);
    expect(parseUserConfig(`${ttl}[limits]\nmax_ttl = "10d"`, { file: "c" }).findings).toEqual([]);
  });
});

describe("flags", () => {
  it("are refused with the rule they break", () => {
    expect(parseFlags({ resources: { memory: "2GiB" } }).values).toEqual({ resources: { memory: "2GiB" } });
    for (const flags of [
      { resources: { memory: "2G" } },
      { nope: 1 },
      [],
      null,
      "x",
      JSON.parse('{"__proto__":{"a":1}}'),
    ]) {
      expect(() => parseFlags(flags)).toThrow(expect.objectContaining({ code: "input.invalid" }));
    }
  });

  it("may hold terminal sequences that a person typed, but no NUL", () => {
    expect(parseFlags({ agent: { args: ["\u001b[1m"] } }).values.agent?.args).toEqual(["\u001b[1m"]);
    expect(() => parseFlags({ agent: { args: ["a\u0000b"] } })).toThrow(
      expect.objectContaining({ code: "input.invalid" }),
    );
  });
});

describe("explain", () => {
  const layers = [
    manifest(
      '[resources]\nmemory = "2GiB"\n[services.web]\ncommand = "serve"\n[[mounts]]\nsource = "a"\ntarget = "/a"',
    ),
  ];

  it("names value, source, description and default", () => {
    expect(explainKey(layers, "resources.memory")).toMatchObject({
      value: "2GiB",
      source: "manifest agentbox.toml:3:1",
      type: "size",
    });
    expect(explainKey(layers, "lifecycle.ttl")).toMatchObject({
      value: "5d",
      source: "default",
      default: "5d",
    });
    expect(explainKey(layers, "resources.disk")).toMatchObject({ source: "not set" });
    expect(explainKey(layers, "services.web.command")).toMatchObject({
      value: "serve",
      source: "manifest agentbox.toml:4:1",
    });
    expect(explainKey(layers, "services.web.restart")).toMatchObject({
      source: "not set",
      default: "on-failure",
    });
    expect(explainKey(layers, "mounts[0].target")).toMatchObject({
      value: "/a",
      source: "manifest agentbox.toml:6:1",
    });
    expect(explainKey(layers, "mounts.0.access")).toMatchObject({ value: "read" });
    expect(explainKey(layers, "limits.max_ttl")).toMatchObject({ value: "5d", source: "default" });
    expect(explainKey(layers, "resources")).toMatchObject({
      value: { pids: 4096, memory: "2GiB" },
      source: "see its keys",
    });
  });

  it("suggests the key that was meant", () => {
    const hintOf = (key: string) => {
      try {
        return explainKey(layers, key);
      } catch (error) {
        return isAgentBoxError(error, "config.unknown_key") ? error.hint : error;
      }
    };
    expect(hintOf("resources.memroy")).toBe("Did you mean resources.memory?");
    expect(hintOf("resorces")).toBe("Did you mean resources?");
    expect(hintOf("services.web.comand")).toBe("Did you mean services.web.command?");
    for (const key of ["", "..", "x".repeat(5_000), "__proto__", "env.1A", "a[b", "constructor.name"])
      expect(hintOf(key)).toBeTypeOf("string");
  });

  it("every key has a description", () => {
    expect(listKeys().length).toBeGreaterThan(25);
    expect(listKeys().filter(({ description }) => !description.endsWith("."))).toEqual([]);
  });
});
