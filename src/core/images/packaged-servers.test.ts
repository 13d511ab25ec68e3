import { describe, expect, it } from "vitest";
import type { BoxSpec } from "../../contract/box.ts";
import type { McpServer } from "../../contract/mcp.ts";
import { packagedServer, withServersInside } from "./packaged-servers.ts";

const npx = (args: readonly string[], more: object = {}): McpServer => ({
  transport: "stdio",
  name: "docs",
  command: "npx",
  args: [...args],
  env: {},
  ...more,
});

describe("an MCP server that npx starts", () => {
  it("can be in an image when its version is exact", () => {
    expect(packagedServer(npx(["-y", "@acme/docs-mcp@1.2.3", "--root", "/workspace"]))).toEqual({
      name: "docs",
      package: "@acme/docs-mcp",
      version: "1.2.3",
      args: ["--root", "/workspace"],
    });
    expect(packagedServer(npx(["docs@1.0.0-rc.1"]))).toMatchObject({
      package: "docs",
      version: "1.0.0-rc.1",
    });
  });

  it.each([
    ["no version", ["-y", "docs"]],
    ["a range", ["docs@^1.0.0"]],
    ["a tag", ["docs@latest"]],
    ["another package under this name", ["docs@npm:evil@1.0.0"]],
    ["an address", ["https://example.org/x.tgz"]],
    ["a directory", ["./docs@1.0.0"]],
    ["a way out", ["../docs@1.0.0"]],
    ["an option", ["--package", "docs@1.0.0", "docs"]],
    ["a shell's text", ["docs@1.0.0;id"]],
    ["nothing", []],
  ])("stays outside with %s", (_, args) => {
    expect(packagedServer(npx(args))).toBeUndefined();
  });

  it("stays outside when nobody has promised it, or it is not npx", () => {
    expect(packagedServer(npx(["docs@1.0.0"], { isFound: true }))).toBeUndefined();
    expect(packagedServer(npx(["docs@1.0.0"], { command: "/workspace/npx" }))).toBeUndefined();
    expect(
      packagedServer({ transport: "http", name: "docs", url: "https://example.org", headers: {} }),
    ).toBeUndefined();
  });

  it("is started from where the image has it, with its own arguments and environment", () => {
    const mcp = [
      npx(["-y", "docs@1.0.0", "--verbose"], { env: { A: "1" } }),
      npx(["other"], { name: "other" }),
    ];
    const servers = [
      {
        name: "docs",
        version: "1.0.0",
        digest: "sha256:0",
        dir: "/x",
        program: "node_modules/docs/run.js",
        purl: "",
      },
    ];
    expect(withServersInside({ mcp } as unknown as BoxSpec, servers).mcp).toEqual([
      {
        ...mcp[0],
        command: "/opt/agentbox/mcp/docs/node_modules/docs/run.js",
        args: ["--verbose"],
      },
      mcp[1],
    ]);
  });
});
