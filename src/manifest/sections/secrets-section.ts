import { z } from "zod";
import { secretServiceNames } from "../../contract/secret/services.ts";
import { EnvName, HeaderName, Host, Method, PathPattern, PathText, SecretKey, SecretRef } from "./scalars.ts";

/** `agentbox.toml` asks; the host's owner grants. The value is never written here. */
export const SecretEntry = z
  .strictObject({
    from: SecretRef.optional().describe(
      'Which secret of the vault, such as "vault:github". Without it: the one of the same name.',
    ),
    service: z
      .enum(secretServiceNames)
      .optional()
      .describe(
        "A service whose hosts and ways are known: git over https, its API and its own command-line program work with no set-up. In place of how and hosts.",
      ),
    how: z
      .enum(["bearer", "basic", "header", "query", "git", "aws", "ssh", "env", "file"])
      .optional()
      .describe(
        "How it is used. bearer, basic, header, query, git and aws: the gate puts it into requests, and the box holds a placeholder. ssh: the host signs. env and file: the box holds the value itself, which is shown wherever the box is.",
      ),
    hosts: z
      .array(Host)
      .min(1)
      .max(32)
      .optional()
      .describe(
        'Where it may go: "host", "host:port" or "*.host", over https; "http://host:port" where a service of your own has no TLS; "user@host" for ssh. The box may then reach these hosts. Asks for trust.',
      ),
    methods: z
      .array(Method)
      .min(1)
      .max(32)
      .optional()
      .describe("HTTP methods it is used for. Without it: all."),
    paths: z.array(PathPattern).min(1).max(64).optional().describe("Paths it is used for. Without it: all."),
    username: z
      .string()
      .max(256)
      .regex(/^[\x21-\x39\x3b-\x7e]*$/)
      .optional()
      .describe('The name beside it, for basic and git. Without it: "x-access-token".'),
    header: HeaderName.optional().describe("The header, for how = header."),
    header_prefix: z
      .string()
      .max(64)
      .regex(/^[\x20-\x7e]*$/)
      .optional()
      .describe('What stands before the value in that header, such as "Token ".'),
    parameter: z
      .string()
      .max(64)
      .regex(/^[A-Za-z0-9_.~-]+$/)
      .optional()
      .describe("The name in the query, for how = query."),
    env: z
      .union([EnvName, z.array(EnvName).min(1).max(8)])
      .optional()
      .describe(
        "Variables of the box that hold the placeholder, so that tools find a token; for how = env the variable that holds the value.",
      ),
    placeholder_prefix: z
      .string()
      .max(32)
      .regex(/^[A-Za-z0-9_-]*$/)
      .optional()
      .describe('What the placeholder begins with, where a tool checks it, such as "ghp_".'),
    file: PathText.optional().describe(
      "Where the file is, for how = file: a name below /run/secrets/, which is kept in memory only.",
    ),
    confirm: z.boolean().optional().describe("For ssh: a person agrees to each signature."),
  })
  .describe("One secret that the box uses.");
export type SecretEntry = z.infer<typeof SecretEntry>;

export const SecretsSection = z
  .record(SecretKey, SecretEntry)
  .describe(
    "Secrets of the vault that the box may use, each under its name. The value is never written here, and the box does not get it unless how is env or file. Each asks for trust, and its first use for a person's yes.",
  );
export type SecretsSection = z.infer<typeof SecretsSection>;

export const maxSecrets = 64;
