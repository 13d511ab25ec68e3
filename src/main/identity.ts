/** The team's provider, with the client's secret from where config.toml says it is. */
import { stat } from "node:fs/promises";
import { AgentBoxError } from "../base/errors.ts";
import type { SignInSection } from "../manifest/sections/web-section.ts";
import type { Core } from "../core/context.ts";
import { revealText } from "../core/secrets/reveal.ts";
import { systemClock } from "../host/clock.ts";
import { readSmallFile } from "../host/files.ts";
import type { Identity } from "../ports/identity.ts";
import { openIdentity } from "../services/identity/index.ts";

const maxSecretBytes = 4_096;

/** `core` comes later: it is asked for the secret only when a person signs in. */
export const openTeamIdentity = (core: () => Core): Identity =>
  openIdentity({ clientSecret: (settings) => clientSecret(core, settings), clock: systemClock });

async function clientSecret(
  core: () => Core,
  { client_secret, client_secret_file: file }: SignInSection,
): Promise<string | undefined> {
  if (file !== undefined) return readSecretFile(file);
  if (client_secret === undefined) return undefined;
  try {
    return await revealText(core(), client_secret.slice("vault:".length));
  } catch {
    throw unusable(
      "The client's secret cannot be had from the vault.",
      "Open the vault: agentbox vault unlock",
    );
  }
}

async function readSecretFile(file: string): Promise<string> {
  // SECURITY: what others on the machine can read is no secret.
  const mode = (await stat(file).catch(() => undefined))?.mode ?? 0;
  if ((mode & 0o077) !== 0) throw unusable(`${file} can be read by others.`, `Run: chmod 600 ${file}`);
  const secret = (await readSmallFile(file, maxSecretBytes))?.trim();
  if (secret !== undefined && secret !== "") return secret;
  throw unusable(`${file} holds no secret.`, "Write the client's secret into it; it must be a plain file.");
}

const unusable = (message: string, hint: string): AgentBoxError =>
  new AgentBoxError("sign_in.unavailable", message, { hint });
