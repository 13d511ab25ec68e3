import { describe, expect, it } from "vitest";
import { AgentBoxError } from "../../base/errors.ts";
import type { BoxSummary, DoctorReport } from "../../contract/api/schemas.ts";
import { isUsable, renderReport } from "../commands/doctor.ts";
import { phaseText, renderBoxes } from "../commands/ls.ts";
import { renderProofs } from "../prove/index.ts";
import { exitCodeOf } from "./error.ts";
import { createStyle, widthOf } from "./style.ts";
import { age, renderTable, shorten, tilde } from "./table.ts";

const plain = createStyle(false);
const colour = createStyle(true);
const box: BoxSummary = {
  name: "team-app-backend",
  phase: "running",
  agent: "shell",
  runtime: "bubblewrap",
  projectDir: "/home/ann/projects/a-very-long-name-of-a-project/backend",
  createdAtMs: 0,
  sinceMs: 0,
  restarts: 0,
  needs: [],
};

it("writes ages with one unit", () => {
  expect([0, 59, 60, 3_600, 172_800].map((seconds) => age(0, seconds * 1_000))).toEqual([
    "0s",
    "59s",
    "1m",
    "1h",
    "2d",
  ]);
  expect(age(5_000, 0)).toBe("0s");
});

describe("tables", () => {
  it("align, with and without colours", () => {
    const rows = [
      ["a", "b"],
      ["long", "c"],
    ];
    expect(renderTable(rows)).toBe("a     b\nlong  c");
    expect(widthOf(renderTable(rows.map((row) => row.map(colour.red))).split("\n")[0]!)).toBe(7);
  });

  it("shorten in the middle", () => {
    expect(shorten("/home/ann/projects/shop", 11)).toBe("/home…/shop");
    expect(shorten("short", 11)).toBe("short");
  });

  it("know the home directory, and not its namesakes", () => {
    expect(tilde("/home/ann/x", "/home/ann")).toBe("~/x");
    expect(tilde("/home/anna/x", "/home/ann")).toBe("/home/anna/x");
  });
});

describe("ls", () => {
  it("fits the terminal", () => {
    const text = renderBoxes([box], { nowMs: 180_000, home: "/home/ann", style: plain, width: 80 });
    expect(text.split("\n").every((line) => line.length <= 80)).toBe(true);
    expect(text).toContain("3m");
    expect(text).toContain("/backend");
  });

  it("says what agents are doing, in the width there is, and what a person is needed for first", () => {
    const working: BoxSummary = {
      ...box,
      task: "Make the cart add up",
      lastAction: "Bash: npm test \u001b[2J",
      changedFiles: 3,
      addedLines: 10,
      deletedLines: 2,
      tokens: 9,
      costMicroUsd: 1_230_000,
    };
    const options = { nowMs: 180_000, home: "/home/ann", style: plain, width: 120 };
    const text = renderBoxes([working, box], options);
    expect(text).toContain("3 +10 -2  $1.23  Make the cart add up · Bash: npm test");
    expect(text).not.toContain("\u001b");
    expect(text).toContain("/backend");
    const needs = [
      { kind: "stuck", sentence: "It does nothing.", sinceMs: 0 },
    ] as unknown as BoxSummary["needs"];
    expect(renderBoxes([{ ...working, needs }], options)).toContain(
      "It does nothing. · Make the cart add up",
    );
    const narrow = renderBoxes([working], { ...options, width: 80 }).split("\n");
    expect(narrow.every((line) => line.length <= 80)).toBe(true);
  });

  it("says how a box ended", () => {
    expect(phaseText({ phase: "stopped", reason: "finished", exitCode: 3 })).toBe("finished (3)");
    expect(phaseText({ phase: "stopped", reason: "requested" })).toBe("stopped");
    expect(phaseText({ phase: "stopped", reason: "ttl" })).toBe("ttl");
  });

  it("shows no control character of a directory's name", () => {
    const hostile = { ...box, projectDir: "/x/\u001b]0;gotcha\u0007" };
    expect(renderBoxes([hostile], { nowMs: 0, home: "/home/ann", style: plain, width: 80 })).not.toContain(
      "\u001b",
    );
  });
});

describe("exit codes", () => {
  it("are those of the table, and apart from the command's own where both could be meant", () => {
    const missing = new AgentBoxError("box.not_found", "x");
    expect(exitCodeOf(missing, false)).toBe(3);
    expect(exitCodeOf(missing, true)).toBe(125);
    expect(exitCodeOf(new AgentBoxError("exec.not_found", "x"), true)).toBe(127);
    expect(exitCodeOf(new AgentBoxError("exec.not_executable", "x"), true)).toBe(126);
    expect(exitCodeOf(new AgentBoxError("request.timed_out", "x"), true)).toBe(125);
    expect(exitCodeOf(new Error("bug"), false)).toBe(1);
  });
});

describe("doctor", () => {
  const report: DoctorReport = {
    runtimes: [
      {
        name: "bubblewrap",
        description: "",
        isDefault: true,
        status: "absent",
        detail: "bwrap is not installed",
        fix: { hint: "apt install bubblewrap", packages: ["bubblewrap"] },
        limits: [],
      },
      { name: "memory", description: "", isDefault: false, status: "ready", detail: "1", limits: [] },
    ],
    programs: [{ name: "git", status: "ready", detail: "2.39", packages: ["git"] }],
    escapes: [],
    home: { path: "/h", freeBytes: 1, detail: "1 B free" },
  };

  it("does not call a host usable that could only pretend", () => {
    expect(isUsable(report)).toBe(false);
    expect(renderReport(report, plain)).toContain("fix: apt install bubblewrap");
    expect(isUsable({ ...report, runtimes: [{ ...report.runtimes[0]!, status: "ready" }] })).toBe(true);
  });

  it("warns of a known escape, with the way out, and does not call the host unusable for it", () => {
    const runc = { component: "runc", version: "1.2.7", what: "a swap", detail: "a swap; mended in 1.2.8" };
    const escapes = [
      { ...runc, advisory: "CVE-2025-31133", verdict: "affected", hint: "Update runc to 1.2.8." },
      { ...runc, advisory: "CVE-2025-52565", verdict: "unknown", hint: "Look for it." },
    ] as const;
    const shown = renderReport({ ...report, escapes: [...escapes] }, plain);
    expect(shown).toMatch(/runc\s+1\.2\.7\s+CVE-2025-31133\s+affected/);
    expect(shown).toMatch(/CVE-2025-52565\s+cannot tell/);
    expect(shown).toContain("fix: Update runc to 1.2.8.");
    expect(renderReport(report, plain)).not.toContain("Known escapes");
  });

  it("shouts what fails", () => {
    const proofs = [
      { guarantee: "No mounts", result: "holds", evidence: "EPERM" },
      { guarantee: "No network", result: "fails", evidence: "eth0" },
    ] as const;
    expect(renderProofs("bubblewrap", proofs, plain)).toMatch(/No network\s+FAILS\s+eth0/);
    expect(renderProofs("bubblewrap", proofs, plain)).toContain("1 of 2 guarantees do not hold");
    expect(renderProofs("bubblewrap", proofs.slice(0, 1), plain)).toContain("Nothing that was tried got out");
  });
});
