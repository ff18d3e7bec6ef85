import { z } from "zod";
import type { Operation } from "../operations/operation.js";
import { schemaInPublishedWords } from "../operations/published-words.js";
import { API_PREFIX } from "./limits.js";
import { codesOfStatus } from "./problem.js";
import { hasBody, pathParameters, queryParameters } from "./read-input.js";

export interface DocumentedGroup {
  readonly document?: { readonly [path: string]: object };
}

type Schema = { readonly [key: string]: unknown };
type Paths = { [path: string]: { [method: string]: object } };

/** The OpenAPI 3.1 document of the operations and of the server's other routes. */
export function openApiDocument(
  operations: readonly Operation[],
  groups: readonly DocumentedGroup[] = [],
): object {
  const schemas: { [name: string]: Schema } = { Problem: PROBLEM_SCHEMA };
  const paths: Paths = {};
  for (const operation of operations) {
    const { rest } = operation;
    const described = describeOperation(operation, schemas);
    const method = rest.method.toLowerCase();
    put(paths, `${API_PREFIX}${rest.path}`, method, described);
    if (rest.unprefixed === true)
      put(paths, rest.path, method, {
        ...schemaInPublishedWords(described),
        operationId: `${operation.name}_unprefixed`,
      });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Daruma",
      version: "1",
      description: "Runs, jobs and workflows of a Daruma server. Errors are problem+json with a stable code.",
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths: withGroups(paths, groups),
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "A token made by `daruma token create`. Not needed on loopback while no token exists.",
        },
      },
      schemas,
      responses: PROBLEM_RESPONSES,
    },
  };
}

/** Adds the routes of groups. A group may have further methods for the path of an operation. */
function withGroups(paths: Paths, groups: readonly DocumentedGroup[]): Paths {
  for (const document of [SERVER_PATHS, ...groups.map((group) => group.document ?? {})])
    for (const [path, methods] of Object.entries(document)) paths[path] = { ...paths[path], ...methods };
  return paths;
}

function put(paths: Paths, path: string, method: string, described: object): void {
  paths[path] = { ...paths[path], [method]: described };
}

function describeOperation(operation: Operation, schemas: { [name: string]: Schema }): object {
  const { name, summary, description, details, role, rest } = operation;
  const input = schemaOf(operation.input, "input", `${name}_input`, schemas);
  const output = schemaOf(operation.output, "output", `${name}_output`, schemas);
  return {
    operationId: name,
    tags: [rest.path.split("/")[1]],
    summary,
    description: details === undefined ? description : `${description} ${details}`,
    "x-daruma-role": role,
    parameters: parametersOf(operation, input),
    ...(hasBody(operation) ? { requestBody: bodyOf(operation, input) } : {}),
    responses: {
      [rest.status ?? 200]: { description: "It worked.", ...contentOf(operation, output) },
      ...Object.fromEntries(
        Object.keys(PROBLEM_RESPONSES).map((status) => [
          status,
          { $ref: `#/components/responses/${status}` },
        ]),
      ),
    },
  };
}

function contentOf({ rest, stream }: Operation, output: Schema): object {
  if (rest.status === 204) return {};
  const text = { schema: { type: "string" } };
  return {
    content: {
      "application/json": { schema: output },
      ...(stream === undefined ? {} : { "text/event-stream": text }),
      ...(rest.streamsText === true ? { "text/plain": text } : {}),
    },
  };
}

const KEY_HEADER = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "The same as the field `key`: a repeated request with the same key is answered as the first one was.",
  schema: { type: "string" },
};

function parametersOf(operation: Operation, input: Schema): object[] {
  const properties = propertiesOf(input);
  const required = new Set((input.required as readonly string[] | undefined) ?? []);
  const describe = (place: "path" | "query") => (name: string) => {
    const { description, ...schema } = properties[name] ?? {};
    return {
      name,
      in: place,
      required: place === "path" || required.has(name),
      ...(description === undefined ? {} : { description }),
      schema,
      ...(schema.type === "array" ? { style: "form", explode: true } : {}),
    };
  };
  return [
    ...pathParameters(operation.rest.path).map(describe("path")),
    ...queryParameters(operation).map(describe("query")),
    ...(operation.stream === undefined ? [] : STREAM_PARAMETERS),
    ...(operation.effect === "reads" || properties.key === undefined ? [] : [KEY_HEADER]),
  ];
}

