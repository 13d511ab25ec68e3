/**
 * Programs as people use them, unchanged: each reaches what is allowed and fails at what is not, whether it honours the
 * proxy variables or goes straight, and every refusal is on record.
 */
import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EgressRecord } from "../../src/contract/network/egress.ts";
import { hasProgram } from "../support/host-facts.ts";
import {
  makeAptSite,
  makeCargoSite,
  makeGitSite,
  makeGoSite,
  makeNpmSite,
  makePipSite,
} from "../support/internet-sites.ts";
import {
  type Server,
  startPostgres,
  startSshServer,
  whyNoPostgres,
  whyNoSshServer,
} from "../support/internet-servers.ts";
import { addresses } from "../support/network.ts";
import { boxOn, onNetwork, denialsDuring, run, script, withoutProxy } from "../support/network-ground.ts";
import { runProgram } from "../support/program.ts";
import { giveTo } from "../support/review.ts";

const box = "clients";

interface ClientCase {
  readonly name: string;
  readonly missing?: () => string | undefined;
  /** Prints `marker` when it has reached the host; run in a fresh directory. */
  readonly reach: (host: "allowed" | "denied") => string;
  readonly marker: RegExp;
  readonly deniedPort: number;
  /** Asks more than once by nature, so that a refusal is more than one decision. */
  readonly isPersistent?: boolean;
  /** The refusal that a user reads in the output of the program: the reason and the way out, unless it cannot show one. */
  readonly reads?: RegExp;
  /** The same where the program does not know of the proxy. */
  readonly readsDirectly?: RegExp;
}

const withReason =
  /AgentBox.{0,3}: No rule lets this box reach denied\.test:\d+\..*agentbox (?:net clients|policy explain)/s;

const needs = (program: string) => () => (hasProgram(program) ? undefined : `${program} is not installed`);
const pick = (host: "allowed" | "denied", allowed: string): string =>
  host === "allowed" ? allowed : "denied.test";
const internet = /the internet/;

const aptOptions = [
  "Dir::State=$PWD/state",
  "Dir::Cache=$PWD/cache",
  "Dir::Etc::sourcelist=$PWD/sources.list",
  "Dir::Etc::sourceparts=-",
  "Dir::State::status=/dev/null",
  "APT::Sandbox::User=''",
  "Acquire::Retries=0",
]
  .map((option) => `-o ${option}`)
  .join(" ");

