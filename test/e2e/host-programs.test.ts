/**
 * Programs of the host that have settings in /etc and write to /run, /var/log and /var/lib: they start in a box with the
 * settings that their packages brought.
 */
import { expect, it } from "vitest";
import { emptyBox, inBox, type Ground, onEachDaemon, shellInBox } from "../security/attack.ts";
import { noBrowser } from "../support/browser.ts";
import { hasProgram } from "../support/host-facts.ts";
import { itUnless } from "../support/skipping.ts";

const minutes = 60_000;

/** Each is started in the background, asked until it answers, and then asked once more for the answer. */
const servers = [
  {
    name: "nginx",
    needs: ["nginx", "curl"],
    start: "mkdir -p /var/www 2>/dev/null; nginx -g 'daemon off;'",
    // Its default site, of which a box has no files.
    ask: "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1/; cat /run/nginx.pid > /dev/null && echo ' pid'",
    answers: "404 pid\n",
  },
  {
    name: "redis",
    needs: ["redis-server", "redis-cli"],
    start: "redis-server",
    ask: "redis-cli set answer 42 && redis-cli get answer",
    answers: "OK\n42\n",
  },
  {
    name: "PostgreSQL",
    needs: ["psql"],
    start:
      "bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1); $bin/initdb -D ~/postgres && $bin/postgres -D ~/postgres",
    // By its socket in /var/run, as by default.
    ask: "psql -d postgres -tAc 'select 41 + 1'",
    answers: "42\n",
  },
  {
    name: "MariaDB",
    needs: ["mariadbd", "mariadb", "mariadb-install-db"],
    start: "mariadb-install-db --datadir=$HOME/mariadb && mariadbd --datadir=$HOME/mariadb",
    // Its client finds the socket in the settings of /etc/mysql.
    ask: "mariadb -N -e 'select 41 + 1'",
    answers: "42\n",
  },
] as const;

const page = `<!doctype html><p id=said>nothing</p>
<script>document.getElementById("said").textContent = "rendered " + 6 * 7;</script>`;

onEachDaemon("programs of the host in a box", (ground: Ground) => {
  for (const { name, needs, start, ask, answers } of servers) {
    const missing = needs.filter((program) => !hasProgram(program));
    const why = missing.length === 0 ? undefined : `not installed: ${missing.join(", ")}`;
    itUnless(why)(
      `${name} starts with its defaults and answers its client`,
      async () => {
        const { daemon } = ground;
        const box = await emptyBox(daemon, `server-${name.toLowerCase()}`);
        // The control: nothing answers before.
        expect((await shellInBox(daemon, box, ask)).stdout).not.toBe(answers);
        const { stdout } = await shellInBox(
          daemon,
          box,
          `(${start}) > /tmp/log 2>&1 &
           for i in $(seq 400); do
             answer=$(${ask} 2>/dev/null; echo .)
             [ "$answer" = '${answers}.' ] && break
             sleep 0.2
           done
           printf %s "\${answer%.}"; [ "$answer" = '${answers}.' ] || cat /tmp/log`,
        );
        expect(stdout).toBe(answers);
        expect((await daemon.cli(["rm", "--force", box])).code).toBe(0);
      },
      3 * minutes,
    );
  }

  itUnless(noBrowser)(
    "Chromium renders a page of a server in the box",
    async () => {
      const { daemon } = ground;
      const box = await emptyBox(daemon, "browses");
      const { stdout, stderr } = await shellInBox(
        daemon,
        box,
        `cat > /workspace/index.html <<'END'
${page}
END
         node -e 'require("node:http").createServer((q, a) => a.setHeader("content-type", "text/html").end(require("node:fs").readFileSync("/workspace/index.html"))).listen(8123, "127.0.0.1", () => console.error("listening"))' 2> /tmp/server &
         until grep -q listening /tmp/server; do sleep 0.1; done
         chromium --headless --no-sandbox --disable-gpu --disable-background-networking --dump-dom http://localhost:8123/`,
      );
      expect(stdout, stderr).toContain('<p id="said">rendered 42</p>');
    },
    3 * minutes,
  );

  it("finds fonts, manuals and the settings of editors where their packages put them", async () => {
    const { daemon } = ground;
    const box = await emptyBox(daemon, "settings");
    const { stdout } = await inBox(daemon, box, [
      "sh",
      "-c",
      `find /etc -type l ! -path '/etc/ssl/certs/*' | while read l; do [ -e "$l" ] || echo "dangling $l"; done
       for f in $(find -H /opt/agentbox/etc/ -type f); do cmp -s "$f" "/etc/\${f#/opt/agentbox/etc/}" || echo "not at its place: $f"; done
       for f in /etc/wgetrc /etc/vim/vimrc; do [ -r $f ] && echo "$f"; done
       for f in /etc/vim/vimrc /etc/wgetrc /etc/vim/new /opt/agentbox/etc/new; do echo x 2> /dev/null > $f && echo "wrote $f"; done
       true`,
    ]);
    expect(stdout).toBe("/etc/wgetrc\n/etc/vim/vimrc\n");
  });
});
