import type { BesideNotices } from "../../store/outbox-rows.js";
import type { SharedRow, SharedStore } from "../../store/shared-rows.js";
import type { Clock } from "./clock.js";

/** Others change the same row, but each of them only briefly. */
const MAX_TRIES = 50;

/** Returns the new rows; null to leave them unchanged. `now` is on the store's clock. */
export type EditRows<Row> = (rows: ReadonlyMap<string, Row>, now: number) => ReadonlyMap<string, Row> | null;

/** The part of a store that a board needs. */
export type BoardStore = Pick<SharedStore, "readShared" | "writeShared">;

/** Rows of one kind that runs share: this process's last view of them, and how it changes them. */
export class Board<Row> {
  private readonly known = new Map<string, { readonly revision: number; readonly value: Row }>();
  private aheadMs = 0;

  constructor(
    private readonly kind: string,
    private readonly store: BoardStore,
    private readonly clock: Pick<Clock, "now">,
    /** Parses a row. Without a row, returns the initial value. */
    private readonly parse: (row: SharedRow | undefined, name: string) => Row,
  ) {}

  /** The present time on the store's clock. */
  now(): number {
    return this.clock.now() + this.aheadMs;
  }

  /** The row; null if it has not been read yet. */
  get(name: string): Row | null {
    return this.known.get(name)?.value ?? null;
  }

  isWritten(name: string): boolean {
    return (this.known.get(name)?.revision ?? 0) > 0;
  }

  /** All rows that have been read. */
  entries(): readonly (readonly [string, Row])[] {
    return [...this.known].map(([name, { value }]) => [name, value] as const);
  }

  read(names: readonly string[]): Promise<void> {
    return this.readRows(names, names);
  }

  /** Reads all existing rows. Those of `names` that do not exist are then known to be missing. */
  readAll(names: readonly string[] = []): Promise<void> {
    return this.readRows(null, names);
  }

  private async readRows(asked: readonly string[] | null, names: readonly string[]): Promise<void> {
    const { rows, at } = await this.store.readShared(this.kind, asked, this.clock.now());
    this.aheadMs = at - this.clock.now();
    const found = new Map(rows.map((row) => [row.name, row]));
    for (const name of new Set([...names, ...found.keys()])) this.learn(name, found.get(name));
  }

  /** Updates the view, unless the answer is older than what is known. */
  private learn(name: string, row: SharedRow | undefined): void {
    if (row === undefined && this.known.has(name)) return;
    if (row !== undefined && row.revision < (this.known.get(name)?.revision ?? 0)) return;
    this.known.set(name, { revision: row?.revision ?? 0, value: this.parse(row, name) });
  }

  /** Changes one row in its present state. Returns false if `edit` returned it unchanged. */
  changeOne(
    name: string,
    edit: (row: Row, now: number) => Row,
    beside?: (before: Row, after: Row) => Omit<BesideNotices, "now">,
  ): Promise<boolean> {
    let before: Row;
    return this.change(
      [name],
      (rows, now) => {
        before = rows.get(name)!;
        const after = edit(before, now);
        return after === before ? null : new Map([[name, after]]);
      },
      beside && ((after) => beside(before, after.get(name)!)),
    );
  }

  /**
   * Changes all of these at once, in their present state, and writes what `beside` returns with them. Returns false if `edit`
   * left them unchanged.
   */
  async change(
    names: readonly string[],
    edit: EditRows<Row>,
    beside?: (after: ReadonlyMap<string, Row>) => Omit<BesideNotices, "now">,
  ): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await this.read(names);
      const after = edit(new Map(names.map((name) => [name, this.get(name)!])), this.now());
      if (after === null) return false;
      const rows = [...after].map(([name, value]) => ({
        kind: this.kind,
        name,
        revision: this.known.get(name)?.revision ?? 0,
        data: JSON.stringify(value),
      }));
      const more = beside && { ...beside(after), now: this.clock.now() };
      if (!(await this.store.writeShared(rows, more))) continue;
      for (const { name, revision } of rows)
        this.known.set(name, { revision: revision + 1, value: after.get(name)! });
      return true;
    }
    return false;
  }
}
