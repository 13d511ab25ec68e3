import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agentCases } from "./agent-cases.fixture.ts";
import { hasErrors } from "../finding.ts";
import { type RuleCase, networkCases, v1 } from "./network-cases.fixture.ts";
import { parseManifest } from "../parse.ts";
import { maxFileBytes } from "../toml/read-toml.ts";
import { secretCases } from "./secret-cases.fixture.ts";
import { manifestRules, type RuleCode } from "./rules.ts";
import { securityCases } from "./security-cases.fixture.ts";

const context = {
  file: "agentbox.toml",
  agents: ["shell", "demo"],
  agentOptions: {
    demo: z.strictObject({ speed: z.enum(["slow", "fast"]).optional(), turns: z.int().min(1).optional() }),
  },
  providers: ["mine"],
  runtimes: ["memory", "bubblewrap"],
  userHome: "/home/ada",
  agentboxHome: "/home/ada/.agentbox",
  presets: ["npm", "github-read"],
  nowMs: Date.parse("2030-01-01T00:00:00Z"),
};
const check = (text: string) => parseManifest(text, context).findings;
const codes = (text: string) => check(text).map((finding) => finding.code);
const service = (text: string) => v1(`[services.web]\ncommand = "serve"\n${text}`);
const mount = (source: string, target: string, more = "") =>
  v1(`[[mounts]]\nsource = "${source}"\ntarget = "${target}"\n${more}`);

