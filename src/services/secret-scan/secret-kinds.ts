/**
 * Names of the kinds of secrets, and the kinds that secretlint's recommended rules lack. The patterns are linear:
 * a fixed beginning and one bounded run of characters.
 */

/** By secretlint's message id. SECURITY: its messages quote the secret, so only the id is ever used. */
const names: Readonly<Record<string, string>> = {
  AWSAccountID: "AWS account id",
  AWSSecretAccessKey: "AWS secret access key",
  AWSAccessKeyID: "AWS access key id",
  PrivateKey: "private key",
  PackageJSON_xOauthToken: "GitHub token in an address",
  Npmrc_authToken: "npm token",
  NPM_ACCESS_TOKEN: "npm token",
  BasicAuth: "password in an address",
  SLACK_TOKEN: "Slack token",
  IncomingWebhook: "Slack webhook",
  SENDGRID_KEY: "SendGrid key",
  SHOPIFY_KEY: "Shopify key",
  GITHUB_TOKEN: "GitHub token",
  OPENAI_TOKEN: "OpenAI key",
  LINEAR_API_TOKEN: "Linear token",
  OPS_TOKEN: "1Password token",
};

export const secretName = (messageId: string): string => names[messageId] ?? "secret";

export const extraKinds: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  // secretlint has it, but switched on only together with account numbers.
  { what: "AWS access key id", pattern: /\b(?:AKIA|ASIA)(?![A-Z0-9]{9}EXAMPLE)[A-Z0-9]{16}\b/g },
  { what: "Anthropic key", pattern: /\bsk-ant-[a-z0-9]{2,12}-[\w-]{32,160}/g },
  { what: "OpenRouter key", pattern: /\bsk-or-v1-[0-9a-f]{64}\b/g },
  { what: "Google API key", pattern: /\bAIza[\w-]{35}(?![\w-])/g },
  { what: "Google OAuth secret", pattern: /\bGOCSPX-[\w-]{28}(?![\w-])/g },
  { what: "GitLab token", pattern: /\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[\w-]{20,64}/g },
  { what: "Stripe key", pattern: /\b[rs]k_live_[A-Za-z0-9]{16,128}/g },
  { what: "Hugging Face token", pattern: /\bhf_[A-Za-z0-9]{34,40}\b/g },
  { what: "Python index token", pattern: /\bpypi-AgE[\w-]{50,200}/g },
  { what: "DigitalOcean token", pattern: /\bdo[opr]_v1_[0-9a-f]{64}\b/g },
  { what: "age secret key", pattern: /\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b/g },
];
