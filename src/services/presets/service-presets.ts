/**
 * Reviewed lists for services: hosts, methods and paths. A "read" list cannot change anything: git's smart protocol
 * fetches with a POST to git-upload-pack and pushes with a POST to git-receive-pack, so only the former is in it. GraphQL
 * and file uploads are writing. Git over ssh cannot be told apart and is in no list.
 */
import type { PresetRule } from "../../contract/network/preset.ts";

const read = ["GET", "HEAD"];
const write = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

const web = (host: string, methods: readonly string[], paths: readonly string[] = []): PresetRule => ({
  host,
  ports: [443],
  methods,
  paths,
});

const githubFiles = [
  web("codeload.github.com", read),
  web("raw.githubusercontent.com", read),
  web("objects.githubusercontent.com", read),
  web("release-assets.githubusercontent.com", read),
  web("media.githubusercontent.com", read),
];

const githubRead = [
  web("github.com", read),
  web("github.com", ["POST"], ["/*/*/git-upload-pack"]),
  web("api.github.com", read),
  ...githubFiles,
];

const gitlabRead = [web("gitlab.com", read), web("gitlab.com", ["POST"], ["/**/git-upload-pack"])];

const bitbucketRead = [
  web("bitbucket.org", read),
  web("bitbucket.org", ["POST"], ["/*/*/git-upload-pack"]),
  web("api.bitbucket.org", read),
];

export const servicePresets: Readonly<Record<string, readonly PresetRule[]>> = {
  "github-read": githubRead,
  "github-write": [
    ...githubRead,
    web("github.com", ["POST"], ["/*/*/git-receive-pack", "/*/*/info/lfs/**"]),
    web("api.github.com", write),
    web("uploads.github.com", ["POST"]),
  ],
  "gitlab-read": gitlabRead,
  "gitlab-write": [
    ...gitlabRead,
    web("gitlab.com", ["POST"], ["/**/git-receive-pack", "/**/info/lfs/**"]),
    web("gitlab.com", write, ["/api/**"]),
  ],
  "bitbucket-read": bitbucketRead,
  "bitbucket-write": [
    ...bitbucketRead,
    web("bitbucket.org", ["POST"], ["/*/*/git-receive-pack", "/*/*/info/lfs/**"]),
    web("api.bitbucket.org", write),
  ],
  /** Browsers that `playwright install` downloads; the package itself comes with the preset npm or pip. */
  playwright: [
    web("cdn.playwright.dev", read),
    web("playwright.download.prss.microsoft.com", read),
    web("storage.googleapis.com", read, ["/chrome-for-testing-public/**"]),
  ],
  /** Models and data sets: reading only. */
  huggingface: [web("huggingface.co", read), web("*.huggingface.co", read), web("*.hf.co", read)],
  /** The editor's own downloads and its extensions. */
  vscode: [
    web("update.code.visualstudio.com", read),
    web("vscode.download.prss.microsoft.com", read),
    web("marketplace.visualstudio.com", read),
    web("marketplace.visualstudio.com", ["POST"], ["/_apis/public/gallery/extensionquery"]),
    web("*.gallerycdn.vsassets.io", read),
    web("*.gallery.vsassets.io", read),
  ],
};

/** Words that people type for a preset of another name. */
export const presetAliases: Readonly<Record<string, string>> = {
  pypi: "pip",
  python: "pip",
  uv: "pip",
  node: "npm",
  nodejs: "npm",
  yarn: "npm",
  pnpm: "npm",
  rust: "cargo",
  crates: "cargo",
  golang: "go",
  debian: "apt",
  ubuntu: "apt",
  github: "github-read",
  gitlab: "gitlab-read",
  bitbucket: "bitbucket-read",
  "hugging-face": "huggingface",
  "vs-code": "vscode",
};
