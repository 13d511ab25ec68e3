import { z } from "zod";

export const RuntimeReport = z.object({
  name: z.string(),
  description: z.string(),
  isDefault: z.boolean().describe("Whether boxes are made of it that ask for no other."),
  status: z.enum(["ready", "absent", "broken"]),
  detail: z.string(),
  fix: z.object({ hint: z.string(), packages: z.array(z.string()) }).optional(),
  limits: z.array(z.object({ name: z.string(), isEnforced: z.boolean(), by: z.string() })),
});
export type RuntimeReport = z.infer<typeof RuntimeReport>;

export const EscapeReport = z.object({
  component: z.string().describe("Such as runc, or kernel."),
  version: z.string().describe("As the component says it."),
  advisory: z.string().describe("Such as CVE-2025-31133."),
  what: z.string(),
  verdict: z
    .enum(["affected", "unknown", "closed"])
    .describe(
      "affected: a known way out. unknown: a vendor's build, which may have the fix. closed: not from a box.",
    ),
  detail: z.string(),
  hint: z.string().optional(),
});
export type EscapeReport = z.infer<typeof EscapeReport>;

export const DoctorReport = z.object({
  runtimes: z.array(RuntimeReport),
  programs: z.array(
    z.object({
      name: z.string(),
      status: z.enum(["ready", "absent"]),
      detail: z.string(),
      packages: z.array(z.string()),
    }),
  ),
  escapes: z
    .array(EscapeReport)
    .default([])
    .describe("Known ways out of boxes in what is installed here; those that are fixed are left out."),
  home: z.object({ path: z.string(), freeBytes: z.number(), detail: z.string() }),
});
export type DoctorReport = z.infer<typeof DoctorReport>;

export const OpenapiAnswer = z.record(z.string(), z.unknown());
