import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidArgumentError, Option } from "commander";
import { messageOf } from "../core/text/message-of.js";
import type { Client, InputOf } from "../operations/client.js";
import { commandLine } from "./declare/command-words.js";
import { type Session, writeLines } from "./terminal/channel.js";
import { EXIT } from "./terminal/exit-codes.js";

type ReportFormat = NonNullable<InputOf<"report_run">["format"]>;
type FileFormat = Exclude<ReportFormat, "github">;

/** A wanted report, `--report FORMAT[=FILE]`. GitHub's goes where GitHub expects it. */
export type WantedReport =
  | { readonly format: FileFormat; readonly file: string }
  | { readonly format: "github" };

const FILE_FORMATS: readonly FileFormat[] = ["junit", "markdown", "html"];

/** `--report`, of every command that runs a run to its end. */
export function reportOption(): Option {
  return new Option(
    "--report <format[=file]>",
    "when the run ends, write how it went: junit=FILE, markdown=FILE, html=FILE, or github (annotations and step summary); repeatable",
  ).argParser(parseReport);
}

/** Parses a flag for commander, which calls this once per flag. */
function parseReport(text: string, before: readonly WantedReport[] = []): readonly WantedReport[] {
  const [, format = text, file] = /^([a-z]+)(?:=(.+))?$/s.exec(text) ?? [];
  if (format === "github" && file === undefined) return [...before, { format }];
  const known = FILE_FORMATS.find((each) => each === format);
  if (known !== undefined && file !== undefined)
    return [...before, { format: known, file: checkedPlace(file) }];
  throw new InvalidArgumentError("Use junit=FILE, markdown=FILE, html=FILE or github.");
}

/** Checks the folder before the run, since nobody wants to learn of a typo an hour later. */
function checkedPlace(file: string): string {
  const folder = dirname(resolve(file));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new InvalidArgumentError(`There is no folder ${folder}.`);
  return resolve(file);
}

/** A server's client, or the program itself. */
type Reporter = Pick<Client, "call">;

/**
 * Writes the reports and returns the exit code. If one cannot be written, success becomes an infrastructure failure,
 * because somebody asked for the report and relies on it.
 */
export async function writeReports(
  { err }: Session,
  reporter: Reporter,
  { runId, reports = [], exitCode, strict = false }: FinishedRun,
): Promise<number> {
  const read = async (format: ReportFormat): Promise<string> =>
    (await reporter.call("report_run", { run_id: runId, format, strict })).text;
  let code = exitCode;
  for (const report of reports)
    try {
      await writeReport(report, read, (text) => err.write(text));
    } catch (error) {
      writeLines(err, [`error: the ${report.format} report could not be written: ${messageOf(error)}`]);
      if (code === EXIT.completed) code = EXIT.infrastructure;
    }
  return code;
}

/** Somebody else goes on with the run, or nobody yet: its end is not seen here, and that must not look like success. */
export function refuseReports(
  { err, options }: Session,
  { runId, reports = [], exitCode }: Omit<FinishedRun, "strict">,
): number {
  const [first] = reports;
  if (first === undefined) return exitCode;
  const later = commandLine(options, `report ${runId} --format ${first.format}`);
  writeLines(err, [`error: no report is written, because run ${runId} does not end here; later: ${later}`]);
  return exitCode === EXIT.completed ? EXIT.infrastructure : exitCode;
}

interface FinishedRun {
  readonly runId: number;
  readonly reports: readonly WantedReport[] | undefined;
  readonly exitCode: number;
  readonly strict: boolean | undefined;
}

async function writeReport(
  report: WantedReport,
  read: (format: ReportFormat) => Promise<string>,
  say: (text: string) => void,
): Promise<void> {
  if (report.format !== "github") {
    writeFileSync(report.file, await read(report.format));
    return;
  }
  // Goes to stderr, since stdout may be JSON that a program parses. GitHub reads both.
  say(await read("github"));
  const { GITHUB_STEP_SUMMARY: summary } = process.env;
  if (summary !== undefined && summary !== "") appendFileSync(summary, `${await read("markdown")}\n`);
}
