import { existingDatabase, openExistingStore } from "../run/wiring/existing-store.js";
import type { Store } from "../store/store.js";
import type { GlobalOptions } from "./terminal/channel.js";

/** Opens the store of existing runs. */
export async function existingStore({ store, outputDir }: GlobalOptions): Promise<Store> {
  if (store !== undefined) return (await import("../run/wiring/open-store.js")).openStore(store, outputDir);
  existingDatabase(outputDir);
  return openExistingStore(outputDir);
}
