import { DarumaError } from "../../../core/errors/errors.js";
import type { Run } from "../../../core/model/run.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { LimitSettings } from "../../../file/settings/limits.js";
import { describeSettings, settingsBeside } from "../../../host/read-settings.js";
import { serverAddress } from "../../remote/runs-location.js";
import { type RunningServer, startServer } from "../../server/start-server.js";
import { outlivePipes } from "../../terminal/broken-pipe.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";
import { EXIT } from "../../terminal/exit-codes.js";
import { firstSignal } from "../../terminal/signals.js";
import { readVersion } from "../../version.js";
import { openInBrowser } from "./page.js";

export interface ServeFlags {
  readonly host?: string;
  readonly port?: number;
  readonly url?: string;
  readonly maxParallel?: number;
  readonly requireTokens?: boolean;
  readonly allowOrigin?: readonly string[];
  readonly rateLimit?: number;
  readonly runsPerMinute?: number;
  readonly streamsPerToken?: number;
  readonly maxConnections?: number;
  readonly lease?: number;
  readonly trustProxy?: boolean;
  readonly open?: boolean;
}

export async function serve(flags: ServeFlags, session: Session): Promise<number> {
  refuseServer(session);
  outlivePipes();
  const settings = settingsBeside(session.options);
  const { clusters, breakers, limits, retention, channels, notify } = settings;
  const stopped = firstSignal();
  const server = await startServer({
    outputDir: session.options.outputDir,
    version: readVersion(),
    ...(session.options.store === undefined ? {} : { store: session.options.store }),
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(flags.port === undefined ? {} : { port: flags.port }),
    ...(flags.url === undefined ? {} : { url: flags.url }),
    requireTokens: flags.requireTokens ?? false,
    clusters,
    breakers,
    retention,
    channels,
    notify,
    settingsFile: describeSettings(session.options).file,
    onCluster: (text) => writeLines(session.err, [`${new Date().toISOString()} ${oneLine(text)}`]),
    allowedOrigins: flags.allowOrigin ?? [],
    ...limits,
    ...limitsOf(flags),
    ...(flags.lease === undefined ? {} : { leaseMs: flags.lease * 1_000 }),
    trustProxy: flags.trustProxy ?? false,
    ...requestLog(session),
    onTakeOver: (run, lost) => tellTakeOver(session, run, lost),
    onLeftAlone: ({ id, workflow }, why) =>
      writeLines(session.err, [
        `${new Date().toISOString()} left run ${id} of ${workflow} alone: ${oneLine(why)}`,
      ]),
    onShortage: (text) => writeLines(session.err, [`${new Date().toISOString()} ${oneLine(text)}`]),
    onFault: (reference, error) => tellFault(session, reference, error),
  });
  tellStart(session, server);
  if (flags.open === true && !(await openInBrowser(server.url)))
    writeLines(session.err, [`no browser here: open ${server.url} yourself`]);
  const signal = await stopped;
  if (!session.options.quiet) writeLines(session.err, [`${signal}: releasing runs`]);
  await server.close();
  return EXIT.completed;
}

/** The limits. Flags take precedence over settings. */
function limitsOf(flags: ServeFlags): LimitSettings {
  const { rateLimit, runsPerMinute, streamsPerToken, maxConnections, maxParallel } = flags;
  return {
    ...(maxParallel === undefined ? {} : { maxParallel }),
    ...(rateLimit === undefined ? {} : { requestsPerMinute: rateLimit }),
    ...(runsPerMinute === undefined ? {} : { runsPerMinute }),
    ...(streamsPerToken === undefined ? {} : { streamsPerToken }),
    ...(maxConnections === undefined ? {} : { maxConnections }),
  };
}

/** Refuses --server. DARUMA_SERVER is ignored, because it is meant for other commands on this machine. */
function refuseServer({ options }: Session): void {
  if (options.server !== undefined && options.server !== serverAddress(process.env.DARUMA_SERVER ?? ""))
    throw new DarumaError("USAGE", "serve cannot be combined with --server", {
      hint: "Remove --server. --host and --port set where it listens, --url sets where others reach it.",
    });
}

function tellStart({ out, options }: Session, { url, listensAt, takenUp }: RunningServer): void {
  if (options.json) return writeJson(out, { url, listens_at: listensAt, taken_up: takenUp });
  const runs =
    takenUp === 0
      ? "no interrupted runs to continue"
      : `continuing ${takenUp} interrupted ${takenUp === 1 ? "run" : "runs"}`;
  writeLines(out, [
    `listening at ${url}${url.endsWith(`//${listensAt}`) ? "" : ` (${listensAt})`}`,
    ...(options.quiet ? [] : [`${runs}; open ${url} in a browser, or read ${url}/api/v1/docs`]),
  ]);
}

function tellTakeOver({ err, options }: Session, { id, workflow }: Run, lost: number): void {
  if (options.quiet) return;
  const what = `${lost} ${lost === 1 ? "attempt was" : "attempts were"} lost`;
  writeLines(err, [`${new Date().toISOString()} took over run ${id} of ${workflow}; ${what}`]);
}

function requestLog({ err, options }: Session): Partial<Parameters<typeof startServer>[0]> {
  if (!options.debug) return {};
  return {
    onRequest: ({ method, path, status, durationMs, principal, address }) =>
      writeLines(err, [
        `${new Date().toISOString()} ${status} ${method} ${path} ${durationMs} ms ${address} ${principal ?? "-"}`,
      ]),
  };
}

function tellFault({ err, options }: Session, reference: string, error: unknown): void {
  const { stack } = error instanceof Error && options.debug ? error : {};
  const text = stack ?? (error instanceof Error ? error.message : String(error));
  const told = `${new Date().toISOString()} error ${reference}: ${text}`;
  writeLines(err, stack === undefined ? [told] : told.split("\n"));
}
