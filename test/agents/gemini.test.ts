import { agentSuite } from "./suite.ts";

agentSuite({ agent: "gemini" });
