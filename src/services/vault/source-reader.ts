/**
 * Reads values that are kept elsewhere: in a variable, in a file, or with a program that prints them. Limited in time
 * and size, never through a shell, and nothing that was read or printed gets into an error.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { type SecretKind, type SecretSource, maxSecretBytes } from "../../contract/secret/secret.ts";
import { type RunResult, run } from "../../host/run.ts";
import type { SecretFacts } from "./document.ts";
import { findValueProblem } from "./value-checks.ts";

export interface SourceReaderOptions {
  /** The host's variables: what `env` reads, and what a program gets. */
  readonly env: NodeJS.ProcessEnv;
  readonly commandTimeoutMs: number;
}

/** A line break at the end, and one more byte that tells too much from just enough. */
const maxReadBytes = maxSecretBytes + 3;

export async function readSource(
  { name, kind, source }: Pick<SecretFacts, "name" | "kind" | "source">,
  options: SourceReaderOptions,
  signal: AbortSignal,
): Promise<Buffer> {
  const fail = (problem: string, hint: string) =>
    new AgentBoxError("secret.unavailable", `The value of "${name}" could not be had: ${problem}.`, { hint });
  const read = await readRaw(source, options, signal, fail);
  const value = withoutLineBreak(read, kind, source);
  const found = findValueProblem(kind, value);
  if (found) throw fail(`${describeSource(source)} gave one that ${found.problem}`, found.hint);
  return value;
}

type Fail = (problem: string, hint: string) => AgentBoxError;

async function readRaw(
  source: SecretSource,
  options: SourceReaderOptions,
  signal: AbortSignal,
  fail: Fail,
): Promise<Buffer> {
  switch (source.kind) {
    case "env": {
      const value = options.env[source.variable];
      if (value) return Buffer.from(value);
      throw fail(`the variable ${source.variable} is not set`, "Set it before the daemon is started.");
    }
    case "file":
      return readFile(source.path, fail);
    case "command":
      return readCommand(source.argv, options, signal, fail);
    case "stored":
      break;
  }
  throw fail("it is not in the vault", "Add it again.");
}

const describeSource = (source: SecretSource): string =>
  source.kind === "command"
    ? `the program ${source.argv[0]}`
    : source.kind === "file"
      ? "the file"
      : "the variable";

/** Links are followed: the path is the person's own, and a mounted secret often is one. */
async function readFile(path: string, fail: Fail): Promise<Buffer> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw fail(`${path} is not a file`, "Name a plain file.");
    const buffer = Buffer.alloc(maxReadBytes);
    let length = 0;
    for (let read = -1; read !== 0 && length < buffer.length; length += read) {
      ({ bytesRead: read } = await file.read(buffer, length, buffer.length - length));
    }
    return buffer.subarray(0, length);
  } catch (error) {
    if (error instanceof AgentBoxError) throw error;
    throw fail(
      `${path} cannot be read (${systemCode(error)})`,
      "It must be there and readable for the daemon.",
    );
  }
}

async function readCommand(
  argv: readonly string[],
  { env, commandTimeoutMs }: SourceReaderOptions,
  signal: AbortSignal,
  fail: Fail,
): Promise<Buffer> {
  const program = argv[0]!;
  const hint = "Run the command by hand, as the user the daemon runs as.";
  let result: RunResult;
  try {
    // SECURITY: argv as the person gave it, no shell; latin1 keeps every byte of what is printed.
    result = await run([program, ...argv.slice(1)], {
      env,
      timeoutMs: commandTimeoutMs,
      maxOutputBytes: maxReadBytes,
      encoding: "latin1",
      isStrict: true,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw fail("the vault was locked, or the secret changed", "Try again.");
    throw fail(`the program ${program} cannot be started (${systemCode(error)})`, hint);
  }
  if (result.timedOut) throw fail(`the program ${program} took longer than ${commandTimeoutMs} ms`, hint);
  const bytes = Buffer.from(result.stdout, "latin1");
  // A command that printed too much was ended for it, so this comes before the exit code.
  if (bytes.length > maxSecretBytes + 2) throw fail(`the program ${program} printed too much`, hint);
  // SECURITY: not a word of what it printed; a program that fails may print the secret before it does.
  if (result.code !== 0)
    throw fail(`the program ${program} ended with ${result.code ?? result.signal}`, hint);
  return bytes;
}

/** Editors and programs end a text with a line break that is not part of it; other kinds may need theirs. */
function withoutLineBreak(value: Buffer, kind: SecretKind, source: SecretSource): Buffer {
  if (kind !== "text" || source.kind === "env" || value.at(-1) !== 0x0a) return value;
  return value.subarray(0, value.at(-2) === 0x0d ? -2 : -1);
}
