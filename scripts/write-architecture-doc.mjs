// Draws the rooms of src/ and what imports what into ARCHITECTURE.md, by the rules that test/architecture.test.ts checks.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const documentFile = join(root, "ARCHITECTURE.md");

/** The picture is drawn by the tests' own TypeScript, so that both always see the same. */
async function loadPicture() {
  const outfile = join(root, "node_modules/.cache/daruma/room-picture.mjs");
  mkdirSync(dirname(outfile), { recursive: true });
  await build({
    entryPoints: [join(root, "test/support/room-picture.ts")],
    outfile,
    // The rules find the repository by their own place.
    define: {
      "import.meta.url": JSON.stringify(pathToFileURL(join(root, "test/support/room-picture.ts")).href),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    packages: "external",
  });
  return import(pathToFileURL(outfile).href);
}

const { drawRooms, PICTURE_STARTS, PICTURE_ENDS } = await loadPicture();
const listing = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "src"], {
  cwd: root,
  encoding: "utf8",
});
const sources = listing
  .split("\0")
  .filter((path) => path.endsWith(".ts"))
  .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
const text = readFileSync(documentFile, "utf8");
const [before, after] = [text.indexOf(PICTURE_STARTS), text.indexOf(PICTURE_ENDS) + PICTURE_ENDS.length];
if (before === -1 || after < before) throw new Error("ARCHITECTURE.md has no marked place for the picture");
writeFileSync(documentFile, text.slice(0, before) + drawRooms(sources) + text.slice(after));
