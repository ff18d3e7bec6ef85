// Builds the page (web/): dist/web, static files that the server hands out as they are, and dist/report.html, the same
// code in one file, into which a report puts its run.
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { licencesOf, licenceText, licenceTextOnce } from "./licences.mjs";

/** Under a test runner React would else be built for its developers. */
process.env.NODE_ENV = "production";

const TARGET = "es2022";

export async function writePage(root) {
  const output = join(root, "dist/web");
  const built = await build({
    root: join(root, "web"),
    configFile: false,
    logLevel: "warn",
    // Nothing may be inlined: the Content-Security-Policy takes neither styles nor scripts within the page.
    build: {
      outDir: output,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: TARGET,
    },
  });
  const licences = licencesOf(root, modulesOf(built.output));
  writeFileSync(join(output, "THIRD-PARTY-LICENCES.txt"), licenceText(licences));
  writeFileSync(join(root, "dist/report.html"), await reportTemplate(root));
}

/** The files whose code, or styles, went into what was built. */
function modulesOf(output) {
  return output.flatMap((part) => (part.type === "chunk" ? part.moduleIds : part.originalFileNames));
}

async function reportTemplate(root) {
  const { output } = await build({
    root: join(root, "web"),
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    build: {
      write: false,
      cssCodeSplit: false,
      modulePreload: false,
      target: TARGET,
      rolldownOptions: {
        input: join(root, "web/src/report/main.tsx"),
        output: { format: "iife", codeSplitting: false },
      },
    },
  });
  const scripts = output.filter(({ type }) => type === "chunk");
  const styles = output.filter(({ fileName }) => fileName.endsWith(".css"));
  if (scripts.length !== 1 || styles.length !== 1 || output.length !== 2)
    throw new Error(`a report is one script and one style, not ${output.map(({ fileName }) => fileName)}`);
  const script = scripts[0].code.trim();
  const style = String(styles[0].source).trim();
  if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
    throw new Error("the code of the report would end its own element");
  return page(script, style, licenceComment(licencesOf(root, modulesOf(output))));
}

/** A report travels alone, so it says itself whose code it has. */
function licenceComment(licences) {
  // Two hyphens may not stand in a comment.
  return licenceTextOnce(licences).replaceAll("--", "- -");
}

/** It may run this script, show this style, and do nothing else: no address can be asked, nothing can be sent. */
function page(script, style, licences) {
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%daruma-title%</title>
<style>${style}</style>
</head>
<body>
<noscript><pre>%daruma-plain%</pre></noscript>
<div id="page"></div>
<script type="application/json" id="report">%daruma-data%</script>
<script>${script}</script>
</body>
</html>
<!--
This page contains the code of these packages.

${licences}-->
`;
}

function hashOf(text) {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}
