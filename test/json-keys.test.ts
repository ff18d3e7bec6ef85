import { describe, expect, it } from "vitest";
import { z } from "zod";
import { EVENTS, type Event } from "../src/core/model/events.js";
import { OPERATIONS } from "../src/operations/operations.js";
import { objectOf } from "../src/run/worker/zod-of.js";
import { CliFolder } from "./support/cli-folder.js";
import { OperationBench } from "./support/operation-bench.js";

/** What lies below these is the user's own, whose keys are as the user writes them. */
const USERS_OWN = new Set(["inputs", "context", "output", "value", "state", "user_data"]);
/** A frozen definition is shown as it is kept, so that whoever reads a log can fold it. */
const AS_KEPT = new Set(["definition"]);
const SNAKE_CASE = /^[a-z0-9_$]+$/;

/** Paths of keys in a JSON value that are not snake_case. */
function wrongKeys(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => wrongKeys(entry, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    if (USERS_OWN.has(key) || AS_KEPT.has(key)) return [];
    return [...(SNAKE_CASE.test(key) ? [] : [at]), ...wrongKeys(inner, at)];
  });
}

/** The keys that a JSON Schema names, with their paths. */
function keysOf(schema: unknown, path = ""): string[] {
  if (Array.isArray(schema)) return schema.flatMap((each) => keysOf(each, path));
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([word, inner]) =>
    word === "properties" || word === "$defs"
      ? Object.entries(inner as object).flatMap(([key, each]) => [
          ...(word === "properties" ? [`${path}.${key}`] : []),
          ...keysOf(each, `${path}.${key}`),
        ])
      : keysOf(inner, path),
  );
}

const schemaOf = (schema: z.ZodType, io: "input" | "output"): unknown =>
  z.toJSONSchema(schema, { io, unrepresentable: "any" });
const lastOf = (path: string): string => path.slice(path.lastIndexOf(".") + 1);
const isWrong = (path: string): boolean => !SNAKE_CASE.test(lastOf(path));

describe("keys of JSON are snake_case", () => {
  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    "in what %s takes and answers",
    (_name, { input, output }) => {
      expect(keysOf(schemaOf(input, "input")).filter(isWrong)).toEqual([]);
      expect(keysOf(schemaOf(output, "output")).filter(isWrong)).toEqual([]);
    },
  );

  it("in every event", () => {
    const paths = Object.values(EVENTS).flatMap((fields) =>
      keysOf(schemaOf(objectOf(fields, { others: "refused" }), "input")),
    );
    expect(paths.length).toBeGreaterThan(300);
    expect(paths.filter(isWrong)).toEqual([]);
  });
});

function withoutType({ type: _, ...fields }: Event): object {
  return fields;
}

const FAILING = `
name: keys
inputs: { aName: { default: { innerKey: 1 } } }
failure_handlers: [{ name: h, rules: [{ exit_codes: [7], max_retries: 3 }] }]
steps:
  list: { type: script, content: "return [{ aKey: 1 }]", forEach: true }
  each: { type: noop, depends_on: [list] }
  build: { type: command, exec: "exit 7", failure_handler: h, on_fail: { retry: { max: 1 } } }
  mend: { type: command, exec: 'echo ''{"anOutput": {"deepKey": 1}}''' }
transitions: [{ from: build, to: mend, on: failure }]
`;

describe("a run that failed, was repaired and asked about", () => {
  const bench = new OperationBench();

  it("shows snake_case in every answer, and the user's own keys as they are", async () => {
    const { run_id, jobs } = await bench.run(FAILING);
    const { store } = bench.context;
    const log = await store.readEvents(run_id);
    for (const { event } of log)
      expect(objectOf(EVENTS[event.type], { others: "refused" }).parse(withoutType(event))).toEqual(
        withoutType(event),
      );
    const answers = {
      log,
      run: await bench.call("get_run", { run_id }),
      events: await bench.call("list_run_events", { run_id }),
      document: await bench.call("export_run", { run_id }),
      definition: await bench.call("get_run_definition", { run_id }),
      explained: await bench.call("explain_run", { run_id, full: true }),
      jobs: await Promise.all(jobs.map(({ id }) => bench.call("get_job", { job_id: id }))),
      checked: await bench.call("validate_workflow", { source: FAILING }),
      stats: await bench.call("get_stats", {}),
    };
    expect(wrongKeys(answers)).toEqual([]);
    const text = JSON.stringify(answers);
    for (const own of ["aName", "innerKey", "aKey", "deepKey"]) expect(text).toContain(`"${own}":`);
    expect(answers.run.diagnostics).toContainEqual(
      expect.objectContaining({ failure_route: expect.objectContaining({ selected_edge_id: 1 }) }),
    );
  });
});

describe("the command line", () => {
  const cli = new CliFolder();

  it("prints snake_case for a run, its log and a refusal", async () => {
    const { report } = await cli.runJson(FAILING);
    expect(wrongKeys(report)).toEqual([]);
    const { stdout } = await cli.daruma("events", "last", "--json");
    const events = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(wrongKeys(events)).toEqual([]);
    expect(events.find(({ type }) => type === "rule.reserved")).toMatchObject({
      exit_code: 7,
      max_attempts: 3,
    });
    const refused = await cli.json("show", "99");
    expect([refused.exitCode, wrongKeys(refused.value)]).toEqual([2, []]);
    // For people the same names, and names of jobs in place of their ids.
    expect((await cli.daruma("events", "last")).stdout).toMatch(/rule\.reserved .*exit_code 7, max_attempts/);
  });
});
