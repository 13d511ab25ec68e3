import { z } from "zod";
import { isLoopback } from "../../base/url-address.ts";
import { Host, SecretRef } from "./scalars.ts";

const SmtpSection = z
  .strictObject({
    host: Host.describe("The mail server."),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe('Its port. 587 without it, 465 with `tls = "from-start"`.'),
    tls: z
      .enum(["starttls", "from-start", "none"])
      .optional()
      .describe(
        'How the connection is encrypted. "starttls" without it; "none" only for a server on this machine.',
      ),
    from: z
      .string()
      .min(3)
      .max(320)
      .describe('Sender of the mails, such as "AgentBox <agents@example.org>".'),
    user: z.string().min(1).max(256).optional().describe("Account at the mail server, where it wants one."),
    password: SecretRef.optional().describe('Its password, by its name in the vault, such as "vault:smtp".'),
  })
  .refine(({ tls, host }) => tls !== "none" || isLoopback(new URL(`http://${host}`)), {
    message: 'tls = "none" is only for a server on this machine',
    path: ["tls"],
  })
  .describe("The server that notices by e-mail go out by.");
export type SmtpSection = z.infer<typeof SmtpSection>;

/** SECURITY: no manifest has this section, or a repository would say where notices go. */
export const NoticesSection = z
  .strictObject({ smtp: SmtpSection.optional() })
  .describe("How notices are sent. User config only; where they go is chosen with `agentbox notify`.");
