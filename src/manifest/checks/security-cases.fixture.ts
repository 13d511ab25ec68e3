/**
 * Cases that break and cases that keep the rules of [runtime] and [security]; `rules.test.ts` runs them with all
 * others.
 */
import { type RuleCase, v1 } from "./network-cases.fixture.ts";
import type { RuleCode } from "./rules.ts";

const runtime = (text: string) => v1(`[runtime]\n${text}`);
const exception = (text: string, more = "") =>
  v1(`[security.exceptions.x]\nreason = "needed for a test"\n${text}\n${more}`);
const device = (path: string) => exception(`devices = ["${path}"]`);
const capability = (name: string) => exception(`capabilities = ["${name}"]`);
const memory = (path: string, size = "64MiB", more = "") =>
  exception(`tmpfs = { "${path}" = "${size}" }`, more);

export const securityCases = {
  E065: {
    bad: [
      "debian:12; reboot",
      "$(reboot)",
      "debian:`id`",
      "-it",
      "../debian",
      "debian:12 --privileged",
      "debian@sha256:0123",
      "debian:",
      "a//b",
      "debian|x",
      "'debian'",
      "",
    ].map((image) => [runtime(`image = "${image}"`), 3, 9] as const),
    good: [
      "debian",
      "debian:12",
      "localhost:5000/team/app:v1.2_x",
      "registry.example.org/a/b-c__d.e",
      `debian:12@sha256:${"0a".repeat(32)}`,
      `agentbox@sha256:${"f".repeat(64)}`,
    ].map((image) => runtime(`image = "${image}"`)),
  },
  E066: {
    bad: ["--allow", "a", "Git", "git=1.0", "git git", "./x.deb", "git;id"].map(
      (name) => [runtime(`packages = ["${name}"]`), 3, 13] as const,
    ),
    good: [runtime('packages = ["git", "libstdc++6", "python3.11", "fonts-dejavu"]')],
  },
  E067: {
    bad: [
      [runtime('features = ["My GPU"]'), 3, 13],
      [exception('gpus = 1\nfeature = "-gpu"'), 5, 11],
    ],
    good: [runtime('features = ["gpu"]')],
  },
  E068: {
    bad: [
      "/dev/mem",
      "/dev/kmsg",
      "/dev/sda1",
      "/dev/nvme0n1",
      "/dev/input/event0",
      "/dev/bus/usb/001/002",
      "/dev/kvm/../sda",
      "/dev",
      "/etc/passwd",
      "kvm",
      "/dev/kvm:/dev/sda",
      "/dev/dri/card0",
      "/dev/net/tun",
    ].map((path) => [device(path), 4, 12] as const),
    good: ["/dev/kvm", "/dev/dri/renderD128", "/dev/nvidia0", "/dev/ttyUSB0", "/dev/snd/pcmC0D0c"].map(
      device,
    ),
  },
  E069: {
    bad: [
      "SYS_ADMIN",
      "CAP_SYS_ADMIN",
      "sys_module",
      "SYS_PTRACE",
      "NET_ADMIN",
      "DAC_READ_SEARCH",
      "DAC_OVERRIDE",
      "SETUID",
      "CHOWN",
      "MKNOD",
      "SYS_RAWIO",
      "BPF",
      "NET_RAW",
      "ALL",
      "CAP_CAP_IPC_LOCK",
    ].map((name) => [capability(name), 4, 17] as const),
    good: ["IPC_LOCK", "CAP_SYS_NICE", "net_bind_service"].map(capability),
  },
  E070: {
    bad: [
      "/",
      "/usr",
      "/usr/local",
      "/workspace",
      "/workspace/node_modules",
      "/home",
      "/home/agent",
      "/home/agent/.cache",
      "/run",
      "/run/agentbox",
      "/run/secrets",
      "/opt/agentbox",
      "/etc",
      "/tmp",
      "scratch",
      "/a/../usr",
      "/a,exec",
      "/a:b",
      "/a b",
    ].map((path) => [memory(path), 4, 11] as const),
    good: [
      memory("/scratch"),
      memory("/var/cache/build"),
      memory("/scratch", "1GiB", '[[mounts]]\nsource = "data"\ntarget = "/data"'),
    ],
  },
  E071: {
    bad: [
      [v1('[security.exceptions.x]\nreason = "needed for a test"'), 2, 1],
      [exception("devices = []"), 2, 1],
    ],
    good: [exception("gpus = 1")],
  },
  E072: {
    bad: [
      [v1("privileged = true"), 2, 1],
      [v1("[privileged]"), 2, 1],
      [runtime("privileged = true"), 3, 1],
      [runtime("Privileged = false"), 3, 1],
      [v1("[security]\nprivileged = true"), 3, 1],
      [exception("gpus = 1\nprivileged = true"), 5, 1],
      [runtime('security_opt = ["seccomp=unconfined"]'), 3, 1],
      [runtime('network-mode = "host"'), 3, 1],
    ],
    good: [exception('devices = ["/dev/kvm"]'), v1('[env]\nprivileged = "1"')],
  },
  E073: {
    bad: [
      [runtime('name = "bubblewrap"\nimage = "debian:12"'), 4, 1],
      [runtime('name = "bubblewrap"\npackages = ["git"]'), 4, 1],
      [runtime('name = "bubblewrap"\ntier = "gvisor"'), 4, 1],
      [exception("gpus = 1", '[runtime]\nname = "bubblewrap"'), 4, 1],
      [exception('devices = ["/dev/kvm"]', '[runtime]\nname = "bubblewrap"'), 4, 1],
      [exception('capabilities = ["IPC_LOCK"]', '[runtime]\nname = "bubblewrap"'), 4, 1],
    ],
    good: [
      runtime('name = "bubblewrap"\ntier = "namespaces"'),
      memory("/scratch", "1GiB", '[runtime]\nname = "bubblewrap"'),
      exception("gpus = 1"),
      runtime('image = "debian:12"\npackages = ["git"]\ntier = "gvisor"'),
    ],
  },
  W007: {
    bad: [
      [exception('gpus = 1\nfeature = "gpu"'), 5, 11],
      [exception('gpus = 1\nfeature = "gpu"', '[runtime]\nfeatures = ["video"]'), 5, 11],
    ],
    good: [exception('gpus = 1\nfeature = "gpu"', '[runtime]\nfeatures = ["gpu"]')],
  },
} as const satisfies Partial<Record<RuleCode, RuleCase>>;
