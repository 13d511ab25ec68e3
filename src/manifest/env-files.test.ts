import { describe, expect, it } from "vitest";
import { looksSecret, parseEnvFile } from "./env-files.ts";

describe("a file of variables", () => {
  it("is read as people write it, and executes nothing", () => {
    const text = `\u{feff}# a comment
PORT=3000
  export HOST = localhost   # where
EMPTY=
SINGLE='as $it is \\n # so'
DOUBLE="two\\nlines \\"quoted\\" $HOME"
LONG="first
second"
COMMAND=$(touch /tmp/never)
HASH=a#b
not a line
1BAD=x
`;
    expect(parseEnvFile(text)).toEqual({
      PORT: "3000",
      HOST: "localhost",
      EMPTY: "",
      SINGLE: "as $it is \\n # so",
      DOUBLE: 'two\nlines "quoted" $HOME',
      LONG: "first\nsecond",
      COMMAND: "$(touch /tmp/never)",
      HASH: "a#b",
    });
  });

  // Each took hours with a file of the size that is read, and the daemon did nothing else meanwhile.
  it("is read in time, whatever is in it", () => {
    const many = 2 ** 17;
    expect(parseEnvFile(`A="${"\n".repeat(many)}`)).toEqual({ A: "\n".repeat(many) });
    expect(parseEnvFile(`A=${" ".repeat(many)}y\u2028z`)).toEqual({ A: "y\u2028z" });
    expect(parseEnvFile(`A=1${" #".repeat(many / 2)}\u2028`)).toEqual({ A: "1" });
    expect(parseEnvFile("A=1\rB=2\r\nC='x\ny'")).toEqual({ A: "1", B: "2", C: "x\ny" });
  });

  it("has secrets by name and by value, and plain settings", () => {
    for (const [name, value] of [
      ["STRIPE_KEY", "x"],
      ["db_password", "hunter2"],
      ["GITHUB_TOKEN", "x"],
      ["SESSION_SECRET", "x"],
      ["SENTRY_DSN", "https://a@b.example.org/1"],
      ["DATABASE_URL", "postgres://app:hunter2@db/app"],
      ["MODEL", "sk-ant-api03-abcdefghijkl"],
      ["CERT", "-----BEGIN RSA PRIVATE KEY-----\nabc"],
      ["OPAQUE", "q8Zr2vX0tYp4Lk9mWb7c"],
      ["PGPASSWORD", "hunter2"],
      ["SSHPASS", "hunter2"],
      ["ACCESSKEY", "hunter2"],
      ["GHTOKEN", "hunter2"],
      ["npmAuthToken", "hunter2"],
      ["DB", "Server=db;User Id=app;Password=hunter2;Encrypt=true"],
      ["STORAGE", "AccountName=shop;AccountKey=hunter2=="],
      ["JDBC_URL", "jdbc:postgresql://db/app?user=app&password=hunter2"],
      ["ALERTS", "https://hooks.slack.com/services/T024BE7LD/B024BE7LH/abcDEF123456"],
      ["JWT", "eyJhbGciOiJIUzI1NiJ9.e30.x"],
    ] as const)
      expect(looksSecret(name, value), name).toBe(true);
    for (const [name, value] of [
      ["PORT", "3000"],
      ["NODE_ENV", "development"],
      ["DATABASE_URL", "postgres://localhost/app"],
      ["STRIPE_KEY", ""],
      ["KEYBOARD", "qwerty"],
      ["TOKENIZERS_PARALLELISM", "false"],
      ["BYPASS", "yes"],
      ["MONKEY", "patched"],
      ["ORDER", "size=large;color=red"],
      ["BASE_URL", "https://example.org/a/long/path/to/it"],
      ["FEATURES", "search,sharing,comments"],
    ] as const)
      expect(looksSecret(name, value), name).toBe(false);
  });
});
