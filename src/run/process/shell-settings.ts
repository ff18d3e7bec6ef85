/** Variables by which some shells change how they run a line. A line may do without a new shell only without them. */
export const SHELL_SETTINGS = ["BASHOPTS", "POSIXLY_CORRECT", "SHELLOPTS"];
