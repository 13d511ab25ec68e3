import { it } from "vitest";
import { onAgents } from "../support/agents.ts";
import { isRoot, ordinaryUser } from "../support/host-facts.ts";
import { agentSuite, headless } from "./suite.ts";

agentSuite({ agent: "claude" });

// Boxes of root's daemon have users of their own; those of another user's daemon have one user namespace each.
onAgents(
  "claude with a daemon of an ordinary user",
  { agents: ["claude"], ...(isRoot ? { user: ordinaryUser } : {}) },
  (ground) => {
    it("works just the same", () => headless(ground, { agent: "claude" }));
  },
);
