/** GitHub, through an App of one's own: the App's permissions are what a token can do; there are no scopes. */
import type { ConnectionPreset } from "../../../contract/secret/connection.ts";
import { registeredPort } from "../redirect-address.ts";

export const githubApp: ConnectionPreset = {
  name: "github-app",
  title: "GitHub App",
  authorizationEndpoint: "https://github.com/login/oauth/authorize",
  tokenEndpoint: "https://github.com/login/oauth/access_token",
  deviceEndpoint: "https://github.com/login/device/code",
  scopes: [],
  parameters: {},
  redirectPort: registeredPort,
  registration: `Register a GitHub App at https://github.com/settings/apps/new with the repository permissions Contents, Pull requests (read and write) and Metadata (read), device flow enabled and no webhook; then use --device. Without --device it also needs the callback http://127.0.0.1:${registeredPort}/callback and --client-secret-from.`,
  hosts: ["api.github.com", "github.com"],
  can: [
    "read and push branches of the repositories the App is installed in",
    "open and comment on pull requests there",
    "act in your name, never beyond what you may do yourself",
  ],
  cannot: [
    "reach repositories the App is not installed in",
    "change workflows, secrets or settings, unless you gave the App those permissions",
    "keep access: a token ends after 8 hours, and uninstalling the App ends all",
  ],
};
