/**
 * The desktop's keyring (Secret Service), through the program secret-tool: the master key lies there and not in a file,
 * and is open for as long as the person is signed in.
 */
import { AgentBoxError, systemCode } from "../../base/errors.ts";
import { type RunResult, run } from "../../host/run.ts";

/** Keeps keys by their ids. */
export interface Keyring {
  find(id: string): Promise<Buffer | undefined>;
  store(id: string, key: Buffer): Promise<void>;
  remove(id: string): Promise<void>;
}

export function openSecretTool(env: NodeJS.ProcessEnv): Keyring {
  const attributes = (id: string) => ["service", "agentbox-vault", "key", id];

  async function ask(argv: readonly string[], stdin = ""): Promise<RunResult> {
    let result: RunResult;
    try {
      // SECURITY: the key goes by stdin and stdout; arguments can be read by every user of the host.
      result = await run(["secret-tool", ...argv], { env, stdin, timeoutMs: 60_000, isStrict: true });
    } catch (error) {
      throw unavailable(
        systemCode(error) === "ENOENT"
          ? "the program secret-tool is not installed"
          : `secret-tool cannot be started (${systemCode(error)})`,
      );
    }
    if (result.timedOut) throw unavailable("it does not answer, or it is locked");
    // It ends with 1 both for "no such key" and for a failure, but says a word only about a failure.
    const reason = result.stderr.trim().split("\n").at(-1) ?? "";
    if (result.code !== 0 && (reason !== "" || argv[0] === "store"))
      throw unavailable(reason || "it refused the key");
    return result;
  }

  return {
    async find(id) {
      const { stdout } = await ask(["lookup", ...attributes(id)]);
      return stdout === "" ? undefined : Buffer.from(stdout.trim(), "base64");
    },
    async store(id, key) {
      await ask(["store", "--label=AgentBox vault", ...attributes(id)], key.toString("base64"));
    },
    async remove(id) {
      await ask(["clear", ...attributes(id)]);
    },
  };
}

const unavailable = (problem: string): AgentBoxError =>
  new AgentBoxError("vault.failed", `The keyring cannot be used: ${problem}.`, {
    hint: "It needs libsecret-tools and a signed-in desktop session; elsewhere use: agentbox vault rekey --to passphrase",
  });
