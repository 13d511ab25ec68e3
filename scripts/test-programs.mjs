// The programs that tests use, with Debian's package for each, by the projects of vitest.config.ts that need them.

/** Every project. */
const always = { git: "git", unshare: "util-linux", openssl: "openssl", "ssh-keygen": "openssh-client" };

/** Projects with real boxes. */
const boxPrograms = {
  bwrap: "bubblewrap",
  ip: "iproute2",
  // Clients and servers of the network tests.
  curl: "curl",
  wget: "wget",
  dig: "bind9-dnsutils",
  sshd: "openssh-server",
  psql: "postgresql",
  python3: "python3",
  pip3: "python3-pip",
  javac: "default-jdk-headless",
  go: "golang-go",
  gem: "ruby",
  cargo: "cargo",
  gh: "gh",
  // A real keyring for the vault.
  "secret-tool": "libsecret-tools",
  "gnome-keyring-daemon": "gnome-keyring",
  "dbus-run-session": "dbus",
};

/** A second terminal that judges what reaches a person's, and programs that draw. */
const terminalPrograms = {
  "vterm-dump": "libvterm-bin",
  tmux: "tmux",
  vim: "vim",
  less: "less",
  top: "procps",
  htop: "htop",
};

/** Fetches the Java project of the test ground. */
const registryPrograms = { mvn: "maven" };

/** The tool store installs from PyPI. */
const toolStorePrograms = { python3: "python3", pip3: "python3-pip" };

/** Container engines and what they need, installed on request only: on a person's machine that is the person's choice. */
const enginePrograms = {
  dockerd: "docker.io",
  podman: "podman",
  crun: "crun",
  runsc: "runsc",
  newuidmap: "uidmap",
  slirp4netns: "slirp4netns",
  "fuse-overlayfs": "fuse-overlayfs",
  rootlesskit: "rootlesskit",
  mmdebstrap: "mmdebstrap",
  // Runs what `agentbox compose` writes.
  "docker-compose": "docker-compose",
};

/** Real servers for the fuzzer of the gate; on request only, because some of them start services. */
const serverPrograms = { nginx: "nginx-light", apache2: "apache2-bin", caddy: "caddy" };

/** Servers that are started in boxes; on request only, too. */
const boxServerPrograms = { "redis-server": "redis-server", mariadbd: "mariadb-server" };

/** A browser for the dashboard's tests; installed on request only, as engines are. */
const browserPrograms = { chromium: "chromium" };

/** Groups of programs, so that one that cannot be installed costs only its group. */
export function programsFor(isWanted, isWhole) {
  const withBoxes = ["system", "web", "agents", "engines", "docker", "podman", "gvisor"].some(isWanted);
  return [
    always,
    ...(isWanted("programs") ? [toolStorePrograms] : []),
    ...(withBoxes ? [boxPrograms] : []),
    ...(isWanted("system") ? [terminalPrograms, registryPrograms] : []),
    ...(withBoxes && isWhole ? [enginePrograms, serverPrograms, boxServerPrograms, browserPrograms] : []),
  ];
}
