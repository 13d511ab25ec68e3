/** A team's day for pictures of the dashboard: real boxes, a real agent, and a model that says what a script tells it to. */
import { chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { waitFor } from "../../src/base/wait-for.ts";
import { callToRun } from "../model/declared-tools.ts";
import type { Conversation } from "../model/conversation.ts";
import { startScriptedModel } from "../model/scripted-model.ts";
import type { Step } from "../model/step.ts";
import { type TestDaemon, startDaemon } from "./daemon.ts";
import { giveAgent, whyNoAgent } from "./installed-agents.ts";
import { runProgram } from "./program.ts";

const keyVariable = "SCENE_MODEL_KEY";
const tokens = { input: 41_200, output: 1_830 };

/** The work of each box, by a word of its task. */
function answer(conversation: Conversation): Step {
  const said = conversation.messages.map(({ text }) => text).join("\n");
  const { round } = conversation;
  if (said.includes("search")) return searchStep(conversation, round);
  if (round === 0) return write(conversation, "I'll start with the failing test.", "src/cart.js", cart);
  if (round === 1)
    return write(conversation, "Prices need a script after install.", "package.json", packageJson);
  if (round === 2)
    return write(conversation, "And CI should run it.", ".github/workflows/test.yml", workflow);
  if (round === 3) return run(conversation, "Now the tests.", "echo 12 passed");
  return { text: "All tests pass now. I added a workflow so that they stay that way.", usage: tokens };
}

function searchStep(conversation: Conversation, round: number): Step {
  if (round === 0)
    return write(conversation, "The index is rebuilt on every request.", "src/search.js", search);
  if (round === 1) return run(conversation, "Let me measure it.", "echo 'median 4.1 ms'");
  return { fault: { kind: "hang" } };
}

/** By a command: the agent's own tool wants to read a file before it changes it. */
const write = (conversation: Conversation, text: string, file: string, content: string): Step =>
  run(conversation, text, `mkdir -p $(dirname ${file}) && cat > ${file} <<'END'\n${content}END`);
const run = (conversation: Conversation, text: string, command: string): Step => {
  const call = callToRun(conversation, command);
  return { text, calls: call ? [call] : [], usage: tokens };
};

const oldCart = `export function total(items) {
  let sum = 0;
  for (const item of items) sum += item.price;
  return sum;
}

export function label(items) {
  return items.length + " items";
}
`;
const cart = `/** Cents, so that nothing is lost to rounding. */
export function total(items) {
  let sum = 0;
  for (const { price, count = 1 } of items) sum += Math.round(price * 100) * count;
  return sum / 100;
}

export function label(items) {
  return items.length === 1 ? "1 item" : \`\${items.length} items\`;
}
`;
const packageJson = `{
  "name": "shop",
  "scripts": {
    "test": "node --test",
    "postinstall": "node scripts/fetch-prices.js"
  }
}
`;
const workflow = "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm test\n";
const search = "export const index = new Map();\n";

async function makeProject(daemon: TestDaemon, name: string): Promise<string> {
  const dir = join(daemon.scratch, name);
  mkdirSync(join(dir, "src"), { recursive: true });
  writeFileSync(join(dir, "README.md"), `# ${name}\n`);
  writeFileSync(
    join(dir, "package.json"),
    `{\n  "name": "${name}",\n  "scripts": { "test": "node --test" }\n}\n`,
  );
  writeFileSync(join(dir, "src/cart.js"), oldCart);
  const git = (...args: string[]) =>
    runProgram(["git", "-C", dir, "-c", "user.name=Pat Person", "-c", "user.email=pat@example.org", ...args]);
  await git("init", "-q", "-b", "main");
  await git("add", "-A");
  await git("commit", "-qm", "First");
  return dir;
}

export interface Scene extends AsyncDisposable {
  readonly daemon: TestDaemon;
  /** Boxes to show: one whose work is done, one at work, one with a shell. */
  readonly boxes: { readonly done: string; readonly busy: string; readonly shell: string };
}

export async function openScene(): Promise<Scene> {
  const missing = await whyNoAgent("claude");
  if (missing !== undefined) throw new Error(missing);
  const model = await startScriptedModel({ script: answer });
  const daemon = await startDaemon({ env: { [keyVariable]: "sk-for-pictures" } });
  const provider = `[model.providers.anthropic]\napi = "anthropic"\nbase_url = "${model.url}"\nkey_env = "${keyVariable}"\n`;
  const config = join(daemon.home, "config.toml");
  writeFileSync(config, provider, { mode: 0o600 });
  chownSync(config, statSync(daemon.home).uid, statSync(daemon.home).gid);
  await giveAgent(daemon, "claude", undefined);
  const boxes = { done: "shop-web-checkout", busy: "shop-api-search", shell: "shop-web-shell" };
  await fill(daemon, boxes);
  return {
    daemon,
    boxes,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

async function fill(daemon: TestDaemon, boxes: Scene["boxes"]): Promise<void> {
  const { client } = daemon;
  const shop = await makeProject(daemon, "shop");
  const blog = await makeProject(daemon, "blog");
  const task = (name: string, projectDir: string, text: string, budget = 2_000_000) =>
    client.createBox({
      name,
      projectDir,
      flags: { agent: { name: "claude" }, budget: { run: { usd: budget / 1e6 } } },
      run: { mode: "headless", task: text },
    });
  const plain = (name: string, projectDir: string, flags: Record<string, unknown> = {}) =>
    client.createBox({ name, projectDir, flags });
  await task(boxes.done, shop, "Make the checkout tests pass");
  await task(boxes.busy, shop, "Make search faster");
  await plain(boxes.shell, shop);
  await plain("shop-api-stock", shop, { network: { default: "ask" } });
  await plain("blog-theme-dark", blog);
  await plain("blog-comments", blog);
  const done = async () => (await client.getBox(boxes.done)).box.run?.verdict !== undefined;
  await waitFor("the work is done", done, 120_000);
  await waitFor(
    "the other is at work",
    async () => (await client.getBox(boxes.busy)).box.run?.state === "working",
    60_000,
  );
  await client.startSession(boxes.shell, {
    session: "shell",
    spec: { argv: ["sh", "-c", shellScript], terminal: true, cols: 100, rows: 30 },
  });
  // Asks for a host that is not allowed, and waits for the answer.
  await client.startSession("shop-api-stock", {
    session: "fetch",
    spec: {
      argv: [
        "sh",
        "-c",
        "curl -s --max-time 600 https://stock.example.com/prices; curl -s https://rates.example.org/; sleep 600",
      ],
      terminal: true,
      cols: 80,
      rows: 24,
    },
  });
  // Curves need a past.
  const samples = async () => (await client.getResources(boxes.busy)).samples.length;
  await waitFor("there is something to draw", async () => (await samples()) > 8, 120_000);
  await client.pauseBox("blog-theme-dark");
  await client.stopBox("blog-comments");
  await waitFor("a question waits", async () => (await client.listApprovals()).length > 0, 30_000);
}

const shellScript = String.raw`printf '\033[1;32magent@box\033[0m:\033[1;34m/workspace\033[0m$ git log --oneline\n'
git log --oneline | cat
printf '\033[1;32magent@box\033[0m:\033[1;34m/workspace\033[0m$ node --test\n'
printf '\033[32m✔\033[0m totals are exact \033[2m(0.41ms)\033[0m\n\033[32m✔\033[0m one item is not items \033[2m(0.08ms)\033[0m\n'
printf '\033[31m✖\033[0m discounts stack \033[2m(1.2ms)\033[0m\n\n\033[34mℹ\033[0m tests 3\n\033[34mℹ\033[0m pass 2\n\033[34mℹ\033[0m fail 1\n\n'
exec sh -i`;
