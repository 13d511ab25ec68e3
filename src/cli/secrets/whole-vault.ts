/** Commands on the vault as a whole: open and close it, protect it in another way, export it. */
import { readFile, stat, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentBoxError, messageOf, systemCode } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";
import type { VaultStatus } from "../../contract/secret/secret.ts";
import type { CommandContext } from "../command.ts";
import { readPassphrase } from "./read-secret.ts";
import { plural } from "../render/table.ts";
import { say } from "../render/say.ts";

const statusText = ({ master, isLocked, secrets }: VaultStatus): string =>
  `The vault is ${isLocked ? "locked" : "open"}; it has ${plural(secrets, "secret")} and is protected by a ${master}.`;

async function status(context: CommandContext): Promise<number> {
  const answer = await (await context.connect()).getVault();
  return say(context, answer, statusText(answer));
}

async function unlock(context: CommandContext): Promise<number> {
  const client = await context.connect();
  const { master } = await client.getVault();
  if (master !== "passphrase") {
    throw new AgentBoxError("input.invalid", `The vault is protected by a ${master}, and is never locked.`, {
      hint: "To lock it, give it a passphrase: agentbox vault rekey --to passphrase",
    });
  }
  const answer = await client.unlockVault({
    passphrase: await readPassphrase(context.screen, "Passphrase: ", false),
  });
  return say(context, answer, statusText(answer));
}

async function lock(context: CommandContext): Promise<number> {
  const answer = await (await context.connect()).lockVault();
  return say(context, answer, statusText(answer));
}

async function rekey(context: CommandContext): Promise<number> {
  const { args, screen } = context;
  const client = await context.connect();
  const to = (args.text("to") as VaultStatus["master"] | undefined) ?? (await client.getVault()).master;
  const passphrase = to === "passphrase" ? await readPassphrase(screen, "New passphrase: ", true) : undefined;
  const answer = await client.rekeyVault({ to, ...omitUndefined({ passphrase }) });
  return say(context, answer, `The vault has a new master key. ${statusText(answer)}`);
}

async function exportAll(context: CommandContext, words: readonly string[]): Promise<number> {
  const file = requireFile(context, words, "export");
  const isTaken = await stat(file).then(
    () => true,
    () => false,
  );
  if (isTaken) {
    throw new AgentBoxError("file.exists", `${printable(file)} is there already.`, {
      hint: "Choose another name, or remove it first.",
    });
  }
  const client = await context.connect();
  const passphrase = await readPassphrase(context.screen, "Passphrase for the file: ", true);
  const sealed = await client.exportVault({ passphrase });
  try {
    await writeFile(file, Buffer.from(sealed, "base64"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw new AgentBoxError("file.failed", `${printable(file)} cannot be written: ${messageOf(error)}.`, {
      hint: "Choose a directory that exists and that you may write.",
    });
  }
  return say(context, { file }, `Wrote ${printable(file)}, sealed to the passphrase.`);
}

async function importAll(context: CommandContext, words: readonly string[]): Promise<number> {
  const sealed = await readSealed(requireFile(context, words, "import"));
  const client = await context.connect();
  const passphrase = await readPassphrase(context.screen, "Passphrase of the file: ", false);
  const answer = await client.importVault({ sealed: sealed.toString("base64"), passphrase });
  const left =
    answer.skipped.length === 0 ? "" : `; left alone, because they exist: ${answer.skipped.join(", ")}`;
  return say(context, answer, `Added ${answer.added.join(", ") || "nothing"}${left}.`);
}

async function readSealed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = systemCode(error) === "ENOENT" ? "file.not_found" : "file.failed";
    throw new AgentBoxError(code, `${printable(file)} cannot be read: ${messageOf(error)}.`, {
      hint: "Give the path of a file that agentbox vault export has written.",
    });
  }
}

function requireFile({ cwd }: CommandContext, words: readonly string[], verb: string): string {
  const [file] = words;
  if (file !== undefined) return resolve(cwd, file);
  throw new AgentBoxError("input.invalid", "The name of a file is missing.", {
    hint: `Write: agentbox vault ${verb} FILE`,
  });
}

/** Each with the most words that may follow it. */
export const wholeVault = {
  status: [status, 0],
  unlock: [unlock, 0],
  lock: [lock, 0],
  rekey: [rekey, 0],
  export: [exportAll, 1],
  import: [importAll, 1],
} as const;
