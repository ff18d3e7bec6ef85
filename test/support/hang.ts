/** Nothing that a test waits for takes so long, on however busy a machine; it is less than the limit of a slow test. */
export const HANG_MS = 240_000;
