import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { type BubblewrapHost, systemHost } from "./bubblewrap-host.ts";
import { createBubblewrapModule } from "./index.ts";

/** The real host, on which bwrap can be taken away or updated; counts what is started. */
function changingHost() {
  const real = systemHost();
  const state = { isInstalled: true, isRefused: false, update: 0, started: 0 };
  const host: BubblewrapHost = {
    ...real,
    findProgram: (name) => (name === "bwrap" && !state.isInstalled ? undefined : real.findProgram(name)),
    programVersion(name) {
      const version = real.programVersion(name);
      if (name !== "bwrap" || version === undefined) return version;
      return state.isInstalled ? { ...version, file: `${version.file}:${state.update}` } : undefined;
    },
    spawn: ((...args: Parameters<typeof spawn>) => {
      state.started += 1;
      return state.isRefused ? spawn("false") : spawn(...args);
    }) as typeof spawn,
  };
  return { state, host };
}

describe("the bubblewrap module", () => {
  it("finds bubblewrap that was installed after it was first asked", async ({ skip }) => {
    const { state, host } = changingHost();
    if (host.findProgram("bwrap") === undefined) skip("bubblewrap is not installed");
    const module = createBubblewrapModule(host);
    state.isInstalled = false;
    expect(await module.probe()).toMatchObject({ status: "absent", fix: { packages: ["bubblewrap"] } });
    state.isInstalled = true;
    expect(await module.probe()).toMatchObject({ status: "ready" });
    state.isInstalled = false;
    expect(await module.probe()).toMatchObject({ status: "absent" });
  });

  it("asks again after a failure, also while the program is the same file", async ({ skip }) => {
    const { state, host } = changingHost();
    if (host.findProgram("bwrap") === undefined) skip("bubblewrap is not installed");
    const module = createBubblewrapModule(host);
    state.isRefused = true;
    expect((await module.probe()).status).not.toBe("ready");
    state.isRefused = false;
    expect(await module.probe()).toMatchObject({ status: "ready" });
  });

  it("tries a box once while the program is the same file", async ({ skip }) => {
    const { state, host } = changingHost();
    if (host.findProgram("bwrap") === undefined) skip("bubblewrap is not installed");
    const module = createBubblewrapModule(host);
    const [first, second] = await Promise.all([module.probe(), module.probe()]);
    expect(first).toMatchObject({ status: "ready" });
    expect(second).toBe(first);
    expect(await module.probe()).toBe(first);
    expect(state.started).toBe(1);
    state.update += 1;
    expect(await module.probe()).toEqual(first);
    expect(state.started).toBe(2);
  });
});
