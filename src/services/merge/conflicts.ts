/** Where two changes do not go together: the paths, what happened to each in a person's words, and both sides. */
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { MergeConflict } from "../../contract/review/merge.ts";
import { asText } from "./failure.ts";
import type { ScratchRepository } from "./scratch-repository.ts";

/** The first kind that fits is the one that is said: git may report a path several times. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/binary/, "Both changed it, and it is not text."],
  [/modify\/delete/, "One side has changed it, the other has deleted it."],
  [/rename\/delete/, "One side has renamed it, the other has deleted it."],
  [/rename\/rename|rename involved/, "Both have renamed it, or to the same name."],
  [/rename\/add/, "One side has renamed a file to this name, the other has added one."],
  [
    /directory rename|implicit dir rename|dir rename|\(file location\)/,
    "One side has renamed the directory this file is in.",
  ],
  [/submodule/, "Both have moved the submodule to different commits."],
  [/file\/directory/, "It is a file on one side and a directory on the other."],
  [/distinct (modes|types)/, "It is a different kind of file on each side."],
  [/contents/, "Both have changed the same lines."],
];

interface Stage {
  readonly mode: string;
  readonly id: string;
  readonly stage: "1" | "2" | "3";
  readonly path: string;
}

const maxConflicts = 200;
const maxSideBytes = 8_192;
const maxReadBytes = 16 << 20;

/** Reads `merge-tree -z --messages`: the tree, the stages of each path, an empty field, the messages. */
export async function readConflicts(
  scratch: ScratchRepository,
  output: string,
): Promise<readonly MergeConflict[]> {
  const fields = output.split("\0");
  const end = fields.indexOf("", 1);
  const stages = fields.slice(1, end).map(parseStage);
  const what = readMessages(fields.slice(end + 1));
  const paths = [...new Set([...stages.map(({ path }) => path), ...what.keys()])].slice(0, maxConflicts);
  const conflicts: MergeConflict[] = [];
  for (const path of paths) {
    const side = (stage: Stage["stage"]) => stages.find((s) => s.path === path && s.stage === stage);
    const [ours, theirs] = [await readSide(scratch, side("2")), await readSide(scratch, side("3"))];
    conflicts.push({
      path: asText(path),
      what: what.get(path) ?? describeStages(side("2"), side("3")),
      ...omitUndefined({ ours, theirs }),
    });
  }
  return conflicts;
}

function parseStage(field: string): Stage {
  const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) ([123])\t([^]*)$/.exec(field) ?? [];
  return { mode: mode!, id: id!, stage: stage as Stage["stage"], path: path! };
}

/** Each message is a count, that many paths, its kind and its text. */
function readMessages(fields: readonly string[]): Map<string, string> {
  const found = new Map<string, { rank: number; what: string }>();
  for (let at = 0; at + 1 < fields.length; ) {
    const count = Number(fields[at]);
    const paths = fields.slice(at + 1, at + 1 + count);
    const kind = fields[at + 1 + count] ?? "";
    at += count + 3;
    if (!kind.startsWith("CONFLICT")) continue;
    const rank = kinds.findIndex(([pattern]) => pattern.test(kind));
    const what = kinds[rank]?.[1] ?? "The changes of both sides do not go together.";
    for (const path of paths) {
      const known = found.get(path);
      if (known === undefined || (rank >= 0 && rank < known.rank))
        found.set(path, { rank: rank < 0 ? 99 : rank, what });
    }
  }
  return new Map([...found].map(([path, { what }]) => [path, what]));
}

function describeStages(ours: Stage | undefined, theirs: Stage | undefined): string {
  if (ours && theirs) return "Both have changed it.";
  return "One side has changed it, the other has deleted it.";
}

async function readSide(scratch: ScratchRepository, side: Stage | undefined): Promise<string | undefined> {
  if (side === undefined) return undefined;
  if (side.mode === "160000") return `commit ${side.id}`;
  const size = Number(await scratch.ok(["cat-file", "-s", side.id]));
  if (size > maxReadBytes) return undefined;
  const bytes = (await scratch.ok(["cat-file", "blob", side.id])).slice(0, maxSideBytes);
  if (bytes.includes("\0")) return undefined;
  return asText(bytes);
}
