import { expect, it } from "vitest";
import { projectNeeds } from "./project-needs.ts";

const needsOf = (files: Record<string, string>) =>
  projectNeeds(new Map(Object.entries(files))).map(({ language, version, file }) => [
    language,
    version,
    file,
  ]);

it.each<[Record<string, string>, unknown]>([
  [{ ".python-version": "3.12.1\n3.11\n" }, [["python", "3.12.1", ".python-version"]]],
  [{ ".nvmrc": "lts/iron\n" }, [["node", "lts/iron", ".nvmrc"]]],
  [{ "rust-toolchain.toml": '[toolchain]\nchannel = "1.75"\n' }, [["rust", "1.75", "rust-toolchain.toml"]]],
  [{ "rust-toolchain": "nightly-2024-05-01\n" }, [["rust", "nightly-2024-05-01", "rust-toolchain"]]],
  [{ "go.mod": "module x\n\ngo 1.21\n\ntoolchain go1.22.3\n" }, [["go", "1.22.3", "go.mod"]]],
  [{ "go.mod": "module x\n\ngo 1.21\n" }, [["go", undefined, "go.mod"]]],
  [
    { ".tool-versions": "nodejs 20.1.0\n# ruby 3\npython 3.12.1 3.11\nunknown 1\n" },
    [
      ["node", "20.1.0", ".tool-versions"],
      ["python", "3.12.1", ".tool-versions"],
    ],
  ],
  [
    { "mise.toml": '[tools]\nnode = "22"\njava = ["temurin-21", "17"]\n' },
    [
      ["node", "22", "mise.toml"],
      ["java", "temurin-21", "mise.toml"],
    ],
  ],
  [{ ".sdkmanrc": "java=17.0.9-tem\n" }, [["java", "17.0.9-tem", ".sdkmanrc"]]],
  [
    { "package.json": '{"engines":{"node":">=18"},"packageManager":"bun@1.1.0"}' },
    [
      ["node", ">=18", "package.json"],
      ["bun", "1.1.0", "package.json"],
    ],
  ],
  [
    { "package.json": '{"engines":{"node":">=18"},"volta":{"node":"20.11.1"}}' },
    [["node", "20.11.1", "package.json"]],
  ],
  [{ "pyproject.toml": '[project]\nrequires-python = ">=3.9"\n' }, [["python", ">=3.9", "pyproject.toml"]]],
  [
    { "pom.xml": "<maven.compiler.release>17</maven.compiler.release>" },
    [
      ["java", "17", "pom.xml"],
      ["maven", undefined, "pom.xml"],
    ],
  ],
  [
    { "build.gradle.kts": "JavaLanguageVersion.of(21)" },
    [
      ["java", "21", "build.gradle.kts"],
      ["gradle", undefined, "build.gradle.kts"],
    ],
  ],
  [{ Gemfile: 'source "x"\nruby "3.2.2"\n' }, [["ruby", "3.2.2", "Gemfile"]]],
  [
    { "deno.json": "{}", "bun.lock": "" },
    [
      ["deno", undefined, "deno.json"],
      ["bun", undefined, "bun.lock"],
    ],
  ],
  // The more exact file wins, and a version wins over none.
  [{ "package.json": '{"engines":{"node":">=18"}}', ".nvmrc": "v20.1.0" }, [["node", "v20.1.0", ".nvmrc"]]],
  [{ "Cargo.toml": "[package]" }, [["rust", undefined, "Cargo.toml"]]],
  [{}, []],
])("%j asks for %j", (files, needs) => {
  expect(needsOf(files)).toEqual(needs);
});

it.each([["$(touch /tmp/x)"], ["\u001b]0;title\u0007"], ["a".repeat(200)], ["`id`"], ["3.12;rm -rf"]])(
  "takes no version from %j",
  (text) => {
    expect(needsOf({ ".python-version": text })).toEqual([["python", undefined, ".python-version"]]);
  },
);

// What takes more than proportional time would be at it for hours: the daemon does nothing else meanwhile.
const megabyte = 2 ** 20;
it.each([
  [".tool-versions", `node${" ".repeat(megabyte)}#`],
  [".sdkmanrc", `java=${"[ ".repeat(megabyte / 2)}`],
  ["rust-toolchain.toml", `${"\n".repeat(megabyte)}x`],
  ["rust-toolchain", `${"\n ".repeat(megabyte / 2)}=`],
  ["pyproject.toml", " \n".repeat(megabyte / 2)],
  ["Pipfile", "\t\n".repeat(megabyte / 2)],
  ["Gemfile", "\n".repeat(megabyte)],
  ["go.mod", `toolchain${" ".repeat(megabyte)}`],
  ["package.json", '"engines":{'.repeat(megabyte / 11)],
  ["package.json", `{"volta":{${'"node" '.repeat(megabyte / 7)}`],
  ["pom.xml", "<java.version>".repeat(megabyte / 14)],
  ["build.gradle", "jvmToolchain(1".repeat(megabyte / 14)],
])("reads %s in time, whatever is in it", (file, text) => {
  expect(needsOf({ [file]: text }).every(({ 1: version }) => version === undefined)).toBe(true);
});
