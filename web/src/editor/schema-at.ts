import type { TextPath } from "./text-place.js";

/** The part of our own JSON Schema that completion needs. */
export interface SchemaPart {
  readonly $ref?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [key: string]: SchemaPart };
  readonly additionalProperties?: boolean | SchemaPart;
  readonly items?: SchemaPart;
  readonly anyOf?: readonly SchemaPart[];
  readonly oneOf?: readonly SchemaPart[];
  readonly allOf?: readonly SchemaPart[];
  readonly then?: SchemaPart;
  readonly $defs?: { readonly [name: string]: SchemaPart };
}

export interface KnownKey {
  readonly key: string;
  readonly doc: string;
}

/** Limits recursion, because schemas may contain themselves. */
const MAX_DEPTH = 12;

/** All schemas that apply to a value at this path. */
export function schemasAt(root: SchemaPart, path: TextPath): SchemaPart[] {
  let here = unfold(root, root);
  for (const key of path) here = here.flatMap((part) => stepInto(root, part, key));
  return here;
}

export function keysAt(root: SchemaPart, path: TextPath): KnownKey[] {
  const keys = new Map<string, KnownKey>();
  for (const { properties } of schemasAt(root, path))
    for (const [key, part] of Object.entries(properties ?? {}))
      if (!keys.has(key)) keys.set(key, { key, doc: docOf(root, part) });
  return [...keys.values()];
}

/** The words allowed as a value at this path. */
export function valuesAt(root: SchemaPart, path: TextPath): string[] {
  const values = new Set<string>();
  for (const part of schemasAt(root, path)) {
    for (const value of part.enum ?? (part.const === undefined ? [] : [part.const]))
      values.add(String(value));
    if (part.type === "boolean") for (const value of ["true", "false"]) values.add(value);
  }
  return [...values];
}

export function docAt(root: SchemaPart, path: TextPath, key: string): string | null {
  return keysAt(root, path).find((known) => known.key === key)?.doc ?? null;
}

function docOf(root: SchemaPart, part: SchemaPart): string {
  const doc =
    part.description ?? unfold(root, part).find(({ description }) => description)?.description ?? "";
  return part.default === undefined ? doc : `${doc} Default: ${JSON.stringify(part.default)}.`;
}

function stepInto(root: SchemaPart, part: SchemaPart, key: string | number): SchemaPart[] {
  if (typeof key === "number") return part.items === undefined ? [] : unfold(root, part.items);
  const own = part.properties?.[key];
  if (own !== undefined) return unfold(root, own);
  return typeof part.additionalProperties === "object" ? unfold(root, part.additionalProperties) : [];
}

function unfold(root: SchemaPart, part: SchemaPart, depth = 0): SchemaPart[] {
  if (depth > MAX_DEPTH) return [];
  const target = part.$ref === undefined ? undefined : root.$defs?.[part.$ref.replace("#/$defs/", "")];
  const inner = [
    ...(target === undefined ? [] : [target]),
    ...(part.anyOf ?? []),
    ...(part.oneOf ?? []),
    ...(part.allOf ?? []),
    ...(part.then === undefined ? [] : [part.then]),
  ];
  return [part, ...inner.flatMap((each) => unfold(root, each, depth + 1))];
}
