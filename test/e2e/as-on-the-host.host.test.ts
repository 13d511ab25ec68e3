/**
 * "What a box has of your machine" in docs/boxes.md, row by row: each is looked up in a box that a person with settings of their
 * own has made. The settings that no box gets are there as well.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { waitFor } from "../../src/base/wait-for.ts";
import { chownTree, eventsOf, type Ground, onEachDaemon, shellInBox } from "../security/attack.ts";
import { hasProgram, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { itUnless } from "../support/skipping.ts";

const canary = "canary-of-the-person";
const settings = {
  TZ: "Asia/Tokyo",
  LANG: "C.UTF-8",
  LC_TIME: "C.UTF-8",
  COLORTERM: "truecolor",
  EDITOR: "vim -n",
  VISUAL: "/nowhere/editor",
  PAGER: "less",
  SECRET_OF_THE_PERSON: canary,
};

/** What each row of the table claims: a command in the box, and what it prints. */
const claims: Readonly<Record<string, { readonly script: string; readonly prints: RegExp }>> = {
  "programs below `/usr`": {
    script: "for p in git bash vim; do command -v $p; done",
    prints: /^(\/usr)?\/bin\/git\n.*bash\n.*vim\n$/,
  },
  "settings of packages in `/etc`": { script: "head -c 0 /etc/vim/vimrc && echo read", prints: /^read\n$/ },
  "files in `/etc` that you have edited, accounts, ssh, sudo": {
    script: "wc -l < /etc/passwd; ls /etc/ssh /etc/sudoers /etc/shadow 2> /dev/null; echo end",
    prints: /^3\nend\n$/,
  },
  "your home": { script: "ls -A $PERSON_HOME 2> /dev/null; echo end", prints: /^end\n$/ },
  "time zone": { script: "date +%Z; date -d @0 +%H", prints: /^JST\n09\n$/ },
  "language (`LANG`, `LC_ALL`, `LC_CTYPE`, `LC_MESSAGES`, `LC_TIME`)": {
    script: "echo $LANG $LC_TIME",
    prints: /^C\.UTF-8 C\.UTF-8\n$/,
  },
  "`TERM`, `COLORTERM`": { script: "echo $TERM $COLORTERM", prints: /^xterm-256color truecolor\n$/ },
  "`EDITOR`, `VISUAL`, `PAGER`": {
    script: "echo $EDITOR,$VISUAL,$PAGER",
    prints: /^vim -n,,less\n$/,
  },
  "your name and address in commits": {
    script:
      "cd $(mktemp -d) && git init -q && git commit -q --allow-empty -m x && git log --format='%an <%ae>' && git config user.name Own && git config user.name",
    prints: /^Ada "A" Person <ada@example\.com>\nOwn\n$/,
  },
  "signing keys, credential helpers, aliases": {
    script: "git config --list | grep -E 'signing|credential|alias|insteadof'; echo end",
    prints: /^end\n$/,
  },
  "other variables": { script: "env | grep -c -e SECRET_OF -e AGENTBOX_GIT; echo end", prints: /^0\nend\n$/ },
  "`/run`, `/var/run`, `/var/log`, `/var/lib`": {
    script: "for d in /run /var/run /var/log /var/lib; do echo x > $d/own && stat -f -c %T $d; done",
    prints: /^(tmpfs\n){4}$/,
  },
};

/** The rows of the table in the page, by their first column. */
function rowsOfThePage(): string[] {
  const page = readFileSync(join(import.meta.dirname, "../../docs/boxes.md"), "utf8");
  const section = page.split("\n## What a box has of your machine\n")[1]?.split("\n## ")[0] ?? "";
  const table = section.split("| of your machine | in a box |\n|---|---|\n")[1]?.split("\n\n")[0] ?? "";
  return table
    .trim()
    .split("\n")
    .map((line) => line.split(" | ")[0]!.replace(/^\| /, ""));
}

