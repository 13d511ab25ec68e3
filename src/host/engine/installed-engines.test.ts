import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { absentEngine } from "./index.ts";
import { installedEngines } from "./installed-engines.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "ab-engines-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const install = (name: string, mode = 0o755) => {
  writeFileSync(join(dir, name), "");
  chmodSync(join(dir, name), mode);
};
const toldOn = async (host: { uid: number; hasSystemd: boolean }) => {
  const { message, hint } = absentEngine(await installedEngines({ ...host, path: `relative:${dir}` }));
  return { message, hint };
};

it("says to install an engine only where none is installed", async () => {
  install("podman", 0o644);
  expect(await toldOn({ uid: 0, hasSystemd: true })).toEqual({
    message: "No container engine was found on this host.",
    hint: "Install one (apt-get install docker.io, or podman) and start it, or name it in DOCKER_HOST.",
  });
});

it.each([
  [{ uid: 0, hasSystemd: true }, "systemctl start podman.socket"],
  [{ uid: 1000, hasSystemd: true }, "systemctl --user start podman.socket"],
  [{ uid: 0, hasSystemd: false }, "podman system service --time=0 unix:///run/podman/podman.sock &"],
])("says how an installed Podman is started (%j)", async (host, start) => {
  install("podman");
  expect(await toldOn(host)).toEqual({
    message: "Podman is installed, and no engine answers: there is no socket.",
    hint: `Start one: ${start}; or name one in DOCKER_HOST.`,
  });
});

it("names both where both are installed", async () => {
  for (const name of ["dockerd", "podman"]) install(name);
  expect(await toldOn({ uid: 0, hasSystemd: true })).toEqual({
    message: "Docker and Podman are installed, and no engine answers: there is no socket.",
    hint: "Start one: systemctl start docker, or systemctl start podman.socket; or name one in DOCKER_HOST.",
  });
});
