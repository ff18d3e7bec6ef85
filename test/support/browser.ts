import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, afterEach } from "vitest";
import { HANG_MS } from "./hang.js";

const CHROMIUM = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
].find((file) => existsSync(file));

/** The name of a suite in a real browser; where it is skipped, the name says why. */
export function browserSuite(name: string): string {
  return CHROMIUM === undefined
    ? `${name} (skipped: no chromium is installed; apt-get install chromium-headless-shell)`
    : name;
}

export const hasBrowser = CHROMIUM !== undefined;

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface OpenOptions {
  readonly width?: number;
  readonly theme?: string;
  readonly motion?: "reduce" | "no-preference";
}

/** Chromium for the tests of one file. Whatever a page complains of is kept. */
export class TestBrowser {
  readonly complaints: string[] = [];
  private browser: Browser | null = null;
  private readonly profile = mkdtempSync(join(tmpdir(), "daruma-browser-"));
  private readonly contexts: BrowserContext[] = [];

  constructor() {
    afterEach(async () => {
      for (const context of this.contexts.splice(0)) await context.close();
    });
    afterAll(async () => {
      await this.browser?.close();
      rmSync(this.profile, { recursive: true, force: true });
    });
  }

  /** A page with cookies of its own. */
  async open(
    address: string,
    { width = 1440, theme = "light", motion = "reduce" }: OpenOptions = {},
  ): Promise<Page> {
    this.browser ??= await chromium.launch({ executablePath: CHROMIUM!, args: ARGS });
    const context = await this.browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: theme === "dark" ? "dark" : "light",
      reducedMotion: motion,
    });
    this.contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(HANG_MS);
    page.on("pageerror", (error) => this.complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" && !isAnswered(message.text())) this.complaints.push(message.text());
    });
    await page.goto(address);
    return page;
  }
}

/** Chromium logs every answer that is not 2xx; the page shows them itself. */
function isAnswered(text: string): boolean {
  return text.startsWith("Failed to load resource");
}

/** What makes a page hard to use for some people: serious findings only. */
export async function barriersOf(page: Page): Promise<string[]> {
  // Not as a script of the page, which its Content-Security-Policy would refuse.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
      };
    };
    const { violations } = await axe.run();
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  });
}
