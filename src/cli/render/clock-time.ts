/** `2026-03-01 12:30:05` of an ISO time, in UTC as everywhere; the column or the sentence says so. */
export function clockTime(time: string | null): string {
  return time === null ? "" : time.replace("T", " ").slice(0, 19);
}

/** The first line of what is told of the past. */
export function pastLine({ seq, time }: { readonly seq: number; readonly time: string }): string {
  return `as it was after event ${seq}, ${clockTime(time)} UTC`;
}
