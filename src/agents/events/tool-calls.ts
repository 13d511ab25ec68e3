/** Ids for tool calls of an agent that tells names but no ids: an answer belongs to the oldest open call of its tool. */
export function toolCalls() {
  const open = new Map<string, string[]>();
  let last = 0;
  const next = (tool: string) => `${tool}-${++last}`.slice(-128);
  return {
    open(tool: string): string {
      const id = next(tool);
      open.set(tool, [...(open.get(tool) ?? []), id]);
      return id;
    },
    close(tool: string): string {
      const [id, ...rest] = open.get(tool) ?? [];
      open.set(tool, rest);
      return id ?? next(tool);
    },
  };
}
