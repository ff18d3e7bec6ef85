import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, describe, expect, it } from "vitest";
import { barriersOf, browserSuite, hasBrowser, TestBrowser } from "../support/browser.js";
import { runCli } from "../support/cli.js";
import { CliFolder } from "../support/cli-folder.js";

const cli = new CliFolder();
const browser = new TestBrowser();

const HOSTILE = String.raw`</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'"> \033[31mred\033[0m \342\200\256desrever`;

/** It is mended twice, a failure is handled, and one is left that printed what no page should have to show. */
const FLOW = `
name: release
secrets: [DEPLOY_KEY]
steps:
  deps:
    exec: "[ $DARUMA_ATTEMPT_ID -ge 2 ] || { echo 'mirror is busy' >&2; exit 75; }"
    on_fail: { retry: { max: 3, backoff: { delay_ms: 1 } } }
  canary:
    depends_on: [deps]
    exec: |
      seq 1 1000; echo "error: p99 is 812 ms"; seq 1 1000
      exit 4
  roll-back: { exec: "true" }
  publish:
    depends_on: [deps]
    exec: |
      printf '${HOSTILE.replaceAll("'", "'\\''")} %s\\n' "$DEPLOY_KEY" >&2
      head -c 1000000 /dev/zero | tr '\\0' x >&2
      exit 7
  notify: { exec: "true", depends_on: [publish] }
transitions:
  - { from: canary, to: roll-back, on: failure }
`;

/** 60 jobs that fail, each with two long logs. */
const MANY = `
name: many
steps:
  list: { type: noop, output: [${Array.from({ length: 60 }, (_, item) => item).join(", ")}], forEach: true }
  each:
    depends_on: [list]
    exec: |
      yes 0123456789012345678901234567890123456789012345678901234567890123456789 | head -c 300000
      yes '< < < < < < < < < < < < < < < < < < < < < < < < < < < < < < < <' | head -c 300000 >&2
      exit 1
`;

/** Everything but files is out of reach, and whatever asks for it is kept. */
async function openFile(file: string, asked: string[], look: { width?: number; theme?: string } = {}) {
  const page = await browser.open("about:blank", look);
  await page.context().setOffline(true);
  page.on("request", (request) => {
    if (!request.url().startsWith("file:")) asked.push(request.url());
  });
  await page.goto(`file://${file}`);
  await page.getByRole("heading", { name: "Logs of what failed" }).waitFor();
  return page;
}

async function isWiderThanWindow(page: Page): Promise<boolean> {
  return page.evaluate("document.documentElement.scrollWidth > innerWidth");
}

describe.skipIf(!hasBrowser)(browserSuite("the report of a run"), { timeout: 300_000 }, () => {
  afterEach(() => {
    expect(browser.complaints.splice(0)).toEqual([]);
  });

  it("is one file that shows graph, story, timeline and logs without a network, whatever steps printed", {
    tags: ["C2"],
  }, async () => {
    const file = join(cli.path, "run.html");
    const args = ["run", cli.write("flow.yaml", FLOW), "--output-dir", cli.outputDir, "--quiet"];
    const run = await runCli([...args, "--report", `html=${file}`], { DEPLOY_KEY: "hunter2-hunter2" });
    expect([run.exitCode, run.stderr]).toEqual([1, ""]);
    const text = readFileSync(file, "utf8");
    expect(text).not.toContain("hunter2");
    expect(text).toMatch(
      /<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; base-uri 'none'; form-action 'none'">/,
    );
    const again = await cli.daruma("report", "last", "--format", "html");
    expect(again.stdout).toContain('<script type="application/json" id="report">{"made_at":');
    const asked: string[] = [];
    const page = await openFile(file, asked);
    expect(await page.title()).toBe("release #1");
    await page.getByText("retried once, then completed").waitFor();
    await page.getByRole("link", { name: /^publish\s*failed/ }).waitFor();
    expect(await page.locator(".gantt a").allTextContents()).toContain("publishpublish");
    const publish = page.getByRole("region", { name: "Lines of stderr of publish" });
    expect(await publish.innerText()).toContain(
      `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'"> red`,
    );
    await publish.getByText("RLO", { exact: true }).waitFor();
    await publish.getByText("977 KB in all").waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await page.getByRole("link", { name: /^canary\s*failed, handled/ }).click();
    const canary = page.getByRole("region", { name: "Lines of stdout of canary" });
    await canary.getByText("error: p99 is 812 ms").waitFor();
    await canary.getByText("980 lines left out", { exact: true }).waitFor();
    expect(await barriersOf(page)).toEqual([]);
    const phone = await openFile(file, asked, { width: 390, theme: "dark" });
    expect(await barriersOf(phone)).toEqual([]);
    expect(await isWiderThanWindow(phone)).toBe(false);
    await phone.getByRole("button", { name: "Theme" }).click();
    expect(await phone.locator("html").getAttribute("data-theme")).toBe("light");
    expect(asked).toEqual([]);
  });

  it("says of a strict run that what was handled counts as a failure", async () => {
    const file = join(cli.path, "strict.html");
    const flow =
      "name: strict\nsteps:\n  test: { exec: exit 1, on_fail: { edge: { to: back } } }\n  back: { exec: 'true' }\n";
    const args = ["run", cli.write("strict.yaml", flow), "--quiet", "--report", `html=${file}`];
    expect((await cli.daruma(...args, "--strict")).exitCode).toBe(1);
    const page = await openFile(file, []);
    await page.getByText("1 failure handled: test, by back", { exact: true }).waitFor();
    await page.getByText("Strict: this counts as a failure.", { exact: true }).waitFor();
  });

  it("stays small and says what it leaves out, and without scripts tells the summary", async () => {
    const file = join(cli.path, "many.html");
    const run = await cli.daruma("run", cli.write("many.yaml", MANY), "--quiet", "--report", `html=${file}`);
    expect(run.exitCode).toBe(1);
    const text = readFileSync(file, "utf8");
    expect(text.length).toBeLessThan(5_000_000);
    expect(/<noscript><pre>([^<]*)<\/pre><\/noscript>/.exec(text)?.[1]).toMatch(/^## many: failed after /);
    const page = await openFile(file, []);
    await page.getByText(/^This report has \d+ of 60 attempts that failed\.$/).waitFor();
    const shown = page.getByRole("region", { name: "Lines of stderr of each@list[0]" });
    await shown.getByText(/^[\d,]+ lines left out$/).waitFor();
  });
});
