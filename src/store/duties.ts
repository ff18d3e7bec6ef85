/**
 * Leases for duties that one process does for all. They are held like runs, with a token and on the store's clock, and
 * are rows of the lease table whose numbers no run has.
 */
export const DUTY_LEASE = { book: -1, campaigns: -2, retention: -3, schedules: -4 } as const;
export type DutyName = keyof typeof DUTY_LEASE;
