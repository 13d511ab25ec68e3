import { describe, expect, it } from "vitest";
import type { SecurityException } from "../../../contract/box.ts";
import { refuseUnsupported } from "./unsupported.ts";

const exception = (more: Partial<SecurityException>): SecurityException => ({
  name: "x",
  reason: "for this test",
  devices: [],
  tmpfs: {},
  capabilities: [],
  gpus: 0,
  ...more,
});
const refusal = (box: Parameters<typeof refuseUnsupported>[0]) => {
  try {
    refuseUnsupported(box);
    return undefined;
  } catch (error) {
    return error as { code: string; hint: string };
  }
};

describe("what bubblewrap cannot do", () => {
  it("is refused with a way that can, and the rest is not", () => {
    expect(refusal({})).toBeUndefined();
    expect(refusal({ exceptions: [exception({ tmpfs: { "/scratch": 4096 } })] })).toBeUndefined();
    for (const box of [
      { image: "debian:12" },
      { exceptions: [exception({ devices: ["/dev/kvm"] })] },
      { exceptions: [exception({ capabilities: ["IPC_LOCK"] })] },
      { exceptions: [exception({ gpus: 1 })] },
    ]) {
      expect(refusal(box), JSON.stringify(box)).toMatchObject({
        code: "runtime.unsupported",
        hint: expect.stringContaining("--runtime docker") as string,
      });
    }
  });
});
