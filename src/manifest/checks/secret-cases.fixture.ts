/** Cases that break and cases that keep the rules of [secrets]; `rules.test.ts` runs them with all others. */
import { type RuleCase, v1 } from "./network-cases.fixture.ts";
import type { RuleCode } from "./rules.ts";

const secret = (text: string, name = "x") => v1(`[secrets.${name}]\n${text}`);
const bearer = (hosts: string, more = "") => secret(`how = "bearer"\nhosts = ${hosts}\n${more}`);
const two = (first: string, second: string) => v1(`[secrets.a]\n${first}\n[secrets.b]\n${second}`);
const at = (host: string, ...more: string[]) => ['how = "bearer"', `hosts = ["${host}"]`, ...more].join("\n");
const held = (variable: string) => secret(`how = "env"\nenv = "${variable}"`);

export const secretCases = {
  E056: {
    bad: [[secret('service = "github"', "My_Token"), 2, 1]],
    good: [secret('service = "github"', "my-token")],
  },
  E057: {
    bad: ["github", "vault:", "vault:GitHub", "vault:a/b/c", "env:TOKEN", "ghp_0123456789"].map(
      (from) => [secret(`service = "github"\nfrom = "${from}"`), 4, 8] as const,
    ),
    good: [
      secret('service = "github"\nfrom = "vault:work-github"'),
      secret('service = "gitlab"\nfrom = "vault:work/gitlab"'),
    ],
  },
  E058: {
    bad: [
      [secret('from = "vault:x"'), 2, 1],
      [secret('service = "github"\nhow = "bearer"\nhosts = ["a.example.org"]'), 2, 1],
    ],
    good: [secret('service = "github"'), bearer('["a.example.org"]')],
  },
  E059: {
    bad: [
      [secret('service = "github"\nhosts = ["github.com"]'), 4, 1],
      [secret('service = "github"\nconfirm = true'), 4, 1],
      [bearer('["a.example.org"]', 'username = "u"'), 5, 1],
      [bearer('["a.example.org"]', "confirm = true"), 5, 1],
      [bearer('["a.example.org"]', 'header = "X-Key"'), 5, 1],
      [bearer('["a.example.org"]', 'parameter = "key"'), 5, 1],
      [bearer('["a.example.org"]', 'file = "/run/secrets/x"'), 5, 1],
      [secret('how = "ssh"\nhosts = ["git.example.org"]\nmethods = ["GET"]'), 5, 1],
      [secret('how = "ssh"\nhosts = ["git.example.org"]\nenv = "KEY"'), 5, 1],
      [secret('how = "aws"\nhosts = ["s3.example.org"]\nenv = "KEY"'), 5, 1],
      [secret('how = "env"\nenv = "TOKEN"\nhosts = ["a.example.org"]'), 5, 1],
      [secret('how = "env"\nenv = "TOKEN"\npaths = ["/a"]'), 5, 1],
      [secret('how = "file"\nfile = "/run/secrets/x"\nmethods = ["GET"]'), 5, 1],
    ],
    good: [
      secret('how = "basic"\nhosts = ["a.example.org"]\nusername = "u"'),
      secret('how = "git"\nhosts = ["git.example.org"]\npaths = ["/team/**"]'),
      secret('how = "ssh"\nhosts = ["git@git.example.org", "b.example.org:2222"]\nconfirm = true'),
      secret('how = "query"\nhosts = ["a.example.org"]\nparameter = "api_key"\nenv = ["A", "B"]'),
      secret('how = "aws"\nhosts = ["s3.eu-west-1.amazonaws.com"]\nmethods = ["GET"]'),
    ],
  },
  E060: {
    bad: [
      "Host",
      "content-length",
      "Transfer-Encoding",
      "Connection",
      "Cookie",
      "Accept_Encoding",
      "X-Forwarded-For",
      "Proxy-Authorization",
      "Sec-WebSocket-Key",
    ].map((header) => [headerOf(header), 5, 10] as const),
    good: [headerOf("X-Api-Key"), headerOf("Authorization", 'header_prefix = "Token "')],
  },
  E061: {
    bad: [
      "token",
      "/home/agent/token",
      "/run/secrets",
      "/run/secrets/",
      "/run/secrets/..",
      "/run/secrets/../agentbox/x",
      "/run/secrets/a/b",
      "/run/secretsx/a",
    ].map((file) => [secret(`how = "file"\nfile = "${file}"`), 4, 8] as const),
    good: [secret('how = "file"\nfile = "/run/secrets/npm-token"')],
  },
  E062: {
    bad: [
      [two(at("a.example.org"), at("a.example.org")), 5, 1],
      [two(at("*.example.org"), at("a.example.org")), 5, 1],
      [two(at("a.example.org", 'paths = ["/v1/**"]'), at("a.example.org", 'paths = ["/v1/x"]')), 6, 1],
      [two(at("a.example.org", 'paths = ["/v1"]'), at("a.example.org", 'paths = ["/v1/**"]')), 6, 1],
      [two(at("a.example.org", 'methods = ["GET"]'), at("a.example.org", 'methods = ["GET", "PUT"]')), 6, 1],
      [two('service = "github"', at("api.github.com")), 4, 1],
      [two('how = "file"\nfile = "/run/secrets/a"', 'how = "file"\nfile = "/run/secrets/a"'), 5, 1],
    ],
    good: [
      two(at("a.example.org"), at("b.example.org")),
      two(at("a.example.org"), at("a.example.org:8443")),
      two(at("a.example.org", 'paths = ["/v1/**"]'), at("a.example.org", 'paths = ["/v2/**"]')),
      two(at("a.example.org", 'paths = ["/app/**"]'), at("a.example.org", 'paths = ["/app2/**"]')),
      two(at("a.example.org", 'methods = ["GET"]'), at("a.example.org", 'methods = ["PUT"]')),
      two('service = "github"', 'service = "gitlab"'),
    ],
  },
  E063: {
    bad: [
      ...["PATH", "LD_PRELOAD", "NODE_OPTIONS", "HOME", "https_proxy", "AGENTBOX_X"].map(
        (name) => [held(name), 4, 7] as const,
      ),
      [bearer('["a.example.org"]', 'env = ["OK", "LD_AUDIT"]'), 5, 7],
      [v1('[env]\nTOKEN = "x"\n[secrets.a]\nhow = "env"\nenv = "TOKEN"'), 4, 1],
      [v1('[env]\nGH_TOKEN = "x"\n[secrets.a]\nservice = "github"'), 4, 1],
      [two('how = "env"\nenv = "TOKEN"', at("a.example.org", 'env = "TOKEN"')), 5, 1],
    ],
    good: [held("NPM_TOKEN"), v1('[env]\nOTHER = "x"\n[secrets.a]\nservice = "github"')],
  },
} as const satisfies Partial<Record<RuleCode, RuleCase>>;

function headerOf(name: string, more = ""): string {
  return secret(`how = "header"\nhosts = ["a.example.org"]\nheader = "${name}"\n${more}`);
}