onEachDaemon("what a box has of a machine", (ground: Ground) => {
  it("is in the page, row by row", async () => {
    expect(rowsOfThePage()).toEqual(Object.keys(claims));
    const { daemon, isRootDaemon } = ground;
    const home = mkdtempSync(join(daemon.scratch, "person-"));
    mkdirSync(join(home, "project"));
    writeFileSync(join(home, "secret"), canary);
    writeFileSync(
      join(home, ".gitconfig"),
      `[user]\n\tname = Ada \\"A\\" Person\n\temail = ada@example.com\n\tsigningkey = ${canary}\n[credential]\n\thelper = store\n[alias]\n\tx = log\n`,
    );
    if (isRoot && !isRootDaemon) chownTree(home, ordinaryUser);
    const made = await daemon.cli(["create", "--name", "as-at-home", "--workspace", "empty"], {
      cwd: join(home, "project"),
      env: { ...settings, HOME: home },
    });
    expect(made.code, made.stderr).toBe(0);
    expect((await daemon.cli(["start", "as-at-home"])).code).toBe(0);
    for (const [row, { script, prints }] of Object.entries(claims)) {
      const { stdout, stderr } = await shellInBox(daemon, "as-at-home", `PERSON_HOME=${home}\n${script}`);
      expect(stdout, `${row}: ${stderr}`).toMatch(prints);
    }
    // The controls: outside, the program, the secret and the setting are there.
    expect(hasProgram("vim")).toBe(true);
    expect(readFileSync(join(home, "secret"), "utf8")).toBe(canary);
    const said = await daemon.cli(["inspect", "as-at-home", "--json"]);
    expect(said.stdout).not.toContain(canary);
  });

  const gyp = "/usr/lib/node_modules/npm/node_modules/node-gyp/bin/node-gyp.js";
  const headers = "/usr/include/node/node_version.h";
  const version = process.versions.node.split(".").map((part) => `_VERSION ${part}\n`);
  const text = (() => {
    try {
      return readFileSync(headers, "utf8");
    } catch {
      return "";
    }
  })();
  const why =
    process.execPath !== "/usr/bin/node" || !existsSync(gyp) || !version.every((line) => text.includes(line))
      ? "Node's headers are not beside it"
      : hasProgram("make") && hasProgram("c++")
        ? undefined
        : "there is no compiler";
  itUnless(why)(
    "builds native addons with the headers of the host's Node, and asks for none",
    async () => {
      const { daemon } = ground;
      await daemon.client.createBox({ name: "addons", flags: { workspace: { mode: "empty" } } });
      const { code, stdout, stderr } = await shellInBox(
        daemon,
        "addons",
        `set -e
         printf '{"name":"addon","version":"1.0.0"}' > package.json
         printf '{"targets":[{"target_name":"addon","sources":["addon.c"]}]}' > binding.gyp
         cat > addon.c <<'END'
#include <node_api.h>
static napi_value init(napi_env env, napi_value exports) {
  napi_value answer;
  napi_create_int32(env, 42, &answer);
  napi_set_named_property(env, exports, "answer", answer);
  return exports;
}
NAPI_MODULE(NODE_GYP_MODULE_NAME, init)
END
         node ${gyp} rebuild > log 2>&1 || { cat log; exit 1; }
         node -p 'require("./build/Release/addon.node").answer'`,
      );
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "42\n", stderr: "" });
      expect(await eventsOf(daemon, "egress.denied", "addons")).toEqual([]);
      // The control: without them, it asks the internet and fails.
      const control = `env -u npm_package_config_node_gyp_nodedir timeout 100 node ${gyp} rebuild`;
      expect((await shellInBox(daemon, "addons", control)).code).not.toBe(0);
      await waitFor(
        "the refusal is on record",
        async () => (await eventsOf(daemon, "egress.denied", "addons")).length > 0,
      );
    },
    180_000,
  );
});
