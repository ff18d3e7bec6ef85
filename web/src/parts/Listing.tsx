import type { ComponentProps, ReactNode } from "react";

/** One column of a list. */
interface Column<Item> {
  readonly name: string;
  readonly cell: (item: Item) => ReactNode;
  /** How its cells look: `wide` takes the remaining width, `r` is for figures. */
  readonly look?: string;
  /** The full content of a cell that may be cut. */
  readonly title?: (item: Item) => string;
  /** Its cells explain themselves, so its name is only for screen readers. */
  readonly isPlain?: boolean;
}

interface ListingProps<Item> {
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string | number;
  readonly columns: readonly (Column<Item> | null)[];
  /** For rows of more than one line. */
  readonly isAiry?: boolean;
  /** The row that was selected by keys. */
  readonly chosen?: string | number | null;
}

/** A table. On a phone each row is a card with the columns' names, so that nothing scrolls sideways. */
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

/** The part of a column's look that also applies to its heading: width and alignment. */
function headLook(look = ""): string {
  return look
    .split(" ")
    .filter((each) => each === "wide" || each === "r")
    .join(" ");
}

/** A scrollable region that a keyboard can reach and that has a name. */
export function ScrollRegion({
  label,
  ...rest
}: ComponentProps<"section"> & { readonly label: string }): ReactNode {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it only a mouse could scroll
  return <section {...rest} tabIndex={0} aria-label={label} />;
}
