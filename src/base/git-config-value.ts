/**
 * A value as git reads it from a config file.
 * SECURITY: the text is somebody else's and must not become a line of its own.
 */
export const gitConfigValue = (text: string): string =>
  `"${text.replaceAll(/[\u0000-\u001f\u007f]/g, " ").replaceAll(/[\\"]/g, String.raw`\$&`)}"`;
