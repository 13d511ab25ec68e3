/**
 * The secrets by name: what can be done with one. A name is used once, a number of a version is never used twice while
 * an older one is there, and a value is handed out only while its version is in force.
 */
import type { Clock } from "../../base/clock.ts";
import { AgentBoxError } from "../../base/errors.ts";
import type { SecretInfo } from "../../contract/secret/secret.ts";
import type { NewSecret, SecretValue, Vault } from "../../ports/vault.ts";
import type { SealedVersion, SecretEntry } from "./document.ts";
import { type PlainSecret, openExport, sealExport } from "./export-file.ts";
import type { MasterKey } from "./master-key.ts";
import { parseNewSecret } from "./new-secret.ts";
import type { OutsideValues } from "./outside-values.ts";
import { checkNewPassphrase } from "./passphrase.ts";
import { infoOf, isRevoked, openVersion, sealVersion } from "./secret-entry.ts";
import type { UnlockedFile } from "./unlocked-file.ts";
import { checkValue } from "./value-checks.ts";

interface SecretStoreParts {
  readonly file: UnlockedFile;
  readonly outside: OutsideValues;
  readonly clock: Clock;
  readonly scryptCost: number;
}

type Imported = Awaited<ReturnType<Vault["import"]>>;

export class SecretStore {
  readonly #parts: SecretStoreParts;

  constructor(parts: SecretStoreParts) {
    this.#parts = parts;
  }

