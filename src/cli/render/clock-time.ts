/** Formats an ISO time as `2026-03-01 12:30:05`, in UTC; the column or sentence around it says so. */
export function clockTime(time: string | null): string {
  return time === null ? "" : time.replace("T", " ").slice(0, 19);
}

/** The heading of a past state. */
export function pastLine({ seq, time }: { readonly seq: number; readonly time: string }): string {
  return `as it was after event ${seq}, ${clockTime(time)} UTC`;
}
