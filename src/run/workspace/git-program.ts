import { spawn } from "node:child_process";
import { DarumaError } from "../../core/errors/errors.js";

/** The first version with GIT_CONFIG_GLOBAL, which keeps a user's settings out. */
const OLDEST_GIT = [2, 32] as const;
/** Far longer than any checkpoint takes. It ends a git that hangs on a dead network drive. */
const GIT_TIMEOUT_MS = 15 * 60_000;
const MAX_ERROR_CHARS = 2_000;
const GIT_NAME = "Daruma";
const GIT_EMAIL = "daruma@localhost";

/**
 * Variables that tell git where a repository is. A run started from a git hook inherits them, and a step's `git add`
 * would then reach into the user's index. They are removed from our own calls and from the environment of steps.
 */
export const REPOSITORY_VARIABLES: readonly string[] = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

/** Variables that locate the settings of the user and the machine. A call `asUser` keeps them. */
const KEPT_VARIABLES = new Set([
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
]);

/**
 * Forbids git all transports, even to a repository on this disk. Whatever a repository's settings say about remotes is
 * then never used: no `ext::` address, upload-pack program, ssh command, proxy, remote helper, credential helper or
 * rewritten address. Otherwise a partial clone could fetch a missing object in the middle of any command. Not every git
 * knows GIT_NO_LAZY_FETCH, but each obeys GIT_ALLOW_PROTOCOL.
 */
const NO_TRANSPORT = { GIT_ALLOW_PROTOCOL: "none", GIT_NO_LAZY_FETCH: "1" };

/**
 * Settings that stop any other configuration from changing the content of a tree or patch, running a program, or
 * starting garbage collection.
 */
const OUR_SETTINGS = [
  "core.pager=cat",
  "core.editor=false",
  "core.askPass=false",
  "core.alternateRefsCommand=true",
  "credential.helper=",
  "core.hooksPath=/dev/null",
  "core.autocrlf=false",
  "core.eol=lf",
  "core.safecrlf=false",
  "core.excludesFile=/dev/null",
  "core.attributesFile=/dev/null",
  "core.fsmonitor=false",
  "core.untrackedCache=false",
  "core.splitIndex=false",
  "core.sparseCheckout=false",
  // A step may create files named `a\b` or `git~1`; only Windows forbids them.
  "core.protectNTFS=false",
  // Flushes once per command instead of once per object.
  "core.fsyncMethod=batch",
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "submodule.recurse=false",
  "advice.addEmbeddedRepo=false",
  "transfer.fsckObjects=false",
  "init.defaultBranch=main",
  "init.defaultRefFormat=files",
].flatMap((setting) => ["-c", setting]);

export interface GitCall {
  readonly cwd: string;
  readonly env?: { readonly [name: string]: string };
  readonly input?: Uint8Array | string;
  /** A file descriptor to read standard input from, instead of `input`. */
  readonly inputFrom?: number;
  /** A file descriptor that receives the output, instead of memory. */
  readonly outputTo?: number;
  /**
   * Obeys the settings of the user and the machine. Used only to find the user's repository, because `safe.directory`
   * is set there, and to read the user's identity.
   */
  readonly asUser?: boolean;
}

export interface GitResult {
  readonly status: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs the `git` program without a shell and without the settings of the user who runs it. */
export class GitProgram {
  private checked: Promise<void> | null = null;

  constructor(private readonly program: string) {}

  /** Runs git and returns its result, whatever the exit status is. */
  async attempt(args: readonly string[], call: GitCall): Promise<GitResult> {
    this.checked ??= this.checkVersion();
    await this.checked;
    return this.start([...OUR_SETTINGS, ...args], call);
  }

  /** Runs git and rejects unless it exits with 0. */
  async run(args: readonly string[], call: GitCall): Promise<Buffer> {
    const result = await this.attempt(args, call);
    if (result.status !== 0) throw gitFailed(args, result);
    return result.stdout;
  }

  /** Returns the single line that git prints. */
  async line(args: readonly string[], call: GitCall): Promise<string> {
    return (await this.run(args, call)).toString("utf8").replace(/\n$/, "");
  }

  private async checkVersion(): Promise<void> {
    const { stdout } = await this.start(["--version"], { cwd: "/" });
    const [, major, minor] = /(\d+)\.(\d+)/.exec(stdout.toString("utf8")) ?? [];
    const [oldestMajor, oldestMinor] = OLDEST_GIT;
    const isNewEnough =
      Number(major) > oldestMajor || (Number(major) === oldestMajor && Number(minor) >= oldestMinor);
    if (isNewEnough) return;
    const found = stdout.toString("utf8").trim() || "no version";
    throw new DarumaError(
      "WORKSPACE_GIT_MISSING",
      `workspaces need git ${OLDEST_GIT.join(".")} or newer, \`${this.program}\` says: ${found}`,
    );
  }

  private start(args: readonly string[], call: GitCall): Promise<GitResult> {
    return new Promise((resolve, reject) => {
      const child = spawn(this.program, args, {
        cwd: call.cwd,
        env: gitEnvironment(call),
        stdio: [
          call.inputFrom ?? (call.input === undefined ? "ignore" : "pipe"),
          call.outputTo ?? "pipe",
          "pipe",
        ],
        timeout: GIT_TIMEOUT_MS,
      });
      const stdout: Buffer[] = [];
      const stderr: Buffer[] = [];
      child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
      child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
      child.on("error", (cause) => reject(cannotStart(this.program, call.cwd, cause)));
      child.on("close", (code, signal) => {
        const said = Buffer.concat(stderr).toString("utf8").trim();
        resolve({
          status: code ?? -1,
          stdout: Buffer.concat(stdout),
          stderr: signal === null ? said : `${said} (ended by ${signal})`.trim(),
        });
      });
      // Ignored: a git that exits before it has read all of its input explains why on stderr.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(call.input);
    });
  }
}

export function gitFailed(args: readonly string[], result: GitResult): DarumaError {
  const said = result.stderr.slice(0, MAX_ERROR_CHARS) || `exit status ${result.status}`;
  return new DarumaError("WORKSPACE_GIT_FAILED", `git ${args[0]} failed: ${said}`);
}

function cannotStart(program: string, cwd: string, cause: NodeJS.ErrnoException): DarumaError {
  const isMissing = cause.code === "ENOENT" || cause.code === "EACCES";
  return new DarumaError(
    isMissing ? "WORKSPACE_GIT_MISSING" : "WORKSPACE_GIT_FAILED",
    `\`${program}\` cannot be started in ${cwd}: ${cause.message}`,
    { cause },
  );
}

function gitEnvironment(call: GitCall): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {};
  for (const [name, value] of Object.entries(process.env))
    if (!name.startsWith("GIT_") || KEPT_VARIABLES.has(name)) env[name] = value;
  if (call.asUser !== true) {
    env.GIT_CONFIG_GLOBAL = "/dev/null";
    env.GIT_CONFIG_NOSYSTEM = "1";
  }
  return {
    ...env,
    ...NO_TRANSPORT,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "0",
    GIT_AUTHOR_NAME: GIT_NAME,
    GIT_AUTHOR_EMAIL: GIT_EMAIL,
    GIT_COMMITTER_NAME: GIT_NAME,
    GIT_COMMITTER_EMAIL: GIT_EMAIL,
    ...call.env,
  };
}
