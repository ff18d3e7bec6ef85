import { DarumaError } from "../../core/errors/errors.js";
import type { Database, Statement } from "./sqlite-driver.js";

export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** Runs pieces of writing. Those that wait together share one transaction, and so one sync. */
export class Transactions {
  readonly #db: Database;
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #savepoint: Statement;
  readonly #release: Statement;
  readonly #undo: Statement;

  constructor(db: Database) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#savepoint = db.prepare("SAVEPOINT piece");
    this.#release = db.prepare("RELEASE piece");
    this.#undo = db.prepare("ROLLBACK TO piece");
  }

  /** Runs the pieces. Each succeeds or fails alone, and its answer means that it is on the disk. */
  runAll(pieces: readonly (() => unknown)[]): Outcome[] {
    if (pieces.length > 1) {
      const shared = this.#tryShared(pieces);
      if (shared !== null) return shared;
    }
    return pieces.map((piece) => this.#runAlone(piece));
  }

  #runAlone(piece: () => unknown): Outcome {
    try {
      this.#begin.run();
      const value = piece();
      this.#commit.run();
      return { value };
    } catch (error) {
      this.#rollBack();
      return { error };
    }
  }

  /**
   * Tries a shared transaction. Null if the database itself failed (for example, because it is full), so that nothing
   * was written and each piece must be tried alone.
   */
  #tryShared(pieces: readonly (() => unknown)[]): Outcome[] | null {
    try {
      this.#begin.run();
      const outcomes = pieces.map((piece) => this.#runInSavepoint(piece));
      this.#commit.run();
      return outcomes;
    } catch {
      this.#rollBack();
      return null;
    }
  }

  #runInSavepoint(piece: () => unknown): Outcome {
    this.#savepoint.run();
    try {
      const value = piece();
      this.#release.run();
      return { value };
    } catch (error) {
      if (!(error instanceof DarumaError)) throw error;
      this.#undo.run();
      this.#release.run();
      return { error };
    }
  }

  #rollBack(): void {
    // SQLite rolls back by itself after some errors.
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }
}
