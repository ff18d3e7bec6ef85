import type { Cells } from "./packed-rows.js";
import type { Cell, Database, Statement } from "./sqlite-driver.js";

/** Statements are prepared when they are first needed, and kept. */
export interface Statements {
  run(
    sql: string,
    ...cells: (Cell | Uint8Array)[]
  ): { readonly changes: number; readonly lastInsertRowid: number };
  /** Rows as lists of cells. The caller knows the types of its columns. */
  rows<Row extends Cells = Cells>(sql: string, ...cells: Cell[]): Row[];
  row<Row extends Cells = Cells>(sql: string, ...cells: Cell[]): Row | null;
}

export function keepStatements(db: Database): Statements {
  const kept = new Map<string, Statement>();
  const statement = (sql: string): Statement => {
    let prepared = kept.get(sql);
    if (prepared === undefined) {
      prepared = db.prepare(sql);
      prepared.setReturnArrays(true);
      kept.set(sql, prepared);
    }
    return prepared;
  };
  const rows = <Row extends Cells>(sql: string, ...cells: Cell[]) =>
    statement(sql).all(...cells) as unknown as Row[];
  return {
    run: (sql, ...cells) => {
      const { changes, lastInsertRowid } = statement(sql).run(...cells);
      return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
    },
    rows,
    row: <Row extends Cells>(sql: string, ...cells: Cell[]) => rows<Row>(sql, ...cells)[0] ?? null,
  };
}
