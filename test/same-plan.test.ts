/** Validate, create and run share one plan, for any manifest, flags and command. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isAgentBoxError } from "../src/base/errors.ts";
import { CreateBox, type CreateBoxInput } from "../src/contract/api/schemas.ts";
import { problemsOf } from "../src/contract/plan.ts";
import { checkManifest } from "../src/core/plan/check-manifest.ts";
import type { Core } from "../src/core/context.ts";
import { createBox } from "../src/core/box/create-box.ts";
import { describePolicy } from "../src/core/network/describe-policy.ts";
import { planBox } from "../src/core/plan/plan-box.ts";
import { removeBox } from "../src/core/removal/remove-box.ts";
import { type TestHost, openTestCore, openTestHost } from "./support/core.ts";

let host: TestHost;
let core: Core & AsyncDisposable;
let installs: number;
let keys: Record<string, string>;

beforeEach(async () => {
  [installs, keys] = [0, {}];
  host = await openTestHost();
  core = await openTestCore(host, { hostVariable: (name) => keys[name] });
  Object.assign(core.ports.workspaces, {
    defaultMode: async () => "empty",
    prepare: async () => ({ leftBehind: 0 }),
  });
  const install = async () => void (installs += 1);
  Object.assign(core.ports, { toolStore: { ...core.ports.toolStore, install } });
});
afterEach(async () => {
  await core[Symbol.asyncDispose]();
  await host[Symbol.asyncDispose]();
});

const memory = { runtime: { name: "memory" } };
const claude = { agent: { name: "claude" } };

describe("the same inputs", () => {
  const corpus = [
    "",
    '[agent]\nname = "shell"\nargs = ["make"]\n',
    '[agent]\nname = "claude"\n',
    '[agent]\nname = "nobody"\n',
    '[network]\nallow = ["example.org"]\n',
    '[network]\ndefault = "ask"\n',
    '[env]\nA = "b"\n',
    '[env]\nA = { from_host = "NO_A" }\n',
    "[resources]\npids = 10\n",
    '[resources]\nmemory = "1GiB"\ncpus = 2\n',
    '[lifecycle]\nttl = "2h"\nrestart = "always"\n',
    '[services.web]\ncommand = "npm start"\nready = { port = 3000 }\n',
    '[runtime]\nname = "absent"\n',
    '[runtime]\npackages = ["jq"]\n',
    '[model]\nprovider = "openai"\n',
    '[[check]]\nname = "test"\ncommand = "npm test"\n',
    '[[mounts]]\nsource = "/p"\ntarget = "/data"\n',
    "[agent]\nnam = 1\n",
  ].map((text) => `version = 1\n${text}`);
  const hostile = join(import.meta.dirname, "manifest-corpus");
  const files = readdirSync(hostile).map((name) => readFileSync(join(hostile, name), "utf8"));

  type Asked = Pick<CreateBoxInput, "main" | "run" | "exec" | "flags">;
  const doing = fc.constantFrom<Asked>(
    {},
    { exec: true },
    { main: { terminal: true, cols: 80, rows: 24 } },
    { run: { mode: "headless", task: "Fix it" } },
    { run: { mode: "headless" } },
  );
  const flags = fc.constantFrom<object>(
    {},
    claude,
    { network: { allow: ["a.example"] } },
    { env: { B: "c" } },
  );

  it("give validate, create and run one plan, and a refusal leaves nothing behind", async () => {
    const text = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...corpus) },
      { weight: 1, arbitrary: fc.constantFrom(...files) },
    );
    let made = 0;
    await fc.assert(
      fc.asyncProperty(text, doing, flags, fc.boolean(), async (file, asked, typed, hasKey) => {
        if (hasKey) keys["ANTHROPIC_API_KEY"] = "key";
        else delete keys["ANTHROPIC_API_KEY"];
        const input = {
          ...asked,
          projectDir: "/p",
          manifest: { file: "/p/agentbox.toml", text: file },
          flags: { ...typed, ...(file.includes("[runtime]") ? {} : memory), workspace: { mode: "empty" } },
        };
        const checked = await checkManifest(core, { ...input, exec: asked.exec ?? false } as never);
        const planned = await planBox(
          { ...CreateBox.parse(input), makes: "box" },
          { ...core.ports, secretGrants: core.secretGrants },
        );
        const created = await createBox(core, CreateBox.parse({ ...input, start: false })).catch(
          (error: unknown) => error,
        );
        const shown = checked.problems.map(({ code, message }) => ({ code, message }));
        if (isAgentBoxError(created)) {
          const told = problemsOf(created).map(({ code, message }) => ({ code, message }));
          expect(told).toEqual(planned.problems.map(({ code, message }) => ({ code, message })));
          const isFile = (problem: (typeof told)[number]) =>
            problem.code === "manifest.invalid" && checked.findings.length > 0;
          expect(shown).toEqual(told.filter((problem) => !isFile(problem)));
          expect(checked.findings.length + shown.length).toBeGreaterThan(0);
          expect(await core.ports.store.listBoxes()).toEqual([]);
          return;
        }
        made += 1;
        const { box, command } = created as Awaited<ReturnType<typeof createBox>>;
        expect(planned.problems).toEqual([]);
        expect(checked).toMatchObject({ problems: [], findings: [] });
        expect(box.spec).toEqual(planned.spec);
        expect(box.isolation).toEqual(planned.isolation);
        expect(box.network).toEqual(planned.network);
        expect(box.manifestDigest).toEqual(planned.manifestDigest);
        expect(command).toEqual(planned.command);
        expect(checked.summary).toEqual({
          name: box.name,
          spec: box.spec,
          isolation: box.isolation,
          network: describePolicy(box.network!),
          command,
        });
        await removeBox(core, box.name, { force: true });
      }),
      { numRuns: 100 },
    );
    expect(made).toBeGreaterThan(0);
    expect(installs).toBe(0);
  });
});
