/** Light or dark: what the person chose, or what the system says. */
import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";
const storageKey = "agentbox-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();

const readChoice = (): ThemeChoice => {
  const kept = localStorage.getItem(storageKey);
  return kept === "light" || kept === "dark" ? kept : "system";
};

const shown = (choice: ThemeChoice): "light" | "dark" =>
  choice === "system" ? (system.matches ? "dark" : "light") : choice;

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = shown(readChoice());
  for (const watcher of watchers) watcher();
}

export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, choice);
  applyTheme();
}

const subscribe = (watcher: () => void) => {
  watchers.add(watcher);
  return () => void watchers.delete(watcher);
};

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(subscribe, readChoice);
export const useTheme = (): "light" | "dark" => useSyncExternalStore(subscribe, () => shown(readChoice()));

system.addEventListener("change", applyTheme);
