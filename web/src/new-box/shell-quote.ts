const plain = /^[A-Za-z0-9_./:=,@+-]+$/;

/** SECURITY: the line is pasted into a shell; nothing that was typed into the form is a command of its own there. */
const shellQuote = (text: string): string => (plain.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

export const shellLine = (argv: readonly string[]): string => argv.map(shellQuote).join(" ");
