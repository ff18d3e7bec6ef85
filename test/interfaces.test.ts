import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { renderOperations } from "../scripts/operations-document.mjs";
import { openApiDocument } from "../src/api/openapi.js";
import { COMMAND_GROUPS, printTopic } from "../src/cli/declare/command-groups.js";
import { createProgram } from "../src/cli/declare/program.js";
import { callTool, toolsFor } from "../src/mcp/tools.js";
import type { Operation } from "../src/operations/operation.js";
import { OPERATIONS, TABLE } from "../src/operations/operations.js";
import { ROLES } from "../src/operations/roles.js";

const NAMES = OPERATIONS.map(({ name }) => name).sort();
const FORMS = OPERATIONS.flatMap((operation) => operation.cli.map((form) => ({ operation, form })));
/** Processes of one interface, not operations. */
const PROCESS_WORDS = [
  "flows run",
  "completion",
  "config check",
  "config schema",
  "help",
  "init",
  "mcp",
  "page",
  "serve",
  "worker",
];

/** Every command that can be typed: `show`, `token create`. */
function wordsOf(command: Command, before: readonly string[] = []): string[] {
  return command.commands.flatMap((child) => {
    const words = [...before, child.name()];
    // One with commands of its own may do something itself, too.
    const own = child.commands.length === 0 || FORMS.some(({ form }) => form.words === words.join(" "));
    return [...(own ? [words.join(" ")] : []), ...wordsOf(child, words)];
  });
}

const program = await createProgram({ exitCode: 0 }, []);

function helpOf(words: string, whole: Command = program): string {
  let at = whole;
  for (const word of words.split(" ")) at = at.commands.find((command) => command.name() === word)!;
  let text = "";
  at.configureOutput({ writeOut: (piece) => (text += piece) });
  at.outputHelp();
  return text;
}

describe("the three interfaces", () => {
  it("a command line that names a command has that one, as it is among all, and not the others", async () => {
    const firstOf = (words: string): string => words.split(" ")[0]!;
    const all = wordsOf(program);
    for (const first of new Set(FORMS.map(({ form }) => firstOf(form.words)))) {
      const narrow = await createProgram({ exitCode: 0 }, ["--output-dir", "out", first]);
      const named = all.filter((words) => firstOf(words) === first);
      expect(wordsOf(narrow).filter((words) => firstOf(words) === first)).toEqual(named);
      for (const words of named) expect(helpOf(words, narrow)).toBe(helpOf(words));
      expect(wordsOf(narrow).length, first).toBeLessThan(all.length / 2);
    }
    expect(wordsOf(await createProgram({ exitCode: 0 }, ["lst"])), "a word that is none").toEqual(all);
  });

  it("REST has a route for every operation, and none besides", () => {
    const { paths } = openApiDocument(OPERATIONS) as {
      paths: Record<string, Record<string, { operationId?: string }>>;
    };
    const ids = Object.values(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    const own = ids.filter((id) => id !== undefined && !id.endsWith("_unprefixed"));
    const operations = own.filter((id) => Object.hasOwn(TABLE, id!)).sort();
    expect(operations).toEqual(NAMES);
    const others = own.filter((id) => !Object.hasOwn(TABLE, id!));
    expect(others.every((id) => !NAMES.includes(id!))).toBe(true);
    const routes = OPERATIONS.map(({ rest }) => `${rest.method} ${rest.path.replace(/\{\w+\}/g, "{}")}`);
    expect(new Set(routes).size).toBe(routes.length);
  });

  /** Names that Torc's agents know. */
  const PUBLISHED_TOOLS = ["classify_and_resolve_failures", "list_pending_failed_jobs"];

  it("MCP has a tool for every operation that is not only for people, and none besides", () => {
    const tools = OPERATIONS.filter(({ audience }) => audience !== "people");
    expect(
      toolsFor("admin")
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...tools.map(({ name }) => name), ...PUBLISHED_TOOLS].sort());
    expect(NAMES.filter((name) => !tools.some((tool) => tool.name === name))).toEqual([
      ...["check_health", "compare_attempts", "compare_runs", "compare_versions", "control_breaker"],
      ...["control_campaign", "create_token"],
      ...["diff_run", "edit_workflow", "export_run", "get_settings", "get_timeline"],
      ...["import_run", "list_breakers", "list_notifications", "list_tokens", "list_waiting"],
      ...["prune_runs", "release_worker", "report_run", "test_channel"],
    ]);
  });

  it("MCP does not do by its name what is only for people", async () => {
    const answer = await callTool(async () => ({}), "admin", "create_token", {});
    expect(answer).toMatchObject({ isError: true });
  });

  it("the list of MCP tools costs an agent less than 35 KB", () => {
    expect(Buffer.byteLength(JSON.stringify({ tools: toolsFor("admin") }))).toBeLessThan(35_000);
  });

  it("the command line has the words of every operation, and none besides", () => {
    const words = FORMS.map(({ form }) => form.words);
    expect(new Set(words).size).toBe(words.length);
    // The page asks what can be done, seed 002 sets a job's status, and `run`, `inbox` show the others in passing.
    expect(OPERATIONS.filter(({ cli }) => cli.length === 0).map(({ name }) => name)).toEqual([
      ...["list_controls", "list_dead_letters", "diff_run", "update_job"],
    ]);
    const typed = wordsOf(program).filter((word) => !PROCESS_WORDS.includes(word));
    expect(typed.sort()).toEqual(words.sort());
  });
});

