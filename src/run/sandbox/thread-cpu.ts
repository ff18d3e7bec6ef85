import { readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";

/** /proc reports CPU time in hundredths of a second, whatever unit the kernel uses. */
const MS_PER_TICK = 10;
/** Fields of a stat file, counted after the name: user and system time. */
const [USER, SYSTEM] = [11, 12];

/** The operating system's id of the calling thread; null without /proc. */
export function systemThreadId(): number | null {
  try {
    return Number(basename(readlinkSync("/proc/thread-self")));
  } catch {
    return null;
  }
}

/** CPU time that a thread of this process has used since it started; null if unknown. */
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

/** A thread that gets no CPU time is given up after this many times its limit, in wall time. */
export const MAX_LIMITS_OF_WALL_TIME = 30;

/**
 * Calls `onOver` once a thread has used `limitMs` of CPU time from now on. It checks again as long as the machine gives
 * the thread less CPU time than wall time. Wall time counts where CPU time is unknown (`threadId` returns null); a
 * thread that has not reported its id yet (undefined) has used none. Returns a function that ends the watch.
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
