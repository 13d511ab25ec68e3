/** One entry of `[secrets]` → what the box may do with the secret. Pure; the entry has passed its rules. */
import type { SecretEntry } from "../sections/secrets-section.ts";
import type {
  SecretBinding,
  SecretDestination,
  SecretUse,
  SshDestination,
} from "../../contract/secret/binding.ts";
import { parseSshHost, parseWebHost } from "../../contract/secret/secret-host.ts";
import { gitPaths, secretServices } from "../../contract/secret/services.ts";

const defaultUser = "x-access-token";
/** The two halves of a key; what stands in them decides nothing but which placeholder it is. */
const awsVariables: readonly string[] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

export type CompiledBinding = Omit<SecretBinding, "isOrdered">;

/** Undefined for an entry that breaks a rule, so that a check can go on and say which. */
export function compileBinding(name: string, entry: SecretEntry): CompiledBinding | undefined {
  const use = compileUse(entry);
  if (use === undefined) return undefined;
  const secret = entry.from?.slice("vault:".length) ?? name;
  const service = entry.service === undefined ? undefined : secretServices[entry.service];
  return {
    name,
    secret,
    use,
    env: use.kind === "inject" ? [...(service?.env ?? variablesOf(entry))] : [],
    prefix: service?.prefix ?? entry.placeholder_prefix ?? "",
  };
}

/** The variables an entry names itself. */
export const namedVariables = ({ env = [] }: SecretEntry): readonly string[] =>
  typeof env === "string" ? [env] : env;

const variablesOf = (entry: SecretEntry): readonly string[] =>
  entry.how === "aws" ? awsVariables : namedVariables(entry);

function compileUse(entry: SecretEntry): SecretUse | undefined {
  if (entry.service !== undefined)
    return { kind: "inject", destinations: [...secretServices[entry.service].destinations] };
  if (entry.how === "env") {
    const [variable] = namedVariables(entry);
    return variable === undefined ? undefined : { kind: "env", variable };
  }
  if (entry.how === "file") return entry.file === undefined ? undefined : { kind: "file", path: entry.file };
  return entry.how === "ssh" ? compileSsh(entry) : compileInjection(entry);
}

function compileSsh({ hosts = [], confirm = false }: SecretEntry): SecretUse | undefined {
  const destinations = hosts.map(parseSshHost).filter((host): host is SshDestination => !("problem" in host));
  return destinations.length === 0 || destinations.length < hosts.length
    ? undefined
    : { kind: "ssh", destinations, confirm };
}

function compileInjection(entry: SecretEntry): SecretUse | undefined {
  const { hosts = [], methods = [], paths = entry.how === "git" ? gitPaths : [] } = entry;
  const as = compileMethod(entry);
  if (as === undefined || hosts.length === 0) return undefined;
  // The same lists for every host; see overlap.ts.
  const limits = { methods: [...methods], paths: [...paths] };
  const destinations: SecretDestination[] = [];
  for (const text of hosts) {
    const host = parseWebHost(text);
    if ("problem" in host) return undefined;
    destinations.push({ ...host, ...limits, as });
  }
  return { kind: "inject", destinations };
}

function compileMethod({
  how,
  username,
  header,
  header_prefix,
  parameter,
}: SecretEntry): SecretDestination["as"] | undefined {
  if (how === "bearer" || how === "aws") return { kind: how };
  if (how === "basic" || how === "git") return { kind: "basic", username: username ?? defaultUser };
  if (how === "header" && header !== undefined)
    return { kind: "header", name: header, prefix: header_prefix ?? "" };
  return how === "query" && parameter !== undefined ? { kind: "query", name: parameter } : undefined;
}
