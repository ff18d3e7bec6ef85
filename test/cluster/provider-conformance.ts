import { execFile } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { runCommand } from "../../src/fleet/allocations/command.js";
import { type AllocationSpec, isRefusal } from "../../src/fleet/allocations/provider.js";
import { signalProcess } from "../support/cluster/kill-machine.js";
import { type RealAllocations, until } from "../support/cluster/real-allocations.js";

const run = promisify(execFile);
const SIGNAL = new AbortController().signal;

/** How one batch system does what the suite needs and the port has no word for. */
export interface EngineUnderTest {
  /** An option with which a job waits for an hour. */
  readonly waitingOption: () => string;
  /** More than any node has. */
  readonly huge: Partial<AllocationSpec>;
  /** All that can be asked about a job: status, accounting, script, environment. */
  readonly everythingAbout: (id: string, allocations: RealAllocations) => Promise<string>;
  /** The process that answers about the queue. */
  readonly queueDaemonPid: (allocations: RealAllocations) => number;
}

/** What every provider must show on its real batch system, apart from the ends of allocations. */
export function providerConformance(current: () => RealAllocations, engine: EngineUnderTest): void {
  it("tells what there is to submit to", async () => {
    const { version, targets, capabilities } = await current().provider.probe(SIGNAL);
    expect(version).toMatch(/\d+\.\d+/);
    expect(capabilities.accounting).toBe(true);
    const big = targets.find(({ name }) => name.startsWith("main"))!;
    expect(big).toMatchObject({ up: true, preemptible: false });
    expect(big.perNode.cpus).toBeGreaterThanOrEqual(4);
    const { spec } = current().plan("too-big", "stay", { target: big.name });
    const tooBig = { ...spec, shape: { ...spec.shape, cpus: 1000 } };
    expect(current().provider.plan(tooBig, targets)).toMatchObject({ refused: "TOO_BIG" });
  });

  it("says in the refusal what is wrong, where only the batch system can know it", async () => {
    const { provider } = current();
    const answer = await provider.submit(current().plan("huge", "stay", engine.huge), SIGNAL);
    expect(answer).toMatchObject({ refused: "TOO_BIG", retryable: false });
    const nowhere = current().plan("nowhere", "stay", { target: "nowhere" });
    expect(await provider.submit(nowhere, SIGNAL)).toMatchObject({ refused: "NO_TARGET", retryable: false });
  });

  it("submits a key once, also if the first answer was lost", async () => {
    const allocations = current();
    const { provider } = allocations;
    const plan = allocations.plan("twice", "stay");
    const deaf = allocations.providerWith(async (argv, options) => {
      const answer = await runCommand(argv, options);
      return argv === plan.argv ? { ...answer, exitCode: null, stdout: "", failure: "timeout" } : answer;
    });
    expect(await deaf.submit(plan, SIGNAL)).toMatchObject({ refused: "BUSY", retryable: true });
    const again = await provider.submit(plan, SIGNAL);
    const third = await provider.submit(plan, SIGNAL);
    expect(again).toMatchObject({ found: true });
    expect(third).toEqual(again);
    const listed = await provider.list("daruma-twice", SIGNAL);
    expect(listed.map(({ id, key, restart }) => ({ id, key, restart }))).toEqual([
      { id: isRefusal(again) ? "" : again.id, key: "daruma-twice", restart: 0 },
    ]);
    await provider.cancel(listed[0]!.id, "now", SIGNAL);
  });

  it("shows the token to nobody", async () => {
    const allocations = current();
    const id = await allocations.submit("secret", "stay");
    await allocations.ready("secret");
    const canary = readFileSync(join(allocations.folder, "secret.token"), "utf8");
    expect(await engine.everythingAbout(id, allocations)).not.toContain(canary);
    expect(commandLines().filter((line) => line.includes(canary))).toEqual([]);
    expect(filesWith(canary, allocations.cluster.folder)).toEqual([]);
    const another = run("setpriv", [
      "--reuid=65534",
      "--regid=65534",
      "--clear-groups",
      "cat",
      join(allocations.folder, "secret.token"),
    ]);
    await expect(another).rejects.toThrow("Permission denied");
    await allocations.provider.cancel(id, "now", SIGNAL);
    await allocations.end(id, { cancelAsked: true, unknownForMs: 60_000 });
  });

  it("asks twice about 300 ids, most of which nobody knows", async () => {
    const allocations = current();
    const id = await allocations.submit("among-many", "exit-0");
    await allocations.end(id);
    const ids = [...Array.from({ length: 299 }, (_, index) => String(900_000 + index)), id];
    let commands = 0;
    const counted = allocations.providerWith((argv, options) => {
      commands += 1;
      return runCommand(argv, options);
    });
    const statuses = await counted.status(ids, SIGNAL);
    expect(commands).toBe(2);
    expect([...statuses.values()].map(([only]) => only!.phase)).toEqual([
      ...Array(299).fill("unknown"),
      "ended",
    ]);
    const [unknown] = statuses.get("900000")!;
    expect(unknown!.source).toBe("none");
    expect(allocations.verdict(unknown!)).toBe("unknown");
    expect(allocations.verdict(unknown!, { unknownForMs: 300_000 })).toBe("VANISHED?");
  });

  it("cancels what waits, and says gone for what has ended or never was", async () => {
    const allocations = current();
    const { provider } = allocations;
    const profile = { ...allocations.plan("waits", "stay").spec.profile, options: [engine.waitingOption()] };
    const id = await allocations.submit("waits", "stay", { profile });
    expect((await allocations.status(id)).map(({ phase }) => phase)).toEqual(["pending"]);
    expect(await provider.cancel(id, "drain", SIGNAL)).toBe("asked");
    await until("it is gone", async () => (await provider.cancel(id, "drain", SIGNAL)) === "gone");
    const [status] = await allocations.end(id, { cancelAsked: true, unknownForMs: 60_000 });
    expect(allocations.verdict(status!, { cancelAsked: true, unknownForMs: 60_000 })).toBe("CANCELED");
    expect(await provider.cancel("900000", "now", SIGNAL)).toBe("gone");
    expect(allocations.log("waits")).toBe("");
  });

  it("lets a pilot finish when it drains, and leaves nothing behind", async () => {
    const allocations = current();
    const id = await allocations.submit("drains", "stay");
    await allocations.ready("drains");
    expect(await allocations.provider.cancel(id, "drain", SIGNAL)).toBe("asked");
    const [status] = await allocations.end(id, { cancelAsked: true });
    expect(allocations.verdict(status!, { cancelAsked: true })).toBe("DRAINED");
    expect(stepsIn(allocations.log("drains"))).toEqual(["ready", "stop 1", "finished"]);
    expect(allocations.leftInScratch("drains")).toEqual([]);
    expect(await allocations.provider.cancel(id, "drain", SIGNAL)).toBe("gone");
  });

  it("lets a pilot hand back when it is canceled now, and leaves nothing behind", async () => {
    const allocations = current();
    const id = await allocations.submit("leaves", "stay");
    await allocations.ready("leaves");
    expect(await allocations.provider.cancel(id, "now", SIGNAL)).toBe("asked");
    const [status] = await allocations.end(id, { cancelAsked: true });
    expect(allocations.verdict(status!, { cancelAsked: true })).toBe("CANCELED");
    expect(stepsIn(allocations.log("leaves"))).toEqual(["ready", "stop 1", "stop 2", "handed back"]);
    expect(allocations.leftInScratch("leaves")).toEqual([]);
  });

  it("is unknown while the batch system hangs, and known again afterwards", async () => {
    const allocations = current();
    const id = await allocations.submit("hangs", "stay");
    await allocations.ready("hangs");
    const pid = engine.queueDaemonPid(allocations);
    const impatient = allocations.providerWith((argv, options) =>
      runCommand(argv, { ...options, timeoutMs: 1_000 }),
    );
    process.kill(pid, "SIGSTOP");
    try {
      const [status] = (await impatient.status([id], SIGNAL)).get(id)!;
      expect(status).toMatchObject({ phase: "unknown", source: "unreachable" });
      expect(allocations.verdict(status!, { unknownForMs: 3_600_000 })).toBe("unknown");
      await expect(impatient.cancel(id, "now", SIGNAL)).rejects.toThrow("did not answer");
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await until("it is known again", async () => (await allocations.status(id))[0]?.phase === "running");
    await allocations.provider.cancel(id, "now", SIGNAL);
    await allocations.end(id, { cancelAsked: true });
  });
}

/** What the stub said that it did, without its flags and what the batch system wrote. */
export function stepsIn(log: string): string[] {
  return log
    .split("\n")
    .filter((line) => /^(ready|stop \d|finished|handed back|the child is gone)$/.test(line));
}

/** Nothing of any pilot runs on, whatever ended its allocation. */
export async function noPilotIsLeft({ folder }: RealAllocations): Promise<void> {
  await until("no pilot is left", async () => !commandLines().some((line) => line.includes(folder)));
}

/** What the death of its machine does, where the machine is this one and lives on. */
export function killPilot({ folder }: RealAllocations, name: string): void {
  for (const [pid, line] of processes())
    if (line.includes(join(folder, `${name}.token`))) signalProcess(pid, "SIGKILL");
}

function commandLines(): string[] {
  return processes().map(([, line]) => line);
}

function processes(): [pid: number, commandLine: string][] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      return [[Number(pid), readFileSync(`/proc/${pid}/cmdline`, "utf8")]];
    } catch {
      return [];
    }
  });
}

/** The scheduler removes files and folders while they are looked at; what is gone holds nothing. */
function filesWith(text: string, path: string): string[] {
  try {
    const stats = lstatSync(path);
    if (stats.isDirectory()) return readdirSync(path).flatMap((name) => filesWith(text, join(path, name)));
    return stats.isFile() && readFileSync(path).includes(text) ? [path] : [];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
