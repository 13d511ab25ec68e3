export interface Found {
  readonly row: number;
  readonly column: number;
}

/**
 * The next match of a text above or below a position, around the end and back. Case does not matter, unless the text has
 * capitals.
 */
export function findText(
  rows: number,
  textOf: (row: number) => string,
  wanted: string,
  { from, isUpwards }: { readonly from: Found; readonly isUpwards: boolean },
): Found | undefined {
  if (wanted === "" || rows === 0) return undefined;
  const isExact = wanted !== wanted.toLowerCase();
  const line = (row: number) => (isExact ? textOf(row) : textOf(row).toLowerCase());
  const first = Math.min(Math.max(from.row, 0), rows - 1);
  // The row it starts in comes twice: for what lies after the position, and at the end for what lies before it.
  for (let step = 0; step <= rows; step += 1) {
    const row = (((first + (isUpwards ? -step : step)) % rows) + rows) % rows;
    const text = line(row);
    const isFirst = step === 0;
    const column = isUpwards
      ? isFirst
        ? from.column > 0
          ? text.lastIndexOf(wanted, from.column - 1)
          : -1
        : text.lastIndexOf(wanted)
      : text.indexOf(wanted, isFirst ? from.column + 1 : 0);
    if (column >= 0) return { row, column };
  }
  return undefined;
}
