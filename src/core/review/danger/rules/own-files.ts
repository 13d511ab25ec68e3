import type { PathRule } from "../path-rule.ts";

/** Files that Windows, macOS and Linux desktops run or load by their name's ending. */
const programExtensions = [
  "exe com scr msi msix bat cmd ps1 psm1 vbs vbe wsf hta cpl dll so dylib node jar lnk scf reg",
  "desktop command workflow app appimage deb rpm apk dmg pkg run url webloc chm inf applescript",
  "jse wsc sct ws pif gadget jnlp mobileconfig inetloc fileloc terminal iqy slk rdp library-ms search-ms settingcontent-ms",
  "application appref-ms mht mhtml xll xlsm docm pptm ovpn scpt ipynb xsl xslt",
].flatMap((names) => names.split(" "));

export const ownRules: readonly PathRule[] = [
  {
    kind: "manifest",
    globs: ["agentbox.toml", "agentbox.*.toml", ".agentbox.toml", ".agentbox/**"],
    what: "AgentBox manifest",
    effect: "it decides what the next box may reach, read and run",
  },
  {
    kind: "manifest",
    globs: ["agentbox.lock"],
    what: "AgentBox lock file",
    effect: "it decides which agents and images the next box is made of",
  },
  {
    kind: "git_settings",
    globs: [".gitconfig", ".git-config", "gitconfig", ".config/git/**", ".lfsconfig", ".gitreview"],
    what: "Git settings",
    effect: "Git or its tools take servers, names or commands from them where they are included",
  },
  {
    kind: "lockfile_source",
    globs: [
      ".npmrc",
      "pip.conf",
      "pip.ini",
      ".pypirc",
      ".condarc",
      "nuget.config",
      ".gemrc",
      ".bundle/config",
      "settings.xml",
      "auth.json",
      "uv.toml",
      "bun.lockb",
    ],
    what: "settings of a package manager",
    effect: "they decide where packages come from at the next install",
  },
  {
    kind: "executable",
    globs: programExtensions.map((extension) => `*.${extension}`),
    what: "program or library",
    effect: "it runs when it is opened, loaded or clicked",
  },
];
