import { keep, kept } from "../kept.js";

export type Theme = "light" | "dark";

const KEY = "daruma-theme";

/** The theme in the address, else the one chosen before, else the system's preference. */
export function currentTheme(): Theme {
  const asked = new URLSearchParams(location.search).get("theme") ?? kept(KEY);
  if (asked === "light" || asked === "dark") return asked;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyTheme(theme: Theme = currentTheme()): void {
  document.documentElement.dataset.theme = theme;
}

export function switchTheme(): void {
  const next: Theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  keep(KEY, next);
  applyTheme(next);
}
