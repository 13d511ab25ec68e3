/** Services by name: where their secret goes and which variables their tools read. Data only, without zod. */
import type { SecretDestination } from "./binding.ts";

export interface SecretService {
  readonly title: string;
  readonly destinations: readonly SecretDestination[];
  readonly env: readonly string[];
  readonly prefix: string;
}

/**
 * The requests of git itself over https, large files included. SECURITY: no other request to such a host gets the
 * credential; a forge's web pages would take it, too, and let a session be opened with it.
 */
export const gitPaths: readonly string[] = [
  "/**/info/refs",
  "/**/git-upload-pack",
  "/**/git-receive-pack",
  "/**/info/lfs/**",
];

const destination = (
  name: string,
  as: SecretDestination["as"],
  { methods = [], paths = [] }: { methods?: readonly string[]; paths?: readonly string[] } = {},
): SecretDestination => ({
  scheme: "https",
  host: { name, isWildcard: false },
  port: 443,
  methods: [...methods],
  paths: [...paths],
  as,
});

export const secretServices: Readonly<Record<"github" | "gitlab", SecretService>> = {
  github: {
    title: "GitHub",
    destinations: [
      destination("github.com", { kind: "basic", username: "x-access-token" }, { paths: gitPaths }),
      destination("api.github.com", { kind: "bearer" }),
      destination("uploads.github.com", { kind: "bearer" }),
    ],
    env: ["GH_TOKEN", "GITHUB_TOKEN"],
    prefix: "ghp_",
  },
  gitlab: {
    title: "GitLab",
    destinations: [
      destination("gitlab.com", { kind: "basic", username: "oauth2" }, { paths: gitPaths }),
      // Bearer rather than Private-Token, because tokens of a sign-in are taken there as well.
      destination("gitlab.com", { kind: "bearer" }, { paths: ["/api/**"] }),
    ],
    env: ["GITLAB_TOKEN"],
    prefix: "glpat-",
  },
};
export type SecretServiceName = keyof typeof secretServices;

export const secretServiceNames = Object.keys(secretServices) as SecretServiceName[];
