/** What this browser remembers of somebody's choice. Where it may remember nothing, a choice counts until the page is left. */
const unsaved = new Map<string, string>();

export function kept(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return unsaved.get(key) ?? null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    unsaved.set(key, value);
  }
}
