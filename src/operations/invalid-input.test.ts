import { describe, expect, it } from "vitest";
import { z } from "zod";
import { bareServer } from "../../test/support/api-server.js";
import { openLocalClient } from "../host/local-client.js";
import { createMemoryStore } from "../store/memory/memory-store.js";
import { callOperation } from "./call-operation.js";
import type { Context } from "./context.js";
import { checkInput, expectationAt, InvalidInput } from "./invalid-input.js";
import type { Operation } from "./operation.js";
import { OPERATIONS, type OperationName, TABLE } from "./operations.js";

function refusalOf(name: OperationName, given: unknown): { [path: string]: string } {
  try {
    checkInput(TABLE[name] as unknown as Operation, given, "a hint");
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    expect(error.hint).toBe("a hint");
    return Object.fromEntries(error.errors.map(({ path, message }) => [path, message]));
  }
  return {};
}

describe("input that does not fit", () => {
  it("is refused by its depth before anybody runs out of stack over it", () => {
    const output: unknown = JSON.parse("[".repeat(60_000) + "]".repeat(60_000));
    const given = { run_id: 1, classifications: [{ job_id: 1, action: "complete", output }] };
    expect(refusalOf("resolve_holds", given)).toEqual({
      "": "it is nested more than 1000 levels deep",
    });
  });

  it("is told which number is missing, and what it must be", () => {
    expect(refusalOf("retry_job", { job_id: "1", run_id: 1 })).toEqual({
      max_retries: "is missing; it must be a whole number, 1 or more",
    });
    expect(refusalOf("list_runs", { limit: "many" })).toEqual({
      limit: "must be a whole number from 1 to 1000",
    });
  });

  it("is told what a text must look like", () => {
    expect(refusalOf("start_campaign", { rate: "0/min", stop_at: "500%" })).toEqual({
      rate: "must be a number a minute, such as 20/min",
      stop_at: "must be a share, such as 20%",
    });
  });

  it("is told that a token's name stands on one line, and that all of it can be seen", () => {
    const created = (name: string) => refusalOf("create_token", { name, role: "viewer" });
    const controls = { name: "must be on one line, without control characters" };
    expect(created("bad\nname")).toEqual(controls);
    expect(created("\x1b[31mred")).toEqual(controls);
    expect(created("c1 \x9b")).toEqual(controls);
    expect(created("turned \u202e")).toEqual({ name: "must have no invisible characters" });
    expect(created("local")).toEqual({ name: "must not be local: that is who asks without a token" });
    expect(created("Zoë's laptop")).toEqual({});
  });

  it("is told every value that there is", () => {
    const statuses =
      "must be one or several of blocked, ready, running, waiting, recovering, held, completed, failed, skipped, canceled";
    expect(refusalOf("list_jobs", { status: "nope" })).toEqual({ status: statuses });
    expect(refusalOf("list_jobs", { status: ["ready", "nope"] })).toEqual({ status: statuses });
    expect(refusalOf("update_job", { job_id: 1, status: "done" })).toEqual({
      status: "must be one of ready, failed",
    });
    expect(refusalOf("prune_runs", { older_than: "1d", dry_run: "nope" })).toEqual({
      dry_run: "must be true or false",
    });
  });

  it("is told the fields that there are beside one that there is not", () => {
    expect(refusalOf("get_run", { run: 1 })).toEqual({
      run: "unknown field; known fields are run_id, jobs, at",
      run_id: "is missing; it must be a whole number, 1 or more, or last",
    });
  });

  it("is told of fields inside lists", () => {
    const given = { classifications: [{ job_id: 1, action: "redo", reason: "r" }] };
    expect(refusalOf("resolve_holds", given)).toEqual({
      "classifications.0.action": "must be one of retry, fail, skip, complete",
    });
  });

  it("is told what a rule says that no schema can say", () => {
    const input = z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even") });
    expect(() => checkInput({ input }, { n: 1 }, "")).toThrow("n: must be even");
  });
});

describe("the hint for input that does not fit", () => {
  it("names the place where each interface says what can be given", async () => {
    const store = createMemoryStore();
    const { app } = await bareServer({ store });
    const url = "/api/v1/jobs/1/retry/1";
    const rest = await app.inject({ method: "POST", url, headers: { host: "127.0.0.1" } });
    expect(rest.json()).toMatchObject({
      detail: "max_retries: is missing; it must be a whole number, 1 or more",
      hint: "See retry_job at /api/v1/docs, or in /api/v1/openapi.json.",
    });
    const context = { store, principal: { name: "t", role: "admin" } } as unknown as Context;
    await expect(callOperation(context, "get_run", { run: 1 })).rejects.toMatchObject({
      hint: "The input schema of the tool get_run lists its fields.",
    });
    const client = openLocalClient({ outputDir: "/nowhere" });
    await expect(client.call("list_jobs", { status: "nope" } as never)).rejects.toMatchObject({
      hint: "See `daruma jobs --help`.",
    });
  });
});

it("every field of every operation can say what it takes", () => {
  const silent = OPERATIONS.flatMap(({ name, input }) =>
    Object.keys(input.shape)
      .filter((field) => expectationAt(input, [field]) === null)
      .map((field) => `${name}.${field}`),
  );
  expect(silent).toEqual([]);
});
