import type { Parameter } from "./connection-pool.js";
import { toArrayLiteral } from "./database.js";

/** Conditions that are asked for only where a filter names them; `?` stands for the value. */
export class Conditions {
  readonly #texts: string[] = [];
  readonly parameters: Parameter[] = [];

  demand(condition: string, value: Parameter | undefined): this {
    return value === undefined ? this : this.demandAll(condition, value);
  }

  /** One with several values, each at its `?`. */
  demandAll(condition: string, ...values: readonly Parameter[]): this {
    let text = condition;
    for (const value of values) {
      this.parameters.push(value);
      text = text.replace("?", `$${this.parameters.length}`);
    }
    this.#texts.push(text);
    return this;
  }

  demandOneOf(column: string, values: readonly string[] | undefined): this {
    return this.demand(`${column} = ANY (?::text[])`, values && toArrayLiteral(values));
  }

  require(condition: string): this {
    this.#texts.push(condition);
    return this;
  }

  get where(): string {
    return this.#texts.length === 0 ? "" : `WHERE ${this.#texts.join(" AND ")}`;
  }

  /** To be read last: its number follows those of the conditions. */
  limit(rows: number | undefined): string {
    this.parameters.push(rows ?? null);
    return `LIMIT $${this.parameters.length}::bigint`;
  }
}