function bodyOf(operation: Operation, input: Schema): object {
  const elsewhere = new Set([...pathParameters(operation.rest.path), ...queryParameters(operation)]);
  const properties = Object.entries(propertiesOf(input)).filter(([name]) => !elsewhere.has(name));
  const required = ((input.required as readonly string[] | undefined) ?? []).filter(
    (name) => !elsewhere.has(name),
  );
  const schema = {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
  return { required: required.length > 0, content: { "application/json": { schema } } };
}

function propertiesOf(schema: Schema): { readonly [name: string]: Schema } {
  return (schema.properties ?? {}) as { readonly [name: string]: Schema };
}

/**
 * Prefix of generated names. Such definitions are named after the operation; those with a name of their own are shared.
 */
const NAMELESS = "__schema";

/** The schema of a type. Definitions that it refers to move to the document's shared components. */
function schemaOf(
  type: z.ZodType,
  io: "input" | "output",
  name: string,
  schemas: { [name: string]: Schema },
): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io, unrepresentable: "any" });
  const place = (key: string): string => (key.startsWith(NAMELESS) ? `${name}_${key}` : key);
  const text = JSON.stringify(schema).replaceAll(
    /"#\/\$defs\/([^"]+)"/g,
    (_, key: string) => `"#/components/schemas/${place(key)}"`,
  );
  const { $defs = {}, ...moved } = JSON.parse(text) as { $defs?: { [name: string]: Schema } };
  for (const [key, definition] of Object.entries($defs)) schemas[place(key)] = definition;
  return moved;
}

const STREAM_PARAMETERS = [
  {
    name: "follow",
    in: "query",
    required: false,
    description: "Answer with what exists now, then with new items as they come, until the end.",
    schema: { type: "boolean" },
  },
  {
    name: "last-event-id",
    in: "header",
    required: false,
    description: "Continue after this item of the stream.",
    schema: { type: "string" },
  },
];

const PROBLEM_SCHEMA: Schema = {
  type: "object",
  required: ["type", "title", "status", "detail", "code", "hint"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", description: "Stable; programs match on it. All are in docs/errors.md." },
    hint: { type: "string", description: "What to do next." },
    errors: {
      type: "array",
      items: { type: "object", properties: { path: { type: "string" }, message: { type: "string" } } },
    },
    problems: { type: "array", items: { type: "object" } },
    results: {
      type: "array",
      items: { type: "object" },
      description: "For DECISIONS_REFUSED: each decision, with the reason if it was refused.",
    },
    reference: { type: "string", description: "Also written to the server's log." },
  },
};

const PROBLEM_TITLES: { readonly [status: string]: string } = {
  "400": "The request cannot be read.",
  "401": "The token is missing or unknown.",
  "403": "The token's role does not allow this, or the page that asks is not let in.",
  "404": "Not found.",
  "409": "Somebody else is working on it.",
  "413": "The body is too large.",
  "415": "The body is not JSON.",
  "422": "The request was refused; the code says why.",
  "429": "Too many requests.",
  "503": "The server or its store cannot answer now.",
};

const PROBLEM_RESPONSES = Object.fromEntries(
  Object.entries(PROBLEM_TITLES).map(([status, title]) => [
    status,
    {
      description: `${title} Codes: ${codesOfStatus(Number(status)).join(", ")}.`,
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    },
  ]),
);

const OPEN_ANSWER = { responses: { "200": { description: "Yes." } }, security: [] };

const SERVER_PATHS = {
  "/healthz": {
    get: {
      operationId: "healthz",
      tags: ["server"],
      summary: "the process lives",
      description: "Answers while the process lives, even if it cannot work. Needs no token.",
      ...OPEN_ANSWER,
    },
  },
  "/readyz": {
    get: {
      operationId: "readyz",
      tags: ["server"],
      summary: "it can work",
      description:
        "200 while the server is up and its store takes writes, else 503 with SERVER_STOPPING, STORE_FAILED, STORE_GONE or STORE_DAMAGED: a load balancer then sends it no requests. Needs no token.",
      ...OPEN_ANSWER,
    },
  },
  "/session": {
    post: {
      operationId: "sign_in",
      tags: ["server"],
      summary: "sign in to the page",
      description:
        "For the server's own page: takes a token and keeps it in a cookie that no script can read. Other programs send the token with each request.",
      requestBody: {
        content: {
          "application/json": {
            schema: { type: "object", properties: { token: { type: "string" } }, required: ["token"] },
          },
        },
      },
      ...OPEN_ANSWER,
    },
    delete: {
      operationId: "sign_out",
      tags: ["server"],
      summary: "sign out of the page",
      description: "Takes the cookie of the page away. The token itself stays as it is.",
      responses: { "204": { description: "Signed out." } },
    },
  },
  "/metrics": {
    get: {
      operationId: "metrics",
      tags: ["server"],
      summary: "series for Prometheus",
      description:
        "Counts and times of runs, attempts, failures and recoveries since the server started, in the text form of Prometheus.",
      responses: {
        "200": { description: "Text.", content: { "text/plain": { schema: { type: "string" } } } },
      },
    },
  },
};
