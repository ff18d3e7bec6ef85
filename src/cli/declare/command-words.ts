import { DEFAULT_OUTPUT_FOLDER } from "../../host/output-folder.js";
import { shellWord } from "../../report/words/shell-word.js";
import { serverAddress } from "../remote/place.js";
import type { GlobalOptions } from "../terminal/channel.js";

/** Turns `explain 3` into what must be typed, with the output folder where it is not the default. */
export type CommandLine = (command: string) => string;

type Place = Pick<GlobalOptions, "outputDir" | "store" | "server">;

/** What to type to get on, as the reader of a message would have to type it here. */
export function commandLine(options: Place, command: string, env: Environment = process.env): string {
  return ["daruma", command, ...placeFlags(options, env)].join(" ");
}

type Environment = { readonly [name: string]: string | undefined };

/** What the environment says anyway need not be typed. A database's address may hold a password. */
function placeFlags({ outputDir, store, server }: Place, env: Environment): string[] {
  if (server !== undefined)
    return server === serverAddress(env.DARUMA_SERVER ?? "") ? [] : ["--server", shellWord(server)];
  const flags = outputDir === DEFAULT_OUTPUT_FOLDER ? [] : ["--output-dir", shellWord(outputDir)];
  if (store === undefined || store === env.DARUMA_STORE) return flags;
  return [...flags, "--store", /^postgres/i.test(store) ? "postgres://..." : shellWord(store)];
}
