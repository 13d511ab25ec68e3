import { expect, it } from "vitest";
import { type BoxSpec, boxPaths } from "../../contract/box.ts";
import { promisedArtifacts } from "./promised-artifacts.ts";

const spec = (more: Partial<BoxSpec> = {}): { spec: BoxSpec } => ({
  spec: {
    agent: { name: "shell", args: [], autonomy: "full", options: {} },
    budget: [],
    mcp: [],
    checks: [],
    secrets: [],
    workspace: { mode: "empty", carry: "none" },
    runtime: "memory",
    resources: { required: [] },
    mounts: [],
    env: {},
    services: [],
    lifecycle: { ttlMs: 1, restart: "no", stopGraceMs: 0 },
    ...more,
  },
});

const service = (name: string, ...argv: string[]): BoxSpec["services"][number] => ({
  name,
  argv,
  env: {},
  after: [],
  ready: { kind: "none" },
  readyTimeoutMs: 1,
  restart: "no",
});
const server = (name: string, command: string) => ({
  transport: "stdio" as const,
  name,
  command,
  args: [],
  env: {},
});
const paths = (box: { spec: BoxSpec }, program = ""): string[] =>
  promisedArtifacts(box, program).map(({ path }) => path);
const ours = [boxPaths.node, boxPaths.boxd];

it("promises what we bring ourselves, and for a plain box nothing else", () => {
  expect(paths(spec())).toEqual(ours);
});

it("promises the agent, its skills, and git for what git is needed for", () => {
  const program = "/opt/agentbox/agents/claude/bin/claude";
  const agent = { ...spec().spec.agent, name: "claude", skills: "/home/person/skills" };
  expect(paths(spec({ agent }), program)).toEqual([...ours, program, boxPaths.skills]);
  expect(paths(spec({ workspace: { mode: "clone", source: "/project", carry: "none" } }))).toContain("git");
  expect(
    paths(spec({ workspace: { mode: "empty", url: "https://example.com/a.git", carry: "none" } })),
  ).toContain("git");
});

it("promises the programs of services and of MCP servers that run in the box", () => {
  const promised = promisedArtifacts(
    spec({
      services: [{ ...service("db", "postgres", "-D", "data"), env: { PATH: "/usr/lib/postgresql/bin" } }],
      mcp: [
        server("files", "/usr/bin/mcp-files"),
        { ...server("guest", "some-tool"), isFound: true },
        { transport: "http", name: "far", url: "https://example.com/mcp", headers: {} },
      ],
    }),
    "",
  ).slice(ours.length);
  expect(promised).toEqual([
    { what: "the service db", path: "postgres", kind: "program", searchPath: "/usr/lib/postgresql/bin" },
    { what: "the MCP server files", path: "/usr/bin/mcp-files", kind: "program" },
  ]);
});

it("promises nothing of what the box makes itself", () => {
  const own = ["./run.sh", "bin/run", "/workspace/run", "/home/agent/.local/bin/run", "/tmp/run"];
  expect(paths(spec({ services: own.map((path, at) => service(`s${at}`, path)) }))).toEqual(ours);
  // A target outside the workspace is not promised.
  expect(paths(spec({ mcp: [server("sly", "/workspace/../usr/bin/absent")] }))).toHaveLength(ours.length + 1);
});
