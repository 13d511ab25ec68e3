import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { waitFor } from "../../base/wait-for.ts";
import { ProgramFinder } from "./program-finder.ts";

const peer = { remoteAddress: "127.0.0.1", remotePort: 0xabcd, localAddress: "127.64.0.2", localPort: 443 };
const head =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const line = (local: string, remote: string, inode: number) =>
  `   0: ${local} ${remote} 01 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`;
const mapped = "0000000000000000FFFF0000";

let proc: string;
beforeEach(async () => {
  proc = await mkdtemp(join(tmpdir(), "agentbox-proc-"));
  await mkdir(join(proc, "net"));
  for (const [pid, comm, inode] of [
    ["7", "boxd", 1],
    ["9", "curl", 555],
  ] as const) {
    await mkdir(join(proc, pid, "fd"), { recursive: true });
    await writeFile(join(proc, pid, "comm"), `${comm}\n`);
    await symlink(`socket:[${inode}]`, join(proc, pid, "fd", "3"));
  }
});
afterEach(() => rm(proc, { recursive: true }));

async function writeTables(tcp: string, tcp6: string): Promise<void> {
  await writeFile(join(proc, "net", "tcp"), head + tcp);
  await writeFile(join(proc, "net", "tcp6"), head + tcp6);
}

/** On a busy machine the two milliseconds of a box pass within one file. */
const patientMs = 10_000;

test("finds who holds the other end, whichever kind of socket it is", async () => {
  // Our own end is in the table too, the other way round.
  await writeTables(
    line("0200407F:01BB", "0100007F:ABCD", 1) + line("0100007F:ABCD", "0200407F:01BB", 555),
    "",
  );
  expect(new ProgramFinder(proc, 20, patientMs).find(peer)).toBe("curl");
  await writeTables(
    line("0200407F:01BB", "0100007F:ABCD", 1),
    line(`${mapped}0100007F:ABCD`, `${mapped}0200407F:01BB`, 555),
  );
  expect(new ProgramFinder(proc, 20, patientMs).find(peer)).toBe("curl");
});

test("says nothing when nobody holds it, when it is not there, and right after it has searched", async () => {
  await writeTables(line("0100007F:ABCD", "0200407F:01BB", 777), "");
  expect(new ProgramFinder(proc, 20, patientMs).find(peer)).toBeUndefined();
  await writeTables("", "");
  expect(new ProgramFinder(proc, 20, patientMs).find(peer)).toBeUndefined();
  expect(new ProgramFinder(join(proc, "absent")).find(peer)).toBeUndefined();
  await writeTables(line("0100007F:ABCD", "0200407F:01BB", 555), "");
  const finder = new ProgramFinder(proc, 1_000_000, patientMs);
  expect(finder.find(peer)).toBe("curl");
  expect(finder.find(peer)).toBeUndefined();
});

test("reads the kernel's own table", async () => {
  const server = createServer().listen(0, "127.64.0.9");
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[Socket]>;
  const client = connect((server.address() as { port: number }).port, "127.64.0.9");
  const [own] = await accepted;
  // Looked for among this process alone, so that the size of the machine does not matter.
  await rm(join(proc, "net"), { recursive: true });
  await symlink("/proc/net", join(proc, "net"));
  await symlink(`/proc/${process.pid}`, join(proc, "11"));
  // On a busy machine, one look can take longer than it may.
  const found = await waitFor("the program is found", () => new ProgramFinder(proc, 20, patientMs).find(own));
  expect(found).toMatch(/\S/);
  client.destroy();
  own.destroy();
  server.close();
});
