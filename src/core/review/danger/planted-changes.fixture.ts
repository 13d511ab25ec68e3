import type { Change } from "../../../contract/review/change.ts";
import type { Danger } from "../../../contract/review/danger.ts";
import type { SecretScan } from "../../../ports/secret-scan.ts";
import { findDangers } from "./find-dangers.ts";

/** For tests: a change with its contents. */
export interface Planted extends Partial<Change> {
  readonly path: string;
  readonly old?: string;
  readonly text?: string;
}

export function changeOf({ old, text, ...rest }: Planted): Change {
  const kind = rest.kind ?? (old === undefined ? "added" : "modified");
  return {
    kind,
    oldMode: kind === "added" ? "000000" : "100644",
    newMode: kind === "deleted" ? "000000" : "100644",
    oldId: "1".repeat(40),
    newId: "2".repeat(40),
    isBinary: false,
    added: 1,
    deleted: 0,
    bytes: text?.length ?? 0,
    ...rest,
  };
}

export const noSecrets: SecretScan["scan"] = () => Promise.resolve([]);

export async function* noPaths(): AsyncGenerator<string, void> {}

export function find(
  planted: readonly Planted[],
  scan = noSecrets,
  paths: () => AsyncIterable<string> = noPaths,
): Promise<readonly Danger[]> {
  const contents = new Map(planted.map((one) => [changeOf(one).path, one]));
  return findDangers({
    changes: planted.map(changeOf),
    oldContent: ({ path }) => Promise.resolve(contents.get(path)?.old),
    newContent: ({ path }) => Promise.resolve(contents.get(path)?.text ?? ""),
    scan,
    paths,
  });
}

export const kinds = async (planted: Planted) => [
  ...new Set((await find([planted])).map(({ kind }) => kind)),
];
