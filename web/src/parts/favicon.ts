/**
 * The product doll as icon of the tab: two eyes when all is calm, one while something runs, leaning while somebody is
 * needed.
 */
const FILES = { calm: "/favicon.svg", busy: "/favicon-busy.svg", waiting: "/favicon-waiting.svg" } as const;

export function showFavicon(state: keyof typeof FILES): void {
  const link = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  if (link !== null && link.getAttribute("href") !== FILES[state]) link.setAttribute("href", FILES[state]);
}
