import type { ReactNode } from "react";

/** One column of a list. */
export interface Column<Item> {
  readonly name: string;
  readonly cell: (item: Item) => ReactNode;
  /** How its cells look: `wide` takes the room that is left, `r` is for figures. */
  readonly look?: string;
  /** All of a text that may be cut. */
  readonly title?: (item: Item) => string;
  /** Its cells say themselves what they are: its name is only heard. */
  readonly isPlain?: boolean;
}

interface ListingProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string | number;
  readonly columns: readonly (Column<Item> | null)[];
  /** Rows of more than one line. */
  readonly isAiry?: boolean;
  /** The row that the keys have come to. */
  readonly chosen?: string | number | null;
}

/** A table; on a phone each row is a card with the names of its columns, so that nothing scrolls sideways. */
export function Listing<Item>({
  items,
  keyOf,
  columns,
  isAiry = false,
  chosen = null,
}: ListingProps<Item>): ReactNode {
  const shown = columns.filter((column) => column !== null);
  return (
    <div className="scroll">
      <table className={isAiry ? "t cards airy" : "t cards"}>
        <thead className={shown.every(({ isPlain }) => isPlain) ? "sr" : undefined}>
          <tr>
            {shown.map(({ name, look, isPlain = false }) => (
              <th key={name} className={headLook(look)}>
                {isPlain ? <span className="sr">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)} className={keyOf(item) === chosen ? "sel" : undefined}>
              {shown.map(({ name, look, title, isPlain = false, cell }, place) => (
                <td
                  key={name}
                  className={look}
                  title={title?.(item)}
                  data-name={place === 0 || isPlain ? undefined : name}
                >
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Of the cells' look a head has how wide it is, and where its text stands. */
function headLook(look = ""): string {
  return look
    .split(" ")
    .filter((each) => each === "wide" || each === "r")
    .join(" ");
}
