import { agentSuite } from "./suite.ts";

// Its logo is drawn seconds before it reads.
agentSuite({ agent: "opencode", prompt: "ctrl+p" });
