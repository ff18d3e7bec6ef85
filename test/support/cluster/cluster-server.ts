import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openRemoteClient } from "../../../src/cli/remote/remote-client.js";
import type { Client, OutputOf } from "../../../src/operations/client.js";
import { commandLine } from "../cli.js";
import { DarumaProcess } from "../daruma-process.js";
import { freePort } from "../free-port.js";
import { until } from "./real-allocations.js";
import type { TestCluster, TestEngine } from "./test-cluster.js";

const call = promisify(execFile);

export interface ShownJob {
  readonly id: number;
  readonly step: string;
  readonly status: string;
  readonly attempts: number;
  readonly error: { readonly code: string; readonly class: string; readonly message: string } | null;
}

export interface ShownAllocation {
  readonly key: string;
  readonly cluster: string;
  readonly id: string | null;
  readonly state: string;
  readonly nodes: readonly string[];
  readonly end: { readonly code: string } | null;
}

export interface ShownAttempt {
  /** `CLUSTER/ID#RESTART`. */
  readonly place: string;
  readonly node: string;
  /** `succeeded`, `stopped`, or code and class of the failure. One for each attempt that is accounted for once. */
  readonly ends: readonly string[];
}

type ShownEvent = { readonly type: string; readonly [field: string]: unknown };

const ATTEMPT_ENDS: ReadonlySet<string> = new Set(["attempt.succeeded", "attempt.failed", "attempt.stopped"]);

/** Commands of a batch system that tell what it has, and why that waits. */
const QUESTIONS: { readonly [engine in TestEngine]: readonly (readonly [string, ...string[]])[] } = {
  slurm: [
    ["squeue", "--all", "--format=%i %j %P %t %R, without: %x"],
    ["sinfo", "--Node", "--long"],
  ],
  gridengine: [["qstat", "-f", "-r"]],
};
const LOG_TAIL = 4_000;
const PAGE = 1_000;

function endOf({ type, error }: ShownEvent): string {
  if (type !== "attempt.failed") return type.slice("attempt.".length);
  const failure = error as { readonly code: string; readonly class: string };
  return `${failure.code} ${failure.class}`;
}

/** `daruma serve` with a real batch system, as a user starts it, and the command line that asks it. */
export class ClusterServer {
  readonly folder = mkdtempSync(join(tmpdir(), "daruma-cluster-"));
  private readonly env: Record<string, string>;
  private process: DarumaProcess | null = null;
  private url = "";
  /** What is asked again and again is asked without a process for each question: on a busy machine each takes seconds. */
  private client!: Client;