describe("the help of a command", () => {
  it.each([
    ["export", "--no-files omit the output of attempts, and artifacts"],
    ["retry", "--force also go back to a completed step"],
    ["hard-reset", "--force end a step that is running in the workspace first"],
    ["resume-from", "--force end a step that is running in the workspace first"],
    ["resume-from", "step a step: its id, step@scope, or a job's id"],
    ["artifact", "name the name as listed by `daruma artifacts RUN`"],
    ["decide", "--action <action> what to do: retry, complete, skip,"],
    ["campaigns start", 'counts as failed (default: "1h")'],
    ["campaigns show", "campaign the campaign's number"],
    ["edge add", "--priority <n>"],
    ["job", "help [command] print the help of a command"],
    ["run", "more options: `daruma help all`"],
  ])("%s: %s", (words, told) => {
    expect(helpOf(words).replace(/\s+/g, " ")).toContain(told);
  });
});

it.each(wordsOf(program).filter((words) => words !== "help"))(
  "the help of %s has room for its words",
  (words) => {
    const flags = /^Options:\n((?: {2}.*\n)+)/m.exec(helpOf(words))![1]!;
    const widths = [...flags.matchAll(/^ {2}-.*? {2,}/gm)].map(([start]) => start.length);
    expect(Math.max(...widths)).toBeLessThan(40);
  },
);

const GROUPS = Object.keys(COMMAND_GROUPS);

function topicOf(topic: string): string {
  let text = "";
  program.configureOutput({ writeOut: (piece) => (text += piece) });
  expect(printTopic(program, topic)).toBe(true);
  return text;
}

const headingsOf = (text: string): string[] =>
  [...text.matchAll(/^([A-Z][\w ]*|[a-z]+):$/gm)].map(([, words]) => words!);

/** `daruma --help` as somebody sees it who has just installed it. */
async function firstHelp(): Promise<string> {
  let text = "";
  const fresh = await createProgram({ exitCode: 0 }, ["--help"]);
  fresh.configureOutput({ writeOut: (piece) => (text += piece) }).outputHelp();
  return text;
}

