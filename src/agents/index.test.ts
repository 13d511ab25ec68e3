/** The rules that every entry of the catalogue keeps. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJSONSchema, z } from "zod";
import { isAgentBoxError } from "../base/errors.ts";
import { type Launch, type LaunchRequest, autonomyLevels } from "../contract/agent.ts";
import { AgentEvent } from "../contract/agent-events.ts";
import { boxPaths } from "../contract/box-paths.ts";
import { modelHost, placeholderKey } from "../contract/model/api.ts";
import { agents } from "./index.ts";

const entries = Object.entries(agents).map(([key, entry]) => ({ key, entry }));

const mcp: LaunchRequest["mcp"] = [
  { transport: "stdio", name: "files", command: "files-server", args: ["--all"], env: { DEPTH: "2" } },
  { transport: "http", name: "search", url: "https://search.example.com/mcp", headers: { "x-team": "blue" } },
];

const base: LaunchRequest = {
  mode: "headless",
  task: "--do this; $(id)",
  newConversation: "11111111-2222-3333-4444-555555555555",
  autonomy: "full",
  options: {},
  args: ["--typed"],
  model: "some-model",
  program: `${boxPaths.agents}/x/bin/x`,
  endpoint: { baseUrl: `http://${modelHost}/provider`, token: placeholderKey },
  mcp,
  instructions: "Be kind.",
  skillsDir: boxPaths.skills,
  workspace: boxPaths.workspace,
  home: boxPaths.home,
};
const bare = { mcp: [], instructions: undefined, skillsDir: undefined, model: undefined, args: [] };

/** Every way in which a run starts: mode, autonomy, new or resumed, with everything or with nothing. */
function* requestsFor(isHeadless: boolean, options: LaunchRequest["options"]): Generator<LaunchRequest> {
  const modes = isHeadless ? (["headless", "interactive"] as const) : (["interactive"] as const);
  for (const mode of modes) {
    for (const autonomy of autonomyLevels) {
      for (const resume of [undefined, {}, { conversation: "0d4f1c2e-conversation" }]) {
        for (const given of [{}, bare]) {
          yield { ...base, options, mode, autonomy, resume, ...given };
          if (mode === "interactive")
            yield { ...base, options, mode, autonomy, resume, ...given, task: undefined };
        }
      }
    }
  }
}

/** Undefined where the entry refuses to resume what it cannot find, which is better than a new conversation. */
function tryLaunch(entry: (typeof entries)[number]["entry"], request: LaunchRequest): Launch | undefined {
  try {
    return entry.launch(request);
  } catch (error) {
    if (
      request.resume &&
      request.resume.conversation === undefined &&
      isAgentBoxError(error, "agent.no_conversation")
    )
      return undefined;
    throw error;
  }
}

const isSafePath = (path: string) =>
  path.split("/").every((part) => part !== "" && part !== "." && part !== "..") && !path.includes("\0");

