/** Variables of the caller's environment that a box has as well; the command line sends them, the daemon checks each. */
export const settingVariables = [
  "TZ",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LC_MESSAGES",
  "LC_TIME",
  "COLORTERM",
  "EDITOR",
  "VISUAL",
  "PAGER",
] as const;

/** Of these, only programs that a box has. */
export const programVariables: readonly string[] = ["EDITOR", "VISUAL", "PAGER"];

/** The author of commits, from git's own settings of the caller. No box gets these as variables. */
export const gitVariables = { name: "AGENTBOX_GIT_NAME", email: "AGENTBOX_GIT_EMAIL" } as const;
