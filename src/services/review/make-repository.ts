/**
 * Makes a review repository: bare, with a config of ours and nothing else. Objects of a project are borrowed by naming
 * their directory; only the list of commits at which its history ends is copied.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AgentBoxError } from "../../base/errors.ts";
import { readSmallFile } from "../../host/files.ts";
import { git } from "../../host/git.ts";
import { findRepository } from "../../host/git-repository.ts";

export type ObjectFormat = "sha1" | "sha256";

/** `borrow` is the project's directory. */
export async function makeRepository(gitDir: string, borrow: string | undefined): Promise<ObjectFormat> {
  await mkdir(gitDir, { mode: 0o700 });
  for (const part of ["objects/info", "objects/pack", "refs/agentbox", "info"]) {
    await mkdir(join(gitDir, part), { recursive: true });
  }
  const lender = borrow === undefined ? undefined : await findRepository(borrow);
  if (borrow !== undefined && lender === undefined) {
    throw new AgentBoxError("review.failed", `There is no repository in ${borrow} any more.`, {
      hint: "Put it back where it was when the box was made.",
    });
  }
  const format = lender ? await formatOf(lender.commonDir) : "sha1";
  const extensions = format === "sha256" ? "[extensions]\n\tobjectformat = sha256\n" : "";
  const version = format === "sha256" ? 1 : 0;
  await writeFile(
    join(gitDir, "config"),
    `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${extensions}`,
  );
  // SECURITY: a branch that never exists. Some gits take attributes from the commit that HEAD names.
  await writeFile(join(gitDir, "HEAD"), "ref: refs/heads/none\n");
  if (lender) {
    await writeFile(
      join(gitDir, "objects/info/alternates"),
      alternatesLine(join(lender.commonDir, "objects")),
    );
    await copyShallow(lender.commonDir, gitDir);
  }
  return format;
}

/** From the file alone: what it includes is not followed. */
async function formatOf(commonDir: string): Promise<ObjectFormat> {
  const args = ["config", "--file", join(commonDir, "config"), "--get", "extensions.objectformat"];
  const { stdout } = await git(args, { gitDir: commonDir, cwd: commonDir });
  return stdout.trim() === "sha256" ? "sha256" : "sha1";
}

/** Without it the parents that a shallow history lacks would count as lost. */
async function copyShallow(commonDir: string, gitDir: string): Promise<void> {
  const text = await readSmallFile(join(commonDir, "shallow"), 64 << 20);
  const ids = text?.split("\n").filter((line) => /^[0-9a-f]{40,64}$/.test(line)) ?? [];
  if (ids.length > 0) await writeFile(join(gitDir, "shallow"), `${ids.join("\n")}\n`);
}

/** SECURITY: quoted, so that a line feed in a directory's name does not make a second directory. */
export function alternatesLine(directory: string): string {
  const escaped = [...Buffer.from(directory)].map((byte) =>
    byte < 0x20 || byte > 0x7e || byte === 0x22 || byte === 0x5c
      ? `\\${byte.toString(8).padStart(3, "0")}`
      : String.fromCharCode(byte),
  );
  return `"${escaped.join("")}"\n`;
}