describe("daruma help", () => {
  it("has every command under a heading, in the order of the list where it is listed", () => {
    const grouped = Object.values(COMMAND_GROUPS).flat();
    expect(new Set(grouped).size).toBe(grouped.length);
    const names = program.commands.map((command) => command.name());
    expect(names.filter((name) => grouped.includes(name))).toEqual(grouped.filter((name) => name !== "help"));
    for (const command of program.commands)
      expect(GROUPS.map((group) => `${group}:`)).toContain(command.helpGroup());
    const text = topicOf("all");
    expect(headingsOf(text)).toEqual([...GROUPS, "Options", "Examples"]);
    expect(text).toMatch(/^ {2}logs \[run\] <job> {2,}print what/m);
  });

  it.each(GROUPS.slice(1))("%s has the commands of that group, and those below them", (group) => {
    const text = topicOf(group);
    expect(headingsOf(text)).toEqual([`Group ${group}`]);
    const named = [...text.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?)/gm)].map(([, words]) => words!);
    const first = new Set(named.map((words) => words.split(" ")[0]));
    expect([...first]).toEqual([...COMMAND_GROUPS[group]!]);
  });

  it("knows no other topics", () => {
    expect(["run", "Most used", "toString"].map((topic) => printTopic(program, topic))).toEqual([
      ...[false, false, false],
    ]);
  });

  it("has the twelve commands that people use most, and the groups", async () => {
    const [first, ...groups] = GROUPS;
    expect(COMMAND_GROUPS[first!]).toHaveLength(12);
    const fresh = await firstHelp();
    expect(headingsOf(fresh)).toEqual(["Most used", "Groups"]);
    const [commands, rest] = fresh.split("Groups:\n");
    expect([...commands!.matchAll(/^ {2}([a-z]+)/gm)].map(([, word]) => word)).toEqual(
      COMMAND_GROUPS[first!],
    );
    expect([...rest!.matchAll(/^ {2}([a-z]+) /gm)].map(([, word]) => word)).toEqual(groups);
    expect(fresh.split("\n").length).toBeLessThan(60);
  });

  it.each(wordsOf(program).filter((words) => words !== "help"))(
    "%s has an example in its own help",
    (words) => {
      expect(helpOf(words)).toMatch(new RegExp(`^Examples:\\n(?:  .*\\n)*  .*daruma ${words}\\b`, "m"));
    },
  );
});

describe("every operation", () => {
  it("is called by its name in the table", () => {
    expect(Object.keys(TABLE)).toEqual(OPERATIONS.map(({ name }) => name));
  });

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    "%s says what it does, who may, and how it is typed",
    (_, { summary, description, role, cli }) => {
      expect(summary).toMatch(/^[a-z].*[^.]$/);
      expect(description).toMatch(/^[A-Z].{20,}\.$/s);
      expect(ROLES).toContain(role);
      for (const { words, examples } of cli) {
        expect(examples.length).toBeGreaterThan(0);
        for (const example of examples) expect(`${example} `.startsWith(`daruma ${words} `)).toBe(true);
      }
    },
  );

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    "%s has schemas that documents can show, with a word for each field",
    (_, { input, output }) => {
      const shown = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
      expect(shown.type).toBe("object");
      expect(shown.additionalProperties).toBe(false);
      for (const [field, schema] of Object.entries(shown.properties ?? {}))
        expect([field, (schema as { description?: string }).description ?? ""]).toEqual([
          field,
          expect.stringMatching(/\.$/),
        ]);
      expect(z.toJSONSchema(output, { io: "output", unrepresentable: "any" }).type).toBe("object");
    },
  );

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    "%s has only fields of its input in its path, query, arguments and presets",
    (_, { input, rest, cli, streamFrom, stream }) => {
      const fields = Object.keys(input.shape);
      const inPath = [...rest.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
      const positional = cli.flatMap((form) => form.positional.map((word) => word.replace(/[[\].]/g, "")));
      const preset = cli.flatMap((form) => Object.keys(form.preset ?? {}));
      const used = [...inPath, ...(rest.query ?? []), ...positional, ...preset];
      expect(used.filter((field) => !fields.includes(field))).toEqual([]);
      expect(stream === undefined).toBe(streamFrom === undefined);
      if (streamFrom !== undefined) expect(fields).toContain(streamFrom);
    },
  );

  it.each(FORMS.map(({ operation, form }) => [form.words, operation, form] as const))(
    "help of %s has its summary and examples",
    (words, { summary }: Operation, form) => {
      const help = helpOf(words).replace(/\s+/g, " ");
      expect(help).toContain((form.summary ?? summary).replace(/\s+/g, " "));
      for (const example of form.examples) expect(help).toContain(example.replace(/\s+/g, " "));
    },
  );
});

describe("docs/server-operations.md", () => {
  it("says what the table says: npm run docs:operations", () => {
    const document = readFileSync(new URL("../docs/server-operations.md", import.meta.url), "utf8");
    const toJsonSchema = (schema: z.ZodType, io: "input" | "output"): object =>
      z.toJSONSchema(schema, { io, unrepresentable: "any" });
    expect(document).toBe(renderOperations(OPERATIONS, toJsonSchema));
  });
});
