import { describe, expect, it } from "vitest";
import { type CompiledBinding, compileBinding } from "./compile-binding.ts";
import { conflictOf } from "./conflict.ts";
import type { SecretEntry } from "../sections/secrets-section.ts";

const binding = (name: string, entry: SecretEntry): CompiledBinding => {
  const compiled = compileBinding(name, entry);
  if (compiled === undefined) throw new TypeError(`${name} cannot be compiled`);
  return compiled;
};

const hosts = ["code.example.org"];
const git = binding("code", { how: "git", hosts });
const conflict = (entry: SecretEntry) => conflictOf(binding("api", entry), [git], new Set())?.code;

describe("two secrets for one host", () => {
  it("may be one secret in two ways, told apart by paths", () => {
    expect(conflict({ from: "vault:code", how: "bearer", paths: ["/api/**"], hosts })).toBeUndefined();
  });

  it("may not be one secret in two ways for every path", () => {
    expect(conflict({ from: "vault:code", how: "bearer", hosts })).toBe("E062");
  });

  it("may not be two values for what could be one request", () => {
    expect(conflict({ from: "vault:other", how: "bearer", paths: ["/api/**"], hosts })).toBe("E062");
    expect(conflict({ from: "vault:other", how: "bearer", paths: ["/api/v1"], hosts })).toBe("E062");
    const elsewhere = { from: "vault:other", how: "bearer", hosts: ["api.example.org"] } as const;
    expect(conflict({ ...elsewhere, hosts: [...elsewhere.hosts] })).toBeUndefined();
  });
});
