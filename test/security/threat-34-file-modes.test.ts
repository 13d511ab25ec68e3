/**
 * Threat 34: state that other users of the host can read. After a busy session every file below AGENTBOX_HOME has the
 * owner and mode it should, and a stranger reads nothing, connects nowhere and sees no names.
 */
import { chownSync, lstatSync, mkdtempSync, readdirSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { asUserArgv, hasProgram, isRoot, ordinaryUser } from "../support/host-facts.ts";
import { runProgram } from "../support/program.ts";
import { chownTree, emptyBox, type Ground, inBox, onEachDaemon, shellInBox } from "./attack.ts";

/** A stranger here: neither the daemon's user, nor a box's, nor in a group of theirs. */
const stranger = { uid: 54_321, gid: 54_321 };

interface Found {
  readonly path: string;
  readonly stat: Stats;
}

function walk(directory: string, root = directory): Found[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    const found = { path: relative(root, path), stat: lstatSync(path) };
    // Below a box's home and workspace everything is the box's own; the door is what counts.
    const isDoor = /^boxes\/[^/]+\/data\/(home|workspace)$/.test(found.path);
    return entry.isDirectory() && !isDoor ? [found, ...walk(path, root)] : [found];
  });
}

/** Certificates are made to be shown; the key that signs them is not among them. */
const isPublic = (path: string): boolean => /^ca\/(bundle\.pem|ca\.pem|java-cacerts)$/.test(path);

/**
 * The files that a container reads through mounts, the same for every box; the directory that they lie in is closed.
 */
const isGenerated = (path: string): boolean =>
  /^boxes\/[^/]+\/runtime\/engine\.(etc\/[^/]+|seccomp\.json)$/.test(path);

/** Copies of what packages have in the host's /etc, where all users read it. */
const isStagedEtc = (path: string): boolean => /^boxes\/\.etc-[0-9a-f]{16}(\/|$)/.test(path);

const asStranger = (argv: readonly string[]) => runProgram([...asUserArgv(stranger), ...argv]);