const cases: Record<RuleCode, RuleCase> = {
  E074: {
    bad: [
      [v1('[env]\nfiles = ["../.env"]'), 3, 10],
      [v1('[env]\nfiles = [".env", "/etc/environment"]'), 3, 18],
      [v1('[env]\nfiles = [{ path = "~/.env" }]'), 3, 10],
      [v1('[env]\nPORTS = ["3000"]'), 3, 9],
    ],
    good: [v1('[env]\nfiles = [".env", { path = "config/dev.env", clear = ["API_KEY"] }, ".envrc"]')],
  },
  E001: {
    bad: [
      ["version = ", 1, 11],
      [v1('a = "unfinished\n'), 2, 16],
    ],
    good: [v1("")],
  },
  E002: {
    bad: [[v1(`# ${"x".repeat(maxFileBytes)}`), 1, 1]],
    good: [v1(`# ${"x".repeat(maxFileBytes - 20)}`)],
  },
  E003: {
    bad: [
      [v1("# \u202e tnemmoc"), 2, 3],
      [v1('[env]\nA = "a\\u202Eb"'), 3, 5],
      [v1('[env]\nA = "\\u0000"'), 3, 5],
      [v1('[env]\nA = "x\u200bx"'), 3, 5],
      [v1('[env]\nA = "\\u001b[2J"'), 3, 5],
      [v1("# \u{e0041}"), 2, 3],
    ],
    good: [v1('[env]\nA = "tab\\tline\\nümlaut"'), "\ufeffversion = 1\r\n[env]\r\nA = 'x'\r\n", v1("# 👩‍💻")],
  },
  E004: {
    bad: [
      [v1("version = 1"), 2, 1],
      [v1("[agent]\n[agent]"), 3, 2],
    ],
    good: [v1("[agent]")],
  },
  E005: {
    bad: [
      [v1("a.b.c.d.e.f.g.h.i.j.k = 1"), 2, 1],
      [v1(`a = ${"[".repeat(40)}${"]".repeat(40)}`), 2, 37],
    ],
    good: [service("ready = { command = ['true'] }")],
  },
  E006: {
    bad: [
      [v1('[env]\n__proto__ = "x"'), 3, 1],
      [v1('[services.constructor]\ncommand = "x"'), 2, 1],
    ],
    good: [v1('[env]\nPROTO = "x"')],
  },
  E007: {
    bad: [
      ['[agent]\nname = "shell"', 1, 1],
      ["", 1, 1],
    ],
    good: [v1("")],
  },
  E008: {
    bad: [
      ["version = 2\n[future]\nx = 1", 1, 11],
      ['version = "1"', 1, 11],
    ],
    good: ["version = 1"],
  },
  E009: {
    bad: [
      [v1('[resources]\nmemroy = "2GiB"'), 3, 1],
      [v1("[agnet]"), 2, 1],
      [mount("data", "/data", "mode = 1"), 5, 1],
      [v1("budget.usd = 1"), 2, 1],
      [v1('[agent]\nname = "demo"\n[agent.options]\nsped = "slow"'), 5, 1],
    ],
    good: [
      v1('[resources]\nmemory = "2GiB"'),
      v1('[agent]\nname = "demo"\noptions = { speed = "slow", turns = 3 }'),
      // Whose options they are is not known here.
      v1('[agent]\noptions = { sped = "slow" }'),
    ],
  },
  E010: {
    bad: [
      [v1("[placement]"), 2, 1],
      [v1("[adapters.chat]"), 2, 1],
      [v1("placement.host = 1"), 2, 1],
    ],
    good: [v1("[agent]")],
  },
  E011: {
    bad: [
      [v1('[resources]\npids = "many"'), 3, 8],
      [v1("env = 3"), 2, 7],
      [v1("[env]\nA = 1"), 3, 5],
      [v1("[agent]\nname = 1979-05-27"), 3, 8],
      [v1('[agent]\nname = "demo"\noptions.turns = "3"'), 4, 17],
      [v1("[agent]\noptions.turns = [3]"), 3, 17],
    ],
    good: [v1("[resources]\npids = 100")],
  },
  E012: {
    bad: [
      [v1('[workspace]\nmode = "clown"'), 3, 8],
      [v1('[lifecycle]\nrestart = "sometimes"'), 3, 11],
      [v1('[agent]\nautonomy = "all"'), 3, 12],
      [v1('[agent]\nname = "demo"\noptions.speed = "slwo"'), 4, 17],
    ],
    good: [v1('[workspace]\nmode = "clone"')],
  },
  E013: {
    bad: [
      [v1('[[mounts]]\nsource = "data"'), 2, 1],
      [v1("[services.web]"), 2, 1],
      [v1('[model.providers.local]\napi = "openai"'), 2, 1],
      [v1('[model.providers.local]\nbase_url = "https://models.example.org"'), 2, 1],
    ],
    good: [mount("data", "/data"), v1('[model.providers.openai]\nkey_env = "MY_KEY"')],
  },
  E014: {
    bad: [
      [v1("[resources]\npids = 2"), 3, 8],
      [v1("[resources]\ncpus = 1025"), 3, 8],
      [v1("[resources]\ncpus = -1"), 3, 8],
      [v1('[resources]\nmemory = "15MiB"'), 3, 10],
      [v1('[lifecycle]\nttl = "0s"'), 3, 7],
      [v1("[budget.run]\ntokens = 0"), 3, 10],
      [v1("[budget.run]\nusd = -1"), 3, 7],
      [v1('[agent]\nname = "demo"\noptions.turns = 0'), 4, 17],
      [v1(`[agent]\ninstructions = "${"x".repeat(32_769)}"`), 3, 16],
      [service("ready = { port = 70000 }"), 4, 18],
    ],
    good: [v1('[resources]\npids = 8\ncpus = 0.5\nmemory = "16MiB"')],
  },
  E015: {
    bad: [
      [v1('[lifecycle]\nttl = "5 days"'), 3, 7],
      [service('ready_timeout = "1x"'), 4, 17],
    ],
    good: [v1('[lifecycle]\nttl = "1h30m"')],
  },
  E016: {
    bad: [
      [v1('[resources]\nmemory = "2G"'), 3, 10],
      [v1('[resources]\ndisk = "lots"'), 3, 8],
    ],
    good: [v1('[resources]\nmemory = "2GiB"')],
  },
  E017: { bad: [[v1('[lifecycle]\nttl = "6d"'), 3, 7]], good: [v1('[lifecycle]\nttl = "5d"')] },
  E018: { bad: [[v1('[agent]\nname = "shel"'), 3, 8]], good: [v1('[agent]\nname = "shell"')] },
  E019: { bad: [[v1('[runtime]\nname = "bubblewarp"'), 3, 8]], good: [v1('[runtime]\nname = "bubblewrap"')] },
  E020: {
    bad: [
      [v1('[env]\n"MY-VAR" = "x"'), 3, 1],
      [v1('[env]\n1A = "x"'), 3, 1],
      [v1('[env]\nA = { from_host = "B C" }'), 3, 19],
      [v1('[model.providers.openai]\nkey_env = "MY KEY"'), 3, 11],
    ],
    good: [v1('[env]\nMY_VAR = "x"')],
  },
  E021: {
    bad: [
      [v1('[env]\nHOME = "/tmp"'), 3, 1],
      [v1('[env]\nAGENTBOX_LINK = "x"'), 3, 1],
      [v1('[env]\nhttps_proxy = "x"'), 3, 1],
      [v1('[env]\nA = { from_host = "AGENTBOX_HOME" }'), 3, 19],
      [service('env = { USER = "root" }'), 4, 9],
    ],
    good: [v1('[env]\nPATH = "/workspace/bin:/usr/bin"')],
  },
  E022: {
    bad: [
      [mount("data", "data"), 4, 10],
      [mount("data", "/a/../etc"), 4, 10],
    ],
    good: [mount("data", "/data/x/")],
  },
  E023: {
    bad: [
      "/usr/share/x",
      "/etc",
      "/proc/1",
      "/dev",
      "/lib64/x",
      "/opt/agentbox",
      "/opt",
      "/run/agentbox/link.sock",
      "/run/secrets/x",
      "/run",
      "/workspace",
      "/home/agent",
      "/home",
      "/tmp",
      "/var",
      "/",
    ].map((target) => [mount("data", target), 4, 10] as const),
    good: [
      mount("data", "/workspace/data"),
      mount("data", "/home/agent/.cache"),
      mount("data", "/opt/tool"),
      mount("data", "/tmp/data"),
      mount("data", "/usrlocal"),
    ],
  },
  E024: {
    bad: ["/data/", "/data/b", "/data/b/c"].map(
      (target) => [`${mount("a", "/data")}\n[[mounts]]\nsource = "b"\ntarget = "${target}"`, 8, 10] as const,
    ),
    good: [`${mount("a", "/data")}\n[[mounts]]\nsource = "b"\ntarget = "/data-b"`],
  },
  E025: {
    bad: [
      "/",
      "~",
      "~/",
      "~/x/..",
      "/home/ada",
      "/home",
      "/home/ada/.agentbox/boxes",
      "/proc/1",
      "/var/run/docker.sock",
      "/run",
    ].flatMap((source) => [
      [mount(source, "/data"), 3, 10] as const,
      [v1(`[agent]\nskills = "${source}"`), 3, 10] as const,
    ]),
    good: [
      v1('[agent]\nskills = "./skills"'),
      mount("~/data", "/data"),
      mount("/home/ada/x", "/data"),
      mount("../data", "/data"),
      mount("/srv/data", "/data"),
    ],
  },
  E026: { bad: [[mount("~alice/data", "/data"), 3, 10]], good: [mount("~/alice/data", "/data")] },
  E027: {
    bad: [[v1('[services.Web_Server]\ncommand = "x"'), 2, 1]],
    good: [v1('[services.web-2]\ncommand = "x"')],
  },
  E028: {
    bad: [[service('after = ["database"]'), 4, 10]],
    good: [service('after = ["db"]\n[services.db]\ncommand = "x"')],
  },
  E029: {
    bad: [
      [service('after = ["web"]'), 4, 9],
      [service('after = ["db"]\n[services.db]\ncommand = "x"\nafter = ["web"]'), 4, 9],
    ],
    good: [
      service('after = ["a", "b"]\n[services.a]\ncommand = "x"\nafter = ["b"]\n[services.b]\ncommand = "x"'),
    ],
  },
  E030: {
    bad: [
      [service('ready = { port = 80, log = "up" }'), 4, 9],
      [service("ready = {}"), 4, 9],
    ],
    good: [service("ready.port = 80")],
  },
  E031: {
    bad: [[service('ready = { log = "(" }'), 4, 17]],
    good: [service("ready = { log = 'listening on \\d+' }")],
  },
  E032: {
    bad: [
      [v1('[services.web]\ncommand = " "'), 3, 11],
      [v1("[services.web]\ncommand = []"), 3, 11],
      [service('ready = { command = "" }'), 4, 21],
    ],
    good: [v1('[services.web]\ncommand = ["true"]')],
  },
  ...networkCases,
  ...agentCases,
  ...secretCases,
  ...securityCases,
  W001: {
    bad: [
      [v1('[lifecycle]\nttl = "1h"\nidle = "2h"'), 4, 8],
      [v1('[lifecycle]\nidle = "5d"'), 3, 8],
    ],
    good: [v1('[lifecycle]\nttl = "1h"\nidle = "10m"')],
  },
  W002: { bad: [[v1('[workspace]\nmode = "mount"'), 3, 8]], good: [v1('[workspace]\nmode = "clone"')] },
  W003: {
    bad: [[mount("data", "/data", 'access = "write"'), 5, 10]],
    good: [mount("data", "/data", 'access = "read"')],
  },
  W004: { bad: [[v1('[env]\nLD_PRELOAD = "x"'), 3, 1]], good: [v1('[env]\nLD_NOTHING = "x"')] },
  W005: {
    bad: [
      [v1('[workspace]\nmode = "copy"\ncarry = "dirty"'), 4, 9],
      [v1('[[network.rules]]\nhost = "example.org"\nexpires = "2029-12-31T23:59:59Z"'), 4, 11],
      [v1('[mcp.servers.docs]\ncommand = "serve"\nheaders = { A = "b" }'), 4, 1],
    ],
    good: [v1('[workspace]\nmode = "clone"\ncarry = "dirty"')],
  },
};

