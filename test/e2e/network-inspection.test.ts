/** Requests that the gate reads: judged one by one over every version of HTTP, streamed, and explained when refused. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { asUserArgv } from "../support/host-facts.ts";
import { boxOn, expectDenied, onNetwork, recordsOf, run, script, shell } from "../support/network-ground.ts";
import { runProgram } from "../support/program.ts";
import { testRuntime } from "../support/test-runtime.ts";

const box = "inspected";

interface DenialBody {
  readonly error: string;
  readonly code: string;
  readonly by: string;
  readonly rule?: string;
  readonly reason: string;
  readonly message: string;
}

onNetwork(
  "inspection",
  (ground) => {
    it("lets a GET through and answers a POST itself, saying who and why", async () => {
      const { daemon, network } = ground;
      const get = await shell(
        daemon,
        box,
        "curl -sS -w '\\n%{http_code} %{ssl_verify_result}' https://api.test/open/x",
      );
      expect(get.stdout).toContain("the internet");
      expect(get.stdout).toMatch(/\n200 0$/);
      await network.forget();
      await expectDenied(
        daemon,
        box,
        { host: "api.test", method: "POST", path: "/open/x", reason: "wrong_method" },
        async () => {
          const post = await shell(
            daemon,
            box,
            "curl -sS -w '\\n%{http_code} %{content_type}' -d data https://api.test/open/x",
          );
          const [body = "", facts] = post.stdout.trim().split(/\n(?=\d{3} )/);
          expect(facts).toBe("403 application/json");
          const denial = JSON.parse(body) as DenialBody;
          expect(denial).toMatchObject({
            code: "egress.denied",
            by: "AgentBox",
            reason: "wrong_method",
            box,
          });
          expect(denial.rule).toMatch(/rules\[0\]|rule/);
          expect(denial.error).toMatch(/^AgentBox: The rules for api\.test:443 do not allow this method\./);
        },
      );
      expect((await network.arrivals()).filter(({ kind }) => kind === "http")).toEqual([]);
    });

    it("says the same about a host that no rule names, also to a CONNECT", async () => {
      const { daemon } = ground;
      const plain = await shell(daemon, box, "curl -sS http://denied.test/x");
      expect(JSON.parse(plain.stdout)).toMatchObject({ by: "AgentBox", reason: "no_rule" });
      const connect = await shell(daemon, box, "curl -sS -v https://denied.test/x 2>&1");
      expect(connect.stdout).toMatch(/HTTP\/2 403/);
      expect(connect.stdout).toContain("AgentBox: No rule lets this box reach denied.test:443.");
      expect(connect.stdout).toMatch(/x-agentbox: denied/i);
    });

    it("speaks HTTP/2 with programs that do, and judges each request of a connection", async () => {
      const { daemon, network } = ground;
      const curl = "curl -sS --http2 -w '%{http_code} %{http_version}\\n'";
      const { stdout } = await shell(
        daemon,
        box,
        `${curl} -o /dev/null https://api.test/open/1 --next -sS --http2 -w '%{http_code} %{http_version}\\n' -o /dev/null https://api.test/closed --next -sS --http2 -w '%{http_code} %{http_version}\\n' -o /dev/null -d x https://api.test/open/2`,
      );
      expect(stdout.trim().split("\n")).toEqual(["200 2", "403 2", "403 2"]);
      const reached = (await network.arrivals()).flatMap((one) =>
        one.kind === "http" ? [`${one.method} ${one.url}`] : [],
      );
      expect(reached).toEqual(["GET /open/1"]);
    });

    it("carries WebSockets", async () => {
      const { daemon } = ground;
      const client = (path: string) => `const tls = require("node:tls"), net = require("node:net");
        const socket = net.connect(443, "api.test", () => {
          const secure = tls.connect({ socket, servername: "api.test" }, () => {
            secure.write("GET ${path} HTTP/1.1\\r\\nHost: api.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n");
            const masked = Buffer.from("hello").map((byte) => byte);
            const frame = Buffer.concat([Buffer.from([0x81, 0x85, 0, 0, 0, 0]), masked]);
            let text = ""; secure.on("data", (chunk) => { text += chunk.toString("latin1");
              if (text.includes("101") && !secure.sent) { secure.sent = true; secure.write(frame); }
              if (text.includes("echo hello")) { console.log(JSON.stringify("echo")); process.exit(0); } });
            secure.on("close", () => { console.log(JSON.stringify(text.slice(9, 12))); process.exit(0); });
          }).on("error", (error) => { console.log(JSON.stringify(error.message)); process.exit(0); });
        });
        setTimeout(() => { console.log(JSON.stringify("late")); process.exit(0); }, 8000);`;
      expect(await script<string>(daemon, box, client("/open/socket"))).toBe("echo");
      expect(await script<string>(daemon, box, client("/closed/socket"))).toBe("403");
    });

    it("streams: the first bytes arrive while the last are not there yet, and large bodies pass whole", async () => {
      const { daemon, network } = ground;
      const slow = await shell(
        daemon,
        box,
        "curl -sSN -m 20 https://api.test/open/../slow --path-as-is; curl -sSN -m 20 https://api.test/slow | head -c 6",
      );
      expect(slow.stdout).toContain(".\n.\n.\n");
      const bytes = 160 * 1024 * 1024;
      const before = rssOf(daemon.pid);
      const up = await shell(
        daemon,
        box,
        `head -c ${bytes} /dev/zero | curl -sS -X PUT -T - https://other.test/upload`,
        150_000,
      );
      expect(up.stdout).toContain(`"bodyBytes":${bytes}`);
      expect(rssOf(daemon.pid) - before).toBeLessThan(bytes / 2);
      const [record] = (await recordsOf(daemon, box, "other.test")).slice(-1);
      expect(record).toMatchObject({ method: "PUT", path: "/upload", status: 200 });
      expect(record?.bytesOut).toBeGreaterThanOrEqual(bytes);
      expect((await network.arrivals()).length).toBeGreaterThan(0);
    }, 180_000);

    it("is trusted by what the programs of a box are linked with", async () => {
      const { daemon } = ground;
      const url = "https://api.test/open/x";
      const programs: Record<string, readonly string[]> = {
        curl: ["curl", "-sSf", url],
        "curl with nothing in its environment": ["env", "-i", "curl", "-sSf", url],
        openssl: [
          "sh",
          "-c",
          "echo | openssl s_client -connect api.test:443 -servername api.test -verify_return_error -brief 2>&1",
        ],
        node: ["node", "-e", `fetch("${url}").then((r) => r.text()).then(console.log)`],
        python: [
          "/usr/bin/python3",
          "-c",
          `import urllib.request; print(urllib.request.urlopen("${url}").read())`,
        ],
        git: ["sh", "-c", "git ls-remote https://api.test/open/none.git 2>&1; true"],
      };
      for (const [name, argv] of Object.entries(programs)) {
        const { stdout, stderr } = await run(daemon, box, argv);
        expect(stdout + stderr, name).toMatch(/the internet|Verification: OK|not found|not valid/);
        expect(stdout + stderr, name).not.toMatch(
          /self.signed|unable to get local issuer|certificate verify failed/i,
        );
      }
    });

    it("does not trust a server that the host does not trust", async () => {
      const { daemon, network } = ground;
      // api.test's certificate is served for every name; this one is not in it.
      await network.setNames({ "x.flip.test": [["198.51.100.10"]] });
      const { stdout } = await shell(daemon, box, "curl -sS https://x.flip.test/open/x");
      expect(stdout).toContain("AgentBox");
      expect(stdout).not.toContain("the internet");
    });

    it("keeps the authority's key to itself", async () => {
      const { daemon } = ground;
      const directory = join(daemon.home, "ca");
      const key = join(directory, "ca.key");
      expect(statSync(key).mode & 0o777).toBe(0o600);
      expect(statSync(key).uid).toBe(testRuntime?.user?.uid ?? 0);
      const stranger = await runProgram([...asUserArgv({ uid: 64_222, gid: 64_222 }), "cat", key]);
      expect(stranger.code).not.toBe(0);
      // Neither the file nor its text is anywhere in the box; the certificate is, as the control.
      const text = readFileSync(key, "utf8").split("\n")[1] ?? "";
      const certificate = readFileSync(join(directory, "ca.pem"), "utf8").split("\n")[1] ?? "";
      expect(text.length).toBeGreaterThan(30);
      const search = (what: string) =>
        shell(
          daemon,
          box,
          `grep -rlF --include='*' -e '${what}' /etc /run /home /workspace /tmp /var 2>/dev/null`,
        );
      expect((await search(text)).stdout).toBe("");
      expect((await search(certificate)).stdout).toContain("/etc/ssl/certs/ca-certificates.crt");
      const modes = readdirSync(directory).filter(
        (file) => (statSync(join(directory, file)).mode & 0o022) !== 0,
      );
      expect(modes).toEqual([]);
    });
  },
  {
    prepare: ({ daemon }) =>
      boxOn(daemon, box, {
        rules: [
          { host: "api.test", methods: ["GET"], paths: ["/open/**", "/slow"] },
          { host: "other.test", inspect: true },
          { host: "*.flip.test", inspect: true },
        ],
      }),
  },
);

/** Memory of a process in bytes. */
const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
