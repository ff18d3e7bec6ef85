import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine, repositoryRoot } from "../support/cli.js";
import { DarumaProcess, untilReady } from "../support/daruma-process.js";
import { freePort } from "../support/free-port.js";
import { masked, type Place } from "./masks.js";

const FOLDER = join(repositoryRoot, "test/golden/scenes");
const PRELUDE = readFileSync(join(FOLDER, "../prelude.sh"), "utf8");
/** A scene whose first line is this has a server at $URL, over the scene's own store. */
const SERVED = "# with a server";

const GIT = {
  GIT_AUTHOR_NAME: "Golden",
  GIT_AUTHOR_EMAIL: "golden@example.com",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "Golden",
  GIT_COMMITTER_EMAIL: "golden@example.com",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
};

export const SCENES = readdirSync(FOLDER).map((file) => file.replace(/\.txt$/, ""));

/**
 * Plays the commands of a scene, one after another, by a shell in a folder that has the examples, and tells what each has
 * printed and ended with.
 */
export async function play(name: string): Promise<string> {
  const text = readFileSync(join(FOLDER, `${name}.txt`), "utf8");
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "golden-")));
  const stage = new Stage(folder);
  try {
    cpSync(join(repositoryRoot, "examples"), folder, { recursive: true });
    if (text.startsWith(SERVED)) await stage.serve();
    const told: string[] = [];
    for (const line of text.split("\n"))
      if (line !== "" && !line.startsWith("#")) told.push(await stage.type(line));
    return told.join("\n");
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class Stage {
  private server: DarumaProcess | null = null;
  private readonly env: { [name: string]: string };
  private readonly places: Place[];

  constructor(private readonly folder: string) {
    const { PATH = "" } = process.env;
    this.env = { PATH, HOME: folder, TMPDIR: tmpdir(), TZ: "UTC", LANG: "C.UTF-8", NO_COLOR: "1", ...GIT };
    this.places = [
      { from: folder, to: "/scene" },
      { from: repositoryRoot, to: "/repository" },
    ];
  }

  async serve(): Promise<void> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    this.env.URL = url;
    this.places.push({ from: url, to: "http://server" });
    const args = [
      "serve",
      "--port",
      `${port}`,
      "--output-dir",
      join(this.folder, ".daruma"),
      "--max-parallel",
      "1",
    ];
    this.server = new DarumaProcess("the server of a scene", args, { NO_COLOR: "1", TZ: "UTC" });
    this.server.start();
    await untilReady(url, this.server);
  }

  async type(line: string): Promise<string> {
    const script = `daruma() { '${process.execPath}' '${commandLine}' "$@"; }\n${PRELUDE}\n${line}`;
    const shell = spawn("/bin/sh", ["-c", script], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const streams = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      shell[name].setEncoding("utf8").on("data", (piece: string) => {
        streams[name] += piece;
      });
    const exitCode = await new Promise<number | null>((settle) => shell.on("close", settle));
    const shown = (text: string, mark: string): string[] =>
      text === ""
        ? []
        : masked(text.replace(/\n$/, ""), this.places)
            .split("\n")
            .map((each) => `${mark} ${each}`.trimEnd());
    return [
      `$ ${line}`,
      ...shown(streams.stdout, "|"),
      ...shown(streams.stderr, "!"),
      `exit ${exitCode}`,
      "",
    ].join("\n");
  }

  async close(): Promise<void> {
    await this.server?.stop();
  }
}
