/**
 * Where a value comes from: a prompt without echo, stdin, a file, a variable or a command. SECURITY: never an
 * argument, because those are in the shell's history and in every process list.
 */
import { readFile } from "node:fs/promises";
import { formatBytes } from "../../base/bytes.ts";
import { AgentBoxError, messageOf } from "../../base/errors.ts";
import { maxSecretBytes } from "../../contract/secret/secret.ts";
import { inheritedEnv, readHostVariable } from "../../host/env.ts";
import { readBounded } from "../../host/read-bounded.ts";
import { run } from "../../host/run.ts";
import type { CommandContext } from "../command.ts";
import { plainText } from "../terminal/plain-lines.ts";
import type { Screen } from "../render/screen.ts";

const commandTimeoutMs = 60_000;

/** Bytes as they are, without the one line end that editors and `echo` add to a text. */
export async function readSecretValue(context: CommandContext, question: string): Promise<Buffer> {
  const { args, screen } = context;
  const file = args.text("from-file");
  const variable = args.text("from-env");
  const command = args.text("from-command");
  const envFile = args.text("from-env-file");
  if ([file, variable, command, envFile].filter((one) => one !== undefined).length > 1) {
    throw new AgentBoxError("input.invalid", "A value comes from one place.", {
      hint: "Use one of --from-file, --from-env, --from-env-file and --from-command.",
    });
  }
  if (file !== undefined) return bounded(await readFileBytes(file));
  if (variable !== undefined) return fromVariable(variable);
  if (envFile !== undefined) return fromEnvFile(envFile);
  if (command !== undefined) return bounded(await fromCommand(command));
  if (screen.streams.stdin.isTTY) return Buffer.from(await promptHidden(screen, question));
  return bounded(await readStdin(screen));
}

export async function readPassphrase(screen: Screen, question: string, isNew: boolean): Promise<string> {
  const passphrase = await typedPassphrase(screen, question, isNew);
  if (passphrase !== "") return passphrase;
  throw new AgentBoxError("input.invalid", "There is no passphrase.", {
    hint: "Type it at the prompt, or give it on stdin.",
  });
}

async function typedPassphrase(screen: Screen, question: string, isNew: boolean): Promise<string> {
  if (!screen.streams.stdin.isTTY) return (await readStdin(screen)).toString("utf8").trimEnd();
  const passphrase = await promptHidden(screen, question);
  if (isNew && (await promptHidden(screen, "The same once more: ")) !== passphrase) {
    throw new AgentBoxError("input.invalid", "The two passphrases differ.", { hint: "Try again." });
  }
  return passphrase;
}

/** `.env:NAME`: one variable of a file, as a project keeps them. */
async function fromEnvFile(text: string): Promise<Buffer> {
  const at = text.lastIndexOf(":");
  const [file, name] = [text.slice(0, at), text.slice(at + 1)];
  const hint = "Write the file and the variable: --from-env-file .env:STRIPE_KEY";
  if (at <= 0 || name === "")
    throw new AgentBoxError("input.invalid", "--from-env-file names no variable.", { hint });
  const { parseEnvFile } = await import("../../manifest/env-files.ts");
  const values = parseEnvFile((await readFileBytes(file)).toString("utf8"));
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || value === "")
    throw new AgentBoxError("input.invalid", `${file} has no variable ${name}.`, { hint });
  return bounded(Buffer.from(value));
}

async function readFileBytes(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new AgentBoxError("file.failed", `${file} cannot be read: ${messageOf(error)}.`, {
      hint: "Give the path of a file that holds the value.",
    });
  }
}

function fromVariable(name: string): Buffer {
  const value = readHostVariable(name);
  if (value !== undefined && value !== "") return bounded(Buffer.from(value));
  throw new AgentBoxError("input.invalid", `The variable ${name} is not set here.`, {
    hint: `Set it first: read -rs ${name} && export ${name}`,
  });
}

/** A command line of the person's own, as they would type it. */
async function fromCommand(command: string): Promise<Buffer> {
  const { code, stdout } = await run(["/bin/sh", "-c", command], {
    env: inheritedEnv(),
    timeoutMs: commandTimeoutMs,
    encoding: "latin1",
  });
  if (code === 0) return Buffer.from(stdout, "latin1");
  throw new AgentBoxError("input.invalid", `The command ended with ${code ?? "a signal"}.`, {
    hint: "Run it by hand to see why.",
  });
}

function bounded(bytes: Buffer): Buffer {
  const end = bytes.at(-1) === 0x0a ? (bytes.at(-2) === 0x0d ? -2 : -1) : bytes.length;
  const value = bytes.subarray(0, end);
  if (value.length > maxSecretBytes) throw tooLarge();
  if (value.length > 0) return value;
  throw new AgentBoxError("input.invalid", "There is no value.", {
    hint: "Type it at the prompt, or give it on stdin.",
  });
}

const tooLarge = (): AgentBoxError =>
  new AgentBoxError("input.invalid", `A secret has at most ${formatBytes(maxSecretBytes)}.`, {
    hint: "Was it the right file, or the right command?",
  });

/** A value and the line break behind it. */
async function readStdin({ streams: { stdin } }: Screen): Promise<Buffer> {
  const bytes = await readBounded(stdin, maxSecretBytes + 2);
  if (bytes === undefined) throw tooLarge();
  return bytes;
}

/** Reads one line without showing it. */
async function promptHidden(screen: Screen, question: string): Promise<string> {
  const { stdin, stderr } = screen.streams;
  const { createInterface } = await import("node:readline");
  const { Writable } = await import("node:stream");
  stderr.write(plainText(question));
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: stdin, output: silent, terminal: true, historySize: 0 });
  try {
    const answer = await new Promise<string | undefined>((resolve) => {
      lines.once("line", resolve);
      lines.once("SIGINT", () => resolve(undefined));
      lines.once("close", () => resolve(undefined));
    });
    if (answer === undefined || answer === "") {
      throw new AgentBoxError("input.invalid", "Nothing was typed.", { hint: "Try again." });
    }
    return answer;
  } finally {
    lines.close();
    stderr.write("\n");
  }
}
