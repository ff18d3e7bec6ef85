/** Choices that this browser remembers. If it has no storage, they last until the page is left. */
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
