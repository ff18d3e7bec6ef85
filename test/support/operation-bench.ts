import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import type { z } from "zod";
import { operateThrough } from "../../src/host/local-operate.js";
import { ServerParts } from "../../src/host/server-parts.js";
import type { InputOf, OutputOf } from "../../src/operations/client.js";
import type { Context } from "../../src/operations/context.js";
import type { Operation, StreamItem } from "../../src/operations/operation.js";
import { type OperationName, TABLE } from "../../src/operations/operations.js";
import { perform } from "../../src/operations/perform.js";
import type { RunListener } from "../../src/run/engine/engine.js";

/** Operations over a real engine, worker and SQLite file. Every answer is held against its schema. */
export class OperationBench {
  folder = "";
  private parts: ServerParts | null = null;

  constructor() {
    beforeAll(async () => {
      this.folder = mkdtempSync(join(tmpdir(), "daruma-operations-"));
      this.parts = await ServerParts.open({ outputDir: join(this.folder, "out"), maxParallel: 4 });
      await this.parts.takeUpRuns();
    });
    afterAll(async () => {
      await this.parts?.close();
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  get context(): Context {
    return this.parts!.context({ name: "tester", role: "admin" });
  }

  /** The same store as a command line sees it: nothing stays there that could run anything. */
  get withoutRunner(): Context {
    const { store } = this.context;
    return { ...this.context, operate: operateThrough(store), runner: null };
  }

  onCommitted(listener: RunListener): void {
    this.parts!.onCommitted(listener);
  }

  call<Name extends OperationName>(name: Name, input: InputOf<Name>): Promise<OutputOf<Name>> {
    return callIn(this.context, name, input);
  }

  stream<Name extends OperationName>(
    name: Name,
    input: InputOf<Name>,
    signal: AbortSignal = new AbortController().signal,
  ): AsyncIterable<StreamItem> {
    const operation = TABLE[name] as unknown as Operation;
    return operation.stream!(this.context, operation.input.parse(input), signal);
  }

  /** A run of this text, when it is over or rests. */
  async run(source: string, more: Partial<InputOf<"start_run">> = {}): Promise<OutputOf<"get_run">> {
    const { run_id } = await this.call("start_run", { source, ...more } as InputOf<"start_run">);
    return this.settled(run_id);
  }

  async settled(runId: number): Promise<OutputOf<"get_run">> {
    return this.until(runId, ({ status }) => status !== "running" && status !== "pending");
  }

  async until(runId: number, isThere: (run: OutputOf<"get_run">) => boolean): Promise<OutputOf<"get_run">> {
    for (;;) {
      const run = await this.call("get_run", { run_id: runId });
      if (isThere(run)) return run;
      await delay(20);
    }
  }
}

/** Input as an interface would give it; the output must be JSON that says exactly what its schema says. */
export async function callIn<Name extends OperationName>(
  context: Context,
  name: Name,
  input: InputOf<Name>,
): Promise<OutputOf<Name>> {
  const operation = TABLE[name] as unknown as Operation;
  const parsed = operation.input.parse(input) as z.output<Operation["input"]>;
  const output = await perform(operation, context, parsed);
  const sent = JSON.parse(JSON.stringify(output)) as unknown;
  expect(operation.output.parse(sent)).toEqual(sent);
  return sent as OutputOf<Name>;
}

/** The code with which something is refused. */
export async function refusalOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => "not refused",
    (error: { code?: string }) => error.code ?? String(error),
  );
}
