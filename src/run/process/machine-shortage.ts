import { setTimeout as delay } from "node:timers/promises";

/** What the machine lacks for a while: it will be there again, and nothing is wrong with the step. */
export type MachineShortage = "room" | "files" | "processes";

const SHORTAGES: { readonly [errno: string]: MachineShortage } = {
  ENOSPC: "room",
  EDQUOT: "room",
  EMFILE: "files",
  ENFILE: "files",
  EAGAIN: "processes",
  ENOMEM: "processes",
};
const TRY_AGAIN_MS = 250;

export function shortageOf(errno: unknown): MachineShortage | null {
  return (typeof errno === "string" ? SHORTAGES[errno] : undefined) ?? null;
}

/** The shortage that an error, or one of its causes, is about. */
export function shortageBehind(error: unknown): MachineShortage | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    const shortage = "code" in at ? shortageOf(at.code) : null;
    if (shortage !== null) return shortage;
  }
  return null;
}

/** Reads what a step left behind, however long this process has no file descriptor for it. Null: `isUnwanted` became true. */
export async function whenFilesAllow<T>(read: () => T, isUnwanted: () => boolean): Promise<T | null> {
  for (;;) {
    try {
      return read();
    } catch (error) {
      if (shortageBehind(error) !== "files") throw error;
      if (isUnwanted()) return null;
    }
    await delay(TRY_AGAIN_MS);
  }
}
