/** Limits on the routes of the vault. */
import type { AddSecretBody } from "../../api/schemas/vault.ts";
import type { z } from "zod";
import type { Limit } from "./limit.ts";

const always = (): boolean => true;
type AddSecret = z.output<typeof AddSecretBody>;

export const newMasterKey: Limit<unknown> = {
  parameter: "*",
  needs: "socket",
  what: "change what protects the vault",
  instead: "agentbox vault rekey",
  isAsked: always,
};

export const allSecrets: Limit<unknown> = {
  parameter: "*",
  needs: "export",
  what: "take secrets out of the vault",
  instead: "agentbox vault export FILE",
  isAsked: always,
};

export const sealedFile: Limit<unknown> = {
  parameter: "*",
  needs: "socket",
  // SECURITY: what is in the file can name commands of the host as the source of a value.
  what: "take secrets from a sealed file",
  instead: "agentbox vault import FILE",
  isAsked: always,
};

export const hostSource: Limit<AddSecret> = {
  parameter: "source",
  needs: "socket",
  // SECURITY: the daemon reads the file and runs the command as the owner, and outside of every box.
  what: "name a file or a command of the host as the place of a secret",
  instead: "agentbox vault set NAME --ref command:CMD",
  isAsked: ({ source }) => source.kind === "file" || source.kind === "command",
};

export const daemonVariable: Limit<AddSecret> = {
  parameter: "source.variable",
  needs: "trust",
  what: "name a variable of the daemon as the place of a secret",
  instead: "agentbox vault set NAME --ref env:VARIABLE",
  isAsked: ({ source }) => source.kind === "env",
};

export const newGrant: Limit<unknown> = {
  parameter: "*",
  needs: "trust",
  what: "let a box use a secret",
  instead: "agentbox vault grant NAME --box BOX",
  isAsked: always,
};
