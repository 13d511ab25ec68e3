// The table of what each real agent did: one row an agent, one column what it was tried at. Cells come from the
// tests of test/agents, which say in their own record where they belong.
const columns = ["headless", "interactive", "resume", "budget", "no stray hosts"];

/** `cells`: { agent, column, state, seconds }, one for each test. */
export function renderMatrix(cells) {
  const agents = [...new Set(cells.map(({ agent }) => agent))];
  const rows = agents.map((agent) => {
    const own = cells.filter((cell) => cell.agent === agent);
    const seconds = own.reduce((sum, cell) => sum + cell.seconds, 0);
    return [
      agent,
      ...columns.map((column) => summarize(own.filter((cell) => cell.column === column))),
      seconds.toFixed(0),
    ];
  });
  const table = [["agent", ...columns, "seconds"], ...rows];
  const widths = table[0].map((_, index) => Math.max(...table.map((row) => row[index].length)));
  return table
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Several tests may make one cell; the worst of them counts. */
function summarize(cells) {
  if (cells.some(({ state }) => state === "failed")) return "FAILED";
  if (cells.length === 0 || cells.some(({ state }) => state !== "passed")) return "skipped";
  return "ok";
}
