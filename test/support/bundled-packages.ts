import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { repositoryRoot } from "./repository-root.js";

/** TypeScript names its modules `.js`; esbuild would take `condition.ts` for `Condition.js`. */
const exactNames: Plugin = {
  name: "exact names",
  setup(bundle) {
    bundle.onResolve({ filter: /^\..*\.js$/ }, ({ path, resolveDir }) => {
      const found = [".ts", ".tsx"].map((ending) => join(resolveDir, path.replace(/\.js$/, ending)));
      return found.filter(existsSync).map((file) => ({ path: file }))[0];
    });
  },
};

/** The packages whose code is left when another bundler than the build's makes one file of this. */
export async function packagesWithin(what: Pick<BuildOptions, "entryPoints" | "stdin">): Promise<string[]> {
  const { metafile } = await build({
    ...what,
    absWorkingDir: repositoryRoot,
    outdir: "never-written",
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    jsx: "automatic",
    platform: what.stdin === undefined ? "browser" : "node",
    define: { "process.env.NODE_ENV": '"production"' },
    plugins: [exactNames],
  });
  const inputs = Object.values(metafile.outputs).flatMap((output) => Object.entries(output.inputs));
  return packagesOf(inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : [])));
}

/** The packages that the source maps beside the built files name. */
export function packagesMappedIn(folder: string): string[] {
  const maps = readdirSync(folder).filter((name) => name.endsWith(".js.map"));
  const sources = maps.flatMap(
    (name) => (JSON.parse(readFileSync(join(folder, name), "utf8")) as { sources: string[] }).sources,
  );
  return packagesOf(sources);
}

function packagesOf(files: readonly string[]): string[] {
  const names = files.flatMap((file) => /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? []);
  return [...new Set(names)].sort();
}

const TITLE = String.raw`(?:@[^\s/]+/)?[^\s/]+ \d+\.\d+\.\d+\S* \(.+\)\n`;

/** What a list of licences says: the packages, and those whose title, or group of titles, no text follows. */
export function licencesIn(text: string): { readonly names: string[]; readonly bare: string[] } {
  const groups = text.match(new RegExp(`^(?:${TITLE})+`, "gm")) ?? [];
  const texts = text.split(new RegExp(`^(?:${TITLE})+`, "m")).slice(1);
  const namesIn = (titles: string) =>
    titles
      .trim()
      .split("\n")
      .map((title) => title.split(" ")[0] ?? "");
  const bare = groups.filter((_, place) => texts[place]?.trim() === "");
  return { names: [...new Set(groups.flatMap(namesIn))].sort(), bare: bare.flatMap(namesIn) };
}
