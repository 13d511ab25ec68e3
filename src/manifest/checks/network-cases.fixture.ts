/** Cases that break and cases that keep the rules of [network]; `rules.test.ts` runs them with all others. */
import type { RuleCode } from "./rules.ts";

export interface RuleCase {
  /** The text that breaks the rule, and the position that is named. */
  readonly bad: readonly (readonly [text: string, line: number, column: number])[];
  /** The same without the mistake: the control. */
  readonly good: readonly string[];
}

export const v1 = (text: string): string => `version = 1\n${text}`;
const rule = (text: string) => v1(`[[network.rules]]\nhost = "example.org"\n${text}`);
const exception = (address: string, reason = "test database") =>
  v1(`[network.exceptions.db]\naddress = "${address}"\nreason = "${reason}"`);

export const networkCases = {
  E033: {
    bad: [
      [v1('[network]\nallow = ["a.example.org", "https://example.org"]'), 3, 27],
      [v1('[network]\nallow = ["example.org:0"]'), 3, 10],
      [v1('[[network.rules]]\nhost = "example.org:80"'), 3, 8],
    ],
    good: [v1('[network]\nallow = ["example.org:8080", "*.example.org"]')],
  },
  E034: {
    bad: ["*", "*.com", "*.github.io", "a.*.com", "foo*.com"].map(
      (host) => [v1(`[network]\nallow = ["${host}"]`), 3, 10] as const,
    ),
    good: [
      v1('[network]\nallow = ["*.example.com", "ada.github.io"]'),
      v1('[[network.rules]]\nhost = "*.com"\nmode = "deny"'),
    ],
  },
  E035: {
    bad: ["10.0.0.5", "[::1]:80", "localhost", "metadata.google.internal", "db.agentbox.internal"].map(
      (host) => [v1(`[network]\nallow = ["${host}"]`), 3, 10] as const,
    ),
    good: [exception("10.0.0.5:5432")],
  },
  E036: {
    bad: [[v1('[network]\npresets = ["npm", "nmp"]'), 3, 19]],
    good: [v1('[network]\npresets = ["npm"]')],
  },
  E037: {
    bad: [
      [rule('paths = ["/a", "/a/../b"]'), 4, 16],
      [rule('paths = ["a/**"]'), 4, 10],
    ],
    good: [rule('paths = ["/repos/**", "/*/x"]')],
  },
  E038: { bad: [[rule('methods = ["GET", "get"]'), 4, 19]], good: [rule('methods = ["GET"]')] },
  E039: {
    bad: [
      [rule('expires = "tomorrow"'), 4, 11],
      [rule('expires = "2030-02-01"'), 4, 11],
      [rule('expires = "2030-13-01T00:00:00Z"'), 4, 11],
    ],
    good: [rule('expires = "2030-02-01T00:00:00+01:00"')],
  },
  E040: {
    bad: [
      "169.254.169.254:80",
      "db.example.org:5432",
      "10.0.0.5",
      "10.0.0.5:0",
      "10.0.0.0/8:5432",
      "224.0.0.1:1",
    ].map((address) => [exception(address), 3, 11] as const),
    good: [exception("10.0.0.5:5432"), exception("127.0.0.1:11434"), exception("[fd00::5]:5432")],
  },
  E041: {
    bad: [[exception("10.0.0.5:5432").replace(".db]", ".My_DB]"), 2, 1]],
    good: [exception("10.0.0.5:5432")],
  },
  E042: {
    bad: [[v1('[network]\nonly = ["example.org"]'), 3, 1]],
    good: [v1('[network]\nallow = ["example.org"]')],
  },
} satisfies Partial<Record<RuleCode, RuleCase>>;
