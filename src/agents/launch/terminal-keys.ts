/** The keys that most programs take for "send this" and "stop": enter and ctrl-c. */
export const terminalKeys = { submit: "\r", interrupt: "\u0003" } as const;
