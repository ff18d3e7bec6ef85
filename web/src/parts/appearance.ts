import { keep, kept } from "../kept.js";

type Theme = "light" | "dark";

const KEY = "daruma-theme";

/** The theme in the address, else the one chosen before, else the system's preference. */
function currentTheme(): Theme {
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

/**
 * The product doll as icon of the tab: two eyes when all is calm, one while something runs, leaning while somebody is
 * needed.
 */
const FILES = { calm: "/favicon.svg", busy: "/favicon-busy.svg", waiting: "/favicon-waiting.svg" } as const;

export function showFavicon(state: keyof typeof FILES): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (link !== null && link.getAttribute("href") !== FILES[state]) link.setAttribute("href", FILES[state]);
}
