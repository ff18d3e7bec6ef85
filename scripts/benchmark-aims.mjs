// What the benchmark aims at, and whether the recorded figures reach it.
import { tablesOf } from "../bench/recorded.mjs";

const MB = 1e6 / 2 ** 20;
const times = (digits) => (value) => `${value.toFixed(digits)}x`;
const plain =
  (unit, digits = 0) =>
  (value) =>
    `${value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;

/** [what, table, row, column, least or most, bound, how it is written]; `of` turns a figure into what is aimed at. */
const AIMS = [
  ["one step, times `node -e 0`", "start", "node -e 0", "ratio", "most", 2.2, times(2)],
  ["2,000 x `true`, speed of make", "wide-true", "make", "ratio", "least", 0.75, times(2), (x) => 1 / x],
  ["2,000 x `env true`, speed of make", "wide-env", "make", "ratio", "least", 0.75, times(2), (x) => 1 / x],
  [
    "2,000 x `env true`, speed of make through a shell",
    "wide-env",
    "make, through a shell",
    "ratio",
    "least",
    0.75,
    times(2),
    (x) => 1 / x,
  ],
  [
    "2,000 x `env true`, speed of GNU parallel",
    "wide-env",
    "GNU parallel with a job log",
    "ratio",
    "least",
    1,
    times(2),
    (x) => 1 / x,
  ],
  [
    "2,000 x `env true`, speed of snakemake",
    "wide-env",
    "snakemake",
    "ratio",
    "least",
    1,
    times(2),
    (x) => 1 / x,
  ],
  ["chain of 300, times ninja", "chain", "ninja", "ratio", "most", 2.5, times(2)],
  ["noop, wide", "noop", "daruma, wide", "rate", "least", 20_000, plain("a second")],
  ["noop, chain", "noop", "daruma, chain", "rate", "least", 10_000, plain("a second")],
  ["PostgreSQL wide, speed of DBOS", "postgres-wide", "DBOS", "ratio", "least", 5, times(2), (x) => 1 / x],
  [
    "PostgreSQL chain, speed of DBOS",
    "postgres-chain",
    "DBOS",
    "ratio",
    "least",
    2.5,
    times(2),
    (x) => 1 / x,
  ],
  ["hand-over", "hand-over", "daruma", "ms", "most", 6, plain("ms", 1)],
  ["hand-over, engine", "hand-over", "daruma", "engineMs", "most", 3, plain("ms", 1)],
  ["100,000 jobs over two workers", "workers", "100,000 jobs", "rate", "least", 1_000, plain("a second")],
  ["their server's memory", "workers", "100,000 jobs", "server", "most", 400, plain("MB"), (x) => x / MB],
  ["100,000 jobs, memory", "growth-run", "100,000 jobs", "peak", "most", 400, plain("MB"), (x) => x / MB],
  [
    "forEach of 100,000, memory",
    "growth-run",
    "forEach of 100,000 items",
    "peak",
    "most",
    500,
    plain("MB"),
    (x) => x / MB,
  ],
  ...["logs last STEP", "job show last STEP", "explain last STEP"].map((command) => [
    `\`${command}\` at 100,000 jobs`,
    "growth-read",
    command,
    "ms100000",
    "most",
    500,
    plain("ms"),
  ]),
  ...["explain last", "show last", "events last", "stats last", "graph last", "list"].map((command) => [
    `\`${command}\` at 100,000 jobs`,
    "growth-read",
    command,
    "ms100000",
    "most",
    2_000,
    plain("ms"),
  ]),
];

/** The lines of the section; what was not recorded is left out. */
export function aimsOf(sittings) {
  const tables = tablesOf(sittings);
  const rows = AIMS.flatMap(([what, table, row, column, bound, limit, text, of = (x) => x]) => {
    const found = tables.find(({ id }) => id === table)?.rows.find(({ name }) => name === row);
    const median = found?.cells[column]?.median;
    if (median === undefined) return [];
    const value = of(median);
    const isReached = bound === "most" ? value <= limit : value >= limit;
    return [
      `| ${what} | at ${bound} ${text(limit)} | ${text(value)} | ${isReached ? "reached" : "**missed**"} |`,
    ];
  });
  return [
    "## Aims",
    "",
    "What was recorded last, beside what was aimed at. Where an aim is missed, the next sections say where the rest goes.",
    "",
    "| what | aim | recorded |  |",
    "|---|---:|---:|---|",
    ...rows,
    "",
  ];
}
