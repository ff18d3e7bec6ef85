import { endProcessesWithToken } from "./attempt-processes.js";
import { GroupEnding } from "./group-ending.js";
import { type GoneCause, Launcher, type LauncherJob } from "./launcher.js";
import { findUnusable } from "./launcher-protocol.js";
import { spawnFailure } from "./process-exit.js";
import type { ProcessExit, ProcessHost, ProcessSpec, RunningProcess } from "./process-host.js";

/** One launcher serves this many jobs before another is started. */
const JOBS_PER_LAUNCHER = 8;
const MAX_LAUNCHERS = 16;

/**
 * Starts processes through a few small launcher processes; where those cannot run, through the fallback. Jobs/s, 8 at a
 * time, medians of one run of `bench/launcher.mjs` on a shared 2-core machine:
 *
 *                 make    ninja   launchers   node spawn
 *   true          1,489   1,305   3,907         525
 *   env true        744     546     408         317
 *
 * - A waiting shell that forks a subshell: 0.33 ms of CPU a job, Node included (make 0.6, ninja 0.7). It starts no
 *   program, which is why it wins; so it is taken only where nothing can tell the difference (`builtin-line.ts`).
 * - Perl forks and executes: 1.2 ms for a shell (0.06 Node, 0.26 launcher, 0.9 child). Dearer than make, which need not
 *   copy an interpreter's memory, but groups and statuses are exact and each job has fresh pipes. For all the rest.
 * - `node:child_process`: slower, and slower still the larger the heap. The fallback.
 * - Waiting `dash` with one vfork and `sh -c` a job: near make without any relay of output, but the group then holds the
 *   waiting shell, a status of 137 may be a signal, and leftovers must be looked for in /proc. Rejected.
 */
export class LauncherHost implements ProcessHost {
  private readonly launchers = new Set<Launcher>();
  private nextId = 1;
  private isUnavailable = false;

  constructor(
    private readonly perl: string,
    private readonly fallback: ProcessHost,
  ) {}

  /** Starts the first launcher before there is a job for it. */
  prepare(): void {
    this.chooseLauncher();
  }

  start(spec: ProcessSpec): RunningProcess {
    if (this.isUnavailable) return this.fallback.start(spec);
    const unusable = findUnusable(spec);
    if (unusable !== null) return refusedStart(spec, "EINVAL", unusable);
    const launcher = this.chooseLauncher();
    if (launcher === null)
      return refusedStart(spec, "EMFILE", "too many open files: raise `ulimit -n` or lower --max-parallel");
    const job = createJob(this.nextId++, spec, launcher);
    return {
      exited: job.exited,
      terminate: async (graceMs) => {
        if (job.substitute !== null) return job.substitute.terminate(graceMs);
        job.ending.terminate(graceMs);
        await job.exited;
      },
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.launchers].map((launcher) => launcher.close()));
    await this.fallback.close();
  }

  /** Null: there is none, and no room to start one. */
  private chooseLauncher(): Launcher | null {
    let idlest: Launcher | null = null;
    for (const launcher of this.launchers) {
      if (idlest === null || launcher.running < idlest.running) idlest = launcher;
    }
    const isFull = this.launchers.size >= MAX_LAUNCHERS;
    if (idlest !== null && (idlest.running < JOBS_PER_LAUNCHER || isFull)) return idlest;
    const launcher = Launcher.start(this.perl, (jobs, cause) => {
      if (launcher !== null) this.launchers.delete(launcher);
      this.rescue(jobs, cause);
    });
    if (launcher === null) return idlest;
    this.launchers.add(launcher);
    return launcher;
  }

  private rescue(jobs: readonly LauncherJob[], cause: GoneCause): void {
    if (cause === "never_ready") this.isUnavailable = true;
    for (const job of jobs) {
      job.ending.ended();
      if (cause === "never_ready" && !job.ending.hasBegun) {
        job.substitute = this.fallback.start(job.spec);
        void job.substitute.exited.then((exit) => job.resolve(exit));
      } else {
        // What could not be looked for in seconds must not keep the attempt waiting.
        const ended = endOrphans(job).catch(() => {});
        void ended.then(() => job.resolve({ exitCode: null, signal: "SIGKILL" }));
      }
    }
  }
}

function refusedStart(spec: ProcessSpec, code: string, message: string): RunningProcess {
  return { exited: Promise.resolve(spawnFailure(spec, code, message, "exec")), terminate: async () => {} };
}

function createJob(id: number, spec: ProcessSpec, launcher: Launcher): LauncherJob {
  let resolve!: (exit: ProcessExit) => void;
  const exited = new Promise<ProcessExit>((settle) => {
    resolve = settle;
  });
  const ending = new GroupEnding({
    signal: (name) => launcher.signal(id, name),
    abandon: () => launcher.abandon(id),
  });
  const job: LauncherJob = { id, spec, ending, exited, resolve, pid: null, substitute: null };
  launcher.run(job);
  return job;
}

/** What a launcher that was killed itself has left running. */
async function endOrphans(job: LauncherJob): Promise<void> {
  try {
    if (job.pid !== null) process.kill(-job.pid, "SIGKILL");
  } catch {
    // The group has gone already.
  }
  const token = job.spec.env.DARUMA_ATTEMPT_TOKEN;
  if (token) await endProcessesWithToken(token);
}
