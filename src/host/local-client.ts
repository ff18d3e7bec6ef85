import { dirname, resolve } from "node:path";
import type { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import type { BreakerDefinition, NotifyRule } from "../core/model/definition.js";
import type { Client } from "../operations/client.js";
import type { ChannelControl, ClusterControl, Context } from "../operations/context.js";
import { checkInput } from "../operations/invalid-input.js";
import type { Operation, StreamItem } from "../operations/operation.js";
import { operationOf } from "../operations/operations.js";
import { perform } from "../operations/perform.js";
import { databaseFile, isDatabaseThere } from "../run/wiring/existing-store.js";
import { findSettings } from "../run/wiring/find-settings.js";
import { openStore } from "../run/wiring/open-store.js";
import { createMemoryStore } from "../store/memory/memory-store.js";
import { isPostgresUrl } from "../store/postgres/postgres-address.js";
import type { Store } from "../store/store.js";
import { COMMAND_LINE, operateThrough } from "./local-operate.js";

export interface LocalClientOptions {
  readonly outputDir: string;
  /** A database file, or the address of a PostgreSQL database; by default `daruma.db` in the output folder. */
  readonly store?: string | undefined;
  /** The settings file that was named. */
  readonly config?: string | undefined;
  /** No settings at all, also where there is a file. */
  readonly noConfig?: boolean | undefined;
  /** The version of Daruma. */
  readonly version?: string | undefined;
}

/** Operations on a store, by this process alone. The store is opened by the first that needs it. */
export function openLocalClient(options: LocalClientOptions): Client {
  return new LocalClient({ ...options, outputDir: resolve(options.outputDir) }) as Client;
}

class LocalClient {
  private opened: Promise<Store> | null = null;

  constructor(private readonly options: LocalClientOptions) {}

  async call(name: string, input: unknown): Promise<unknown> {
    const operation = operationOf(name);
    const parsed = parseInput(operation, input);
    return perform(operation, await this.context(operation, parsed), parsed);
  }

  async *stream(name: string, input: unknown, signal: AbortSignal): AsyncGenerator<StreamItem> {
    const operation = operationOf(name);
    const parsed = parseInput(operation, input);
    if (operation.stream === undefined) throw new DarumaError("USAGE", `${name} cannot be followed`);
    yield* operation.stream(await this.context(operation, parsed), parsed, signal);
  }

  async close(): Promise<void> {
    const store = await this.opened?.catch(() => null);
    await store?.close();
  }

  private async context({ store: opening }: Operation, { file_name }: Request): Promise<Context> {
    const { outputDir } = this.options;
    const looked = opening === "inspect" ? await this.inspect() : null;
    const store = looked === null ? await this.openFor(opening) : looked.store;
    // An operation that reports problems of the settings must not fail because of them.
    const { clusters, breakers, channels, notify } = await this.settings(looked !== null, file_name);
    return {
      store,
      outputDir,
      principal: COMMAND_LINE,
      now: Date.now,
      operate: operateThrough(store),
      runner: null,
      ...(looked === null
        ? {}
        : { inspectStore: looked.inspectStore, describeSettings: this.describeSettings }),
      ...(this.options.version === undefined ? {} : { version: this.options.version }),
      clusters,
      customActions: [],
      // Read when it is asked for: as a server would, which has its file beside it.
      retention: async () => (await this.settingsBeside()).retention,
      limits: async () => (await this.settingsBeside()).limits,
      breakers,
      sharedBreakers: breakers.map(({ name }) => name),
      channels,
      ...(channels === null ? {} : { channelNames: channels.settings.map(({ name }) => name) }),
      notify,
    };
  }

  private async settingsBeside() {
    return (await import("./read-settings.js")).settingsBeside(this.options);
  }

  private async settings(isTolerant: boolean, workflowFile: string | undefined) {
    const { config, noConfig } = this.options;
    if (config === undefined && noConfig !== true && workflowFile !== undefined)
      return settingsAt(workflowFile);
    const named = settingsOf(config);
    return isTolerant ? named.catch(() => settingsOf(undefined)) : named;
  }

  /** Read for itself, and opened only if that neither changes nor fails. */
  private async inspect() {
    const { store: named, outputDir } = this.options;
    const { openInspected } = await import("./inspected-store.js");
    const { store, inspectStore } = await openInspected(named, outputDir);
    if (store === null) return { store: createMemoryStore(), inspectStore };
    this.opened = Promise.resolve(store);
    return { store, inspectStore };
  }

  private readonly describeSettings = async () =>
    (await import("./read-settings.js")).describeSettings(this.options);

  private async openFor(opening: Operation["store"]): Promise<Store> {
    const { store, outputDir } = this.options;
    if (opening === "none") return createMemoryStore();
    if (this.opened === null) {
      const file = store ?? databaseFile(outputDir);
      const isThere = isPostgresUrl(file) || isDatabaseThere(file);
      if (!isThere && opening === "optional") return createMemoryStore();
      if (!isThere && opening === undefined) throw noRuns(store ?? outputDir);
      this.opened = openStore(store, outputDir);
    }
    return this.opened;
  }
}

/** What all operations that take a workflow's text call its file. */
interface Request {
  readonly file_name?: string;
}

interface UsedSettings {
  readonly clusters: ClusterControl | null;
  readonly breakers: readonly BreakerDefinition[];
  readonly channels: ChannelControl | null;
  readonly notify: readonly NotifyRule[];
}

/** The settings that `run` would use with this file, so that a check of the file gives the same result. */
async function settingsAt(workflowFile: string): Promise<UsedSettings> {
  const found = findSettings(dirname(workflowFile));
  const used = await settingsOf(found?.distrust === null ? found.file : undefined);
  return { ...used, clusters: null, notify: [] };
}

/** What a cluster could be asked for; nobody stays here to ask it. */
async function settingsOf(config: string | undefined): Promise<UsedSettings> {
  if (config === undefined) return { clusters: null, breakers: [], channels: null, notify: [] };
  const [{ readSettings }, { lookAtClusters }, { controlChannels }] = await Promise.all([
    import("./read-settings.js"),
    import("./cluster-control.js"),
    import("./notices/channel-control.js"),
  ]);
  const { clusters, breakers, channels, notify } = readSettings(config);
  const places = { env: process.env, page: () => "" };
  return {
    clusters: lookAtClusters(clusters),
    breakers,
    channels: controlChannels(channels, places),
    notify,
  };
}

function noRuns(place: string): DarumaError {
  return new DarumaError("RUN_NOT_FOUND", `there are no runs in ${place}`, {
    hint: "Start one with `daruma run FILE`, or name the folder with --output-dir.",
  });
}

function parseInput(operation: Operation, input: unknown): z.output<Operation["input"]> {
  const { words } = operation.cli[0] ?? {};
  return checkInput(operation, input, `See \`daruma ${words === undefined ? "" : `${words} `}--help\`.`);
}
