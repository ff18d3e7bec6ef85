import { DarumaError } from "../core/errors/errors.js";
import { messageOf } from "../core/text/message-of.js";
import type { InspectedStore } from "../operations/context.js";
import { databaseFile, isDatabaseThere } from "../run/wiring/existing-store.js";
import { openStore } from "../run/wiring/open-store.js";
import type { StoreInspection } from "../store/inspect/store-inspection.js";
import { isPostgresUrl } from "../store/postgres/postgres-address.js";
import { inspectSqliteFile } from "../store/sqlite/sqlite-store.js";
import type { Store } from "../store/store.js";

export interface OpenedForInspection {
  /** Null if it does not exist, is damaged, has another version, or cannot be opened. */
  readonly store: Store | null;
  readonly inspectStore: (full: boolean) => Promise<InspectedStore>;
}

/** A store to look at, which must not be changed by that: one of another version is not opened. */
export async function openInspected(
  named: string | undefined,
  outputDir: string,
): Promise<OpenedForInspection> {
  if (named !== undefined && isPostgresUrl(named)) return openInspectedPostgres(named);
  const file = named ?? databaseFile(outputDir);
  try {
    if (!isDatabaseThere(file)) return closed({ place: file, inspection: null, trouble: null });
    const inspection = await inspectSqliteFile(file, false);
    if (isCurrent(inspection)) return await inspectOpened(() => openStore(named, outputDir), file);
    return closed({ place: file, inspection, trouble: null }, (full) => inspectSqliteFile(file, full));
  } catch (error) {
    return closed({ place: file, inspection: null, trouble: troubleOf(error) });
  }
}

async function openInspectedPostgres(url: string): Promise<OpenedForInspection> {
  try {
    const { inspectPostgres } = await import("../store/inspect/inspect-postgres.js");
    const inspection = await inspectPostgres(url);
    if (isCurrent(inspection)) return await inspectOpened(() => openStore(url, ""), inspection.place);
    const isEmpty = inspection.version === null;
    return closed({ place: inspection.place, inspection: isEmpty ? null : inspection, trouble: null });
  } catch (error) {
    return closed({ place: "PostgreSQL", inspection: null, trouble: troubleOf(error) });
  }
}

function isCurrent({ problems, version, newestVersion }: StoreInspection): boolean {
  return problems.length === 0 && version === newestVersion;
}

async function inspectOpened(open: () => Promise<Store>, place: string): Promise<OpenedForInspection> {
  try {
    const store = await open();
    return { store, inspectStore: (full) => inspectOpen(store, full) };
  } catch (error) {
    return closed({ place, inspection: null, trouble: troubleOf(error) });
  }
}

/** Inspects a store that is in use. */
export async function inspectOpen(store: Store, full: boolean): Promise<InspectedStore> {
  const inspection = await store.inspect(full);
  const trouble = await store.ping().then(() => null, troubleOf);
  return { place: inspection.place, inspection, trouble, isOpen: true };
}

function closed(
  found: Omit<InspectedStore, "isOpen">,
  again?: (full: boolean) => Promise<InspectedStore["inspection"]>,
): OpenedForInspection {
  return {
    store: null,
    inspectStore: async (full) => ({
      ...found,
      ...(full && again !== undefined ? { inspection: await again(full) } : {}),
      isOpen: false,
    }),
  };
}

function troubleOf(error: unknown): NonNullable<InspectedStore["trouble"]> {
  const hint = error instanceof DarumaError ? error.hint : "Check --store and --output-dir.";
  return { message: messageOf(error), hint };
}
