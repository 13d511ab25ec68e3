/** Terminal colours say nothing on a page, so they go; what else is hidden is shown. */
// oxlint-disable-next-line no-control-regex
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

export const plainLog = (text: string): string => text.replaceAll(sequences, "").replaceAll("\r\n", "\n");

/** The end of it: a service that prints for days must not fill the page's memory. */
export function tailOf(text: string, maxLines: number): string {
  const lines = text.split("\n");
  return lines.length <= maxLines ? text : lines.slice(-maxLines).join("\n");
}
