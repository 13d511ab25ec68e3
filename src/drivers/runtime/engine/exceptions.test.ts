import { describe, expect, it } from "vitest";
import type { SecurityException } from "../../../contract/box.ts";
import { type DeviceFile, type ExceptionContext, refuseUnusable } from "./exceptions.ts";

const owner = { uid: 200_001, gid: 200_001 };
const open: DeviceFile = { mode: 0o20666, uid: 0, gid: 0 };
const context = (
  more: Partial<ExceptionContext> = {},
  file: DeviceFile | undefined = open,
): ExceptionContext => ({
  facts: { kind: "docker" },
  look: async () => file,
  ...more,
});
const ask = (more: Partial<SecurityException>, where = context()) => {
  const none = { name: "x", reason: "for this test", devices: [], tmpfs: {}, capabilities: [], gpus: 0 };
  return refuseUnusable({ owner, exceptions: [{ ...none, ...more }] }, where);
};
const refused = { code: "runtime.unsupported" };

describe("exceptions that an engine would not give", () => {
  it("a device is one that the box's user may open, and that can be given at all", async () => {
    const kvm = { devices: ["/dev/kvm"] };
    await ask(kvm);
    await ask(kvm, context({}, { mode: 0o20600, ...owner }));
    await ask(kvm, context({}, { mode: 0o20060, uid: 0, gid: owner.gid }));
    await expect(ask(kvm, context({}, { ...open, mode: 0o20660 }))).rejects.toMatchObject(refused);
    await expect(ask(kvm, context({}, { ...open, mode: 0o20664 }))).rejects.toMatchObject(refused);
    await expect(ask(kvm, context({ look: async () => undefined }))).rejects.toMatchObject(refused);
    await expect(ask({ devices: ["/dev/sda"] })).rejects.toMatchObject(refused);
  });

  it("a capability is had where the engine gives it to others than root", async () => {
    const podman = context({ facts: { kind: "podman" } });
    await ask({ capabilities: ["IPC_LOCK"] }, podman);
    await expect(ask({ capabilities: ["IPC_LOCK"] })).rejects.toMatchObject(refused);
    await expect(ask({ capabilities: ["SYS_ADMIN"] }, podman)).rejects.toMatchObject(refused);
  });

  it("another OCI runtime gives directories in memory and nothing of the host", async () => {
    const runsc = context({ ociRuntime: "runsc" });
    await ask({ tmpfs: { "/scratch": 4096 } }, runsc);
    for (const asked of [{ devices: ["/dev/kvm"] }, { gpus: 1 }, { capabilities: ["IPC_LOCK"] }])
      await expect(ask(asked, runsc)).rejects.toMatchObject(refused);
    await ask({ gpus: 1 });
  });
});
