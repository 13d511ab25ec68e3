import { describe, expect, it } from "vitest";
import { isOwnerMap } from "./owner-maps.ts";

describe("isOwnerMap", () => {
  it.each([
    "/run/agentbox/0123456789ab/team-app/workspace",
    "/run/agentbox/0123456789ab/team-app/workspace/.git",
    "/run/agentbox/0123456789ab/team-app/mount-3",
  ])("takes %s", (path) => {
    expect(isOwnerMap(path)).toBe(true);
  });

  it.each([
    "/run",
    "/run/agentbox",
    "/run/agentbox/0123456789ab",
    "/run/agentbox/0123456789ab/team-app",
    "/run/agentbox/0123456789ab/team-app/workspace/../../../../docker.sock",
    "/run/agentbox/0123456789ab/Team/workspace",
    "/run/agentbox/0123456789ab/team-app/workspaces",
    "/srv/run/agentbox/0123456789ab/team-app/workspace",
  ])("does not take %s", (path) => {
    expect(isOwnerMap(path)).toBe(false);
  });
});
