/** Of milliseconds since the epoch; the same wherever a time is shown. */
export function iso(at: number): string {
  return new Date(at).toISOString();
}
