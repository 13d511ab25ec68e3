/** The files that this host's daemon takes as an order: config, policy, and what lies in projects. */
import { AgentBoxError } from "../base/errors.ts";
import { parseUserConfig } from "../manifest/index.ts";
import type { ConfigFile, HostFacts } from "../core/context.ts";
import type { HostEnv } from "../host/env.ts";
import type { Home } from "../host/home.ts";
import { listTemplates, saveTemplate } from "../host/templates.ts";
import { OrderFiles } from "../host/ownership.ts";
import { join } from "node:path";

const maxBytes = 2 ** 20;
const hostPolicyFile = "/etc/agentbox/policy.toml";

export interface DaemonOrders {
  /** Files of AgentBox itself: the owner's or root's, without exception. */
  readonly own: OrderFiles;
  /** Files of projects: also those of directories that the owner has named. */
  readonly projects: OrderFiles;
  readonly facts: Pick<
    HostFacts,
    "addTemplate" | "listTemplates" | "readProjectFile" | "requireOwn" | "readUserConfig" | "readHostPolicy"
  >;
}

export function openOrderFiles(env: HostEnv, home: Pick<Home, "config" | "root">): DaemonOrders {
  const own = new OrderFiles(env);
  /** SECURITY: a file that is not there sets no limits; one that cannot be read must not be taken for that. */
  const readConfig = async (file: string): Promise<ConfigFile | undefined> => {
    const text = await own.read(file, { maxBytes, followsLinks: true });
    return text === undefined ? undefined : { file, text };
  };
  const projects = new OrderFiles(env, async () => {
    const found = await readConfig(home.config);
    const { config } = found === undefined ? {} : parseUserConfig(found.text, { file: found.file });
    return { file: home.config, directories: config?.trust?.directories ?? [] };
  });
  return {
    own,
    projects,
    facts: {
      readProjectFile: (projectDir, name) => projects.read(join(projectDir, name), { maxBytes }),
      requireOwn: (path) => projects.requireOwn(path),
      readUserConfig: () => readConfig(home.config),
      async listTemplates() {
        const { parse } = await import("smol-toml");
        const files = await listTemplates(home.root, env);
        return files.flatMap(({ name, text }) => {
          try {
            const { version: _version, ...values } = parse(text);
            return [{ name, values: JSON.parse(JSON.stringify(values)) as Record<string, unknown> }];
          } catch {
            return [];
          }
        });
      },
      async addTemplate(name, values) {
        const { stringify } = await import("smol-toml");
        const isTaken = (await listTemplates(home.root, env)).some((one) => one.name === name);
        if (isTaken) {
          throw new AgentBoxError("input.invalid", `There is a template "${name}" already.`, {
            hint: `Choose another name, or remove that one: agentbox template rm ${name}`,
          });
        }
        await saveTemplate(home.root, name, `${stringify(values)}\n`);
      },
      readHostPolicy: () => readConfig(hostPolicyFile),
    },
  };
}
