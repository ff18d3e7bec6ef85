import { type BigIntStats, statSync } from "node:fs";
import { DarumaError } from "../../../core/errors/errors.js";
import type { Database } from "../sqlite-driver.js";

/** How long reads may continue after a file was removed. */
const READS_TRUST_MS = 250;

interface KnownFile {
  readonly path: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * Checks that the open database is still the file at its path. SQLite writes to a deleted file without an error, and
 * the next process would find nothing. Three checks take about 10 us, a commit to a disk about 1 ms.
 */
export class WatchedFiles {
  readonly #db: Database;
  readonly #known: readonly KnownFile[];
  readonly #firstVersion: unknown;
  #bytes: bigint;
  #checkedAt: number;

  /** Call this after the database has been read, because only then its log exists. */
  constructor(db: Database, file: string) {
    this.#db = db;
    this.#known = [file, `${file}-wal`, `${file}-shm`].flatMap((path) => {
      const there = look(path);
      return there === undefined ? [] : [{ path, dev: there.dev, ino: there.ino }];
    });
    this.#bytes = look(file)?.size ?? 0n;
    this.#firstVersion = this.#dataVersion();
    this.#checkedAt = performance.now();
  }

  /** Throws STORE_GONE if somebody has deleted, replaced or truncated one of the files. */
  check(): void {
    for (const [place, known] of this.#known.entries()) {
      const there = look(known.path);
      if (there === undefined) throw gone(`${known.path} was deleted`);
      if (there.ino !== known.ino || there.dev !== known.dev) {
        throw gone(`${known.path} was replaced by another file`);
      }
      if (place === 0) this.#checkLength(known.path, there.size);
    }
    this.#checkedAt = performance.now();
  }

  checkNowAndThen(): void {
    if (performance.now() - this.#checkedAt > READS_TRUST_MS) this.check();
  }

  #checkLength(path: string, bytes: bigint): void {
    if (bytes < this.#bytes && !this.#wasVacuumed(bytes)) throw gone(`${path} was cut short`);
    this.#bytes = bytes;
  }

  /**
   * Whether another program has vacuumed the file, since Daruma never makes it shorter. SQLite knows the new length
   * then.
   */
  #wasVacuumed(bytes: bigint): boolean {
    try {
      const size = this.#db
        .prepare(
          "SELECT page_count * page_size AS bytes, total_changes() AS own FROM pragma_page_count, pragma_page_size",
        )
        .get() as { bytes: number; own: number };
      // Until the first write, SQLite reports the length of the file as that of the database.
      const isKnown = size.own > 0 || this.#dataVersion() !== this.#firstVersion;
      return isKnown && bytes > 0n && BigInt(size.bytes) <= bytes;
    } catch {
      return false;
    }
  }

  #dataVersion(): unknown {
    return (this.#db.prepare("PRAGMA data_version").get() as { data_version: number }).data_version;
  }
}

function look(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false });
}

function gone(what: string): DarumaError {
  return new DarumaError("STORE_GONE", `${what} while Daruma used it`);
}
