/** An agent that needs no program and no model: it writes its task into a file. */
import { chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestDaemon } from "./daemon.ts";

const text = `
name = "scribe"
description = "Writes its task into a file."

[install]
kind = "none"

[launch]
headless = ["/bin/sh", "-c", "printf %s \\"$1\\" > note.txt", "sh", "{task}"]
`;

/** Defines it at a daemon. */
export function defineScribe({ home }: Pick<TestDaemon, "home">): void {
  const directory = join(home, "agents");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, "scribe.toml");
  writeFileSync(file, text);
  const { uid, gid } = statSync(home);
  for (const path of [directory, file]) chownSync(path, uid, gid);
}
