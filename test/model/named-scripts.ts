// The scripts that can be started by name, to try an agent by hand.
import { type Script, failFirst, withEveryStep } from "./script.ts";
import type { Fault } from "./step.ts";
import { type WriteFileAndRunOptions, writeFileAndRun } from "./write-file-and-run.ts";

const always = (fault: Fault): Script => [{ text: "This answer never arrives whole.", fault }];

export const namedScripts = {
  "write-and-run": (options) => writeFileAndRun(options),
  hello: () => [{ text: "Hello from the scripted model." }],
  thinking: (options) => withEveryStep({ thinking: "Let me think about that." }, writeFileAndRun(options)),
  slow: (options) => withEveryStep({ chunkDelayMs: 200 }, writeFileAndRun(options)),
  "fail-once": (options) =>
    failFirst({ kind: "error", status: 429, retryAfterSeconds: 1 }, writeFileAndRun(options)),
  "error-401": () => always({ kind: "error", status: 401 }),
  "error-429": () => always({ kind: "error", status: 429, retryAfterSeconds: 1 }),
  "error-500": () => always({ kind: "error", status: 500 }),
  "error-529": () => always({ kind: "error", status: 529 }),
  disconnect: () => always({ kind: "disconnect" }),
  hang: () => always({ kind: "hang" }),
  malformed: () => always({ kind: "malformed" }),
  "content-type": () => always({ kind: "content-type" }),
} satisfies Record<string, (options: WriteFileAndRunOptions) => Script>;

export type ScriptName = keyof typeof namedScripts;

export const isScriptName = (name: string): name is ScriptName => Object.hasOwn(namedScripts, name);
