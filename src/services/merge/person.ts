/**
 * The person a repository belongs to. Git runs with their rights, so what it makes is theirs and what they cannot
 * reach stays out of reach.
 */
import { readFile, stat } from "node:fs/promises";

export interface Person {
  /** Absent when the daemon has their rights already. */
  readonly user?: { readonly uid: number; readonly gid: number };
  readonly home: string;
}

/** Who and where the daemon is. */
export interface DaemonUser {
  readonly isRoot: boolean;
  readonly userHome: string;
  /** For temporary directories; the system's own by default. */
  readonly tempDir?: string | undefined;
}

/** SECURITY: root writing into a directory of another user could be led through their links to any file. */
export async function ownerOf(directory: string, daemon: DaemonUser): Promise<Person> {
  const { uid, gid } = await stat(directory);
  if (!daemon.isRoot || uid === 0) return { home: daemon.userHome };
  return { user: { uid, gid }, home: (await homeOf(uid)) ?? "/nonexistent" };
}

async function homeOf(uid: number): Promise<string | undefined> {
  const lines = (await readFile("/etc/passwd", "utf8").catch(() => "")).split("\n");
  return lines.map((line) => line.split(":")).find((fields) => fields[2] === String(uid))?.[5];
}
