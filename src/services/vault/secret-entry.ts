/**
 * One secret in the vault's file. Each version has a data key of its own, and both are sealed for this name, this kind
 * and this version: moved to another entry of the file, neither opens.
 */
import { randomBytes } from "node:crypto";
import { omitUndefined } from "../../base/omit-undefined.ts";
import type { SecretInfo, SecretVersion } from "../../contract/secret/secret.ts";
import type { SecretValue } from "../../ports/vault.ts";
import { type SealedVersion, type SecretEntry, type SecretFacts, corrupted } from "./document.ts";
import { type Purpose, keyBytes, seal, unseal } from "./envelope.ts";
import type { MasterKey } from "./master-key.ts";

type Owner = Pick<SecretFacts, "name" | "kind">;

const purposeOf = (what: "value" | "key", { name, kind }: Owner, { version }: SecretVersion): Purpose => ({
  what,
  name,
  kind,
  version,
});

export function sealVersion(
  owner: Owner,
  version: SecretVersion,
  value: Buffer,
  master: MasterKey,
): SealedVersion {
  const dataKey = randomBytes(keyBytes);
  const sealed = {
    ...version,
    key: seal(master.wrapping, dataKey, purposeOf("key", owner, version)).toString("base64"),
    value: seal(dataKey, value, purposeOf("value", owner, version)).toString("base64"),
  };
  dataKey.fill(0);
  return sealed;
}

export function openVersion(owner: Owner, version: SealedVersion, master: MasterKey): SecretValue {
  const dataKey = openDataKey(owner, version, master);
  const bytes = unseal(dataKey, Buffer.from(version.value, "base64"), purposeOf("value", owner, version));
  dataKey.fill(0);
  if (bytes === undefined) throw notWritten(owner, version);
  return { kind: owner.kind, version: version.version, bytes };
}

/** The same values, for another master key; they are not opened for it. */
export const rewrapEntry = (entry: SecretEntry, from: MasterKey, to: MasterKey): SecretEntry => ({
  ...entry,
  versions: entry.versions.map((version) => {
    const dataKey = openDataKey(entry, version, from);
    const key = seal(to.wrapping, dataKey, purposeOf("key", entry, version)).toString("base64");
    dataKey.fill(0);
    return { ...version, key };
  }),
});

function openDataKey(owner: Owner, version: SealedVersion, master: MasterKey): Buffer {
  const dataKey = unseal(
    master.wrapping,
    Buffer.from(version.key, "base64"),
    purposeOf("key", owner, version),
  );
  if (dataKey?.length !== keyBytes) throw notWritten(owner, version);
  return dataKey;
}

const notWritten = ({ name }: Owner, { version }: SecretVersion) =>
  corrupted(`has something else in place of version ${version} of "${name}"`);

export const isRevoked = ({ revokedAtMs }: SecretVersion, nowMs: number): boolean =>
  revokedAtMs !== undefined && revokedAtMs <= nowMs;

export const dropRevoked = (entries: readonly SecretEntry[], nowMs: number): SecretEntry[] =>
  entries.map((entry) => ({
    ...entry,
    versions: entry.versions.filter((version) => !isRevoked(version, nowMs)),
  }));

/** Whether there was a value before that is not there any more. */
export function isForgetting(before: readonly SecretEntry[], after: readonly SecretEntry[]): boolean {
  // Sealed anew, a value is another text, even if it has the same name and number.
  const kept = new Set(after.flatMap(({ versions }) => versions.map(({ value }) => value)));
  return before.some(({ versions }) => versions.some(({ value }) => !kept.has(value)));
}

/** The public view; expired versions are not shown, even if they are still in the file. */
export const infoOf = ({ versions, ...facts }: SecretEntry, nowMs: number): SecretInfo => ({
  ...facts,
  versions: versions
    .filter((version) => !isRevoked(version, nowMs))
    .map(({ version, createdAtMs, revokedAtMs }) => ({
      version,
      createdAtMs,
      ...omitUndefined({ revokedAtMs }),
    })),
});
