import { agentSuite } from "./suite.ts";

agentSuite({ agent: "codex" });
