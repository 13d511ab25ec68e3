/**
 * Cases that break and cases that keep the rules of [agent], [model], [budget] and [mcp]; `rules.test.ts` runs them.
 */
import { type RuleCase, v1 } from "./network-cases.fixture.ts";
import type { RuleCode } from "./rules.ts";

const provider = (url: string) => v1(`[model.providers.local]\napi = "openai"\nbase_url = "${url}"`);
const server = (text: string) => v1(`[mcp.servers.docs]\n${text}`);

export const agentCases = {
  E043: {
    bad: [
      "localhost:11434",
      "models.example.org",
      "ftp://models.example.org",
      "https://ada:secret@models.example.org",
      "https://models.example.org/?key=x",
      "https://models.example.org/v1#",
      "https://models.example.org\\\\@evil.example.org",
      "https://a b.example.org",
    ].map((url) => [provider(url), 4, 12] as const),
    good: [provider("https://models.example.org/v1/"), provider("http://127.0.0.1:11434")],
  },
  E044: {
    bad: ["http://models.example.org", "http://8.8.8.8", "http://[2600::1]:80"].map(
      (url) => [provider(url), 4, 12] as const,
    ),
    good: [
      "http://[::1]:80",
      "http://10.0.0.5:8000",
      "http://gpu:8000",
      "http://gpu.local",
      "http://localhost:1",
    ].map(provider),
  },
  E045: {
    bad: [
      "http://169.254.169.254",
      "https://169.254.169.254/latest",
      "http://2852039166",
      "http://[::ffff:169.254.169.254]",
      "https://168.63.129.16",
      "http://metadata.google.internal",
      "http://0.0.0.0:11434",
      "http://model.agentbox.internal",
    ].map((url) => [provider(url), 4, 12] as const),
    good: [provider("http://192.168.1.5:8000")],
  },
  E046: {
    bad: [
      [provider("https://models.example.org").replace(".local]", ".My_LLM]"), 2, 1],
      [v1('[model]\nprovider = "../x"'), 3, 12],
    ],
    good: [provider("https://models.example.org")],
  },
  E047: {
    bad: [[v1('[model]\nprovider = "antropic"'), 3, 12]],
    good: [
      v1('[model]\nprovider = "anthropic"'),
      v1('[model]\nprovider = "mine"'),
      `${provider("http://127.0.0.1:11434")}\n[model]\nprovider = "local"`,
    ],
  },
  E048: {
    bad: [[v1("[model.prices.some-model]\ninput = 0\noutput = 0"), 2, 1]],
    good: [v1('[model]\nname = "some-model"')],
  },
  E049: {
    bad: [
      [v1("[budget.run]"), 2, 1],
      [v1("[budget]\nday = {}"), 3, 1],
    ],
    good: [v1("[budget.run]\ntokens = 1000\n[budget.day]\nusd = 2.5"), v1("[budget]")],
  },
  E050: {
    bad: [
      [server('command = "serve"\nurl = "https://mcp.example.org"'), 2, 1],
      [server('args = ["x"]'), 2, 1],
    ],
    good: [
      server('command = "npx"\nargs = ["-y", "files"]\nenv = { A = "1" }'),
      server('url = "https://mcp.example.org"\ntransport = "sse"'),
    ],
  },
  E051: {
    bad: [[v1('[mcp.servers."my files"]\ncommand = "serve"'), 2, 1]],
    good: [v1('[mcp.servers.My_files-2]\ncommand = "serve"')],
  },
  E052: {
    bad: [
      "ftp://mcp.example.org",
      "mcp.example.org",
      "https://ada:x@mcp.example.org",
      "file:///etc/passwd",
    ].map((url) => [server(`url = "${url}"`), 3, 7] as const),
    good: [server('url = "http://localhost:3000/mcp"')],
  },
  E053: {
    bad: ["latest", "^2.1.0", "../../x", "2.1.0 || 3", "v2.1.0"].map(
      (version) => [v1(`[agent]\nversion = "${version}"`), 3, 11] as const,
    ),
    good: [v1('[agent]\nversion = "2.1.197"'), v1('[agent]\nversion = "0.1.0-beta.2+x"')],
  },
  E054: {
    bad: [
      [v1('[model]\nname = "large"\nallow = ["small-*"]'), 3, 8],
      [v1('[model]\nname = "fast"\nallow = ["fast"]\naliases = { fast = "large" }'), 3, 8],
    ],
    good: [v1('[model]\nname = "fast"\nallow = ["small-*"]\naliases = { fast = "small-1" }')],
  },
  E055: {
    bad: [
      [server('url = "https://mcp.example.org"\nheaders = { "a b" = "c" }'), 4, 13],
      [server('url = "https://mcp.example.org"\nheaders = { a = "c\\r\\nd: e" }'), 4, 17],
    ],
    good: [server('url = "https://mcp.example.org"\nheaders = { X-Team = "shop" }')],
  },
  E064: {
    bad: [[v1('[model.providers.openai]\nkey = "vault:openai"\nkey_env = "OPENAI_API_KEY"'), 4, 1]],
    good: [
      v1('[model.providers.openai]\nkey = "vault:openai"'),
      v1('[model.providers.openai]\nkey_env = "OPENAI_API_KEY"'),
    ],
  },
  W006: {
    bad: [[server('url = "http://mcp.example.org"'), 3, 7]],
    good: [server('url = "http://127.0.0.1:3000"')],
  },
} satisfies Partial<Record<RuleCode, RuleCase>>;
