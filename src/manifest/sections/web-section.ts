import { z } from "zod";
import { isLoopback } from "../../base/url-address.ts";
import { Address, Duration, PathText, SecretRef, Word } from "./scalars.ts";

const urlOf = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);

const isPlain = ({ username, password, search, hash }: URL): boolean =>
  [username, password, search, hash].every((part) => part === "");

/** SECURITY: codes, tokens and sessions travel there, so only https, or http to this very machine. */
const isSafeFilePath = (text: string): boolean => {
  const url = urlOf(text);
  if (url === undefined || !isPlain(url)) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url));
};

const names = (what: string) => z.array(z.string().min(1).max(256)).min(1).max(256).describe(what);

const SignInSection = z
  .strictObject({
    issuer: Address.refine(isSafeFilePath).describe(
      "Address of the OpenID provider, exactly as it names itself. https, but for one on this machine.",
    ),
    client_id: z.string().min(1).max(256).describe("What the provider calls this installation."),
    client_secret_file: PathText.regex(/^\//)
      .optional()
      .describe("Absolute path of a file that holds the client's secret. Only its owner may read it."),
    client_secret: SecretRef.optional().describe(
      'The client\'s secret, by its name in the vault, such as "vault:sign-in". The vault must be open when a person signs in.',
    ),
    name: Word.optional().describe("What the button calls the provider. Without it: the host of the issuer."),
    groups_claim: Word.optional().describe(
      'The claim that carries a person\'s groups, as one text or as a list. "groups" without it. "email" counts only as long as the provider says that it is verified.',
    ),
    admin_group: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe("Members of this group are admins: they see every box and give trust. Default: no admins."),
    allowed_groups: names("Who may sign in: people of one of these groups. Admins always may.").optional(),
    allowed_domains: names(
      "Who may sign in: people with a verified e-mail address of one of these domains. Together with allowed_groups both must hold.",
    ).optional(),
    scopes: z
      .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/))
      .max(32)
      .optional()
      .describe(
        "Asked for besides openid, profile and email. offline_access is asked for where the provider says that it has it.",
      ),
    parameters: z
      .record(
        z.string().regex(/^[a-z_]{1,64}$/),
        z
          .string()
          .max(256)
          .describe('More of the sign-in address, such as access_type = "offline" for Google.'),
      )
      .optional()
      .describe("More of the sign-in address. What the sign-in itself needs cannot be changed."),
    recheck: Duration.optional().describe(
      'How often the provider is asked whether a person who is signed in still may be. "10m" without it.',
    ),
    max_session: Duration.optional().describe(
      'After this long everybody signs in again. "12h" without it, and at most an hour where the provider gives no refresh token.',
    ),
  })
  .describe("Sign-in for a team, by OpenID Connect.");

/** SECURITY: no manifest has this section, or a repository would say who is an admin. */
export const WebSection = z
  .strictObject({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("Port of the dashboard, on loopback. Without it: a free one, which is kept."),
    url: Address.refine((text) => isSafeFilePath(text) && urlOf(text)?.pathname === "/")
      .optional()
      .describe(
        "Address by which people reach the dashboard through a proxy, such as https://agents.example.org.",
      ),
    projects: z
      .array(PathText.regex(/^\//))
      .max(256)
      .optional()
      .describe(
        "Directories that people who sign in may make boxes from, each with what is below it. Admins may use any.",
      ),
    sign_in: SignInSection.optional(),
  })
  .describe("The dashboard, and who may sign in to it. User config only.");
export type WebSection = z.infer<typeof WebSection>;
export type SignInSection = z.infer<typeof SignInSection>;