const clients: readonly ClientCase[] = [
  {
    name: "curl",
    reach: (host) => `curl -sS --fail-with-body -m 10 https://${pick(host, "api.test")}/x`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "curl without encryption",
    reach: (host) => `curl -sS --fail-with-body -m 10 http://${pick(host, "api.test")}/x`,
    marker: internet,
    deniedPort: 80,
  },
  {
    name: "wget",
    missing: needs("wget"),
    reach: (host) => `wget -t 1 -T 10 -nv -O- https://${pick(host, "api.test")}/x`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "git over https",
    reach: (host) => `git clone -q https://${pick(host, "git.test")}/repo.git here && cat here/hello`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "git over ssh",
    missing: whyNoSshServer,
    reach: (host) =>
      `export GIT_SSH_COMMAND="ssh -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes -i /workspace/key";
       git clone -q ssh://root@${pick(host, "ssh.test")}$(cat /workspace/repository) here && cat here/hello`,
    marker: internet,
    deniedPort: 22,
  },
  {
    name: "node fetch",
    reach: (host) =>
      `node -e 'fetch("https://${pick(host, "api.test")}/x").then(async (r) => { console.log(await r.text()); process.exit(r.ok ? 0 : 1); })'`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "npm",
    missing: needs("npm"),
    reach: (host) =>
      `npm install --no-audit --no-fund --no-update-notifier --fetch-retries=0 --cache=$PWD/cache --registry=https://${pick(host, "npm.test")}/files/ hello-test && node -p 'require("hello-test")'`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "python urllib",
    missing: needs("python3"),
    reach: (host) =>
      `/usr/bin/python3 -c 'import urllib.request; print(urllib.request.urlopen("https://${pick(host, "api.test")}/x").read())'`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "pip",
    missing: needs("pip3"),
    reach: (host) =>
      `/usr/bin/python3 -m pip install -q --disable-pip-version-check --no-cache-dir --target lib --index-url https://${pick(host, "pip.test")}/files/simple/ hello-test && PYTHONPATH=lib /usr/bin/python3 -c 'import hello_test; print(hello_test.text)'`,
    marker: internet,
    deniedPort: 443,
    isPersistent: true,
    // It keeps an answer that is not from a proxy to itself.
    readsDirectly: /No matching distribution/,
  },
  {
    name: "apt",
    missing: needs("apt-get"),
    reach: (host) =>
      `mkdir -p state/lists/partial cache/archives/partial && echo 'deb [trusted=yes allow-insecure=yes] http://${pick(host, "apt.test")}/files/ ./' > sources.list && apt-get ${aptOptions} -q update && apt-get ${aptOptions} -q download hello-test && find . -name '*.deb'`,
    marker: /hello-test_1\.0\.0_all\.deb/,
    deniedPort: 80,
    isPersistent: true,
  },
  {
    name: "java",
    missing: needs("javac"),
    reach: (host) =>
      `java /workspace/Get.java https://${host === "allowed" ? "other.test" : "denied.test"}/x`,
    marker: internet,
    deniedPort: 443,
    isPersistent: true,
  },
  {
    name: "go",
    missing: needs("go"),
    reach: (host) => `/workspace/get-go https://${pick(host, "api.test")}/x`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "go modules",
    missing: needs("go"),
    reach: (host) =>
      `export GOPROXY=https://${pick(host, "api.test")}/files GONOSUMDB=* GOFLAGS=-mod=mod GOTOOLCHAIN=local GOPATH=$PWD/go HOME=$PWD && $(cat /workspace/go) list -m -versions hello.test/m`,
    marker: /^hello\.test\/m v1\.0\.0$/m,
    deniedPort: 443,
  },
  {
    name: "cargo",
    missing: needs("cargo"),
    reach: (host) =>
      `CARGO_HOME=$PWD /workspace/cargo search --index sparse+https://${pick(host, "api.test")}/files/ hello`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "gh",
    missing: needs("gh"),
    reach: (host) => `GH_TOKEN=none GH_HOST=${pick(host, "api.test")} gh api repos/hello/test`,
    marker: internet,
    deniedPort: 443,
  },
  {
    name: "psql",
    missing: whyNoPostgres,
    reach: (host) =>
      `$(cat /workspace/psql) -At -c 'select 6 * 7' "host=${pick(host, "postgres.test")} user=postgres dbname=postgres sslmode=disable gssencmode=disable connect_timeout=10"`,
    marker: /^42$/m,
    deniedPort: 5432,
  },
];

const javaProgram = `import java.net.URI; import java.net.http.*;
public class Get { public static void main(String[] args) throws Exception {
  HttpResponse<String> answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(args[0])).build(), HttpResponse.BodyHandlers.ofString());
  System.out.println(answer.body()); System.exit(answer.statusCode() == 200 ? 0 : 1); } }
`;
const goProgram = `package main
import ("fmt"; "io"; "net/http"; "os")
func main() { answer, err := http.Get(os.Args[1]); if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }
  text, _ := io.ReadAll(answer.Body); fmt.Println(string(text)); if answer.StatusCode != 200 { os.Exit(1) } }
`;

async function outputOf(argv: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(argv);
  if (code !== 0) throw new Error(`${argv.join(" ")} ended with ${code}: ${stderr}`);
  return stdout.trim();
}

/** The program itself: rustup's stands in its place and looks for it in a home that a box does not see. */
const realCargo = (): Promise<string> =>
  outputOf(["sh", "-c", 'rustup which cargo 2>/dev/null || readlink -f "$(command -v cargo)"']);

/** Programs that the box is given; what cannot be made here is skipped with its client. */
async function makePrograms(directory: string): Promise<void> {
  writeFileSync(join(directory, "Get.java"), javaProgram);
  if (hasProgram("cargo")) copyFileSync(await realCargo(), join(directory, "cargo"));
  if (!hasProgram("go")) return;
  writeFileSync(join(directory, "get.go"), goProgram);
  writeFileSync(join(directory, "go"), await outputOf(["sh", "-c", "command -v go"]));
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local" };
  const built = await runProgram(["go", "build", "-o", "get-go", "get.go"], {
    cwd: directory,
    env,
    timeoutMs: 120_000,
  });
  if (built.code !== 0) throw new Error(`go build failed: ${built.stderr}`);
}

