import { describe, expect, it } from "vitest";
import type { Review } from "../../contract/review/review.ts";
import { renderReview } from "./review.ts";
import { createStyle } from "./style.ts";

const review = (
  secrets: Review["summary"]["secrets"],
  exceptions: Review["summary"]["exceptions"] = [],
): Review => ({
  box: "shop",
  agent: "shell",
  from: "base",
  totals: { files: 0, added: 0, deleted: 0 },
  dangers: [],
  history: [],
  changes: [],
  comments: [],
  checks: [],
  requiredChecks: [],
  summary: {
    durationMs: 1_000,
    turns: 0,
    commands: 0,
    hostsReached: [],
    hostsDenied: [],
    usage: {
      requests: 0,
      usage: { input: 0, output: 0, cached: 0, cacheWrite: 0, reasoning: 0 },
      costMicroUsd: 0,
      unpriced: 0,
      estimated: 0,
    },
    secrets,
    exceptions,
  },
  digest: "sha256:0",
});
const render = (...secrets: Review["summary"]["secrets"]) =>
  renderReview(review(secrets), createStyle(false));

describe("secrets in a review", () => {
  it("are those that were used, how often, and those that the box holds", () => {
    const text = render(
      { name: "github", uses: 12, isHeld: false },
      { name: "gitlab", uses: 0, isHeld: false },
      { name: "npm", uses: 0, isHeld: true },
    );
    expect(text).toMatch(/^ {2}secrets used {2}github ×12; held by the box: npm$/m);
    expect(text).not.toContain("gitlab");
  });

  it("are none, or not spoken of where the box has none", () => {
    expect(render({ name: "github", uses: 0, isHeld: false })).toMatch(/^ {2}secrets used {2}none$/m);
    expect(render()).not.toContain("secrets");
  });
});

describe("exceptions in a review", () => {
  const kvm = { name: "vm", reason: "runs the emulator", devices: ["/dev/kvm"] };
  const none = { tmpfs: {}, capabilities: [], gpus: 0 };

  it("say what the box could do and why, and nothing where there are none", () => {
    expect(renderReview(review([], [{ ...none, ...kvm }]), createStyle(false))).toMatch(
      /^ {2}beyond the baseline {2}could use the device \/dev\/kvm of the host \(vm: runs the emulator\)$/m,
    );
    expect(render()).not.toContain("baseline");
  });
});
