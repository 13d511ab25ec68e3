/**
 * Makes one harmless request for each destination of a binding, from inside the box and through its gate, and says what
 * became of the secret. The way is the box's own, so the answer is true for its programs, too.
 */
import { AgentBoxError } from "../../base/errors.ts";
import { omitUndefined } from "../../base/omit-undefined.ts";
import { portOf } from "../../base/url-address.ts";
import type { RouteBody } from "../../contract/api/routes.ts";
import type { SecretTest } from "../../contract/api/schemas/vault.ts";
import { type Box, boxPaths } from "../../contract/box.ts";
import type { EgressRecord } from "../../contract/network/egress.ts";
import type { SecretBinding, SecretDestination, SshDestination } from "../../contract/secret/binding.ts";
import type { Using } from "../using.ts";
import { execInBox } from "../exec/exec-in-box.ts";
import { getLink } from "../exec/run-in-box.ts";
import { isGranted } from "./authorise-use.ts";

const timeoutMs = 75_000;
/** SECURITY: the manifest names methods and paths; with another method than these a test would do what it names. */
const safeMethods: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/** Constant; method and address are arguments. Prints the status, or the reason for none. */
const script = `
const { request } = await import(process.argv[2].startsWith("https:") ? "node:https" : "node:http");
const call = request(process.argv[2], { method: process.argv[1] }, (answer) => {
  console.log(answer.statusCode);
  answer.destroy();
});
call.on("error", (error) => console.log(error.code ?? "failed"));
call.end();
`;

export async function testSecret(
  core: Using<"egressLog" | "getBox" | "live" | "secretGrants" | "store">,
  name: string,
  { name: secret, path }: RouteBody<"testSecret">,
): Promise<SecretTest[]> {
  const box = await core.getBox(name);
  const binding = findBinding(box, secret);
  if (binding.use.kind === "env" || binding.use.kind === "file") {
    const sentence = `The box holds ${binding.secret} itself; the gate has no part in it.`;
    return [{ url: "", method: "", isInjected: false, sentence }];
  }
  if (binding.use.kind === "ssh") {
    const [{ host, port, user }] = binding.use.destinations as [SshDestination, ...SshDestination[]];
    const where = `${port === 22 ? "" : `-p ${port} `}${user === undefined ? "" : `${user}@`}${host}`;
    const sentence = `Try it in the box: ssh -T ${where}; then: agentbox vault audit ${binding.secret}`;
    return [{ url: "", method: "", isInjected: false, sentence }];
  }
  if (!(await isGranted(core, box, binding))) {
    // Not sent, because the request would wait for an answer while its sender waits for the request.
    const sentence = `Nothing was sent: no person has agreed that ${box.name} uses ${binding.secret}. Agree: agentbox vault grant ${binding.secret} --box ${box.name}`;
    return binding.use.destinations.map((destination) => ({
      url: `${destination.scheme}://${destination.host.name}:${destination.port}`,
      method: "",
      isInjected: false,
      reason: "secret_not_granted",
      sentence,
    }));
  }
  const tests: SecretTest[] = [];
  for (const destination of binding.use.destinations)
    tests.push(await testDestination(core, box, binding, destination, path));
  return tests;
}

async function testDestination(
  core: Using<"egressLog" | "getBox" | "live" | "store">,
  box: Box,
  { secret }: SecretBinding,
  destination: SecretDestination,
  path: string | undefined,
): Promise<SecretTest> {
  const { methods } = destination;
  const method = methods.length === 0 ? "GET" : safeMethods.find((one) => methods.includes(one));
  const host = destination.host.isWildcard ? `agentbox-test.${destination.host.name}` : destination.host.name;
  const url = `${destination.scheme}://${host}:${destination.port}${path ?? examplePath(destination.paths)}`;
  if (method === undefined) {
    const sentence = `Nothing was sent: ${secret} is bound only to methods that change something (${methods.join(", ")}).`;
    return { url, method: methods[0]!, isInjected: false, sentence };
  }
  await core.egressLog.flush();
  const before = await latest(core, box);
  const { link } = await getLink(core, box.name);
  const { stdout } = await execInBox(link, {
    argv: [boxPaths.node, "--input-type=module", "-e", script, method, url],
    timeoutMs,
  });
  const record = await recordOf(core, box, { url: new URL(url), method, host, after: before?.id ?? 0 });
  const status = /^\d{3}$/.test(stdout.trim()) ? Number(stdout.trim()) : undefined;
  const isInjected = record?.isInjected === true;
  return {
    url,
    method,
    ...omitUndefined({ status }),
    isInjected,
    ...omitUndefined({ reason: record?.reason }),
    sentence: sentenceFor(secret, record, status),
  };
}

const latest = async (core: Using<"store">, box: Box): Promise<EgressRecord | undefined> =>
  (await core.ports.store.listEgress({ box: box.name, limit: 1, newestFirst: true }))[0];

/** Programs in the box go on meanwhile, so it is found by everything that was asked for. */
async function recordOf(
  core: Using<"egressLog" | "store">,
  box: Box,
  asked: { readonly url: URL; readonly method: string; readonly host: string; readonly after: number },
): Promise<EgressRecord | undefined> {
  const { url, method, host, after } = asked;
  await core.egressLog.flush();
  const records = await core.ports.store.listEgress({ box: box.name, host, after, limit: 100 });
  return records.findLast(
    (record) =>
      record.port === portOf(url) &&
      (record.path === undefined || (record.method === method && record.path.split("?")[0] === url.pathname)),
  );
}

function sentenceFor(secret: string, record: EgressRecord | undefined, status: number | undefined): string {
  if (record === undefined) return "No request reached the gate: the program in the box could not connect.";
  if (record.verdict === "deny") {
    const { reason = "no reason" } = record;
    if (reason === "unresolvable" || reason === "unreachable")
      return `The gate let it pass, and the server could not be reached (${reason}).`;
    return `The gate refused it: ${reason}. ${Object.hasOwn(wayOut, reason) ? wayOut[reason] : ""}`.trim();
  }
  if (record.isInjected !== true)
    return `The request passed without ${secret}: its method or path is not bound.`;
  if (status === 401 || status === 403)
    return `${secret} was put in, and the server refused it (${status}): is the value still good?`;
  return `${secret} was put in, and the server answered ${status ?? "nothing"}.`;
}

/** The way out. */
const wayOut: Readonly<Record<string, string>> = {
  secret_unavailable: "Is the vault locked, or the value gone? See: agentbox vault status",
  secret_unusable: "The value does not fit into a header: agentbox vault rotate NAME",
  not_approved: "No person agreed to reach the host: agentbox approvals",
};

/** A path that the pattern covers, for a request that asks for nothing in particular. */
function examplePath(patterns: readonly string[]): string {
  const [pattern] = patterns;
  if (pattern === undefined) return "/";
  const path = pattern.replaceAll("**", "agentbox/test").replaceAll("*", "test");
  return path.startsWith("/") ? path : `/${path}`;
}

function findBinding(box: Box, secret: string): SecretBinding {
  const found = box.spec.secrets.find((binding) => binding.name === secret || binding.secret === secret);
  if (found !== undefined) return found;
  const names = box.spec.secrets.map(({ name }) => name);
  throw new AgentBoxError("secret.not_found", `The box "${box.name}" asks for no secret "${secret}".`, {
    hint: names.length === 0 ? "Its manifest has no [secrets]." : `It asks for: ${names.join(", ")}.`,
  });
}
