import { endProcessesWithToken } from "./attempt-processes.js";
import { GroupEnding } from "./group-ending.js";
import { type GoneCause, Launcher, type LauncherJob } from "./launcher.js";
import { findUnusable } from "./launcher-protocol.js";
import { spawnFailure } from "./process-exit.js";
import {
  type ProcessExit,
  type ProcessHost,
  type ProcessSpec,
  type RunningProcess,
  StopSignals,
} from "./process-host.js";
import { SpawnHost } from "./spawn-host.js";

const MAX_LAUNCHERS = 16;
/** It takes 0.06 ms of CPU for a job, so one keeps many cores busy; each job takes five of its file descriptors. */
export const JOBS_AT_ONCE = 64;

/**
 * Starts processes through a few small launcher processes; where those cannot run, through Node. CPU time of a job in
 * ms, Node included, 8 at a time, medians of one run of `bench/launcher.mjs`:
 *
 *                 make   through sh   compiled   node spawn
 *   true          0.67                0.32       2.28
 *   env true      1.38   2.12         2.22       3.75
 *
 * - A waiting shell that forks a subshell runs `true`. It starts no program, which is why it wins; so it is taken only
 *   where nothing can tell the difference (`builtin-line.ts`).
 * - The compiled launcher takes 0.06 ms of a job; the shell and the program, 1.9 ms, are what is left.
 * - `node:child_process` is slower, the more so the larger the heap. It serves where nothing is compiled for the machine.
 * - Waiting `dash` with one vfork and `sh -c` a job: near make without any relay of output, but the group then holds the
 *   waiting shell, a status of 137 may be a signal, and leftovers must be looked for in /proc. Rejected.
 */
export class LauncherHost implements ProcessHost {
  private readonly launchers = new Set<Launcher>();
  private nextId = 1;
  private readonly signals = new StopSignals();
  /** Takes over where the launcher cannot run. */
  private fallback: ProcessHost | null = null;

  constructor(private readonly file: string) {}

  get stops(): StopSignals | null {
    return this.fallback === null ? this.signals : this.fallback.stops;
  }

  /** Starts the first launcher before there is a job for it. */
  prepare(): void {
    this.chooseLauncher();
  }

  start(spec: ProcessSpec): RunningProcess {
    if (this.fallback !== null) return this.fallback.start(spec);
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
    await this.fallback?.close();
  }

  /** The launcher to use. Null if there is none, and no room to start one. */
  private chooseLauncher(): Launcher | null {
    let idlest: Launcher | null = null;
    for (const launcher of this.launchers) {
      if (idlest === null || launcher.running < idlest.running) idlest = launcher;
    }
    const isFull = this.launchers.size >= MAX_LAUNCHERS;
    if (idlest !== null && (idlest.running < JOBS_AT_ONCE || isFull)) return idlest;
    const launcher = Launcher.start(this.file, {
      gone: (jobs, cause) => {
        if (launcher !== null) this.launchers.delete(launcher);
        this.rescue(jobs, cause);
      },
      toldToStop: () => this.signals.came(),
    });
    if (launcher === null) return idlest;
    this.launchers.add(launcher);
    return launcher;
  }

  private rescue(jobs: readonly LauncherJob[], cause: GoneCause): void {
    if (cause === "never_ready") this.fallback ??= new SpawnHost();
    for (const job of jobs) {
      job.ending.ended();
      if (cause === "never_ready" && this.fallback !== null && !job.ending.hasBegun) {
        job.substitute = this.fallback.start(job.spec);
        void job.substitute.exited.then((exit) => job.resolve(exit));
      } else {
        // What could not be looked for in seconds must not keep the attempt waiting.
        const ended = endOrphans(job).catch(() => {});
        void ended.then(() =>
          job.resolve({ exitCode: null, signal: "SIGKILL", collectedAt: performance.now() }),
        );
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
  const job: LauncherJob = {
    id,
    spec,
    ending,
    exited,
    resolve,
    pid: null,
    collectedAt: null,
    substitute: null,
  };
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
