import type { Check, CheckContext } from "./check-context.ts";
import { type Problem, quote } from "../finding.ts";
import {
  forbiddenMountSource,
  forbiddenMountTarget,
  isPlainAbsolute,
  isWithin,
  normalizePath,
} from "../../contract/mount-paths.ts";
import type { Path } from "../path.ts";
import type { MountEntry } from "../schema.ts";

/** Stands for a home whose place is not known: nothing else is called so. */
const unknownHome = "/home/~";

export const checkMounts: Check = ({ mounts = [] }, context) => {
  const targets = mounts.map(({ target }) => normalizePath(target));
  return mounts.flatMap((mount, index) => {
    const problems = [
      ...checkTarget(mount, index),
      ...checkSource(mount.source, ["mounts", index, "source"], context),
    ];
    const target = targets[index]!;
    const other = targets.findIndex(
      (taken, i) => i < index && (isWithin(target, taken) || isWithin(taken, target)),
    );
    if (other !== -1) {
      const message = `The target ${quote(mount.target)} overlaps with that of mounts[${other}].`;
      problems.push({
        code: "E024",
        path: ["mounts", index, "target"],
        message,
        hint: "Give each mount a place of its own.",
      });
    }
    if (mount.access === "write") {
      const message = `The box can change ${quote(mount.source)} on the host.`;
      const hint = 'Use access = "read" unless the work needs to write there.';
      problems.push({ code: "W003", path: ["mounts", index, "access"], message, hint });
    }
    return problems;
  });
};

function checkTarget({ target }: MountEntry, index: number): Problem[] {
  const path = ["mounts", index, "target"];
  if (!isPlainAbsolute(target)) {
    const message = `The target ${quote(target)} is not a plain absolute path.`;
    return [
      { code: "E022", path, message, hint: 'Write the path from the root of the box, such as "/data".' },
    ];
  }
  const reason = forbiddenMountTarget(target);
  if (reason === undefined) return [];
  const message = `Nothing can be mounted at ${quote(target)}: ${reason}.`;
  return [{ code: "E023", path, message, hint: 'Choose a place of its own, such as "/data".' }];
}

/** A path of the host that a box is to see. */
export function checkSource(source: string, path: Path, context: CheckContext): Problem[] {
  if (source.startsWith("~") && source !== "~" && !source.startsWith("~/")) {
    const message = `The source ${quote(source)} is another user's home or not a path.`;
    return [
      {
        code: "E026",
        path,
        message,
        hint: "Write an absolute path, one below ~/ or one relative to the manifest.",
      },
    ];
  }
  // A relative source is judged when the directory of the manifest is known, when the box is made.
  const userHome = context.userHome ?? unknownHome;
  const absolute = source.startsWith("~") ? `${userHome}/${source.slice(1)}` : source;
  const reason = absolute.startsWith("/")
    ? forbiddenMountSource(absolute, { ...context, userHome })
    : undefined;
  if (reason === undefined) return [];
  const message = `The source ${quote(source)} cannot be shown to a box: ${reason}.`;
  return [{ code: "E025", path, message, hint: "Mount only the directory that the work needs." }];
}
