import { AgentBoxError } from "../../base/errors.ts";
import { printable } from "../../base/printable.ts";
import type { Client } from "../../client/index.ts";
import type { ConnectionPreset, ConnectionState } from "../../contract/secret/connection.ts";
import type { CommandContext, RunCommand } from "../command.ts";
import { openBrowser } from "../open-browser.ts";
import { withProgress } from "../render/progress.ts";
import { renderTable } from "../render/table.ts";

const askAgainMs = 1_000;

/** `connect NAME` signs in to a service; `connect --list` shows the services that are known. */
export const run: RunCommand = async (context) => {
  const { args, screen } = context;
  const client = await context.connect();
  const presets = await client.listConnectionPresets();
  if (args.isSet("list")) {
    if (screen.isJson) screen.printJson({ presets });
    else screen.print(renderPresets(presets));
    return 0;
  }
  const [secret] = args.positionals;
  if (secret === undefined) {
    throw new AgentBoxError("input.invalid", "The connection has no name.", {
      hint: "Write: agentbox connect NAME --preset PRESET. Presets: agentbox connect --list",
    });
  }
  const begun = await client.startConnection(specOf(context, secret));
  await show(context, begun);
  const ended = await withProgress(screen, "waiting for you to agree", () => waitForEnd(client, begun));
  if (ended.state !== "connected") {
    throw new AgentBoxError("connection.failed", ended.message ?? "The sign-in did not succeed.", {
      hint: "Begin again with the same command.",
    });
  }
  if (screen.isJson) screen.printJson({ connection: ended });
  else
    screen.print(
      renderConnected(
        secret,
        presets.find(({ name }) => name === args.text("preset")),
      ),
    );
  return 0;
};

function specOf({ args }: CommandContext, secret: string): Parameters<Client["startConnection"]>[0] {
  const scopes = args.list("scope");
  return {
    secret,
    preset: args.text("preset"),
    issuer: args.text("issuer"),
    authorizationEndpoint: args.text("authorization-endpoint"),
    tokenEndpoint: args.text("token-endpoint"),
    deviceEndpoint: args.text("device-endpoint"),
    clientId: args.text("client-id"),
    clientSecret: args.text("client-secret-from"),
    redirectPort: args.integer("redirect-port"),
    ...(scopes.length === 0 ? {} : { scopes: [...scopes] }),
    flow: args.isSet("device") ? "device" : "code",
  };
}

/** The address goes to a person even with --json, because a person has to open it. */
async function show({ args, screen }: CommandContext, { url, userCode }: ConnectionState): Promise<void> {
  if (url === undefined) return;
  const isOpened = screen.isInteractive && !args.isSet("no-browser") && (await openBrowser(url));
  screen.note(`${isOpened ? "Your browser shows" : "Open"} ${printable(url)}`);
  if (userCode !== undefined) screen.note(`and type ${screen.errorStyle.bold(printable(userCode))}`);
}

async function waitForEnd(client: Client, begun: ConnectionState): Promise<ConnectionState> {
  for (let state = begun; ; state = await client.getConnection(begun.id)) {
    if (state.state !== "waiting") return state;
    await new Promise((resolve) => setTimeout(resolve, askAgainMs));
  }
}

const renderPresets = (presets: readonly ConnectionPreset[]): string =>
  [
    renderTable([
      ["PRESET", "SERVICE", "HOSTS", "SCOPES"],
      ...presets.map(({ name, title, hosts, scopes }) => [
        name,
        title,
        hosts.join(" "),
        scopes.length === 0 ? "those of your application" : scopes.map(lastPart).join(" "),
      ]),
    ]),
    ...presets.map((preset) => `${preset.name}\n${renderAbilities(preset)}\n  ${preset.registration}`),
  ].join("\n\n");

const renderAbilities = ({ can, cannot }: ConnectionPreset): string =>
  renderTable([...can.map((line) => ["can", line]), ...cannot.map((line) => ["cannot", line])], "  ");

/** Some services write a scope as an address. */
const lastPart = (scope: string): string => scope.split("/").at(-1) ?? scope;

function renderConnected(secret: string, preset: ConnectionPreset | undefined): string {
  const summary = `Connected. Saved "${secret}" in the vault; grant it to a box to use it.`;
  return preset === undefined
    ? summary
    : `${summary}\nAt ${preset.hosts.join(" and ")}, an agent with it\n${renderAbilities(preset)}`;
}
