import fc from "fast-check";

/** One request, as a test sends it. */
export interface RandomRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: { readonly [name: string]: string };
}

type Schema = { readonly [key: string]: unknown };

interface Described {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: Schema } } };
}

export interface ApiDocument {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Described } };
}

/** Values that fit a field of this name though no schema can say so. */
export type KnownValues = { readonly [field: string]: readonly (string | number)[] };

const HOSTILE_TEXTS = [
  "' OR '1'='1",
  '"; DROP TABLE runs; --',
  "1); DELETE FROM tokens; --",
  "../../../../etc/passwd",
  "..%2f..%2f..%2fetc%2fpasswd",
  "....//....//etc/passwd",
  "/etc/passwd",
  "\0",
  "a\0b",
  "\ud800",
  "\u202e\u0000\ufffe",
  "__proto__",
  "constructor",
  "{{ 7 | times: 7 }}",
  "$(id)",
  "<script>alert(1)</script>",
  "%00",
  "%zz",
  "-1",
  "0",
  "1e400",
  "NaN",
  "Infinity",
  "9007199254740993",
  "99999999999999999999999",
  "0x10",
  "true",
  "null",
  "[]",
  "x".repeat(5_000),
  "\r\nset-cookie: a=b",
];

const hostileText = fc.constantFrom(...HOSTILE_TEXTS);
const hostileValue = fc.oneof(
  hostileText,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(null, true, -1, 0, 2 ** 53, 1e308, -0, "", [], {}, [[]], { a: { b: [null] } }),
  fc.string({ unit: "binary", maxLength: 40 }),
);

/** Requests to every operation of a document: mostly what its schemas ask for, often a field or two of something else. */
export function randomRequests(document: ApiDocument, known: KnownValues): fc.Arbitrary<RandomRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) =>
      requestTo(path, method.toUpperCase(), described, known),
    ),
  );
  return fc.oneof(...operations);
}

function requestTo(
  path: string,
  method: string,
  described: Described,
  known: KnownValues,
): fc.Arbitrary<RandomRequest> {
  const parameters = described.parameters ?? [];
  const fields = (place: string): fc.Arbitrary<Record<string, unknown>> =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, schema = {} }) => [name, field(name, schema, known)]),
      ),
      place === "path" ? {} : { requiredKeys: [] },
    );
  const schema = described.requestBody?.content["application/json"]?.schema;
  return fc
    .record({
      path: fields("path"),
      query: fields("query"),
      header: fields("header"),
      body: bodyOf(schema, known),
    })
    .map((parts) => ({
      operation: described.operationId,
      method,
      path: address(path, parts.path, parts.query),
      body: parts.body,
      headers: Object.fromEntries(
        Object.entries(parts.header).map(([name, value]) => [name, headerText(String(value))]),
      ),
    }));
}

function address(path: string, params: Record<string, unknown>, query: Record<string, unknown>): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encode(params[name]));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat(3).map((each) => `${name}=${encode(each)}`),
  );
  return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
}

/** What is percent-encoded already stays as it is now and then: the server must cope with both. */
function encode(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  if (/^[\w.%-]+$/.test(text)) return text;
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "?"));
}

function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 1_000);
}

function bodyOf(schema: Schema | undefined, known: KnownValues): fc.Arbitrary<string | undefined> {
  if (schema === undefined) return fc.constant(undefined);
  return fc.oneof(
    { weight: 12, arbitrary: fromSchema(schema, known).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostileValue.map((value) => JSON.stringify(value) ?? "") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        "{",
        "NaN",
        '{"__proto__": {"role": "admin"}}',
        '{"constructor": {"prototype": {"role": "admin"}}}',
        '{"reason": "a", "reason": "b", "status": "ready", "status": "failed"}',
        `${'{"a":'.repeat(3_000)}1${"}".repeat(3_000)}`,
        '{"limit": 1e999}',
        "\ufeff{}",
      ),
    },
  );
}

function field(name: string, schema: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  const values = known[name];
  const fitting =
    values === undefined || values.length === 0
      ? fromSchema(schema, known)
      : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...values) }, fromSchema(schema, known));
  return fc.oneof({ weight: 19, arbitrary: fitting }, { weight: 1, arbitrary: hostileValue });
}

function fromSchema(schema: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.anyOf))
    return fc.oneof(...(schema.anyOf as Schema[]).map((each) => fromSchema(each, known)));
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
  switch (schema.type) {
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return numberOf(schema);
    case "string":
      return fc.oneof(
        fc.string({ maxLength: 30 }),
        fc.string({ unit: "grapheme", maxLength: 20 }),
        hostileText,
      );
    case "array":
      return fc.array(fromSchema((schema.items ?? {}) as Schema, known), { maxLength: 4 });
    case "object":
      return objectOf(schema, known);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

/** Mostly a small one that fits, seldom any. */
function numberOf({ minimum = 0, exclusiveMinimum, maximum }: Schema): fc.Arbitrary<number> {
  const least = typeof exclusiveMinimum === "number" ? exclusiveMinimum + 1 : Math.max(Number(minimum), 0);
  const min = Math.ceil(least);
  const max = typeof maximum === "number" ? Math.min(maximum, min + 50) : min + 50;
  return fc.oneof(
    { weight: 10, arbitrary: fc.integer({ min, max }) },
    { weight: 1, arbitrary: fc.integer() },
    { weight: 1, arbitrary: fc.maxSafeInteger() },
  );
}

function objectOf(schema: Schema, known: KnownValues): fc.Arbitrary<unknown> {
  const properties = (schema.properties ?? {}) as { readonly [name: string]: Schema };
  const required = (schema.required ?? []) as string[];
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, field(name, each, known)]),
  );
  return fc.record(fields, { requiredKeys: required });
}
