import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mountSystemFiles, systemTargetProblem } from "./system-files.ts";
import { readSystemLayout } from "./system-layout.ts";

/** Debian keeps one link for each certificate; they lead to /usr/share. */
const certificates = await readdir("/etc/ssl/certs", { withFileTypes: true }).catch(() => []);
const linked = certificates.find((entry) => entry.isSymbolicLink());

let dir: string;
let source: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "agentbox-files-"));
  source = join(dir, "ca.pem");
  await writeFile(source, "ours");
  await symlink(source, join(dir, "link.pem"));
  await mkdir(join(dir, "sub"));
});
afterAll(() => rm(dir, { recursive: true }));

describe("targets", () => {
  it.each(["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"])(
    "takes %s",
    (target) => expect(systemTargetProblem(target)).toBeUndefined(),
  );

  it.each([
    "",
    "/",
    "/etc/ssl",
    "/etc/ssl/",
    "/etc/passwd",
    "/etc/ssl/../passwd",
    "/etc/ssl/./x",
    "/etc/sslx/y",
    "/usr/bin/git",
    "etc/ssl/x",
    "/etc/ssl/a\0b",
  ])("refuses %j", (target) => expect(systemTargetProblem(target)).toBeDefined());
});

describe("placing", () => {
  it("covers what the system has, makes what no directory of the host's is in the way of, leaves out the rest", async () => {
    const layout = readSystemLayout();
    const bundle = "/etc/ssl/certs/ca-certificates.crt";
    const targets = [bundle, "/etc/ssl/agentbox/ca.pem", "/etc/ssl/certs/no-such-file.crt"];
    const byTarget = await mountSystemFiles(
      targets.map((target) => ({ source, target })),
      layout,
    );
    const expected = targets.slice(existsSync(bundle) ? 0 : 1, 2);
    expect(byTarget).toEqual(expected.map((target) => ({ source, target })));
  });

  it.skipIf(linked === undefined)("follows a link only to another place for certificates", async () => {
    const layout = readSystemLayout();
    expect(await mountSystemFiles([{ source, target: `/etc/ssl/certs/${linked!.name}` }], layout)).toEqual(
      [],
    );
  });

  it("takes the real file behind a source, and nothing but a file", async () => {
    const layout = { entries: [], maskedFiles: [] };
    const target = "/etc/ssl/agentbox/ca.pem";
    expect(await mountSystemFiles([{ source: join(dir, "link.pem"), target }], layout)).toEqual([
      { source, target },
    ]);
    for (const bad of [join(dir, "sub"), join(dir, "absent"), "/dev/null"])
      await expect(mountSystemFiles([{ source: bad, target }], layout)).rejects.toMatchObject({
        code: "mount.invalid",
      });
  });
});
