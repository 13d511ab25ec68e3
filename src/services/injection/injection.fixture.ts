/** A box with bindings and a source of values, for the tests of the injection. */
import { AgentBoxError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { SecretBinding, SecretDestination } from "../../contract/secret/binding.ts";
import { silentLogger } from "../../host/logger.ts";
import type { GateBox } from "../../ports/gate.ts";
import type { Injection, OutgoingRequest, Prepared, InjectionListener } from "../../ports/injection.ts";
import type { SecretValue } from "../../ports/vault.ts";
import { openInjection } from "./index.ts";
import { placeholderOf } from "./placeholder.ts";

export const box: GateBox = { name: "blue-fox", incarnation: "incarnation-1" };
export const canary = "s3cret/canary+value==0123456789";

export const destination = (
  as: SecretDestination["as"],
  more: Partial<SecretDestination> = {},
): SecretDestination => ({
  scheme: "https",
  host: { name: "api.example.org", isWildcard: false },
  port: 443,
  methods: [],
  paths: [],
  as,
  ...more,
});

export const binding = (
  destinations: SecretDestination | SecretDestination[],
  more: Partial<SecretBinding> = {},
): SecretBinding => ({
  name: "github",
  secret: "github-token",
  use: { kind: "inject", destinations: [destinations].flat() },
  env: ["GH_TOKEN"],
  prefix: "ghp_",
  isOrdered: false,
  ...more,
});

export const tokenOf = (one: SecretBinding, of: GateBox = box): string => placeholderOf(of, one).token;

export const request = (more: Partial<OutgoingRequest> = {}): OutgoingRequest => ({
  scheme: "https",
  host: "api.example.org",
  port: 443,
  method: "GET",
  path: "/user",
  headers: ["Accept", "*/*"],
  hasBody: false,
  isUpgrade: false,
  ...more,
});

export const secretValue = (bytes: string, kind: SecretValue["kind"] = "text"): SecretValue => ({
  kind,
  version: 1,
  bytes: Buffer.from(bytes, "latin1"),
});

export interface Setup {
  readonly injection: Injection;
  /** Asks, and takes note of how often the source was asked for a value. */
  readonly prepare: (more?: Partial<OutgoingRequest>) => Promise<Prepared>;
  readonly revealed: string[];
}

export function setUp(
  bindings: readonly SecretBinding[],
  {
    values = {},
    isGranted = true,
    nowMs,
  }: {
    values?: Record<string, SecretValue | Error>;
    isGranted?: boolean;
    nowMs?: number | undefined;
  } = {},
): Setup {
  const revealed: string[] = [];
  const reveal = async (secret: string): Promise<SecretValue> => {
    revealed.push(secret);
    const value = values[secret] ?? secretValue(canary);
    if (value instanceof Error) throw value;
    return value;
  };
  const listener: InjectionListener = {
    authorise: () => isGranted,
    reveal,
    revealAll: async (secret) => [await reveal(secret)],
  };
  const clock: Clock | undefined =
    nowMs === undefined
      ? undefined
      : { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => undefined };
  const injection = openInjection({ listener, logger: silentLogger, clock });
  injection.setBox(box, bindings);
  return {
    injection,
    revealed,
    prepare: async (more) => injection.prepare(box, request(more), new AbortController().signal),
  };
}

export const lockedVault = new AgentBoxError("vault.locked", "The vault is locked.", {
  hint: "Run: agentbox vault unlock",
});

/** The injection, or a failure of the test that says what came in its place. */
export function injected(prepared: Prepared): Extract<Prepared, { outcome: "inject" }> {
  if (prepared.outcome === "inject") return prepared;
  throw new AgentBoxError("internal.unexpected", `Not an injection: ${JSON.stringify(prepared)}`);
}
