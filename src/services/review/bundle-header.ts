/**
 * The text at the beginning of a bundle, read strictly: the only reference is the snapshot, the only prerequisites
 * are commits the host has named itself. Everything else is review.bad_bundle.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { printable } from "../../base/printable.ts";

const snapshotRef = "refs/agentbox/snapshot";
export const maxHeaderBytes = 4 << 20;

export interface BundleHeader {
  readonly snapshot: string;
  readonly prerequisites: readonly string[];
  /** Where the pack begins. */
  readonly length: number;
}

/** `bytes` is the beginning of the file, at most `maxHeaderBytes` of it. */
export function parseBundleHeader(bytes: Buffer, format: "sha1" | "sha256"): BundleHeader {
  const end = bytes.indexOf("\n\n");
  if (end === -1) throw badBundle("its header has no end");
  const [signature, ...lines] = bytes.toString("latin1", 0, end).split("\n");
  if (signature !== "# v2 git bundle" && signature !== "# v3 git bundle") {
    throw badBundle("it does not begin like a bundle");
  }
  const isV3 = signature === "# v3 git bundle";
  const capabilities = lines.filter((line) => line.startsWith("@"));
  if (capabilities.length > 0 && !isV3)
    throw badBundle("it has capabilities, which its version does not know");
  checkCapabilities(capabilities, format);
  const id = format === "sha256" ? "[0-9a-f]{64}" : "[0-9a-f]{40}";
  const prerequisite = new RegExp(`^-(${id})(?: .*)?$`);
  const reference = new RegExp(`^(${id}) (.+)$`);
  const prerequisites: string[] = [];
  let snapshot: string | undefined;
  for (const line of lines.slice(capabilities.length)) {
    const required = prerequisite.exec(line)?.[1];
    const [, target, name] = reference.exec(line) ?? [];
    if (required !== undefined) prerequisites.push(required);
    else if (name !== snapshotRef) throw badBundle(`its header has the line "${shown(line)}"`);
    else if (snapshot !== undefined) throw badBundle("it names its snapshot twice");
    else snapshot = target;
  }
  if (snapshot === undefined) throw badBundle("it has no snapshot");
  return { snapshot, prerequisites, length: end + 2 };
}

function checkCapabilities(capabilities: readonly string[], format: "sha1" | "sha256"): void {
  const other = capabilities.find((line) => line !== `@object-format=${format}`);
  if (other !== undefined) throw badBundle(`it asks for "${shown(other.slice(1))}"`);
  if (format === "sha256" && capabilities.length === 0) throw badBundle("its objects have another format");
}

const shown = (line: string): string => printable(Buffer.from(line, "latin1").toString().slice(0, 100));

export const badBundle = (why: string, cause?: unknown): AgentBoxError =>
  new AgentBoxError("review.bad_bundle", `The work that came out of the box was not taken: ${why}.`, {
    hint: "Nothing was changed. Look into the box's repository with git fsck, or take what you need by hand.",
    ...omitUndefined({ cause }),
  });
