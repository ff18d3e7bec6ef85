import type { ComponentProps, ReactNode } from "react";

/** A scrollable region that a keyboard can reach and that has a name. */
export function ScrollRegion({
  label,
  ...rest
}: ComponentProps<"section"> & { readonly label: string }): ReactNode {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it only a mouse could scroll
  return <section {...rest} tabIndex={0} aria-label={label} />;
}
