import { dirname, resolve } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import type { Definition } from "../../../core/model/definition.js";
import { refuseClusterSteps } from "../../../file/settings/cluster-steps.js";
import type { Settings } from "../../../file/settings/settings.js";
import type { Workflow } from "../../../operations/workflows/workflow.js";
import { prepareProcessHost } from "../../../run/process/create-process-host.js";
import { databaseFile, isDatabaseThere, openExistingStore } from "../../../run/wiring/existing-store.js";
import { hideFromGit } from "../../../run/wiring/output-folder.js";
import { openSqliteStore } from "../../../store/sqlite/sqlite-store.js";
import type { Store } from "../../../store/store.js";
import { isTakenOver } from "../../../tell/job-record.js";
import { blindSteps } from "../../../tell/lookup/blind-steps.js";
import { commandLine } from "../../declare/command-words.js";
import { growHeapSlowlyForFile } from "../../heap-growth.js";
import { checkSecrets, settingsForRun } from "../../run-settings.js";
import { refuseServerFlags } from "../../server/server-flags.js";
import { type GlobalOptions, type Session, writeLines } from "../../terminal/channel.js";
import {
  type RunFlags,
  readContext,
  readInputs,
  readLabels,
  readStdin,
  reused,
  STDIN,
  STDIN_NAME,
  splitVersion,
} from "./run-flags.js";

export async function run(file: string, flags: RunFlags, session: Session): Promise<number> {
  if (flags.dryRun === true) return (await import("./plan-reuse.js")).planReuse(file, flags, session);
  const inputs = readInputs(flags.input ?? []);
  const context = flags.context === undefined ? {} : readContext(flags.context);
  const labels = flags.label === undefined ? {} : { labels: readLabels(flags.label) };
  const { outputDir, server } = session.options;
  if (server !== undefined) {
    const { runRemotely } = await import("../../remote/follow-server-run.js");
    return runRemotely(session, file, flags, { inputs, context, ...labels });
  }
  refuseServerFlags(flags);
  if (flags.folder !== undefined)
    throw new DarumaError("USAGE", "--folder needs --server", {
      hint: "Without a server steps start in the folder of the file, and jobs of the batch form where you are.",
    });
  const early = openEarly(session.options);
  prepareProcessHost();
  growHeapSlowlyForFile(file);
  const isFile = flags.stored !== true && file !== STDIN;
  const settings = await settingsForRun(session, isFile ? dirname(file) : null);
  const { clusters, breakers, notify, channels } = settings;
  const workflow = flags.stored === true ? null : await readChecked(file, session, settings);
  if (workflow !== null) refuseClusterSteps(workflow.definition, clusters);
  await checkSecrets(session, settings, workflow?.definition.notify ?? []);
  const opening = early.then((store) => store ?? makeStore(outputDir));
  // Ignored here, because the error is thrown where the store is awaited.
  opening.catch(() => {});
  const { Daruma } = await import("../../../host/daruma.js");
  const { followRun } = await import("../../follow-run.js");
  const daruma = await Daruma.open({
    outputDir,
    breakers,
    notify,
    store: await opening,
    ...(flags.maxParallel === undefined ? {} : { maxParallel: flags.maxParallel }),
  });
  return followRun(session, daruma, { ...flags, channels }, async (say) => {
    const chosen = workflow ?? (await readStored(file, daruma, clusters));
    if (flags.reuse === true) await tellHeldSource(session, daruma.store, chosen.definition.name, say);
    const begun = await daruma.begin(chosen, {
      inputs,
      context,
      ...labels,
      ...(flags.priority === undefined ? {} : { priority: flags.priority }),
      failureRouting: flags.failureRouting,
      ...(flags.onFailMaxLoops === undefined ? {} : { maxLoops: flags.onFailMaxLoops }),
      ...(flags.retryMax === undefined ? {} : { retryMax: flags.retryMax }),
      ...(flags.only === undefined ? {} : { only: flags.only }),
      ...(flags.strict === true ? { strict: true } : {}),
      ...(flags.reuse === undefined ? {} : { reuse: reused(flags.reuse) }),
      ...(flags.keepStoodIn === true ? { keepStoodIn: true } : {}),
      ...(flags.key === undefined ? {} : { key: flags.key }),
    });
    if (flags.reuse !== undefined) await tellUnseen(session, daruma.store, begun.runId, chosen.definition);
    return begun;
  });
}