describe.each(entries)("$key", ({ key, entry }) => {
  const launches = () =>
    [...requestsFor(entry.isHeadless, entry.options.parse({}))].flatMap((request) => {
      const launch = tryLaunch(entry, request);
      return launch ? [{ request, launch }] : [];
    });

  it("is described", () => {
    expect(entry.name).toBe(key);
    expect(key).toMatch(/^[a-z][a-z0-9-]*$/);
    expect(entry.title).not.toBe("");
    expect(entry.description).toMatch(/^[^\n]+\.$/);
    for (const trap of entry.traps) expect(trap).toMatch(/^[A-Z][^\n]+[.A-Z]$/);
    expect(entry.keys.submit).not.toBe("");
    expect(entry.keys.interrupt).not.toBe("");
  });

  it("is pinned to an exact version, or says how to get it", () => {
    const { install } = entry;
    if (install.kind === "npm" || install.kind === "pypi") expect(install.version).toMatch(/^\d+(\.\d+)+$/);
    if (install.kind === "path") expect(install.hint).toContain("agentbox agents add");
  });

  it("has flat options, each with a description", () => {
    const schema = toJSONSchema(entry.options, { io: "input" });
    expect(schema.additionalProperties).toBe(false);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
      const option = z.object({ description: z.string(), type: z.string() }).parse(property);
      expect(option.description).toMatch(/\.$/);
      expect(["string", "number", "integer", "boolean"]).toContain(option.type);
    }
    expect(entry.options.safeParse({ "no such option": 1 }).success).toBe(false);
  });

  it("starts in every mode with arguments that are all there", () => {
    expect(launches().length).toBeGreaterThan(0);
    for (const { launch } of launches()) {
      for (const text of [...launch.argv, ...Object.values(launch.env)]) {
        expect(text).toEqual(expect.any(String));
        expect(text).not.toMatch(/undefined|\[object |\0/);
      }
      for (const text of launch.argv) expect(text).not.toBe("");
      for (const name of Object.keys(launch.env)) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]*$/);
    }
  });

  it("keeps a task in one argument and what was typed as it was", () => {
    if (entry.kind !== "agent") return;
    for (const { request, launch } of launches()) {
      const { task } = request;
      if (task !== undefined)
        expect(launch.argv.filter((argument) => argument.includes(task))).toHaveLength(1);
      if (request.args.length > 0) expect(launch.argv).toContain("--typed");
    }
  });

  it("resumes the conversation it is told to", () => {
    if (entry.kind !== "agent") return;
    for (const { request, launch } of launches()) {
      const id = request.resume?.conversation;
      if (id !== undefined) expect([...launch.argv, ...Object.values(launch.env)].join("\n")).toContain(id);
    }
  });

  it("seeds and links below the home only", () => {
    for (const { launch } of launches()) {
      for (const { path, text, how } of launch.files) {
        expect(path).toSatisfy(isSafePath);
        if (how === "merge")
          expect(z.record(z.string(), z.unknown()).safeParse(JSON.parse(text)).success).toBe(true);
      }
      for (const [path, target] of Object.entries(launch.links ?? {})) {
        expect(path).toSatisfy(isSafePath);
        expect(target).toMatch(/^\//);
      }
    }
    for (const path of [...entry.statePaths, ...entry.loginPaths]) expect(path).toSatisfy(isSafePath);
  });

  it("names no host of its own in its environment", () => {
    for (const { launch } of launches()) {
      // The address of a schema is only a name and is never contacted.
      const text = Object.values(launch.env)
        .join("\n")
        .replaceAll(/"\$schema":"[^"]*"/g, "");
      for (const [, host] of text.matchAll(/https?:\/\/([^/:"'\s\\]+)/g)) {
        expect([modelHost, "127.0.0.1", "search.example.com"]).toContain(host);
      }
    }
  });

  it("is pointed to the model gateway with the placeholder when it has an API", () => {
    for (const { launch } of launches()) {
      const text = JSON.stringify(launch);
      expect(text.includes(modelHost)).toBe(entry.api !== undefined);
      if (entry.api) expect(text).toContain(placeholderKey);
    }
  });

  it("reads any line without failing, into valid events", () => {
    const kinds = fc.constantFrom(
      "system",
      "assistant",
      "user",
      "result",
      "error",
      "tool_call",
      "item.completed",
    );
    const value = fc.oneof(kinds, fc.jsonValue({ maxDepth: 4 }));
    const object = fc.dictionary(
      fc.oneof(
        fc.constantFrom(
          "type",
          "subtype",
          "message",
          "content",
          "item",
          "part",
          "tool_call",
          "result",
          "error",
        ),
        fc.string(),
      ),
      value,
    );
    const line = fc.oneof(
      fc.string(),
      object.map((o) => JSON.stringify(o)),
      fc
        .tuple(object, object)
        .map(([a, b]) => JSON.stringify({ ...a, message: b, item: b, part: b, tool_call: b })),
    );
    for (const make of [entry.readOutput, entry.readHooks]) {
      if (!make) continue;
      fc.assert(
        fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
          const read = make();
          for (const text of lines) for (const event of read(text)) AgentEvent.parse(event);
        }),
      );
    }
  });
});
