/** Jira Cloud through Atlassian's OAuth 2.0 (3LO); refresh tokens are used once and come back new. */
import type { ConnectionPreset } from "../../../contract/secret/connection.ts";
import { registeredPort } from "../redirect-address.ts";

export const atlassian: ConnectionPreset = {
  name: "atlassian",
  title: "Atlassian (Jira Cloud)",
  authorizationEndpoint: "https://auth.atlassian.com/authorize",
  tokenEndpoint: "https://auth.atlassian.com/oauth/token",
  scopes: ["read:jira-work", "write:jira-work", "offline_access"],
  parameters: { audience: "api.atlassian.com", prompt: "consent" },
  redirectPort: registeredPort,
  registration: `Create an OAuth 2.0 integration at https://developer.atlassian.com/console/myapps with the Jira API scopes read:jira-work and write:jira-work and the callback http://127.0.0.1:${registeredPort}/callback; keep its secret with: agentbox vault set atlassian-app, and use --client-secret-from atlassian-app.`,
  hosts: ["api.atlassian.com"],
  can: ["read projects and issues you may see", "create and edit issues, comments and worklogs"],
  cannot: [
    "manage projects, configuration, users or webhooks",
    "read or write Confluence or Bitbucket",
    "reach sites that you did not choose when you agreed",
  ],
};
