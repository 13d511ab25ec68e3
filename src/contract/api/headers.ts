/** On every answer of the daemon, so that a CLI of another version can say so without asking. */
export const versionHeader = "agentbox-version";
