import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { inspectDatabase } from "../inspect/inspect-sqlite.js";
import { openDatabase } from "./file/open-database.js";
import { isReadOnly, notWritable, openReadOnly } from "./file/read-only.js";
import { WatchedFiles } from "./file/watched-files.js";
import { NativeGate } from "./native-gate.js";
import type { ReadVerbs, Request, Response, ThreadVerbs, Verb, WriteVerbs } from "./protocol.js";
import { createReadVerbs } from "./read-verbs.js";
import { type Database, loadSqlite, toStoreError } from "./sqlite-driver.js";
import { type Outcome, Transactions } from "./transactions.js";
import { createWriteVerbs } from "./write-verbs.js";

/** Entry of the thread that owns the connection, so that no other thread waits for a disk. */

const MAX_REQUESTS_TAKEN_AT_ONCE = 64;

interface OpenDatabase {
  readonly db: Database;
  readonly reads: ReadVerbs;
  readonly writes: WriteVerbs;
  readonly transactions: Transactions;
  readonly files: WatchedFiles;
  /** Why nothing can be written; null if it can. */
  readonly refusal: Error | null;
}

class DatabaseThread {
  readonly #port: MessagePort;
  #file = "";
  #open: OpenDatabase | null = null;

  constructor(port: MessagePort, gate: NativeGate) {
    this.#port = port;
    port.on("message", (first: Request) => gate.pass(() => this.#serve([first, ...this.#takeWaiting()])));
  }

  #takeWaiting(): Request[] {
    const waiting: Request[] = [];
    while (waiting.length < MAX_REQUESTS_TAKEN_AT_ONCE) {
      const next = receiveMessageOnPort(this.#port);
      if (next === undefined) break;
      waiting.push(next.message as Request);
    }
    return waiting;
  }

  /** Serves requests in order. Adjacent writes share a transaction. */
  #serve(requests: readonly Request[]): void {
    const writes: Request[] = [];
    for (const request of requests) {
      if (this.#open !== null && request.verb in this.#open.writes) {
        if (request.alone) this.#write(writes.splice(0));
        writes.push(request);
        if (request.alone) this.#write(writes.splice(0));
        continue;
      }
      this.#write(writes.splice(0));
      this.#port.postMessage([this.#answer(request.id, () => this.#perform(request))]);
      if (request.verb === "close") this.#port.close();
    }
    this.#write(writes);
  }

  #write(requests: readonly Request[]): void {
    const open = this.#open;
    if (open === null || requests.length === 0) return;
    const pieces = requests.map((request) => () => callVerb(open.writes, request));
    const outcomes = runWatched(open, pieces);
    const responses = requests.map(({ id }, i) =>
      this.#answer(id, () => {
        const outcome = outcomes[i];
        if (outcome === undefined || "error" in outcome) throw outcome?.error;
        return outcome.value;
      }),
    );
    this.#port.postMessage(responses);
  }

  #perform(request: Request): unknown {
    if (request.verb === "open") return this.#openFile(request.args[0] as string);
    if (request.verb === "inspect") {
      const [file, full] = request.args as Parameters<ThreadVerbs["inspect"]>;
      return inspectDatabase(file, full);
    }
    if (this.#open === null) throw new Error("the database is not open");
    if (request.verb === "close") return this.#close(this.#open.db);
    this.#open.files.checkNowAndThen();
    return callVerb(this.#open.reads, request);
  }

  #openFile(file: string): null {
    this.#file = file;
    const refusal = isReadOnly(file) ? notWritable(file) : null;
    const db = refusal === null ? openDatabase(file) : openReadOnly(file);
    const [reads, writes, transactions] = [createReadVerbs(db), createWriteVerbs(db), new Transactions(db)];
    this.#open = { db, reads, writes, transactions, files: new WatchedFiles(db, file), refusal };
    return null;
  }

  #close(db: Database): null {
    this.#open = null;
    db.close();
    return null;
  }

  #answer(id: number, work: () => unknown): Response {
    try {
      return { id, value: work() };
    } catch (error) {
      const { code, message, hint } = toStoreError(error, this.#file);
      return { id, error: { code, message, hint } };
    }
  }
}

/** Runs work, and reports it as written only if it is in the file that the next process will open. */
function runWatched(
  { files, transactions, refusal }: OpenDatabase,
  pieces: readonly (() => unknown)[],
): Outcome[] {
  try {
    if (refusal !== null) throw refusal;
    files.check();
    const outcomes = transactions.runAll(pieces);
    files.check();
    return outcomes;
  } catch (error) {
    return pieces.map(() => ({ error }));
  }
}

/** The client's types ensure that the verb exists and gets the right arguments. */
function callVerb(verbs: ReadVerbs | WriteVerbs, { verb, args }: Request): unknown {
  const handlers = verbs as unknown as Record<Verb, (...args: readonly unknown[]) => unknown>;
  return handlers[verb](...args);
}

/** Loads the driver before the first request. A failure is reported when the database is opened. */
function preloadDriver(): void {
  try {
    loadSqlite();
  } catch {
    // Loading is tried again there.
  }
}

if (parentPort !== null) {
  const gate = new NativeGate(workerData as SharedArrayBuffer);
  new DatabaseThread(parentPort, gate);
  gate.pass(preloadDriver);
}
