// Writes the program of the command line in two parts, because V8 spends time on all that it kept of a file: what every
// run needs, and everything else, which is loaded when it is asked for. Both know each module once.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { rolldown } from "rolldown";

const ENTRY = "src/cli/command-line.ts";
/** What `daruma run` loads, with all that these import. A module that is missing here is only loaded later. */
const RUN_MODULES = [
  ENTRY,
  "src/cli/commands/run/run.ts",
  "src/cli/commands/run/resume.ts",
  "src/cli/follow-run.ts",
  "src/cli/render/live-progress.ts",
  "src/cli/render/plain-progress.ts",
  "src/cli/render/summary.ts",
  "src/host/daruma.ts",
  "src/operations/workflows/workflow-source.ts",
];

/**
 * `common`: settings of esbuild, which has the last word on every file. `required`: how a package that is not in these
 * files is loaded, null for all others.
 * @returns the texts that were written, by name, and the modules in them, as the bundler names them
 */
export async function writeParts(root, folder, { common, define, banner, required }) {
  const runs = new Set(RUN_MODULES.map((path) => join(root, path)));
  const bundle = await rolldown({
    cwd: root,
    input: { "command-line": ENTRY },
    platform: "node",
    plugins: [requiredLater(required)],
    resolve: { extensionAlias: { ".js": [".ts", ".js"] } },
    transform: { target: common.target, define },
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await bundle.generate({
    format: "cjs",
    entryFileNames: "[name].js",
    chunkFileNames: "[name].js",
    // A module is evaluated when it is imported, not when its file is loaded.
    strictExecutionOrder: true,
    // Every package that is left out can be required; an `import` would start Node's other loader.
    dynamicImportInCjs: false,
    sourcemap: true,
    codeSplitting: {
      groups: [
        { name: "run-modules", debugName: "run", priority: 2, test: (id) => runs.has(id) },
        { name: "other-modules", debugName: "other", priority: 1 },
      ],
    },
  });
  const chunks = output.filter(({ type }) => type === "chunk");
  const texts = new Map();
  for (const { fileName, code, map } of chunks) {
    const mapped = { sourcemap: "external", sourcesContent: false, sourcefile: fileName };
    const written = await transform(withMap(code, map), {
      ...common,
      banner,
      ...(map === null ? {} : mapped),
    });
    texts.set(
      fileName,
      map === null ? written.code : `${written.code}//# sourceMappingURL=${fileName}.map\n`,
    );
    if (map !== null) texts.set(`${fileName}.map`, written.map);
  }
  for (const [name, text] of texts) {
    // Read as Latin-1. The compiler escapes strings, but not regular expressions: write \u2717 there.
    if (name.endsWith(".js") && /[^\0-\x7f]/.test(text)) throw new Error(`${name} is not ASCII`);
    writeFileSync(join(folder, name), text);
  }
  return { texts, modules: chunks.flatMap(({ moduleIds }) => moduleIds) };
}

const LATER = "later:";

/** The bundler would require a package with the file that has its importer; a module in between does it when it is evaluated. */
function requiredLater(required) {
  return {
    name: "required-later",
    resolveId(name, importer) {
      if (importer?.startsWith(LATER)) return { id: name, external: true };
      return required(name) === null ? null : `${LATER}${name}`;
    },
    load: (id) => (id.startsWith(LATER) ? `module.exports = ${required(id.slice(LATER.length))};` : null),
  };
}

/** Files of the bundler's own have no map. */
function withMap(code, map) {
  if (map === null) return code;
  const text = Buffer.from(map.toString()).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${text}\n`;
}
