import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll } from "vitest";
import { type CliResult, repositoryRoot, runCli } from "./cli.js";

export interface Report {
  readonly run_id: number;
  readonly status: string;
  readonly jobs: {
    id: number;
    step: string;
    status: string;
    attempts: number;
    visits: number;
    error: { code: string; class?: string; message?: string } | null;
    output: unknown;
  }[];
  readonly routes: { rung: string; step: string; to: string; reason: string }[];
  readonly handled_failures: { step: string; code: string }[];
  readonly error: { code: string; message: string; problems?: unknown[] } | null;
}

export const OK = 'steps: { a: { type: command, exec: "echo hello" } }';
export const FAILING = `
name: failing
steps:
  build: { type: command, exec: "echo boom >&2; exit 3", on_fail: { retry: { max: 1 } } }
  after: { type: command, exec: "true", depends_on: [build] }
`;

/** A folder of its own for one test file: workflow files, and the runs made of them. */
export class CliFolder {
  path = "";
  outputDir = "";

  constructor() {
    beforeAll(() => {
      this.path = mkdtempSync(join(tmpdir(), "daruma-cli-"));
      this.outputDir = join(this.path, "out");
    });
    afterAll(() => rmSync(this.path, { recursive: true, force: true }));
  }

  write(name: string, text: string): string {
    const file = join(this.path, name);
    writeFileSync(file, text);
    return file;
  }

  daruma(...args: string[]): Promise<CliResult> {
    return runCli([...args, "--output-dir", this.outputDir]);
  }

  /** `run FILE --json`, started in this folder, with its exit code. */
  async runJson(text: string, ...flags: string[]): Promise<{ exitCode: number | null; report: Report }> {
    const args = ["run", this.write("flow.yaml", text), "--json", ...flags, "--output-dir", this.outputDir];
    const result = await runCli(args, {}, this.path);
    return { exitCode: result.exitCode, report: JSON.parse(result.stdout) as Report };
  }

  /** A command with `--json`, and what it printed. */
  async json<T>(...args: string[]): Promise<{ exitCode: number | null; value: T }> {
    const result = await this.daruma(...args, "--json");
    return { exitCode: result.exitCode, value: JSON.parse(result.stdout) as T };
  }

  /** `resume RUN --json` with its exit code. */
  async resume(run: number): Promise<{ exitCode: number | null; report: Report }> {
    const { exitCode, value } = await this.json<Report>("resume", String(run));
    return { exitCode, report: value };
  }

  /** A command line that goes on while the test looks at what it has printed. */
  start(...args: string[]): RunningCli {
    return new RunningCli([...args, "--output-dir", this.outputDir]);
  }
}

export class RunningCli {
  /** Both streams. */
  text = "";
  readonly ended: Promise<number | NodeJS.Signals | null>;
  private readonly child;

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.child = spawn(process.execPath, [join(repositoryRoot, "dist/cli/main.js"), ...args], {
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        this.text += chunk;
      });
    }
    this.ended = new Promise((resolve) => this.child.on("close", (code, signal) => resolve(code ?? signal)));
  }

  get pid(): number {
    return this.child.pid!;
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async until(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.text);
      if (found !== null) return found;
      if (this.child.exitCode !== null) throw new Error(`it ended without ${pattern}:\n${this.text}`);
      await delay(10);
    }
  }
}
