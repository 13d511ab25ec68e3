import type { ITheme } from "@xterm/xterm";

const variable = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Dark in both themes, as programs expect their terminal to be. */
export const terminalTheme = (): ITheme => ({
  background: variable("--terminal-ground"),
  foreground: variable("--terminal-text"),
  cursor: variable("--terminal-text"),
  cursorAccent: variable("--terminal-ground"),
  selectionBackground: "#3b4a75",
  black: "#23272f",
  red: "#ff7b86",
  green: "#7fd89b",
  yellow: "#f0c674",
  blue: "#8fb0ff",
  magenta: "#d9a2f5",
  cyan: "#7fd4e0",
  white: "#d5dae3",
  brightBlack: "#8b94a5",
  brightRed: "#ffa3ab",
  brightGreen: "#a5e9ba",
  brightYellow: "#f9dc9c",
  brightBlue: "#b6caff",
  brightMagenta: "#e8c5fa",
  brightCyan: "#a8e6ee",
  brightWhite: "#ffffff",
});

export const terminalFont = (): string => variable("--mono");
