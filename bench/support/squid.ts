// Squid as the peer of tunnels: nothing cached, nothing logged, one process, everything it writes in the row's own
// directory. Its defaults are kept otherwise.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { GateGround } from "./gate-ground.ts";

const port = 3128;

/** Starts it and returns where to say CONNECT. */
export async function startSquid({ directory, startPeer }: GateGround): Promise<string> {
  const home = join(directory, "squid");
  mkdirSync(home);
  chownSync(home, 65_534, 65_534);
  const config = join(home, "squid.conf");
  const lines = [
    `http_port 127.0.0.1:${port}`,
    "http_access allow all",
    "cache deny all",
    "cache_mem 0",
    "memory_cache_shared off",
    "access_log none",
    `cache_log ${join(home, "cache.log")}`,
    "pid_filename none",
    `coredump_dir ${home}`,
    "netdb_filename none",
    "pinger_enable off",
    "visible_hostname bench.test",
    "shutdown_lifetime 0 seconds",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  chmodSync(config, 0o644);
  await startPeer(["/usr/sbin/squid", "-N", "-f", config], port);
  return `127.0.0.1:${port}`;
}