  constructor(
    private readonly cluster: TestCluster,
    /** The settings of each cluster, by its name. */
    private readonly clusters: Readonly<Record<string, string>>,
  ) {
    this.env = Object.fromEntries(
      Object.entries(cluster.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    );
    // Whatever another user could not read must not be hidden by the folder above it.
    chmodSync(this.folder, 0o755);
  }

  async start(): Promise<void> {
    const config = join(this.folder, "daruma.config.yaml");
    const program = JSON.stringify([process.execPath, commandLine]);
    const type = this.cluster.engine;
    const clusters = Object.entries(this.clusters).map(
      ([name, keys]) => `  ${name}:\n    type: ${type}\n    program: ${program}\n${keys}`,
    );
    writeFileSync(config, `clusters:\n${clusters.join("")}`);
    const port = await freePort();
    this.url = `http://127.0.0.1:${port}`;
    const out = ["--output-dir", this.outputDir];
    const { stdout } = await this.local("token", "create", "me", "--role", "admin", "--json", ...out);
    this.env.DARUMA_TOKEN = (JSON.parse(stdout) as { token: string }).token;
    this.client = openRemoteClient({ server: this.url, token: this.env.DARUMA_TOKEN });
    const args = ["serve", "--port", String(port), "--max-parallel", "0", "--lease", "20"];
    this.process = new DarumaProcess("server", [...args, "--config", config, ...out], this.env);
    await this.begin();
  }

  get outputDir(): string {
    return join(this.folder, "out");
  }

  get log(): string {
    return this.process?.output ?? "";
  }

  async killAndStartAgain(): Promise<void> {
    await this.process!.kill();
    await this.begin();
  }

  private async begin(): Promise<void> {
    const before = this.log.length;
    this.process!.start();
    await until("the server listens", async () => this.log.slice(before).includes("listening at"));
  }

  /** Starts a workflow; the answer is the run's number. */
  async submit(name: string, text: string): Promise<number> {
    const file = join(this.folder, `${name}.yaml`);
    writeFileSync(file, text);
    const { stdout } = await this.ask("run", file, "--no-folder", "--detach", "--json");
    return (JSON.parse(stdout) as { run_id: number }).run_id;
  }

  async jobs(run: number): Promise<readonly ShownJob[]> {
    const { jobs } = await this.client.call("get_run", { run_id: String(run), jobs: "all" });
    return jobs;
  }

  async status(run: number): Promise<string> {
    const { status } = await this.client.call("get_run", { run_id: String(run), jobs: "none" });
    return status;
  }

  async ends(run: number): Promise<string> {
    let status = "";
    await until(`run ${run} has ended`, async () => {
      status = await this.status(run);
      return status !== "running" && status !== "pending";
    });
    return status;
  }

  async running(run: number, step: string): Promise<void> {
    await until(`${step} runs`, async () =>
      (await this.jobs(run)).some((job) => job.step === step && job.status === "running"),
    );
  }

  async events(run: number): Promise<readonly ShownEvent[]> {
    const events: ShownEvent[] = [];
    for (let after: number | null = 0; after !== null; ) {
      const asked = { run_id: String(run), after, limit: PAGE };
      const page: OutputOf<"list_run_events"> = await this.client.call("list_run_events", asked);
      events.push(...page.items);
      after = page.next;
    }
    return events;
  }

  /** Every attempt of a step in order: where it ran, and each event that ended it. */
  async attempts(run: number, step: string): Promise<readonly ShownAttempt[]> {
    const events = await this.events(run);
    const job = (await this.jobs(run)).find((each) => each.step === step)!.id;
    const started = events.filter((event) => event.type === "attempt.started" && event.job === job);
    return started.map(({ attempt, node, allocation, restart }) => ({
      place: `${allocation}#${restart}`,
      node: String(node),
      ends: events
        .filter((event) => ATTEMPT_ENDS.has(event.type) && event.job === job && event.attempt === attempt)
        .map(endOf),
    }));
  }

  /** The newest first. */
  async allocations({ live = false } = {}): Promise<readonly ShownAllocation[]> {
    const { items } = await this.client.call("list_allocations", { live, limit: PAGE });
    return items;
  }

  /** No allocation of an earlier test is left. */
  idle(): Promise<void> {
    return until("the queue is empty", async () => (await this.allocations({ live: true })).length === 0);
  }

  async isSuspended(name: string): Promise<boolean> {
    const { suspended } = await this.client.call("list_allocations", { live: true, limit: PAGE });
    return suspended.some(({ cluster }) => cluster === name);
  }

  async workers(): Promise<OutputOf<"list_workers">["items"]> {
    return (await this.client.call("list_workers", {})).items;
  }

  /** How things stand, for a test that has waited in vain. */
  async standing(): Promise<string> {
    const asked = QUESTIONS[this.cluster.engine].map(([program, ...args]) =>
      this.cluster.command(program, ...args),
    );
    const answers = await Promise.allSettled([
      this.ask("allocations", "list").then(({ stdout }) => stdout),
      ...asked,
    ]);
    const told = answers.map((each) => (each.status === "fulfilled" ? each.value : String(each.reason)));
    return [...told, this.log.slice(-LOG_TAIL)].join("\n");
  }

  /** A command for a step that runs until the test opens the gate, however long the test takes for that. */
  gate(name: string): { readonly command: string; readonly open: () => void } {
    const file = join(this.folder, `${name}.gate`);
    return {
      command: `until test -e ${file}; do sleep 0.2; done`,
      open: () => writeFileSync(file, ""),
    };
  }

  /** The command line, sent to the server. */
  ask(...args: string[]): Promise<{ stdout: string }> {
    return this.local(...args, "--server", this.url);
  }

  tokenFile({ key }: ShownAllocation): string {
    return join(this.outputDir, "clusters/hpc", key, "token");
  }

  token(allocation: ShownAllocation): string {
    return readFileSync(this.tokenFile(allocation), "utf8").trim();
  }

  async dispose(): Promise<void> {
    await this.process?.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private local(...args: string[]): Promise<{ stdout: string }> {
    const options = { env: { ...this.env, NO_COLOR: "1" }, maxBuffer: 1 << 28 };
    return call(process.execPath, [commandLine, ...args], options);
  }
}
