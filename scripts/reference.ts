/** The generated documents, as texts. `scripts/generate.mjs` writes them, and fails in CI when they are stale. */
import { type ErrorCodeFacts, errorCodes } from "../src/base/error-codes.ts";
import { findKey, listKeys } from "../src/manifest/key-table.ts";
import { manifestJsonSchema } from "../src/manifest/json-schema.ts";
import { manifestRules } from "../src/manifest/checks/rules.ts";
import { manifestSections, reservedSections } from "../src/manifest/schema.ts";
import { userConfigSections } from "../src/manifest/user-config.ts";

const generated = (from: string): string =>
  `<!-- Generated from ${from} by "npm run generate". Do not edit. -->\n\n`;
/** A pipe or an angle bracket would end the cell or vanish. */
const cell = (value: string): string =>
  value.replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("\n", " ");
const code = (value: string): string => `\`${value.replaceAll("|", "\\|")}\``;

function sectionTable(name: string): string {
  const rows = listKeys(name).map((info) => {
    const fallback = info.isRequired
      ? "required"
      : "default" in info
        ? code(JSON.stringify(info.default))
        : "";
    return `| ${code(info.key)} | ${cell(info.type)} | ${fallback} | ${cell(info.description)} |`;
  });
  const isNamed = name === "services" || name === "secrets";
  const heading = name === "mounts" ? "[[mounts]]" : `[${name}${isNamed ? ".&lt;name&gt;" : ""}]`;
  const description = findKey([name])!.description;
  return `## ${heading}\n\n${description}\n\n| key | type | default | meaning |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

const example = `\`\`\`toml
#:schema agentbox.schema.json

version = 1

[agent]
name = "claude"
autonomy = "full"

[budget.run]
tokens = 2000000

[resources]
memory = "2GiB"
cpus = 2

[[mounts]]
source = "~/datasets"
target = "/data"

[env]
NODE_ENV = "test"
CI = { from_host = "CI" }

[services.web]
command = "npm run dev"
ready = { port = 3000 }

[network]
presets = ["npm"]
allow = ["api.example.org"]

[[network.rules]]
host = "files.example.org"
methods = ["GET", "HEAD"]
paths = ["/public/**"]

[secrets.github]
service = "github"

[secrets.registry]
from = "vault:npm-publish"
how = "bearer"
hosts = ["registry.example.org"]
env = "NPM_TOKEN"
\`\`\`
`;

export function manifestReference(): string {
  const sections = Object.keys(manifestSections).map(sectionTable).join("\n");
  const reserved = Object.entries(reservedSections).map(
    ([name, meaning]) => `- ${code(`[${name}]`)}: ${meaning}`,
  );
  const own = Object.keys(userConfigSections).filter((name) => !Object.hasOwn(manifestSections, name));
  const shared = Object.keys(userConfigSections).filter((name) => Object.hasOwn(manifestSections, name));
  return `${generated("src/manifest/schema.ts")}# The manifest: agentbox.toml, version 1

Everything about a box follows from this file. \`version = 1\` is the only required key. Unknown keys are errors.
A duration is a number with a unit (\`ms\`, \`s\`, \`m\`, \`h\`, \`d\`), such as \`"1h30m"\`. A size is a number with a unit (\`B\`, \`KiB\`,
\`MiB\`, \`GiB\`, \`TiB\`, or \`KB\`, \`MB\`, \`GB\`, \`TB\`), such as \`"2GiB"\`.

A manifest found in a repository is a request: its mounts, the host variables it asks for, a mounted
workspace, the hosts it wants to reach, the secrets it wants to use, model providers of its own, an image, exceptions from
the baseline and skills from outside the project need a person's yes once. The rules it is checked by are in [manifest-rules.md](manifest-rules.md).

${example}
${sections}
## Reserved

These sections have a meaning to come and are refused until then:

${reserved.join("\n")}

# The user config: config.toml in AGENTBOX_HOME

It may hold the sections ${shared.map((name) => code(`[${name}]`)).join(", ")} as a person's own defaults, \`model.prices\`, and sections of its own:

${own.map(sectionTable).join("\n")}
# The host policy: /etc/agentbox/policy.toml

It may hold \`[network]\` only, for every box of the machine. Its rules and those of the user config hold for all
projects; \`network.only\` there is the upper bound of what any project can ask for, and a rule with \`mode = "deny"\` wins
over every other, wherever it stands.
`;
}

export function rulesReference(): string {
  const rules = Object.entries(manifestRules).map(
    ([id, rule]) => `## ${id}: ${rule.title}\n\n${rule.why}\n\n\`\`\`toml\n${rule.example}\n\`\`\`\n`,
  );
  return `${generated("src/manifest/checks/rules.ts")}# The rules of the manifest

\`agentbox validate\` names the rule by its code: E is an error, and no box is made; W is a warning. Under each rule: why it
exists, and the smallest text that breaks it.

${rules.join("\n")}`;
}

export function errorsReference(): string {
  const rows = Object.entries<ErrorCodeFacts>(errorCodes).map(
    ([id, facts]) =>
      `| ${code(id)} | ${facts.status} | ${facts.exit} | ${facts.retryable ? "yes" : ""} | ${cell(facts.summary)} |`,
  );
  return `${generated("src/base/error-codes.ts")}# Error codes

Every error has one of these codes, in \`--json\` output and in the API's answers.

| code | HTTP status | exit code | worth trying again | meaning |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

/** Every generated file, by its path in the repository. */
export function generatedFiles(): Record<string, string> {
  return {
    "schema/agentbox.schema.json": `${JSON.stringify(manifestJsonSchema(), null, 2)}\n`,
    "docs/reference/manifest.md": manifestReference(),
    "docs/reference/manifest-rules.md": rulesReference(),
    "docs/reference/errors.md": errorsReference(),
  };
}
