import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { counting, HealingRuns, healingFile } from "../support/healing-runs.js";
import { filesIn } from "../support/real-run.js";

const runs = new HealingRuns();

describe("with real processes: secrets", () => {
  it("keeps a secret and an environment dump out of all that two attempts leave, failed and succeeded", {
    tags: ["M34", "M35"],
  }, async () => {
    const secrets = ["hunter2-but-longer", "Tr0ub4dor-and-three"];
    const signatures: (string | null)[] = [];
    for (const secret of secrets) {
      const from = runs.source();
      const edit = counting(
        from,
        'env; echo "tried $TOKEN" >&2; echo x > "of-$TOKEN.txt"; [ "$n" -gt 1 ] || exit 3; printf \'{"used": "%s"}\' "$TOKEN" > "$DARUMA_OUTPUT"',
      );
      const run = await runs.run(
        healingFile(
          from,
          "self_heal: true\nsecrets: [TOKEN]",
          `  edit: { exec: ${edit}, summarize: "echo said with $TOKEN" }`,
        ),
        { env: { ...process.env, TOKEN: secret } },
      );
      expect(run.job("edit").output).toEqual({ used: "[redacted:TOKEN]" });
      for (const ending of ["_a1.o", "_a2.o"]) expect(run.text(ending)).toMatch(/^PATH=/m);
      for (const ending of ["_a1.e", "_a2.e"]) expect(run.text(ending)).toBe("tried [redacted:TOKEN]\n");
      const id = run.job("edit").id;
      expect(run.text(`summaries/j${id}_a1.txt`)).toContain("said with [redacted:TOKEN]");
      const records = filesIn(join(run.outputDir, "output")).filter(
        (path) => !/\/(?:workspace|patches)\//.test(path),
      );
      for (const path of records) expect(readFileSync(path, "utf8"), path).not.toContain(secret);
      const state = records.filter((path) => path.includes("/state/"));
      expect(state).toHaveLength(2);
      for (const path of state) expect(readFileSync(path, "utf8"), path).not.toMatch(/PATH=/);
      const log = JSON.stringify(await run.daruma.store.readEvents(run.report.run_id));
      expect(log + JSON.stringify(run.report)).not.toContain(secret);
      const [failed] = await run.events("attempt.failed");
      signatures.push(failed!.error.signature);
    }
    // Signed after redaction: another secret makes no other failure.
    expect(signatures[0]).toMatch(/^v2:[0-9a-f]{64}$/);
    expect(signatures[1]).toBe(signatures[0]);
  });

  it("leaves no part of a secret that ends beyond the last character of a summary", {
    tags: ["M34"],
  }, async () => {
    const from = runs.source();
    const summarize = "head -c 990 /dev/zero | tr '\\0' x; echo $TOKEN and more";
    const run = await runs.run(
      healingFile(
        from,
        "secrets: [TOKEN]",
        `  edit: { exec: "exit 3", summarize: ${JSON.stringify(summarize)} }`,
      ),
      { env: { ...process.env, TOKEN: "hunter2-but-longer" } },
    );
    const summary = run.text(`summaries/j${run.job("edit").id}_a1.txt`);
    expect(summary).toBe(`${"x".repeat(990)}[redacted:`);
  });
});