/**
 * Warns about reused steps that name no input files. It is printed even with --quiet, because an overlooked change
 * could ship untested code.
 */
async function tellUnseen(
  { err }: Session,
  store: Store,
  runId: number,
  definition: Definition,
): Promise<void> {
  const row = await store.readRun(runId);
  const from = row?.options.reused?.from;
  if (row === null || from == null) return;
  const blind = blindSteps(definition);
  const taken = (await store.readJobs(runId)).filter(
    (job) => job.status === "completed" && isTakenOver(row, job),
  );
  const unseen = taken.filter(({ step }) => blind.has(step)).length;
  if (unseen === 0) return;
  const were = taken.length === 1 ? "step was" : "steps were";
  const name = unseen === 1 ? "names" : "name";
  writeLines(err, [
    `${taken.length} ${were} taken over from run ${from}; ${unseen} of them ${name} no input files, so changes of what they read are not seen`,
  ]);
}

/** Mentions a source run that is held, itself or by a child run. It stays held, and somebody may have forgotten it. */
async function tellHeldSource(
  { options }: Session,
  store: Store,
  workflow: string,
  say: (text: string) => void,
): Promise<void> {
  const { chooseSource } = await import("../../../operations/reuse/reuse-run.js");
  const { heldBelow } = await import("../../../tell/lookup/held-below.js");
  const runId = await chooseSource(store, "last_ended", workflow);
  const run = runId === null ? null : await store.readRun(runId);
  if (run === null) return;
  const child = (await heldBelow(store, run)).find(({ status }) => status === "held");
  if (run.status !== "held" && child === undefined) return;
  const holds = commandLine(options, `holds ${child?.run_id ?? run.id}`);
  say(`run ${runId} of ${workflow} is held and stays so; to decide it instead: ${holds}`);
}

const NO_CLUSTER =
  "warning: the workflow asks for Slurm; daruma run starts its jobs on this machine (for a cluster, start daruma serve, then: daruma run FILE --server URL)";

/** Reads the workflow before anything is created, so that a broken file leaves no trace. */
async function readChecked(
  file: string,
  session: Session,
  { breakers, channels }: Settings,
): Promise<Workflow> {
  const { readWorkflow, readWorkflowText } = await import("../../../operations/workflows/workflow-source.js");
  const reading = {
    customActions: [],
    sharedBreakers: breakers.map(({ name }) => name),
    channelNames: channels.map(({ name }) => name),
  };
  const place = { file: STDIN_NAME, folder: process.cwd(), ...reading };
  const workflow =
    file === STDIN ? readWorkflowText(readStdin(), place) : readWorkflow(file, process.cwd(), reading);
  if (workflow.warnings.length > 0 && !session.options.quiet) {
    const { problemLines } = await import("../../terminal/report-error.js");
    writeLines(session.err, problemLines(workflow.warnings, "warning", session.err.paint));
  }
  if (workflow.definition.schedulers !== undefined && !session.options.quiet)
    writeLines(session.err, [NO_CLUSTER]);
  return workflow;
}

async function readStored(
  name: string,
  place: { readonly store: Store; readonly outputDir: string },
  clusters: Settings["clusters"],
): Promise<Workflow> {
  const { chooseWorkflow } = await import("../../../operations/workflows/choose-workflow.js");
  const request = { ...splitVersion(name), file_name: name };
  const workflow = await chooseWorkflow({ ...place, customActions: [] }, request);
  refuseClusterSteps(workflow.definition, clusters);
  return workflow;
}

/** Makes a new database, which takes as long as loading the rest of the program. */
function makeStore(outputDir: string): Promise<Store> {
  const folder = resolve(outputDir);
  hideFromGit(folder);
  return openSqliteStore({ file: databaseFile(folder) });
}

/**
 * Opens an existing database early. Its thread takes about 50 ms to start, and loading the rest of the program as long,
 * so both happen at once.
 */
function openEarly({ outputDir, store }: GlobalOptions): Promise<Store | null> {
  const open = async (): Promise<Store | null> => {
    if (store !== undefined)
      return (await import("../../../run/wiring/open-store.js")).openStore(store, outputDir);
    return isDatabaseThere(databaseFile(resolve(outputDir))) ? openExistingStore(outputDir) : null;
  };
  const opening = open();
  // Ignored here: if the workflow file is refused meanwhile, that error is shown instead.
  opening.catch(() => {});
  return opening;
}
