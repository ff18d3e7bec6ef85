import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outcome } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { shortageBehind, shortageOf } from "../process/machine-shortage.js";
import type { TimerPort } from "./attempt-timers.js";

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** How long until people are told again. */
const TOLD_FOR_MS = 60_000;
/** A disk with less room than this counts as full. */
const PROBE_BYTES = 64 * 1024;

export interface ShortagePorts {
  readonly clock: TimerPort;
  /** The folder of logs. */
  readonly folder: string;
  readonly tell: (text: string) => void;
}

/** Temporary shortages of the machine. Attempts wait for their end without using up an attempt, retry or restart. */
export class Shortages {
  isDiskFull = false;
  private readonly toldAt = new Map<string, number>();

  constructor(private readonly ports: ShortagePorts) {}

  /** Notes that a log, or what an attempt left, cannot be written yet. */
  noteUnwritten(what: string, error: unknown): void {
    const isFull = shortageBehind(error) === "room";
    if (isFull) this.isDiskFull = true;
    const waits = `The attempt waits until that works${isFull ? ", and nothing new starts" : ""}.`;
    this.tell("unwritten", `${what} cannot be written: ${messageOf(error)}. ${waits}`);
  }

  /** Resolves when the disk can take logs, or the signal is aborted. */
  async untilRoom(signal: AbortSignal): Promise<void> {
    for (let tries = 0; this.isDiskFull && !signal.aborted; tries += 1) {
      if (this.hasRoom()) {
        this.isDiskFull = false;
        this.tell("room", "Logs can be written again; steps continue.");
        this.toldAt.clear();
      } else await this.pause(tries, signal);
    }
  }

  /** Repeats work while the disk is full, or files or processes cannot be created. */
  async untilItWorks<T>(what: string, write: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await write();
      } catch (error) {
        if (shortageBehind(error) === null || signal.aborted) throw error;
        this.noteUnwritten(what, error);
        if (this.isDiskFull) await this.untilRoom(signal);
        else await this.pause(tries, signal);
      }
    }
  }

  async waitToStart(step: string, why: string, tries: number, signal: AbortSignal): Promise<void> {
    this.tell(`start ${step}`, `${step} cannot be started now and will be tried again: ${why}`);
    await this.pause(tries, signal);
  }

  private async pause(tries: number, signal: AbortSignal): Promise<void> {
    const ms = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(tries, 10), MAX_PAUSE_MS);
    await new Promise<void>((resolve) => {
      const cancel = this.ports.clock.after(ms, () => end());
      const end = (): void => {
        cancel();
        signal.removeEventListener("abort", end);
        resolve();
      };
      signal.addEventListener("abort", end, { once: true });
      if (signal.aborted) end();
    });
  }

  private hasRoom(): boolean {
    const file = join(this.ports.folder, `.probe-${process.pid}`);
    try {
      writeFileSync(file, Buffer.alloc(PROBE_BYTES), { mode: 0o600 });
      return true;
    } catch (error) {
      return shortageBehind(error) !== "room";
    } finally {
      rmSync(file, { force: true });
    }
  }

  private tell(key: string, text: string): void {
    const now = this.ports.clock.elapsed();
    const last = this.toldAt.get(key);
    if (last !== undefined && now - last < TOLD_FOR_MS) return;
    this.toldAt.set(key, now);
    this.ports.tell(text);
  }
}

/** Why an attempt has not begun; null if it has, or never can. */
export function lackedAtStart(result: Outcome<Json>): string | null {
  if (result.kind !== "failed") return null;
  const { code, errno, message } = result.facts;
  if (code !== "SPAWN_ERROR" && code !== "LOG_FAILED") return null;
  return shortageOf(errno) === null ? null : message;
}
