import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";
import { nativeLauncher } from "../../src/run/process/create-process-host.js";
import { LauncherHost } from "../../src/run/process/launcher-host.js";
import type {
  ProcessExit,
  ProcessHost,
  ProcessSpec,
  RunningProcess,
} from "../../src/run/process/process-host.js";
import { SpawnHost } from "../../src/run/process/spawn-host.js";

export const PATH = process.env.PATH!;

const native = nativeLauncher();

/** The compiled one is missing where there was no compiler to build with. */
export const LAUNCHERS: [string, string][] = native === null ? [] : [["compiled launchers", native]];

/** Every way of starting processes; each must pass the same tests. */
export const PROCESS_HOSTS: [string, () => ProcessHost][] = [
  ...LAUNCHERS.map(([name, program]): [string, () => ProcessHost] => [name, () => new LauncherHost(program)]),
  ["plain spawn", () => new SpawnHost()],
  ["plain spawn after a failed launcher", () => new LauncherHost("/bin/false")],
];

interface Finished extends ProcessExit {
  readonly stdout: string;
  readonly stderr: string;
}

interface Started {
  readonly running: RunningProcess;
  readonly finished: Promise<Finished>;
  /** Resolves when stdout contains the text. */
  printed(text: string): Promise<void>;
}

/** A fresh host for each test of the surrounding describe, and a folder for all of them. */
export class ProcessTrial {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "daruma-host-")));
  host!: ProcessHost;

  constructor(createHost: () => ProcessHost) {
    beforeEach(() => {
      this.host = createHost();
    });
    afterEach(() => this.host.close());
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  readonly start = (exec: ProcessSpec["exec"], more: Partial<ProcessSpec> = {}): Started => {
    let stdout = "";
    let stderr = "";
    let wake = (): void => {};
    const running = this.host.start({
      exec,
      env: { PATH },
      cwd: this.folder,
      onStdout: (chunk) => {
        stdout += chunk.toString();
        wake();
      },
      onStderr: (chunk) => {
        stderr += chunk.toString();
      },
      ...more,
    });
    return {
      running,
      // When it was collected differs from time to time.
      finished: running.exited.then(({ collectedAt: _, ...exit }) => ({ ...exit, stdout, stderr })),
      printed: (text) =>
        new Promise((resolve) => {
          wake = () => stdout.includes(text) && resolve();
          wake();
        }),
    };
  };

  readonly run = (exec: ProcessSpec["exec"], more: Partial<ProcessSpec> = {}): Promise<Finished> =>
    this.start(exec, more).finished;
}

/** A process that has died but has not been reaped yet counts as gone. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

export function childrenOf(pid: number): number[] {
  const listed = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").trim();
  return listed === "" ? [] : listed.split(" ").map(Number);
}