onNetwork("clients", (ground) => {
  const servers: Server[] = [];
  beforeAll(async () => {
    // Where there is no network for tests, every case is skipped with that reason.
    if (process.getuid?.() !== 0) return;
    const { network, daemon } = ground;
    const repository = await makeGitSite(network.directory);
    await makeNpmSite(network.directory);
    await makePipSite(network.directory);
    await makeGoSite(network.directory);
    makeCargoSite(network.directory);
    if (hasProgram("dpkg-deb")) await makeAptSite(network.directory);
    const project = mkdtempSync(join(daemon.scratch, "tools-"));
    await makePrograms(project);
    writeFileSync(join(project, "repository"), repository);
    if (whyNoSshServer() === undefined) {
      const ssh = await startSshServer(network);
      servers.push(ssh);
      writeFileSync(join(project, "key"), ssh.key, { mode: 0o600 });
    }
    if (whyNoPostgres() === undefined) {
      const postgres = await startPostgres(network);
      servers.push(postgres);
      writeFileSync(join(project, "psql"), join(postgres.bin, "psql"));
    }
    copyFileSync(network.authority, join(project, "authority.pem"));
    await giveTo(daemon, project);
    const allow = [
      "api.test",
      "git.test",
      "npm.test",
      "pip.test",
      "apt.test",
      "ssh.test:22",
      "postgres.test:5432",
    ];
    const rules = [{ host: "other.test", inspect: true }];
    await boxOn(daemon, box, { allow, rules }, { workspace: { mode: "copy" } }, project);
  }, 120_000);

  afterAll(async () => {
    for (const server of servers) await server[Symbol.asyncDispose]();
  });

  const inFreshDirectory = (prefix: readonly string[], command: string) =>
    run(ground.daemon, box, [...prefix, "sh", "-c", `cd $(mktemp -d) && ${command}`], 60_000);
  const expectRefusal = (records: readonly EgressRecord[], client: ClientCase): void => {
    const refusal = { host: "denied.test", port: client.deniedPort, verdict: "deny", reason: "no_rule" };
    if (client.isPersistent !== true) expect(records).toHaveLength(1);
    for (const record of records) expect(record).toMatchObject(refusal);
  };

  describe.each(clients)("$name", (client) => {
    for (const [mode, prefix] of [
      ["with the proxy variables", []],
      ["without them", withoutProxy],
    ] as const) {
      it(`reaches what is allowed and nothing else, ${mode}`, async (ctx) => {
        const missing = client.missing?.();
        if (missing !== undefined) ctx.skip(missing);
        const { daemon, network } = ground;
        const reached = await inFreshDirectory(prefix, client.reach("allowed"));
        expect(reached.stdout, reached.stderr).toMatch(client.marker);
        expect(reached.code, reached.stderr).toBe(0);
        await network.forget();
        let refused = reached;
        const records = await denialsDuring(daemon, box, async () => {
          refused = await inFreshDirectory(prefix, client.reach("denied"));
        });
        expect(refused.code).not.toBe(0);
        expect(refused.stdout).not.toMatch(client.marker);
        const { reads = withReason, readsDirectly = reads } = client;
        expect(refused.stdout + refused.stderr).toMatch(prefix.length === 0 ? reads : readsDirectly);
        expectRefusal(records, client);
        expect(await network.arrivals()).toEqual([]);
      });
    }
  });

  it("has no other way: no interface but loopback, no route, and a raw address leads nowhere", async () => {
    const { daemon, network } = ground;
    const facts = await script<{ interfaces: string[]; routes: string; direct: string[] }>(
      daemon,
      box,
      `const net = require("node:net"), fs = require("node:fs");
       const dial = (host, port) => new Promise((done) => net.connect({ host, port, timeout: 2000 })
         .on("connect", function () { this.destroy(); done("connected"); })
         .on("timeout", function () { this.destroy(); done("none"); }).on("error", (error) => done(error.code)));
       Promise.all([dial("${addresses.web}", 80), dial("${addresses.web6}", 80), dial("${addresses.host}", 80), dial("${addresses.metadata}", 80)])
         .then((direct) => console.log(JSON.stringify({ interfaces: Object.keys(require("node:os").networkInterfaces()),
           routes: fs.readFileSync("/proc/net/route", "utf8"), direct })));`,
    );
    expect(facts.interfaces).toEqual(["lo"]);
    expect(facts.routes.trim().split("\n")).toHaveLength(1);
    // No route in words of each kernel; where a box has no IPv6, there is not even an address to come from.
    for (const outcome of facts.direct)
      expect(["ENETUNREACH", "EHOSTUNREACH", "EADDRNOTAVAIL"]).toContain(outcome);
    expect(await network.arrivals()).toEqual([]);
    // The control: the address answers on the host.
    expect((await network.onHost(["curl", "-sS", `http://${addresses.web}/x`])).code).toBe(0);
  });
});
