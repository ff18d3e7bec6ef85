/**
 * A duty that one process does for all is held as a run is: by a lease with a token, against the store's clock. It stands
 * in the table of leases under a number that no run has.
 */
export const DUTY_LEASE = { book: -1, campaigns: -2, retention: -3, schedules: -4 } as const;
