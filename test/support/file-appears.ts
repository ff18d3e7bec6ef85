import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A process has come so far as to make this file. */
export async function fileAppears(file: string): Promise<void> {
  while (!existsSync(file)) await delay(5);
}
