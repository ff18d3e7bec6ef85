export const STRICT_FLAG = "--strict";
export const STRICT_WORDS = "exit with 1 if a failure was handled, and report it as a failure";
