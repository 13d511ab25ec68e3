/** The pages of this folder, in one piece that is loaded when a terminal is first opened. */
export { TerminalPage } from "./box-terminal.tsx";
export { TerminalGridPage } from "./grid.tsx";
