/**
 * Real programs use a secret that their box does not have: git, gh, npm, curl and an S3 client, with no set-up. Then the
 * secret is looked for in memory, environments, files, screens, logs, events and crash dumps, and is not there.
 */
import { beforeAll, expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import {
  coreLimitOf,
  searchBoxFiles,
  searchDisk,
  searchProcesses,
  searchWords,
} from "../support/canary-search.ts";
import { hasProgram } from "../support/host-facts.ts";
import { makeCodeSite } from "../support/internet-sites.ts";
import { shell } from "../support/network-ground.ts";
import { runProgram } from "../support/program.ts";
import { itUnless } from "../support/skipping.ts";
import { disksOf, testRuntime } from "../support/test-runtime.ts";
import {
  boxOf,
  entry,
  grant,
  makeCanary,
  mirrorEntry,
  onVault,
  receiptsOf,
  requestsTo,
  setSecret,
} from "../support/vault-ground.ts";

const box = "working";
const held = makeCanary();
let repository = "";

const manifest = [
  entry("code", "code.test", 'how = "git"\npaths = ["/repo.git/**"]'),
  entry("api", "code.test", 'how = "bearer"\npaths = ["/api/**"]\nenv = "GH_ENTERPRISE_TOKEN"'),
  entry("registry", "packages.test", 'how = "bearer"\nenv = "NPM_TOKEN"'),
  entry(
    "header",
    "keys.test",
    'how = "header"\nheader = "X-Api-Key"\nheader_prefix = "Key "\npaths = ["/header"]',
  ),
  entry("query", "keys.test", 'how = "query"\nparameter = "key"\npaths = ["/query"]\nenv = "QUERY_KEY"'),
  entry("basic", "keys.test", 'how = "basic"\nusername = "me"\npaths = ["/basic"]\nenv = "BASIC_PASSWORD"'),
  mirrorEntry,
  entry("clear", "http://mirror.test:80", 'how = "bearer"'),
  '[secrets.storage]\nhow = "aws"\nhosts = ["bucket.test"]\n',
].join("");

// Programs started from here may leave dumps, unless they turn that off.
beforeAll(() => runProgram(["prlimit", "--pid", String(process.pid), "--core=unlimited:unlimited"]));

const unlessInstalled = (program: string) =>
  itUnless(hasProgram(program) ? undefined : `${program} is not installed`);

onVault(
  "programs with a secret",
  (ground) => {
    const succeeds = async (script: string): Promise<string> => {
      const { code, stdout, stderr } = await shell(ground.daemon, box, script, 60_000);
      expect(code, `${script}\n${stdout}${stderr}`).toBe(0);
      return stdout;
    };

    it("git clones and pushes over https, with no set-up", async () => {
      const { daemon } = ground;
      const script = `cd $(mktemp -d) && git clone -q https://code.test/repo.git here && cd here && cat hello
        git config user.name Agent && git config user.email agent@box.test && echo pushed > new
        git add new && git commit -qm New && git push -q origin HEAD:refs/heads/from-box && git config --list --show-origin`;
      const said = await succeeds(script);
      expect(said).toContain("hello from the internet");
      expect(said).not.toMatch(/credential|extraheader/i);
      const pushed = await runProgram(["git", "--git-dir", repository, "show", "from-box:new"]);
      expect(pushed.stdout).toBe("pushed\n");
      for (const record of await receiptsOf(daemon, box, 4, "code.test"))
        expect(record).toMatchObject({ verdict: "allow", secret: "token", isInjected: true, status: 200 });
      // The same repository without the secret, as the control: the server does want it.
      const plain = await boxOf(daemon, "plain", '[network]\nallow = ["code.test"]\n');
      const refused = await shell(
        daemon,
        plain,
        "GIT_TERMINAL_PROMPT=0 git ls-remote https://code.test/repo.git",
      );
      expect(refused.code).not.toBe(0);
    });

    unlessInstalled("gh")("gh calls the API of its host", async () => {
      const gh = "GH_HOST=code.test GH_NO_UPDATE_NOTIFIER=1 gh";
      expect(JSON.parse(await succeeds(`${gh} api user`))).toMatchObject({ login: "octocat" });
      const posted = await succeeds(`${gh} api repos/me/repo/issues -f title=hello -f body=world`);
      expect(JSON.parse(posted)).toMatchObject({ method: "POST", path: "/api/v3/repos/me/repo/issues" });
      const [request] = (await requestsTo(ground, "code.test")).slice(-1);
      expect(request?.headers["authorization"]).toBe(`Bearer ${ground.canary}`);
    });

    unlessInstalled("npm")("npm publishes to a registry", async () => {
      const said = await succeeds(`mkdir -p ~/package && cd ~/package
        echo '{"name":"@acme/from-box","version":"1.0.0"}' > package.json
        printf '//packages.test/:_authToken=\${NPM_TOKEN}\\nregistry=https://packages.test/\\nupdate-notifier=false\\n' > .npmrc
        npm whoami && npm publish --access public 2>&1 && npm view @acme/from-box version`);
      expect(said).toMatch(/^publisher\n/);
      expect(said).toContain("+ @acme/from-box@1.0.0");
      expect(said).toMatch(/\n1\.0\.0\n$/);
      const put = (await requestsTo(ground, "packages.test")).find(({ method }) => method === "PUT");
      expect(put?.headers["authorization"]).toBe(`Bearer ${ground.canary}`);
    });

    it("an S3 client puts and gets, signed again with the real key", async () => {
      const { daemon, aws } = ground;
      const curl = `curl -sS --fail-with-body --aws-sigv4 aws:amz:eu-west-1:s3 --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"`;
      const got = await succeeds(`cd $(mktemp -d) && echo 'an object' > object
        ${curl} -X PUT --data-binary @object https://bucket.test/dir/object >&2
        ${curl} -T object -H "x-amz-content-sha256: UNSIGNED-PAYLOAD" https://bucket.test/dir/streamed >&2
        ${curl} https://bucket.test/dir/object; ${curl} https://bucket.test/dir/streamed`);
      expect(got).toBe("an object\nan object\n");
      const sent = await requestsTo(ground, "bucket.test");
      expect(sent.map(({ method }) => method)).toEqual(["PUT", "PUT", "GET", "GET"]);
      for (const { headers } of sent)
        expect(headers["authorization"]).toContain(`Credential=${aws.accessKeyId}/`);
      expect(await receiptsOf(daemon, box, 4, "bucket.test")).toMatchObject(
        ["PUT", "PUT", "GET", "GET"].map((method) => ({
          method,
          secret: "storage",
          isInjected: true,
          status: 200,
        })),
      );
    });

    it("curl with a header, a query, basic authentication and in the clear, with a placeholder or without", async () => {
      const curl = "curl -sS --fail-with-body";
      for (const [path, args] of [
        ["/header", ""],
        ["/query", ""],
        ["/query", "?key=$QUERY_KEY"],
        ["/query", "?page=2&key=$QUERY_KEY&x=1"],
        ["/basic", ""],
        ["/basic", '" -u "me:$BASIC_PASSWORD'],
      ])
        expect(await succeeds(`${curl} "https://keys.test${path}${args}"`)).toContain(`"welcome":"${path}"`);
      const clear = await succeeds(`${curl} http://mirror.test/echo`);
      expect(clear).toMatch(/\*{20,}[\s\S]*the end/);
      const sent = await requestsTo(ground, "mirror.test");
      expect(sent[0]?.headers["authorization"]).toBe(`Bearer ${ground.canary}`);
    });

    it("is in no memory, environment or file of the box, nor on a screen, in a log, an event or a record", async () => {
      const { daemon, canary, aws } = ground;
      // A program that has used it goes on, with every answer still in its hands; another crashes.
      const client = `const kept = []; for (const url of ["https://mirror.test/echo", "https://mirror.test/headers", "http://mirror.test/echo",
        "https://mirror.test/error", "https://mirror.test/packed/gzip", "https://keys.test/header"]) { const answer = await fetch(url);
        kept.push([...answer.headers], await answer.text()); } globalThis.kept = kept; console.log("kept " + kept.length);`;
      const loud = `GIT_TRACE_CURL=1 GIT_TRACE_CURL_NO_DATA=0 git ls-remote https://code.test/repo.git; curl -sv https://mirror.test/headers;
        ulimit -c unlimited; cd ~; node --input-type=module -e '${client} process.abort()';
        node --input-type=module -e '${client} setInterval(() => kept, 1000)'`;
      const spec = { argv: ["sh", "-c", loud], terminal: true, cols: 120, rows: 40 };
      await daemon.client.startSession(box, { session: "work", spec });
      const screen = await waitFor(
        "the programs have used it",
        async () => {
          const { stdout } = await daemon.cli(["logs", box, "--source", "work"]);
          return stdout.split("kept 12").length > 2 ? stdout : undefined;
        },
        30_000,
      );
      expect(screen).toMatch(/refs\/heads\/main/);
      expect(screen).toMatch(/\*{20,}/);
      const values = [canary, aws.secretAccessKey] as const;
      expect(screen).not.toContain(canary);
      const processes = searchProcesses(daemon.home, ...values);
      expect(processes.found).toEqual([]);
      expect(processes.bytes).toBeGreaterThan(50 * 1024 * 1024);
      const disks = await disksOf(daemon.home);
      for (const search of [
        ...disks.map((disk) => searchDisk(disk, ...values)),
        searchBoxFiles(daemon.home, ...values),
        await searchWords(daemon, box, ...values),
      ]) {
        expect(search.found).toEqual([]);
        expect(search.searched).toBeGreaterThan(10);
      }
      // The control: words of the program that crashed are in its log and, where the kernel wrote one, in its dump.
      const words = searchDisk(daemon.home, "kept 12").found;
      expect(words.some((where) => where.includes("/logs/"))).toBe(true);
      const { stdout: dump } = await shell(daemon, box, "find ~ -maxdepth 1 -name 'core*'");
      expect(words.some((where) => where.includes("/home/core"))).toBe(dump !== "");
      // The daemon itself, which does have it, leaves no dump behind, although this process would.
      expect(coreLimitOf(process.pid)).toBe("unlimited");
      expect(Number(coreLimitOf(daemon.pid))).toBeLessThanOrEqual(1);
    }, 90_000);

    it("and the same search finds one that the box does hold: there, and on no disk", async () => {
      const { daemon } = ground;
      await setSecret(daemon, "held", held);
      const project = '[secrets.held]\nhow = "env"\nenv = "HELD"\n';
      await expect(boxOf(daemon, "holding", project)).rejects.toThrow(/secret/);
      await grant(daemon, "held", "holding");
      await daemon.client.startBox("holding");
      const script =
        'printf %s "copied $HELD" > /tmp/copy; printf %s "$HELD" | base64 -w0 > /dev/shm/copy; exec sleep 300';
      const spec = { argv: ["sh", "-c", script], terminal: true, cols: 80, rows: 24 };
      await daemon.client.startSession("holding", { session: "holder", spec });
      await waitFor(
        "it is copied",
        async () => (await shell(daemon, "holding", "cat /dev/shm/copy")).stdout !== "",
      );
      const { found } = searchProcesses(daemon.home, held);
      const files = searchBoxFiles(daemon.home, `copied ${held}`).found;
      if (testRuntime?.name === "gvisor") {
        // The host sees neither its processes nor its files, but the memory that all of them are in.
        expect(found.some((where) => /^memory of \d+ \(runsc-sandbox/.test(where))).toBe(true);
        expect(files.some((where) => where.startsWith("files in memory of"))).toBe(true);
      } else {
        expect(found.some((where) => /^environ of \d+ \(sleep/.test(where))).toBe(true);
        expect(found.some((where) => /^memory of \d+ \(sleep/.test(where))).toBe(true);
        expect(files.some((where) => where.endsWith("/tmp/copy"))).toBe(true);
        const encoded = searchBoxFiles(daemon.home, held).found;
        expect(encoded.some((where) => where.endsWith("/dev/shm/copy"))).toBe(true);
      }
      for (const disk of await disksOf(daemon.home)) expect(searchDisk(disk, held).found).toEqual([]);
      expect((await searchWords(daemon, "holding", held)).found).toEqual([]);
      // The log keeps a person's own output: this search sees, too.
      const shown = { argv: ["sh", "-c", "echo $HELD"], terminal: true, cols: 200, rows: 10 };
      await daemon.client.startSession("holding", { session: "main", spec: shown }).catch(() => undefined);
      await shell(daemon, "holding", 'printf %s "$HELD" > ~/printed');
      expect(searchDisk(daemon.home, held).found.some((where) => where.endsWith("/printed"))).toBe(true);
    });
  },
  {
    async prepare(ground) {
      repository = await makeCodeSite(ground.network.directory);
      await boxOf(ground.daemon, box, manifest);
      await grant(ground.daemon, "token", box);
      await grant(ground.daemon, "storage", box);
    },
  },
);