describe.each(Object.entries(cases) as [RuleCode, RuleCase][])("rule %s", (code, { bad, good }) => {
  it("accepts what keeps it", () => {
    for (const text of good) expect(codes(text), text.slice(0, 200)).toEqual([]);
  });

  it("finds what breaks it, at its place, with a sentence and a hint", () => {
    for (const [text, line, column] of bad) {
      const finding = check(text).find((f) => f.code === code);
      expect(finding, `${text.slice(0, 200)} → ${codes(text).join()}`).toMatchObject({ line, column });
      expect(finding!.severity).toBe(code.startsWith("E") ? "error" : "warning");
      expect(finding!.message).toMatch(/^\S.*\.$/);
      expect(finding!.hint).toMatch(/^\S.*[.?]$/);
    }
  });

  it("has an example that breaks it, and it alone", () => {
    if (code !== "E002") expect([...new Set(codes(manifestRules[code].example))]).toEqual([code]);
  });
});

describe("findings", () => {
  it("every rule has a test", () => {
    expect(Object.keys(cases).sort()).toEqual(Object.keys(manifestRules).sort());
  });

  it("suggest what was probably meant", () => {
    const hintOf = (text: string) => check(text)[0]!.hint;
    expect(hintOf(v1('[resources]\nmemroy = "2GiB"'))).toBe('Did you mean "memory"?');
    expect(hintOf(v1("[agnet]"))).toBe('Did you mean "agent"?');
    expect(hintOf(v1('[agent]\nname = "shel"'))).toBe('Did you mean "shell"?');
    expect(hintOf(service("redy_timeout = '1s'"))).toBe('Did you mean "ready_timeout"?');
    expect(hintOf(v1('[agent]\nname = "demo"\noptions.sped = "slow"'))).toBe('Did you mean "speed"?');
    expect(hintOf(v1('[security.exceptions.x]\nreason = "for a test"\ncapabilities = ["IPC_LOKC"]'))).toBe(
      'Did you mean "IPC_LOCK"?',
    );
    expect(hintOf(v1('[security.exceptions.x]\nreason = "for a test"\ndevice = ["/dev/kvm"]'))).toBe(
      'Did you mean "devices"?',
    );
    expect(hintOf(v1('[model]\nprovider = "antropic"'))).toBe('Did you mean "anthropic"?');
    expect(hintOf(v1("[env]\nA = { from_hots = 'B' }"))).toBeDefined();
  });

  it("of several sections come together and in order", () => {
    const text = v1('[agent]\nname = "x"\n[resources]\npids = 1\n[lifecycle]\nttl = "9d"\n[observability]\n');
    expect(codes(text)).toEqual(["E018", "E014", "E017", "E010"]);
    expect(check(text).map((f) => f.path)).toEqual([
      "agent.name",
      "resources.pids",
      "lifecycle.ttl",
      "observability",
    ]);
  });

  it("warnings alone leave the manifest usable, an error does not", () => {
    const warned = parseManifest(v1('[workspace]\nmode = "mount"'), context);
    expect(warned.manifest).toEqual({ version: 1, workspace: { mode: "mount" } });
    expect(hasErrors(warned.findings)).toBe(false);
    expect(parseManifest(v1("[nope]"), context).manifest).toBeUndefined();
  });

  it("never carry terminal sequences of the file", () => {
    const findings = check(v1('"\\u001b[2J" = 1\n'));
    expect(findings.every((f) => !/\u001b/.test(f.path + f.message + f.hint))).toBe(true);
    expect(findings[0]!.code).toBe("E003");
  });

  it("a longer life is possible when the user config says so", () => {
    const text = v1('[lifecycle]\nttl = "30d"');
    expect(parseManifest(text, { ...context, maxTtlMs: 40 * 86_400_000 }).findings).toEqual([]);
    expect(codes(text)).toEqual(["E017"]);
  });
});