  async list(): Promise<SecretInfo[]> {
    const { document } = await this.#parts.file.look();
    const nowMs = this.#parts.clock.nowMs();
    const infos = (document?.secrets ?? []).map((entry) => infoOf(entry, nowMs));
    return infos.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async find(name: string): Promise<SecretInfo | undefined> {
    return (await this.list()).find((info) => info.name === name);
  }

  async add(secret: NewSecret): Promise<SecretInfo> {
    const nowMs = this.#parts.clock.nowMs();
    const facts = parseNewSecret(secret, nowMs);
    const { value } = secret;
    const info = await this.#parts.file.change(nowMs, ({ secrets, key }) => {
      if (secrets.some(({ name }) => name === facts.name)) throw exists(facts.name);
      const first = { version: 1, createdAtMs: nowMs };
      const entry = { ...facts, versions: value ? [sealVersion(facts, first, value, key)] : [] };
      return { secrets: [...secrets, entry], result: infoOf(entry, nowMs) };
    });
    this.#parts.outside.forget(facts.name);
    return info;
  }

  async rotate(name: string, value: Buffer, graceMs: number): Promise<SecretInfo> {
    if (!Number.isSafeInteger(graceMs) || graceMs < 0) {
      throw new AgentBoxError(
        "input.invalid",
        "The grace of a rotation must be a whole number of milliseconds.",
      );
    }
    const nowMs = this.#parts.clock.nowMs();
    return this.#parts.file.change(nowMs, ({ secrets, key }) => {
      const entry = getEntry(secrets, name);
      if (entry.source.kind !== "stored") throw notStored(entry);
      checkValue(name, entry.kind, value);
      const version = Math.max(0, ...entry.versions.map((each) => each.version)) + 1;
      const before = entry.versions
        .map((each) => (each.revokedAtMs === undefined ? { ...each, revokedAtMs: nowMs + graceMs } : each))
        .filter((each) => !isRevoked(each, nowMs));
      const newest = sealVersion(entry, { version, createdAtMs: nowMs }, value, key);
      const rotated = { ...entry, updatedAtMs: nowMs, versions: [...before, newest] };
      return {
        secrets: secrets.map((each) => (each === entry ? rotated : each)),
        result: infoOf(rotated, nowMs),
      };
    });
  }

  async remove(name: string): Promise<void> {
    await this.#parts.file.change(this.#parts.clock.nowMs(), ({ secrets }) => {
      const entry = getEntry(secrets, name);
      return { secrets: secrets.filter((each) => each !== entry), result: undefined };
    });
    this.#parts.outside.forget(name);
  }

  async reveal(name: string): Promise<SecretValue> {
    // The newest is the one that no rotation has given an end.
    const [value] = await this.#reveal(name, (entry) => entry.versions.slice(-1));
    if (value === undefined) throw notFound(name);
    return value;
  }

  /** Oldest first. */
  revealAll(name: string): Promise<SecretValue[]> {
    return this.#reveal(name, (entry) => entry.versions);
  }

  async #reveal(
    name: string,
    choose: (entry: SecretEntry) => readonly SealedVersion[],
  ): Promise<SecretValue[]> {
    const opened = await this.#parts.file.open();
    const entry = getEntry(opened?.secrets ?? [], name);
    if (entry.source.kind !== "stored") {
      return [{ kind: entry.kind, version: 1, bytes: await this.#parts.outside.read(entry) }];
    }
    return openVersions({ ...entry, versions: [...choose(entry)] }, opened!.key, this.#parts.clock.nowMs());
  }

  async export(passphrase: string): Promise<Buffer> {
    checkNewPassphrase(passphrase);
    const opened = await this.#parts.file.open();
    const nowMs = this.#parts.clock.nowMs();
    const plain = (opened?.secrets ?? []).map((entry) => plainOf(entry, opened!.key, nowMs));
    return sealExport(plain, passphrase, this.#parts.scryptCost);
  }

  async import(sealed: Buffer, passphrase: string): Promise<Imported> {
    const plain = await openExport(sealed, passphrase);
    for (const { name, kind, versions } of plain) {
      for (const { value } of versions) checkValue(name, kind, Buffer.from(value, "base64"));
    }
    return this.#parts.file.change(this.#parts.clock.nowMs(), ({ secrets, key }) => {
      const taken = new Set(secrets.map(({ name }) => name));
      const added = plain.filter(({ name }) => !taken.has(name) && taken.add(name));
      const names = added.map(({ name }) => name);
      return {
        secrets: [...secrets, ...added.map((each) => sealPlain(each, key))],
        result: {
          added: names,
          skipped: plain.map(({ name }) => name).filter((name) => !names.includes(name)),
        },
      };
    });
  }
}

const openVersions = (entry: SecretEntry, key: MasterKey, nowMs: number): SecretValue[] =>
  entry.versions
    .filter((version) => !isRevoked(version, nowMs))
    .map((version) => openVersion(entry, version, key));

const plainOf = (entry: SecretEntry, key: MasterKey, nowMs: number): PlainSecret => {
  const values = new Map(
    openVersions(entry, key, nowMs).map(({ version, bytes }) => [version, bytes.toString("base64")]),
  );
  const { versions, ...facts } = infoOf(entry, nowMs);
  return {
    ...facts,
    versions: versions.map((version) => ({ ...version, value: values.get(version.version)! })),
  };
};

const sealPlain = ({ versions, ...facts }: PlainSecret, key: MasterKey): SecretEntry => ({
  ...facts,
  versions: versions.map(({ value, ...version }) =>
    sealVersion(facts, version, Buffer.from(value, "base64"), key),
  ),
});

function getEntry(secrets: readonly SecretEntry[], name: string): SecretEntry {
  const entry = secrets.find((each) => each.name === name);
  if (entry === undefined) throw notFound(name);
  return entry;
}

const notFound = (name: string): AgentBoxError =>
  new AgentBoxError("secret.not_found", `There is no secret "${name}" in the vault.`, {
    hint: "Run: agentbox vault ls",
  });

const exists = (name: string): AgentBoxError =>
  new AgentBoxError("secret.exists", `A secret "${name}" exists already.`, {
    hint: `For a new value run: agentbox vault rotate ${name}`,
  });

const notStored = ({ name, source }: SecretEntry): AgentBoxError =>
  new AgentBoxError("secret.not_stored", `The value of "${name}" is kept elsewhere (${source.kind}).`, {
    hint: "Change it there; the vault reads it from there.",
  });
