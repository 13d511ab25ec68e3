import { describe, expect, it } from "vitest";
import { parseArguments } from "../line/arguments.ts";
import { manifestFromFlags, parseEnv, parseMount } from "./box-request.ts";
import { findCommand } from "../table/index.ts";

const flags = (...argv: string[]) => manifestFromFlags(parseArguments(findCommand("run")!, argv), "/here");

describe("manifestFromFlags", () => {
  it("is nothing when nothing was said", () => {
    expect(flags()).toBeUndefined();
  });

  it("turns each flag into its key of the manifest", () => {
    const typed = [
      "demo",
      "--runtime",
      "memory",
      "--workspace",
      "copy",
      "--carry",
      "dirty",
      "--memory",
      "2GiB",
      "--cpus",
      "1.5",
    ];
    expect(
      flags(
        ...typed,
        "--pids",
        "64",
        "--disk",
        "1GiB",
        "--ttl",
        "1h",
        "--idle",
        "5m",
        "--env",
        "A=b=c",
        "--",
        "x",
        "-y",
      ),
    ).toEqual({
      agent: { name: "demo", args: ["x", "-y"] },
      runtime: { name: "memory" },
      workspace: { mode: "copy", carry: "dirty" },
      resources: { memory: "2GiB", cpus: 1.5, pids: 64, disk: "1GiB" },
      lifecycle: { ttl: "1h", idle: "5m" },
      env: { A: "b=c" },
    });
  });
});

it("turns the secret of a known service into its entry, and refuses what it does not know", () => {
  expect(flags("--secret", "github", "--secret", "gitlab=work-gitlab")).toEqual({
    secrets: { github: { service: "github" }, gitlab: { service: "gitlab", from: "vault:work-gitlab" } },
  });
  const refusal = (text: string) => {
    try {
      return flags("--secret", text);
    } catch (error) {
      return error;
    }
  };
  expect(refusal("githb")).toMatchObject({ code: "input.invalid", hint: "Did you mean --secret github?" });
  expect(refusal("npm-registry")).toMatchObject({
    code: "input.invalid",
    hint: expect.stringContaining("[secrets.NAME]"),
  });
  expect(refusal("toString")).toMatchObject({ code: "input.invalid" });
});

it("turns what was typed about the agent, its model and its budget into their sections", () => {
  const typed = ["--autonomy", "edit", "--model", "some-model", "--agent-version", "1.2.3"];
  expect(
    flags(...typed, "--budget-tokens", "1000", "--budget-usd", "2.50", "-o", "max_turns=5", "-o", "loud"),
  ).toEqual({
    agent: { version: "1.2.3", autonomy: "edit", options: { max_turns: "5", loud: true } },
    model: { name: "some-model" },
    budget: { run: { tokens: 1000, usd: 2.5 } },
  });
  for (const bad of [
    ["--autonomy", "all"],
    ["--budget-tokens", "many"],
    ["--budget-usd", "-1"],
    ["-o", "=x"],
  ])
    expect(() => flags(...bad)).toThrow(expect.objectContaining({ code: "input.invalid" }));
});

describe("parseMount", () => {
  it("is read-only by default, and starts where the person is", () => {
    expect(parseMount("data:/data", "/here")).toEqual({
      source: "/here/data",
      target: "/data",
      access: "read",
    });
    expect(parseMount("/a:/b:rw", "/here")).toEqual({ source: "/a", target: "/b", access: "write" });
  });

  it.each(["data", "data:rel", "data:/x:rwx", ":/x"])("refuses %s", (text) => {
    expect(() => parseMount(text, "/here")).toThrow(expect.objectContaining({ code: "input.invalid" }));
  });
});

it("refuses variables without a usable name or value", () => {
  expect(() => parseEnv(["1A=x"])).toThrow(/usable name/);
  expect(() => parseEnv(["AGENTBOX_TEST_SURELY_NOT_SET"])).toThrow(/not set here/);
  expect(parseEnv(["EMPTY="])).toEqual({ EMPTY: "" });
});

it("turns what was typed about the network into its section", () => {
  expect(
    flags("--allow", "a.example:8443", "--allow", "*.b.example", "--preset", "npm", "--network", "ask"),
  ).toEqual({
    network: { default: "ask", presets: ["npm"], allow: ["a.example:8443", "*.b.example"] },
  });
  expect(flags("--learn")).toEqual({ network: { learn: true } });
  expect(() => flags("--network", "open")).toThrow(expect.objectContaining({ code: "input.invalid" }));
});
