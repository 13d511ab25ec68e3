type Paint = (text: string) => string;

/** Colours for people, or nothing at all. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const sgr =
  (on: number, off: number, isEnabled: boolean): Paint =>
  (text) =>
    isEnabled ? `\u001b[${on}m${text}\u001b[${off}m` : text;

export const createStyle = (isEnabled: boolean): Style => ({
  bold: sgr(1, 22, isEnabled),
  dim: sgr(2, 22, isEnabled),
  red: sgr(31, 39, isEnabled),
  green: sgr(32, 39, isEnabled),
  yellow: sgr(33, 39, isEnabled),
  cyan: sgr(36, 39, isEnabled),
});

const colours = new RegExp("\u001b\\[\\d+m", "g");

/** Width on the screen: colours take no room, wide characters are not expected in what we align. */
export const widthOf = (text: string): number => Array.from(text.replaceAll(colours, "")).length;