const cases = (ground: Ground): void => {
  const boxUser = async () => (await ground.daemon.client.getBox("modes-box")).box.owner.uid;
  const daemonUser = () => (ground.isRootDaemon || !isRoot ? process.getuid!() : ordinaryUser.uid);

  it("belongs to the daemon's user, but for what a box must own", async () => {
    const boxOwner = await boxUser();
    const found = walk(ground.daemon.home);
    // The control: the session has left something to look at.
    const paths = found.map(({ path }) => path);
    expect(paths).toEqual(
      expect.arrayContaining([
        "state.db",
        "daemon.sock",
        "daemon.lock",
        "logs",
        "boxes/modes-box/link/link.sock",
      ]),
    );
    expect(paths.some((path) => path.startsWith("boxes/modes-box/logs/"))).toBe(true);
    for (const { path, stat } of found) {
      const isBoxOwned = /^boxes\/modes-[a-z]+\/(data\/(home|workspace)|link\/(link\.sock|box\.json))$/.test(
        path,
      );
      if (!path.startsWith("boxes/modes-other"))
        expect({ path, uid: stat.uid }).toEqual({ path, uid: isBoxOwned ? boxOwner : daemonUser() });
      expect(stat.isSymbolicLink() && !isStagedEtc(path), path).toBe(false);
    }
  });

  it("is open to nobody else, but for passing through and the programs a box runs", () => {
    for (const { path, stat } of walk(ground.daemon.home)) {
      if (stat.isSymbolicLink()) continue;
      const others = stat.mode & 0o077;
      expect({ path, written: others & 0o022 }).toEqual({ path, written: 0 });
      expect({ path, special: stat.mode & 0o6000 }).toEqual({ path, special: 0 });
      // Programs, the same for all users; for a person's daemon they lie behind a closed door.
      if (path.startsWith("tools/") || isPublic(path) || isGenerated(path) || isStagedEtc(path)) continue;
      if (ground.isRootDaemon && /^boxes\/[^/]+\/link$/.test(path)) continue;
      // A root daemon's boxes have other users, which pass through these directories and cannot list them.
      const isPassage =
        ground.isRootDaemon && stat.isDirectory() && /^(tools|ca|boxes(\/[^/]+(\/data)?)?)$/.test(path);
      expect({ path, mode: others.toString(8) }).toEqual({ path, mode: isPassage ? "11" : "0" });
    }
    const root = lstatSync(ground.daemon.home).mode & 0o777;
    expect(root).toBe(ground.isRootDaemon ? 0o711 : 0o700);
  });

  it("shows a stranger nothing, while its owner reads all of it", async (ctx) => {
    if (!isRoot) ctx.skip("only root can become another user");
    if (!hasProgram("setpriv")) ctx.skip("setpriv is not installed");
    const { daemon, isRootDaemon } = ground;
    const found = walk(daemon.home);
    const owner = isRootDaemon ? [] : asUserArgv(ordinaryUser);
    const files = found
      .filter(
        ({ stat, path }) =>
          stat.isFile() &&
          !(isRootDaemon && (path.startsWith("tools/") || isPublic(path) || isStagedEtc(path))),
      )
      .map(({ path }) => join(daemon.home, path));
    expect(files.length).toBeGreaterThan(5);
    const script = 'for f in "$@"; do head -c 1 "$f" > /dev/null 2>&1 && echo "$f"; done; true';
    const readable = await runProgram([...owner, "sh", "-c", script, "sh", ...files]);
    expect(readable.stdout.trim().split("\n")).toEqual(files);
    expect((await asStranger(["sh", "-c", script, "sh", ...files])).stdout).toBe("");

    // Nor names: where a stranger may pass, there is nothing to list.
    const { stdout } = await asStranger(["find", daemon.home, "-mindepth", "1"]);
    expect(stdout).toBe("");
    for (const path of ["data/home", "data/workspace", "runtime", "logs"]) {
      const { code } = await asStranger(["ls", join(daemon.home, "boxes/modes-box", path)]);
      expect(code, path).not.toBe(0);
    }
  });

  it("takes no connection from a stranger, on the daemon's socket or a box's", async (ctx) => {
    if (!isRoot) ctx.skip("only root can become another user");
    if (!hasProgram("setpriv")) ctx.skip("setpriv is not installed");
    const { daemon, isRootDaemon } = ground;
    const dial = `require("node:net").connect(process.argv[1]).on("connect", () => { console.log("connected"); process.exit(); })
      .on("error", (error) => console.log(error.code));`;
    for (const path of [daemon.socket, join(daemon.home, "boxes/modes-box/link/link.sock")]) {
      const owner = isRootDaemon ? [] : asUserArgv(ordinaryUser);
      expect((await runProgram([...owner, process.execPath, "-e", dial, path])).stdout).toBe("connected\n");
      expect((await asStranger([process.execPath, "-e", dial, path])).stdout, path).toBe("EACCES\n");
      // A box's user is such a stranger, too, to the daemon and to every other box.
      if (isRootDaemon) {
        const { owner: other } = (await daemon.client.getBox("modes-other")).box;
        const asBox = await runProgram([...asUserArgv(other), process.execPath, "-e", dial, path]);
        expect(asBox.stdout, path).toBe("EACCES\n");
      }
    }
  });

  it("leaves nothing readable in the places for temporary files", async (ctx) => {
    if (!isRoot) ctx.skip("only root can become another user");
    const { daemon } = ground;
    const since = lstatSync(join(daemon.home, "tools")).birthtime.toISOString();
    const search = async () =>
      // Files of the users concerned that are named after us, and that a stranger can read.
      (
        await asStranger(
          ["find", "/tmp", "/var/tmp", "/dev/shm", "-maxdepth", "2", "-newermt", since].concat(
            ["(", "-uid", String(await boxUser()), "-o", "-uid", String(daemonUser()), ")"],
            ["-type", "f", "-readable", "-iname", "*agentbox*"],
          ),
        )
      ).stdout;
    expect(await search()).toBe("");
    // The control: it would have been found.
    const planted = join("/tmp", `agentbox-planted-${process.pid}`);
    writeFileSync(planted, "x", { mode: 0o644 });
    chownSync(planted, daemonUser(), daemonUser());
    try {
      expect(await search()).toBe(`${planted}\n`);
    } finally {
      rmSync(planted);
    }
  });
};

onEachDaemon("files", cases, {
  /** A bit of everything that leaves files: services, sessions, commands, copies, trust, a restart and a crash. */
  async prepare(daemon) {
    const services = { web: { command: "echo service; sleep 300", restart: "no" } };
    await emptyBox(daemon, "modes-box", { services, env: { GIVEN: "secret" } });
    await emptyBox(daemon, "modes-other");
    await shellInBox(
      daemon,
      "modes-box",
      "echo private > /workspace/private; echo private > ~/private; umask 0; mkdir ~/open",
    );
    const spec = { argv: ["sh", "-c", "echo session"], terminal: true, cols: 80, rows: 24 };
    await daemon.client.startSession("modes-box", { session: "talk", spec });
    const source = mkdtempSync(join(daemon.scratch, "modes-"));
    writeFileSync(join(source, "file"), "x");
    if (isRoot) chownTree(source, { uid: lstatSync(daemon.home).uid, gid: lstatSync(daemon.home).gid });
    await daemon.cli(["cp", source, "modes-box:/workspace"]);
    await daemon.cli(["run", "shell", "--workspace", "empty", "--", "true"]);
    await daemon.cli(["restart", "modes-box"]);
    await daemon.client.startSession("modes-box", { session: "talk", spec }).catch(() => undefined);
    await inBox(daemon, "modes-box", ["true"]);
    await daemon.kill();
    await daemon.start();
    await inBox(daemon, "modes-box", ["true"]);
  },
});
