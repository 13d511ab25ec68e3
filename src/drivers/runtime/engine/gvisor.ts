/**
 * Boxes as containers under gVisor: a kernel of their own in user space answers their calls, and what it asks of the
 * host's is a short list. The network stack is gVisor's too and has nothing but loopback; of the host's sockets, a box
 * can open the one that is mounted into it.
 */
import { runscName, runscRegistration } from "../../../contract/gvisor-registration.ts";
import type { EngineOptions } from "../../../host/engine/index.ts";
import type { RuntimeModule } from "../../../ports/runtime.ts";
import type { Boundary } from "./guarantees.ts";
import { createEngineModule } from "./module.ts";

const registration = JSON.stringify({ runtimes: { [runscName]: runscRegistration("/usr/bin/runsc") } });

const hint =
  `Install runsc (apt-get install runsc) and run: agentbox doctor --fix. By hand: put this into the engine's ` +
  `configuration, /etc/docker/daemon.json, and run systemctl reload docker: ${registration}`;

const gvisorBoundary: Boundary = {
  tier: "gvisor",
  kernel: { name: "own kernel", isEnforced: true, by: "gVisor's, in user space" },
  syscalls: {
    name: "syscalls",
    isEnforced: true,
    by: "gVisor answers them all; the engine's seccomp profile is not applied inside, gVisor's own holds it towards the host",
  },
  terminal: {
    name: "terminal",
    isEnforced: true,
    by: "no terminal of the host, and a kernel that has no TIOCSTI and TIOCLINUX",
  },
  users: {
    name: "users",
    isEnforced: true,
    by: "gVisor's kernel runs as nobody in a user namespace of its own, and checks what the box's user may open; a process of gVisor's that sees the box's mounts alone opens it",
  },
  // Each process of a box takes a handful of threads of the host's: enough for several hundred.
  threadCeiling: 4096,
};

/** In boxd's place: all that a box asks of gVisor beyond what a container would need. */
const script = `
const net = require("node:net"), dgram = require("node:dgram");
const fail = (what) => (error) => { process.stderr.write(what + ": " + error.code + "\\n", () => process.exit(1)); };
net.connect("/run/agentbox/link.sock").on("error", fail("the link of the box cannot be opened")).on("connect", () => {
  net.createServer().on("error", fail("port 80 cannot be listened on")).listen(80, "127.0.0.1", () => {
    dgram.createSocket("udp4").on("error", fail("port 53 cannot be listened on")).bind(53, "127.0.0.1", () => process.exit(0));
  });
});
`;

export const createGvisorModule = (options: EngineOptions = {}): RuntimeModule =>
  createEngineModule({
    ...options,
    name: "gvisor",
    description: "Containers with a kernel of their own: gVisor, registered with Docker Engine as runsc.",
    ociRuntime: runscName,
    boundary: gvisorBoundary,
    trial: { script, hint },
  });

export default createGvisorModule();
