import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { LAUNCHER_SCRIPT } from "./launcher-script.js";
import { builtFile } from "./package-folder.js";

/** A program that starts processes for the engine; each speaks the protocol of `launcher-protocol.ts`. */
export interface LauncherProgram {
  readonly file: string;
  readonly args: readonly string[];
  /** What it reads before the first message. */
  readonly preamble: string;
  /** One serves this many jobs before another is started. */
  readonly jobsAtOnce: number;
}

/** It takes 0.06 ms of CPU for a job, so one keeps many cores busy; each job takes five of its file descriptors. */
const NATIVE_JOBS_AT_ONCE = 64;
const PERL_JOBS_AT_ONCE = 8;

/** The compiled one (`native/launcher`); null where there is none for this machine. */
export function nativeLauncher(): LauncherProgram | null {
  if (process.platform !== "linux") return null;
  const file = builtFile("launcher", `linux-${process.arch}`);
  return file !== null && isExecutable(file)
    ? { file, args: [], preamble: "", jobsAtOnce: NATIVE_JOBS_AT_ONCE }
    : null;
}

/** Reads the launcher's program from its stdin, so that it does not fill the process list. */
const BOOTSTRAP =
  "my $n = shift; 1 while length $s < $n && sysread(STDIN, $s, $n - length $s, length $s); eval $s; die $@ if $@";

/** System calls that Perl has no word for have numbers of their own on each machine: prctl and wait4. */
const SYSTEM_CALLS: { readonly [arch: string]: readonly [number, number] } = {
  x64: [157, 61],
  arm64: [167, 260],
  riscv64: [167, 260],
};

export function perlLauncher(perl: string): LauncherProgram {
  const isLinux = process.platform === "linux";
  const [prctl, wait4] = (isLinux ? SYSTEM_CALLS[process.arch] : undefined) ?? [0, 0];
  const size = Buffer.byteLength(LAUNCHER_SCRIPT);
  return {
    file: perl,
    args: ["-e", BOOTSTRAP, String(size), isLinux ? "1" : "0", String(prctl), String(wait4)],
    preamble: LAUNCHER_SCRIPT,
    jobsAtOnce: PERL_JOBS_AT_ONCE,
  };
}

export function findProgram(name: string): string | null {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder || ".", name);
    if (isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
