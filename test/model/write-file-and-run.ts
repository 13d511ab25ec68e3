// The default script: write a file, run a command, say "done", each with the tools the client has.
import { posix } from "node:path";
import { omitUndefined } from "../../src/base/omit-undefined.ts";
import type { Conversation } from "./conversation.ts";
import { callToRun, callToWrite } from "./declared-tools.ts";
import type { Script } from "./script.ts";
import type { Step, ToolCall } from "./step.ts";
import { findEditFormat, workAsText } from "./text-edits.ts";
import type { Usage } from "./usage.ts";

export interface WriteFileAndRunOptions {
  /** Relative to where the agent works. From the second turn on the name gets a number: `a.txt`, `a-2.txt`. */
  readonly file?: string;
  readonly text?: string;
  readonly command?: string;
  readonly usage?: Partial<Usage>;
}

export function writeFileAndRun(options: WriteFileAndRunOptions = {}): Script {
  const { file = "hello.txt", text = "hello\n", command = "echo ran > ran.txt", usage } = options;
  return (conversation) => ({
    ...stepOf(conversation, numberFile(file, conversation.turn), text, command),
    ...omitUndefined({ usage }),
  });
}

function stepOf(conversation: Conversation, file: string, text: string, command: string): Step {
  const format = findEditFormat(conversation);
  if (format) return { text: workAsText(format, file, text, command) };
  if (conversation.round === 0) return say("I write the file.", callToWrite(conversation, file, text));
  if (conversation.round === 1) return say("I run the command.", callToRun(conversation, command));
  return { text: "done" };
}

const say = (text: string, call: ToolCall | undefined): Step =>
  call ? { text, calls: [call] } : { text: "done" };

function numberFile(file: string, turn: number): string {
  if (turn === 1) return file;
  const { dir, name, ext } = posix.parse(file);
  return posix.join(dir, `${name}-${turn}${ext}`);
}
