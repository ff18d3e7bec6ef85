import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AllocationCode, AllocationEnd } from "../../../src/fleet/allocations/allocation-end.js";
import { type RunCommand, runCommand } from "../../../src/fleet/allocations/command.js";
import { createAllocationProvider } from "../../../src/fleet/allocations/create-provider.js";
import {
  type AllocationProvider,
  type AllocationSpec,
  type AllocationStatus,
  isRefusal,
  type KnownOfPilot,
  type Plan,
} from "../../../src/fleet/allocations/provider.js";
import { allocationSpec } from "../allocation-spec.js";
import { repositoryRoot } from "../repository-root.js";
import type { TestCluster } from "./test-cluster.js";

const POLL_MS = 250;
const SIGNAL = new AbortController().signal;

/** Allocations with stub pilots on a real cluster. Each has a folder for its log and its scratch. */
export class RealAllocations {
  readonly provider: AllocationProvider;
  readonly folder = mkdtempSync(join(tmpdir(), "daruma-allocations-"));
  private readonly pilot = join(this.folder, "stub-pilot.sh");

  /** `unsteadyNodes` are taken down, killed or fought over by some allocations; all others keep away from them. */
  constructor(
    readonly cluster: TestCluster,
    private readonly unsteadyNodes: readonly string[] = [],
  ) {
    this.provider = this.providerWith(runCommand);
    copyFileSync(join(repositoryRoot, "test/support/cluster/stub-pilot.sh"), this.pilot);
    chmodSync(this.pilot, 0o755);
    // Nodes run it as this user, and others must be able to try and fail.
    chmodSync(this.folder, 0o755);
  }

  /** Another provider of the same cluster, with commands of the test's own. */
  providerWith(run: RunCommand): AllocationProvider {
    return createAllocationProvider(this.cluster.engine, { run, env: this.cluster.env });
  }

  plan(name: string, mode: string, change: Partial<AllocationSpec> = {}): Plan {
    const scratch = this.scratch(name);
    mkdirSync(scratch, { recursive: true });
    const tokenFile = join(this.folder, `${name}.token`);
    writeFileSync(tokenFile, `canary-${name}`, { mode: 0o600 });
    const spec = allocationSpec({
      key: `daruma-${name}`,
      logFile: this.logFile(name),
      tokenFile,
      drainMs: 5_000,
      excludeNodes: this.unsteadyNodes,
      ...change,
    });
    const profile = {
      ...spec.profile,
      setup: [`export TMPDIR=${scratch}`],
      program: [this.pilot, mode],
    };
    const planned = this.provider.plan({ ...spec, profile }, []);
    if (isRefusal(planned)) throw new Error(planned.message);
    return planned;
  }

  async submit(name: string, mode: string, change: Partial<AllocationSpec> = {}): Promise<string> {
    const answer = await this.provider.submit(this.plan(name, mode, change), SIGNAL);
    if (isRefusal(answer)) throw new Error(answer.message);
    return answer.id;
  }

  logFile(name: string): string {
    return join(this.folder, `${name}.log`);
  }

  log(name: string): string {
    return existsSync(this.logFile(name)) ? readFileSync(this.logFile(name), "utf8") : "";
  }

  scratch(name: string): string {
    return join(this.folder, "scratch", name);
  }

  leftInScratch(name: string): string[] {
    return readdirSync(this.scratch(name));
  }

  /** The pilot runs and listens to signals. */
  async ready(name: string, times = 1): Promise<void> {
    await until(`the pilot of ${name} is ready`, async () => this.isReady(name, times));
  }

  isReady(name: string, times = 1): boolean {
    return this.log(name).split("\nready\n").length > times;
  }

  async status(id: string): Promise<readonly AllocationStatus[]> {
    return (await this.provider.status([id], SIGNAL)).get(id)!;
  }

  /**
   * All of its incarnations, when the first has a verdict that is certain. The queue tells of a requeue before accounting
   * says why, so the first verdict may be a guess; `guess` is one that stays.
   */
  async end(
    id: string,
    known: Partial<KnownOfPilot> = {},
    guess?: AllocationCode,
  ): Promise<readonly AllocationStatus[]> {
    let last: readonly AllocationStatus[] = [];
    await until(`allocation ${id} has ended`, async () => {
      last = await this.status(id);
      const end = last[0] === undefined ? null : this.judge(last[0], known);
      return end !== null && (end.certain || end.code === guess);
    });
    return last;
  }

  /** The code of its end with a question mark where it is not certain, or its phase. */
  verdict(status: AllocationStatus, known: Partial<KnownOfPilot> = {}): string {
    const end = this.judge(status, known);
    return end === null ? status.phase : `${end.code}${end.certain ? "" : "?"}`;
  }

  private judge(status: AllocationStatus, known: Partial<KnownOfPilot>): AllocationEnd | null {
    const usual: KnownOfPilot = { registered: true, cancelAsked: false, unknownForMs: 0 };
    return this.provider.classify(status, { ...usual, ...known });
  }

  async dispose(): Promise<void> {
    await this.cluster.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Real schedulers look at their jobs every few seconds, some every half minute, and a busy machine makes that minutes. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let deadline = Date.now() + MAX_WAIT_MS; ; await delay(POLL_MS)) {
    if (await holds()) return;
    if (Date.now() > deadline) throw new Error(`gave up waiting until ${what}`);
  }
}

const MAX_WAIT_MS = 600_000;
/** Of a test that waits several times. What is missing is told by the wait that gives up, not by this limit. */
export const REAL_CLUSTER_TIMEOUT_MS = 1_800_000;
