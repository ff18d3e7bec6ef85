// Builds the page (web/) into dist/web: static files that the server hands out as they are.
import { join } from "node:path";
import { build } from "vite";

/** Under a test runner React would else be built for its developers. */
process.env.NODE_ENV = "production";

export async function writePage(root) {
  const output = join(root, "dist/web");
  await build({
    root: join(root, "web"),
    configFile: false,
    logLevel: "warn",
    // Nothing may be inlined: the Content-Security-Policy takes neither styles nor scripts within the page.
    build: {
      outDir: output,
      emptyOutDir: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: "es2022",
    },
  });
}
