import { Option } from "commander";
import { wholeNumber } from "./declare-run-commands.js";

/** Flags of commands that decide failed jobs: how the jobs failed, and how the campaign proceeds. */
export function byFailure(): Option[] {
  return [
    new Option("--signature <text>", "all jobs that failed with this signature, or one that begins with it"),
    new Option("--workflow <name>", "all of this workflow"),
    new Option("--step <step>", "all of this step"),
    new Option("--class <class>", "all that failed with this class, such as transient_runtime"),
    new Option("--since <time>", "all that failed since: a duration such as 24h, or a date"),
    new Option("--canary <n>", "how many jobs to try first (default: 1)").argParser(wholeNumber(1)),
    new Option("--factor <n>", "how much larger each wave is (default: 2)").argParser(wholeNumber(1)),
    new Option("--rate <rate>", "at most this many jobs, such as 20/min"),
    new Option("--stop-at <share>", "stop if more than this share of a wave fails again (default: 20%)"),
    new Option("--wait <duration>", "a job that has not ended by then counts as failed (default: 1h)"),
    new Option("--detach", "do not wait for the end of the campaign"),
  ];
}
