import { expect, it } from "vitest";
import { repositoryName } from "./repository-name.ts";

const nameOf = (workspace: { url?: string; source?: string }, projectDir?: string) =>
  repositoryName({ spec: { workspace }, projectDir } as never);

it.each([
  [{ url: "https://example.test/team/shop.git" }, undefined, "shop"],
  [{ url: "git@example.test:team/shop.git" }, undefined, "shop"],
  [{ url: "https://example.test/team/shop/?x=1#y" }, undefined, "shop"],
  [{ source: "/home/me/shop/" }, undefined, "shop"],
  [{}, "/home/me/other", "other"],
  [{}, undefined, undefined],
  [{ source: "/" }, undefined, undefined],
])("%j in %s is %s", (workspace, projectDir, name) => {
  expect(nameOf(workspace, projectDir)).toBe(name);
});
