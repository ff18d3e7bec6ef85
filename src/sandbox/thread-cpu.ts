import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** /proc counts CPU time in hundredths of a second, whatever the kernel itself counts in. */
const MS_PER_TICK = 10;
/** Places in a stat file after the name: user and system time. */
const [USER, SYSTEM] = [11, 12];

/** The calling thread as the system knows it; null where there is no /proc. */
export function systemThreadId(): number | null {
  try {
    return Number(basename(readlinkSync("/proc/thread-self")));
  } catch {
    return null;
  }
}

/** CPU time that a thread of this process has had since it started; null if that cannot be known. */
export function threadCpuMs(threadId: number | null): number | null {
  if (threadId === null) return null;
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[USER]) + Number(fields[SYSTEM])) * MS_PER_TICK;
  } catch {
    return null;
  }
}

/** A thread that gets no CPU time is given up after this many times its limit of wall time. */
export const MAX_LIMITS_OF_WALL_TIME = 30;

/**
 * Calls `onOver` when a thread has had `limitMs` of CPU time from now on. It waits again and again while the machine
 * gives the thread less than wall time. Where CPU time cannot be known (null), wall time counts; a thread that has not
 * said yet which it is (undefined) has used nothing. Returns what ends the watch.
 */
export function afterCpuTime(
  threadId: () => number | null | undefined,
  limitMs: number,
  onOver: () => void,
): () => void {
  const before = threadCpuMs(threadId() ?? null) ?? 0;
  let timer: NodeJS.Timeout;
  const waitFor = (leftMs: number, patienceMs: number): void => {
    timer = setTimeout(() => {
      const id = threadId();
      const now = id === undefined ? before : threadCpuMs(id);
      const usedMs = now === null ? limitMs : now - before;
      if (usedMs >= limitMs || patienceMs <= 0) onOver();
      else waitFor(limitMs - usedMs, patienceMs - leftMs);
    }, leftMs);
  };
  waitFor(limitMs, (MAX_LIMITS_OF_WALL_TIME - 1) * limitMs);
  return () => clearTimeout(timer);
}
