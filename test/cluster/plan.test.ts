import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { createAllocationProvider } from "../../src/fleet/allocations/create-provider.js";
import type { AllocationSpec, Plan, Target } from "../../src/fleet/allocations/provider.js";
import { isRefusal } from "../../src/fleet/allocations/provider.js";
import { allocationSpec } from "../support/allocation-spec.js";

const ENGINES = ["slurm", "gridengine"] as const;
const TARGET: Target = {
  name: "main",
  max: { nodes: 1, runtimeMs: 3_600_000 },
  perNode: { cpus: 4, memoryBytes: 4000 * 1024 ** 2, gpus: 1 },
  preemptible: false,
  up: true,
  isDefault: true,
};
const folder = mkdtempSync(join(tmpdir(), "daruma-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function plan(engine: (typeof ENGINES)[number], spec: AllocationSpec, targets: readonly Target[] = []): Plan {
  const answer = createAllocationProvider(engine, { env: {} }).plan(spec, targets);
  if (isRefusal(answer)) throw new Error(answer.message);
  return answer;
}

describe.each(ENGINES)("plan for %s", (engine) => {
  const provider = createAllocationProvider(engine, { env: {} });

  it("is the same for the same spec", () => {
    expect(plan(engine, allocationSpec())).toEqual(plan(engine, allocationSpec()));
  });

  it("never holds the token, only the path of its file", { tags: ["L3"] }, () => {
    const { script, argv } = plan(engine, allocationSpec({ tokenFile: "/shared/tokens/7" }));
    expect(script).toContain("--token-file='/shared/tokens/7'");
    expect(argv.join(" ")).not.toContain("/shared/tokens/7");
  });

  it.each([
    [{ cpus: 5 }, "5 CPUs asked for, but main has at most 4 CPUs on one node"],
    [
      { memoryBytes: 4001 * 1024 ** 2 },
      "4001 MB of memory asked for, but main has at most 4000 MB of memory on one node",
    ],
    [{ gpus: 2 }, "2 GPUs asked for, but main has at most 1 GPU on one node"],
    [{ runtimeMs: 3_660_000 }, "61 min asked for, but main has at most 60 min"],
    [{ nodes: 2 }, "2 nodes asked for, but main has at most 1 node"],
  ])("refuses %j before anything is submitted, and names the limit", (change, message) => {
    const spec = allocationSpec({ target: "main" });
    expect(provider.plan({ ...spec, shape: { ...spec.shape, ...change } }, [TARGET])).toEqual({
      refused: "TOO_BIG",
      message,
      retryable: false,
    });
  });

  it("refuses a target that is not there, and one that is down until it is up", () => {
    expect(provider.plan(allocationSpec({ target: "nope" }), [TARGET])).toMatchObject({
      refused: "NO_TARGET",
      message: "there is no nope; there are main",
      retryable: false,
    });
    expect(provider.plan(allocationSpec({ target: "main" }), [{ ...TARGET, up: false }])).toMatchObject({
      refused: "NO_TARGET",
      retryable: true,
    });
  });

  it.each([
    ["a key without the prefix", { key: "pilot-1" }],
    ["a key that is an option", { key: "daruma- --wrap=id" }],
    ["a target that is an option", { target: "-p" }],
    ["a node that is a list", { excludeNodes: ["n1)|(n2"] }],
    ["a path that is not absolute", { tokenFile: "token" }],
    ["a tag with a comma", { tags: ["a,b"] }],
    ["a drain longer than the runtime", { drainMs: 300_000 }],
  ])("refuses %s", (_, change) => {
    expect(provider.plan(allocationSpec(change), [])).toMatchObject({
      refused: "BAD_OPTION",
      retryable: false,
    });
  });

  const own = {
    slurm: ["--wrap=id", "--wr=id", "--expo=ALL", "-J x", "-Jx", "-o out"],
    gridengine: ["-V", "-b y", "-N x", "-o out"],
  };
  it.each([...own[engine], "id", "-x --wrap=id", ""])("refuses the extra option %j", (option) => {
    const profile = { ...allocationSpec().profile, options: [option] };
    expect(provider.plan(allocationSpec({ profile }), [])).toMatchObject({ refused: "BAD_OPTION" });
  });

  it("hands an extra option over as words of its own", () => {
    const options =
      engine === "slurm" ? ["--constraint=a b|$(id)", "-L lic:1"] : ["-l lic=1", "-ac note='$(id)'"];
    const words =
      engine === "slurm" ? ["--constraint=a b|$(id)", "-L", "lic:1"] : ["-l", "lic=1", "-ac", "note='$(id)'"];
    expect(
      plan(engine, allocationSpec({ profile: { ...allocationSpec().profile, options } })).argv.slice(
        -words.length,
      ),
    ).toEqual(words);
  });

  it("gives the worker every value as it is, whatever is in it", { tags: ["L3"] }, () => {
    const seen = join(folder, `${engine}-words`);
    const worker = join(folder, `${engine} 'worker' $(id)`);
    mkdirSync(worker, { recursive: true });
    const program = join(worker, "-run it");
    writeFileSync(program, `#!/bin/bash\nprintf '%s\\0' "$@" > "$SEEN"\n`);
    chmodSync(program, 0o755);
    const nasty = fc.string({
      unit: fc.constantFrom(
        "a",
        " ",
        "'",
        '"',
        "\n",
        "$",
        "(",
        ")",
        "`",
        "\\",
        "-",
        "#",
        "!",
        ";",
        "&",
        "|",
        "*",
        "~",
        "%",
      ),
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(nasty, nasty, nasty, (server, token, tag) => {
        const spec = allocationSpec({
          server,
          tokenFile: `/${token}`,
          tags: [tag, "-x"],
          profile: { options: [], setup: ["true"], program: [program, token] },
        });
        const { script } = plan(engine, spec);
        const environment = {
          PATH: process.env.PATH,
          SEEN: seen,
          SLURM_JOB_ID: "12",
          SLURMD_NODENAME: "n1",
          JOB_ID: "12",
          SGE_STDOUT_PATH: join(folder, "log"),
        };
        execFileSync("bash", [], { input: script, env: environment, stdio: ["pipe", "ignore", "pipe"] });
        const node = engine === "slurm" ? "n1" : hostname();
        expect(readFileSync(seen, "utf8").split("\0").slice(0, -1)).toEqual([
          token,
          "worker",
          `--server=${server}`,
          `--token-file=/${token}`,
          `--name=hpc-12-0-${node}`,
          `--tags=${tag},-x`,
          "--lifetime=300s",
          "--drain-before=60s",
          "--idle-exit=60s",
          "--allocation=hpc/12",
          "--restart=0",
          `--node=${node}`,
          "--output-dir=.",
        ]);
      }),
      { numRuns: 25 },
    );
  });
});

describe("the options of sbatch", () => {
  it("say all that the shape asks for", () => {
    const spec = allocationSpec({
      shape: { nodes: 2, cpus: 4, memoryBytes: 1.5 * 1024 ** 3, gpus: 2, runtimeMs: 90_000 },
      target: "main",
      excludeNodes: ["n1", "n2"],
      logFile: "/logs/50%.log",
      drainMs: 30_000,
      profile: {
        account: "lab",
        qos: "high",
        gres: "gpu:a100",
        options: ["--requeue"],
        setup: [],
        program: ["daruma"],
      },
    });
    const { argv, warnings } = plan("slurm", spec);
    expect(argv).toEqual([
      "sbatch",
      "--parsable",
      "--job-name=daruma-test",
      "--nodes=2",
      "--ntasks-per-node=1",
      "--cpus-per-task=4",
      "--mem=1536M",
      "--time=2",
      "--signal=B:USR1@30",
      "--output=/logs/50%%.log",
      "--open-mode=append",
      "--chdir=/",
      "--export=PATH,HOME,LANG,USER,LOGNAME,SHELL",
      "--no-requeue",
      "--partition=main",
      "--account=lab",
      "--qos=high",
      "--gres=gpu:a100:2",
      "--exclude=n1,n2",
      "--requeue",
    ]);
    expect(warnings).toHaveLength(2);
  });
});

describe("the options of qsub", () => {
  it("say all that the shape asks for", () => {
    const spec = allocationSpec({
      shape: { nodes: 1, cpus: 4, memoryBytes: 8 * 1024 ** 3, gpus: 1, runtimeMs: 90_000 },
      target: "main.q",
      excludeNodes: ["n1", "n2"],
      drainMs: 30_000,
      profile: {
        account: "lab",
        memoryResource: "h_vmem",
        options: ["-r y"],
        setup: [],
        program: ["daruma"],
      },
    });
    expect(plan("gridengine", spec).argv.join(" ")).toBe(
      "qsub -terse -C  -N daruma-test -S /bin/bash -wd / -o :/dev/null -j y -r n -w e -notify -v PATH,LANG " +
        "-l h_rt=90,s_rt=60,h_vmem=2048M,gpu=1,hostname=!(n1|n2) -pe smp 4 -q main.q -P lab -r y",
    );
  });

  it("ask for free memory by default, which qsub cannot check beforehand", () => {
    const { argv, warnings } = plan("gridengine", allocationSpec());
    expect(argv.join(" ")).toContain("-w n -notify -v PATH,LANG -l h_rt=300,s_rt=240,mem_free=100M");
    expect(warnings).toEqual(["memory is asked for as mem_free, which places the job but does not limit it"]);
  });

  it("name no queue where any that is big enough may take it", () => {
    const provider = createAllocationProvider("gridengine", { env: {} });
    const small = { ...TARGET, name: "small", perNode: { cpus: 1 } };
    const wide = allocationSpec({ shape: { ...allocationSpec().shape, cpus: 4 } });
    expect(isRefusal(provider.plan(wide, [small, TARGET]))).toBe(false);
    expect(provider.plan(wide, [small])).toMatchObject({ refused: "TOO_BIG" });
  });

  it("refuse what Grid Engine does not have", () => {
    const provider = createAllocationProvider("gridengine", { env: {} });
    const qos = { ...allocationSpec().profile, qos: "high" };
    expect(provider.plan(allocationSpec({ profile: qos }), [])).toMatchObject({ refused: "BAD_OPTION" });
    expect(provider.plan(allocationSpec({ logFile: "/logs/$USER.log" }), [])).toMatchObject({
      refused: "BAD_OPTION",
    });
  });
});
