// mitmproxy as the peer of inspection: mitmdump without add-ons and without output, so it judges nothing and does
// less than the gate. Its authority is made in the row's own directory.
import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { GateGround } from "./gate-ground.ts";

const port = 8080;

/** Starts it and returns where to say CONNECT, and the authority that a client must trust. */
export async function startMitmproxy({
  directory,
  authority,
  startPeer,
}: GateGround): Promise<{ proxy: string; ca: string }> {
  const home = join(directory, "mitmproxy");
  mkdirSync(home);
  chownSync(home, 65_534, 65_534);
  const settings = [`confdir=${home}`, `ssl_verify_upstream_trusted_ca=${authority}`];
  const argv = ["mitmdump", "--quiet", "--listen-host", "127.0.0.1", "--listen-port", `${port}`];
  await startPeer([...argv, ...settings.flatMap((setting) => ["--set", setting])], port);
  return { proxy: `127.0.0.1:${port}`, ca: join(home, "mitmproxy-ca-cert.pem") };
}
