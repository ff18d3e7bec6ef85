/** Seconds, or a date by the server's own clock, since ours may differ. */
export function readRetryAfter(headers: Headers, startedAt: number): number | null {
  const text = headers.get("retry-after")?.trim();
  if (!text) return null;
  if (/^\d+$/.test(text)) return Number(text) * 1_000;
  const dueAt = Date.parse(text);
  if (Number.isNaN(dueAt)) return null;
  const serverNow = Date.parse(headers.get("date") ?? "");
  return Math.max(0, dueAt - (Number.isNaN(serverNow) ? startedAt : serverNow));
}
