import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMcpJson } from "./mcp-json.ts";

const read = (servers: unknown) => readMcpJson(JSON.stringify({ mcpServers: servers }));

describe(".mcp.json", () => {
  it("gives the servers it names, whatever else is in it", () => {
    const { servers, warnings } = readMcpJson(
      JSON.stringify({
        $schema: "x",
        mcpServers: {
          files: { command: "npx", args: ["-y", 1], env: { PORT: 3000 }, timeout: 5 },
          docs: { type: "sse", url: "https://mcp.example.org" },
          web: { type: "streamable-http", url: "http://localhost:3000" },
          off: { command: "x", disabled: true },
        },
      }),
    );
    expect(servers).toEqual({
      files: { command: "npx", args: ["-y", "1"], env: { PORT: "3000" } },
      docs: { url: "https://mcp.example.org", transport: "sse" },
      web: { url: "http://localhost:3000", transport: "http" },
    });
    expect(warnings).toEqual([]);
  });

  it.each([
    ["an unknown transport", { a: { type: "ws", url: "wss://mcp.example.org" } }],
    ["no command and no address", { a: {} }],
    ["a command that is no text", { a: { command: ["x"] } }],
    ["an invalid address", { a: { url: "file:///etc/passwd" } }],
    ["a header with a line break", { a: { url: "https://mcp.example.org", headers: { A: "b\r\nc: d" } } }],
    ["a name that leads elsewhere", { "../x": { command: "x" } }],
    ["something else", { a: 3 }],
  ])("leaves out a server with %s, and says so", (_what, bad) => {
    const { servers, warnings } = read({ good: { command: "x" }, ...bad });
    expect(Object.keys(servers)).toEqual(["good"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/left out: .*\.$/);
  });

  it("is not used at all when it is something else, or hides something", () => {
    for (const text of [
      "",
      "[",
      "3",
      '{"mcpServers": []}',
      '{"mcpServers": {"__proto__": {"command": "x"}}}',
      `{"mcpServers": {"a": {"command": "x\u202e"}}}`,
    ]) {
      const { servers, warnings } = readMcpJson(text);
      expect(servers, text).toEqual({});
      expect(warnings[0], text).toMatch(/^\.mcp\.json is not used: /);
    }
    expect(readMcpJson("{}")).toEqual({ servers: {}, warnings: [] });
  });

  it("has a most number of servers", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`s${i}`, { command: "x" }]));
    expect(Object.keys(read(many).servers)).toHaveLength(64);
    expect(read(many).warnings).toHaveLength(1);
  });

  it("any text gives servers or warnings, never an exception", () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void readMcpJson(text)));
    fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (servers) => void read(servers)));
  });
});
