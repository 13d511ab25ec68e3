/** Services by name: where their secret goes and which variables their tools read. Data only, without zod. */
import type { SecretPlace } from "./binding.ts";

export interface SecretService {
  readonly title: string;
  readonly places: readonly SecretPlace[];
  readonly env: readonly string[];
  readonly prefix: string;
}

/**
 * What git itself asks for over https, large files included. SECURITY: nothing else on such a host gets the
 * credential; a forge's web pages would take it, too, and let a session be opened with it.
 */
export const gitPaths: readonly string[] = [
  "/**/info/refs",
  "/**/git-upload-pack",
  "/**/git-receive-pack",
  "/**/info/lfs/**",
];

const place = (
  name: string,
  as: SecretPlace["as"],
  { methods = [], paths = [] }: { methods?: readonly string[]; paths?: readonly string[] } = {},
): SecretPlace => ({
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
    places: [
      place("github.com", { kind: "basic", username: "x-access-token" }, { paths: gitPaths }),
      place("api.github.com", { kind: "bearer" }),
      place("uploads.github.com", { kind: "bearer" }),
    ],
    env: ["GH_TOKEN", "GITHUB_TOKEN"],
    prefix: "ghp_",
  },
  gitlab: {
    title: "GitLab",
    places: [
      place("gitlab.com", { kind: "basic", username: "oauth2" }, { paths: gitPaths }),
      // Bearer rather than Private-Token, because tokens of a sign-in are taken there as well.
      place("gitlab.com", { kind: "bearer" }, { paths: ["/api/**"] }),
    ],
    env: ["GITLAB_TOKEN"],
    prefix: "glpat-",
  },
};
export type SecretServiceName = keyof typeof secretServices;

export const secretServiceNames = Object.keys(secretServices) as SecretServiceName[];
