import { agentSuite } from "./suite.ts";

agentSuite({ agent: "aider", isSilent: true, isOneShot: true });
