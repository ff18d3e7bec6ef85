/** Freeze a tree of plain data and give it back. Parts that are frozen already are taken to be frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const key of Object.keys(value)) deepFreeze(value[key as keyof typeof value]);
  return value;
}
