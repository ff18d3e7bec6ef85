// The text of docs/server-operations.md, made from the table of operations.

/** @param operations the table; @param toJsonSchema a schema and "input" or "output" to its JSON Schema */
export function renderOperations(operations, toJsonSchema) {
  const parts = [
    "# Operations",
    "",
    "Everything that can be asked of Daruma. REST routes, MCP tools and commands are made from the same table, so that",
    "they cannot disagree. A route is below `/api/v1` (those marked * also without it). A command has the fields as flags",
    "(`max_retries` is `--max-retries`). A tool has the operation's name; a few operations are not tools, and say so.",
    "[rest.md](rest.md) describes requests, errors and streams, [cli.md](cli.md) what commands print.",
    "",
    "This page is made from `src/operations/operations.ts` by `npm run docs:operations`.",
    "",
    "| operation | REST | command | role |",
    "|---|---|---|---|",
    ...operations.map(
      (operation) =>
        `| [${operation.name}](#${operation.name}) | ${route(operation)} | ${commands(operation)} | ${operation.role} |`,
    ),
    "",
  ];
  for (const operation of operations) parts.push(...section(operation, toJsonSchema));
  return `${parts.join("\n").trimEnd()}\n`;
}

function section(operation, toJsonSchema) {
  const { name, description, details, role, effect, stream, streamFrom, audience } = operation;
  const input = toJsonSchema(operation.input, "input");
  const output = toJsonSchema(operation.output, "output");
  const fields = Object.entries(input.properties ?? {});
  const lines = [`## ${name}`, "", [description, details].filter(Boolean).join(" "), ""];
  lines.push(
    `- REST: ${route(operation)}`,
    `- command: ${commands(operation)}`,
    `- role: ${role}; effect: ${effect}`,
  );
  if (audience === "people") lines.push("- not a tool of MCP");
  if (stream !== undefined)
    lines.push(
      `- as a stream: server-sent events; \`${streamFrom}\` (or \`Last-Event-ID\`) takes the id of the last one seen`,
    );
  lines.push("");
  if (fields.length > 0) {
    lines.push("| field | type | default | meaning |", "|---|---|---|---|");
    for (const [field, schema] of fields) {
      const value = usual(operation.input.shape[field]);
      lines.push(`| \`${field}\` | ${typeOf(schema)} | ${value} | ${cell(schema.description)} |`);
    }
    lines.push("");
  }
  const answer = Object.entries(output.properties ?? {}).map(
    ([field, schema]) => `\`${field}\` ${typeOf(schema)}`,
  );
  lines.push(answer.length === 0 ? "Answer: a JSON object." : `Answer: ${answer.join(", ")}.`, "");
  return lines;
}

function route({ rest }) {
  const status = rest.status === undefined ? "" : ` (${rest.status})`;
  return `\`${rest.method} ${rest.path}\`${rest.unprefixed === true ? " *" : ""}${status}`;
}

function commands({ cli }) {
  return cli.map(({ words }) => `\`${words}\``).join(", ");
}

function usual(schema) {
  const parsed = schema.safeParse(undefined);
  if (!parsed.success) return "required";
  return parsed.data === undefined ? "" : `\`${JSON.stringify(parsed.data)}\``;
}

function typeOf(schema) {
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(" \\| ");
  if (schema.const !== undefined) return `\`${schema.const}\``;
  if (schema.$ref !== undefined) return named(schema.$ref.split("/").at(-1));
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(" or ");
  if (Array.isArray(schema.type)) return schema.type.join(" or ");
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  return schema.type ?? "JSON";
}

/** What many answers share is told once, elsewhere. */
function named(name) {
  return name === "ErrorRecord" ? "[error record](workflow-file.md#the-error-record)" : "object";
}

function cell(text) {
  return (text ?? "").replaceAll("|", "\\|").replaceAll("\n", " ");
}
