import type { ComponentProps, ReactNode } from "react";

/** What scrolls must be reached by a keyboard, and have a name. */
export function ScrollRegion({
  label,
  ...rest
}: ComponentProps<"section"> & { readonly label: string }): ReactNode {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without it only a mouse could scroll
  return <section {...rest} tabIndex={0} aria-label={label} />;
}
