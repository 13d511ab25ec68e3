/** Tells a private key that ssh-add can load by itself from one that is locked with a passphrase, and from no key. */
import type { ValueProblem } from "./value-checks.ts";

const armour = /^-----BEGIN ((?:[A-Z0-9]+ )*PRIVATE KEY)-----\r?\n([\s\S]+?)\r?\n-----END \1-----\s*$/;
const openSshMagic = "openssh-key-v1\0";

const noKey: ValueProblem = {
  problem: "is not a private key",
  hint: "It must be a file such as ~/.ssh/id_ed25519, from -----BEGIN to the end of the last line.",
};
const lockedKey: ValueProblem = {
  problem: "is a private key with a passphrase of its own",
  hint: "Take the passphrase off a copy (ssh-keygen -p -f COPY); the vault encrypts it anyway.",
};

export function findKeyProblem(value: Buffer): ValueProblem | undefined {
  const [, label, body] = armour.exec(value.toString("latin1").trim()) ?? [];
  if (label === undefined || body === undefined) return noKey;
  if (label === "OPENSSH PRIVATE KEY") return findOpenSshProblem(Buffer.from(body, "base64"));
  // PKCS#8 says it in the label, the older form in a header.
  return label.startsWith("ENCRYPTED ") || /^Proc-Type:.*ENCRYPTED/m.test(body) ? lockedKey : undefined;
}

/** After the magic come the names of the cipher and of the way from passphrase to key. */
function findOpenSshProblem(blob: Buffer): ValueProblem | undefined {
  if (blob.toString("latin1", 0, openSshMagic.length) !== openSshMagic) return noKey;
  const cipher = readString(blob, openSshMagic.length);
  const derivation = cipher && readString(blob, cipher.end);
  if (cipher === undefined || derivation === undefined) return noKey;
  return cipher.text === "none" && derivation.text === "none" ? undefined : lockedKey;
}

function readString(blob: Buffer, at: number): { text: string; end: number } | undefined {
  if (at + 4 > blob.length) return undefined;
  const end = at + 4 + blob.readUInt32BE(at);
  return end > blob.length ? undefined : { text: blob.toString("latin1", at + 4, end), end };
}
