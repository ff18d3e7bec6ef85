/** The shared empty list: of very many steps, most have no neighbours of some kind. */
export const NONE: readonly never[] = Object.freeze([]);

export function mapped<T, U>(list: readonly T[], map: (item: T) => U): readonly U[] {
  return list.length === 0 ? NONE : list.map(map);
}

/** The list with one more: a list of its own from the first one on. */
export function added<T>(list: readonly T[], item: T): readonly T[] {
  if (list === NONE) return [item];
  (list as T[]).push(item);
  return list;
}
