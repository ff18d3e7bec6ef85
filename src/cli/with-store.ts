import { resolve } from "node:path";
import { openExistingStore } from "../operations/existing-store.js";
import type { Store } from "../store/store.js";
import type { Session } from "./channel.js";

/** For commands that look at runs that are there. */
export async function withStore(
  session: Session,
  work: (store: Store, outputDir: string) => Promise<number>,
): Promise<number> {
  const outputDir = resolve(session.options.outputDir);
  const store = await openExistingStore(outputDir);
  try {
    return await work(store, outputDir);
  } finally {
    await store.close();
  }
}
