import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestDaemon } from "./daemon.ts";

/** What a daemon has of boxes on its disk, without the copy of the host's settings that all of them are shown. */
export const boxDirectories = ({ home }: Pick<TestDaemon, "home">): string[] =>
  readdirSync(join(home, "boxes")).filter((name) => !/^\.etc-[0-9a-f]{16}$/.test(name));
