import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listeningPorts } from "./ports.ts";

const head =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const line = (local: string, state: string, inode: number) =>
  `   0: ${local} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000000000000000 100 0 0 10 0\n`;
const ipv6 = (last: string) => `000000000000000000000000${last}`;

let proc: string;
beforeEach(async () => {
  proc = await mkdtemp(join(tmpdir(), "agentbox-proc-"));
  await mkdir(join(proc, "net"));
  for (const [pid, comm, inode] of [
    ["7", "boxd", 1],
    ["9", "vite", 555],
  ] as const) {
    await mkdir(join(proc, pid, "fd"), { recursive: true });
    await writeFile(join(proc, pid, "comm"), `${comm}\n`);
    await symlink(`socket:[${inode}]`, join(proc, pid, "fd", "3"));
  }
  await symlink("7", join(proc, "self"));
});
afterEach(() => rm(proc, { recursive: true }));

test("ports that programs listen on, without boxd's own and without connections", async () => {
  await writeFile(
    join(proc, "net", "tcp"),
    head +
      line("0100007F:0035", "0A", 1) +
      line("0100007F:1F90", "0A", 555) +
      line("0100007F:1F91", "01", 556),
  );
  await writeFile(
    join(proc, "net", "tcp6"),
    head + line(`${ipv6("00000000")}:0BB8`, "0A", 777) + line(`${ipv6("01000000")}:0BB9`, "0A", 778),
  );
  expect(listeningPorts(proc)).toEqual([
    { port: 3000, address: "::" },
    { port: 3001, address: "::1" },
    { port: 8080, address: "127.0.0.1", program: "vite" },
  ]);
});

test("a kernel without IPv6 and a table of nonsense are no failure", async () => {
  await writeFile(join(proc, "net", "tcp"), `${head}nonsense\n  1: :: 0A\n`);
  expect(listeningPorts(proc)).toEqual([]);
});
