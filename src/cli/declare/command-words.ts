import { DEFAULT_OUTPUT_FOLDER } from "../../run/wiring/output-folder.js";
import { shellWord } from "../../tell/words/shell-word.js";
import { serverAddress } from "../remote/runs-location.js";
import type { GlobalOptions } from "../terminal/channel.js";

/** Completes `explain 3` to the command to type, with the output folder if it is not the default. */
export type CommandLine = (command: string) => string;

type LocationFlags = Pick<GlobalOptions, "outputDir" | "store" | "server">;

/** The complete command that the reader of a message would have to type. */
export function commandLine(options: LocationFlags, command: string, env: Environment = process.env): string {
  return ["daruma", command, ...placeFlags(options, env)].join(" ");
}

type Environment = { readonly [name: string]: string | undefined };

/**
 * Flags that select the place. What the environment sets need not be typed, and a database's address may contain a
 * password.
 */
function placeFlags({ outputDir, store, server }: LocationFlags, env: Environment): string[] {
  if (server !== undefined)
    return server === serverAddress(env.DARUMA_SERVER ?? "") ? [] : ["--server", shellWord(server)];
  const flags = outputDir === DEFAULT_OUTPUT_FOLDER ? [] : ["--output-dir", shellWord(outputDir)];
  if (store === undefined || store === env.DARUMA_STORE) return flags;
  return [...flags, "--store", /^postgres/i.test(store) ? "postgres://..." : shellWord(store)];
}
