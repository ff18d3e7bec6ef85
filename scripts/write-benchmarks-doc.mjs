// Writes docs/benchmarks.md from bench/recorded.json. `--check` only says whether it is up to date; `--print FILE` prints
// the page that the results in FILE (`npm run bench -- --json FILE`) would make.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { partOf, readRecorded, tablesOf } from "../bench/recorded.mjs";
import { SIZES } from "../bench/sizes.mjs";
import { minuteOf, partAsMarkdown } from "../bench/tables.mjs";
import { aimsOf } from "./benchmark-aims.mjs";

const documentFile = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));

const count = (value) => value.toLocaleString("en");
const { start, wide, chain, noop, book, growth, postgres, handOver, workers } = SIZES.all;
/** What a full run measures: part, work, beside what, rounds. */
const PARTS = [
  ["start", "one step, `true`, from prompt to prompt", "`node -e 0`", start],
  [
    "wide",
    `${count(wide.jobs)} x \`true\`, then ${count(wide.jobs)} x \`env true\``,
    "make, make through a shell, ninja, xargs, GNU parallel with a job log, snakemake; make, ninja and xargs also with output to files",
    wide,
  ],
  ["chain", `${count(chain.steps)} x \`true\`, one after the other`, "make, ninja", chain],
  ["noop", `${count(noop.steps)} noop steps, wide and chain: steps a second`, "each other", noop],
  [
    "book",
    `${count(book.attempts)} attempts that fail: what their rows in the failure book cost`,
    "the same with a database that drops these rows",
    book,
  ],
  [
    "growth",
    `runs of ${growth.jobs.map(count).join(", ")} jobs: time and memory of the run, and of \`logs\`, \`job show\`, \`explain\`, \`show\`, \`events\`, \`stats\`, \`graph\` and \`list\`, and of resuming it; forEach steps of as many items; loading files of the batch form with as many jobs; a server after ${growth.serverRuns.map(count).join(", ")} runs`,
    "each other",
    growth,
  ],
  [
    "postgres",
    `${count(postgres.wide)} steps wide and ${count(postgres.chain)} in a chain on PostgreSQL`,
    "DBOS, openworkflow",
    postgres,
  ],
  ["handOver", "from the end of a job to the start of its dependent on another worker", "nothing", handOver],
  [
    "workers",
    `runs of ${workers.jobs.map(count).join(", ")} jobs \`true\` over a server's two workers: jobs a second, memory and CPU of server and workers`,
    "each other",
    workers,
  ],
];

const INTRO = `# Benchmarks

\`npm run bench -- --all\` measures Daruma beside other programs, in interleaved rounds of one run, so that a busy minute hurts
every program alike. A figure is a median, with the least and the greatest value in brackets. A ratio is Daruma's time divided by
the time of the other program in the same round: below 1 Daruma is faster. Compare ratios between machines, not times.
Another program that takes more than 15 s a round, as snakemake does with 2,000 jobs, runs in the first two rounds only.

The programs do not do the same work. Daruma records every attempt durably before and after it runs and keeps what it printed; make, ninja
and xargs keep nothing, GNU parallel a line for each job. \`true\` takes a shortcut in Daruma: it is a shell built-in, which a shell that
already waits runs in a subshell, and no program is started. So the row says what the engine costs, not what a
process costs. \`env true\` is a real program everywhere: compare that one, and with make through a shell, because Daruma runs every
text in \`exec\` by \`sh -c\`.

This page is made from \`bench/recorded.json\` by \`npm run docs:benchmarks\`. To measure again, on an idle machine (with \`--only\`, the
other parts keep what was recorded of them):

<!-- not run: takes most of an hour -->
\`\`\`sh
npm ci --prefix bench/peers            # DBOS and openworkflow, for the PostgreSQL part
npm run bench -- --all --record
npm run bench -- --quick --record      # what .ci/run compares with
npm run docs:benchmarks
\`\`\`
`;

/** Profiles are not repeated with every run of the benchmark; their figures are shares to reason with, not to compare. */
const WHERE_A_STEP_GOES = `## Where the time of a step goes

Measured on 2 shared cores with Node 20: times with real-time priority, CPU time with \`perf\`.

**One step** takes 2.6 times as long as \`node -e 0\` on an idle machine, above the aim of 2.2; the compiled launcher and the one in Perl cannot be told
apart there. The main thread uses 1.85 times the CPU time of \`node -e 0\`, so running more at the same time would save little. The times of one
traced run on a busy machine, rounded, about 150 ms in all:

| ms | what |
|---:|---|
| 62 | Node itself; more than a third of it is OpenSSL reading its settings |
| 14 | V8 takes over the program as it compiled it last time (2 MB) |
| 21 | the program sets up its modules and commands |
| 18 | reading the workflow; at the same time the thread of the database starts, which costs Node 30 ms of CPU, and opens the file |
| 15 | eight transactions and reads, six of which wait for the disk |
| 6 | the launcher starts a shell, which runs the step |
| 6 | closing: the log of the database is put into its file, the launcher and the thread end |

Spread over these are some 25 ms in which V8 compiles 600 functions of Node's own modules (streams, sockets, child processes,
threads), again in every process. It does not cache their code; only a snapshot of a started program would contain it, and Node loads one only
by an option, which a program in the \`PATH\` cannot give. Loading less of Node (compression, promises of files, cryptography) was tried:
cryptography alone saves 6 of 220 ms of CPU, but tokens need it; the other two save about 1 ms, which is within the noise. The CPU time of the
main thread in two profiles suggests that the ratio cannot fall much below 1.9; this is inferred, not measured.

**A process** (\`env true\`, 2,000 wide) takes 3.9 ms of CPU in all, 2.3 with make through a shell, 4.6 with the launcher in Perl. The shell
and the program are 2.3, as with make; the launcher 0.1; the rest is the record. How that divides is an estimate from one profile of 500 steps:
0.6 on the main thread, 0.3 for SQLite, 0.3 for files, and the step's share of the start. So on two cores that make keeps busy as well, a step with a
record cannot be faster than 0.6 times make, and is 0.66 times as fast. The launcher is woken twice for each process, by the command and by the process's end,
reads 280 bytes and writes 42. A step costs 8 context switches (make 4); a step of a chain costs 14
with the compiled launcher and 19 with the one in Perl, in one run each.

**A step of a chain** waits most of its time. In a chain of 3,000 it takes 0.9 ms, of which the main thread is idle for two thirds: for the commit
that must come before the next process (an append with its sync takes 0.2 to 0.3 ms on this disk), and for the process. A chain of 300 also pays for its start,
0.4 ms a step, and for code that V8 has not compiled yet.

**SQLite on the main thread** instead of a thread of its own was tried again, in turn with the thread on an idle machine: one step 114 ms (117 with the
thread), a chain of 300 506 ms (545), 2,000 x \`true\` 1,047 ms (1,161), 1,000 x \`env true\` 1,423 ms (1,491). It was not taken: while another
process holds the lock of the database, the main thread could neither show progress nor take Ctrl-C.
`;

const WHERE_TIME_GOES = `## Where the time of a server and its workers goes

Profiles of 5,000 jobs \`true\` over two workers and of a chain on PostgreSQL, on two busy cores. Shares are of the busy time of
one process; CPU times are those of this machine while it was busy, and about two thirds of that when it is idle.

| what | where it goes |
|---|---|
| server, 1.4 ms CPU a job | decisions and dispatch 19 %, sending answers 15 %, reading the definition 13 % (once a run), garbage 6 %, handing commits to the thread of the store 4 % |
| both workers together, 1.4 ms CPU a job | sending requests 27 %, telling the launcher 9 %, removing files 8 % (less since: only files that exist), garbage 5 % |
| hand-over, engine | one request, one decision, one commit, one answer. A commit of one row takes 0.36 ms on an idle PostgreSQL of this machine; nothing starts before its start is committed |
| hand-over, process | start and exit of \`sh\` and its \`date\`; about half of a hand-over |
| chain on PostgreSQL, a step | 1.5 ms CPU in Daruma and 0.8 ms in the database's process, which does one commit; notifying was 5 % of the latter and is now done once in 25 ms |

**A chain on PostgreSQL** of 1,000 steps takes 1.1 ms a step on an idle machine: 0.6 in which Daruma waits for the database, which does one commit, and 0.45
of its own, of which deciding and dispatching are 0.2 and the commit's message 0.06. Nothing may start before its start is committed, so the wait is the floor:
with no work of its own Daruma would be 2.6 times as fast as DBOS, which takes 1.55 ms. Steps side by side share commits, so there the 0.26 ms a step
are work of the two processes.

**1,000 jobs a second.** That leaves two cores 2 ms for each job, which server, workers, launchers and programs share; Daruma's own part is 0.5 ms of CPU in the
server and 0.3 in both workers. The first 500 jobs of a server cost twice as much, since V8 has not compiled its code yet. A third worker that no job fits once made
it 88 a second: in every turn the server looked at all jobs that were ready. Ready jobs now wait in a queue for each kind of requirement, and
a kind that nobody can take is passed over at once.

**400 MB for 100,000 jobs over workers** is missed. In the middle of such a run the server had 414 MiB: V8 276, in which the run's
steps and jobs are 110, the server itself 27, and the rest its young generation and garbage; the file of the program 48; memory of C and C++ 85.

**From job to job in a slot** (report, decision, commit, assignment, start of a program), on SQLite with real-time priority: medians of 5.8, 7.1, 7.8 and
7.9 ms over 300 to 600 jobs \`date +%s%N\`, at least 4.9; the aim is 10. In the third of these runs 3.7 ms lay between the worker's report and its answer, 3.2 of them
in the server, of which the commit took 0.8 with the way to the database's thread and back, and the rest was reading the request, writing the log, deciding and
answering. The other 4.1 ms are the end and the start of \`sh\` and \`date\` by way of the launcher. On a busy machine 12 to 16 ms were measured: worker, server,
database thread, launcher and program wait for a core in turn (inferred).

What could still be saved lies mostly in the exchange of messages: fewer and larger ones. In a profile of 4,000 jobs on a machine that was busy eight times over, writing to sockets
took 17 % of the server's time and 29 % of a worker's, handing work to the thread of the store 8 %, telling the launcher 9 % of a worker's;
no function of Daruma itself took more than 3 %.
`;

function measuredParts() {
  const rows = PARTS.map(
    ([id, work, beside, { rounds }]) => `| \`${id}\` | ${work} | ${beside} | ${rounds} |`,
  );
  return [
    "## What is measured",
    "",
    "`--only PART` measures one part.",
    "",
    "| part | work | beside | rounds |",
    "|---|---|---|---:|",
    ...rows,
    "",
  ];
}

/** Counted by hand with a forced collection after each stage; the figures of a whole run are below, in the part `growth`. */
const WHERE_MEMORY_GOES = `## Where the memory of a large run goes

A settled job keeps 1.1 KB in the engine's memory, an item of a forEach step 1.3 KB:

| of a noop step | bytes |
|---|---:|
| its step in the definition | 398 |
| its place in the graph, found by its id | 154 |
| the job | 474 |
| its output, remembered for \`outputs.history\` | 68 |

A run of 100,000 noop steps peaks at 350 to 370 MB: 75 for the program itself, 110 for its jobs, some 80 for the thread of the database with the first
commit, which has a row for every job, and the rest is garbage that waits for its collection. With a collection at every step
the same run peaks at 285 MB, which is the floor of this design. A forEach of 100,000 items peaks at 370 to 400 MB.
The text of the definition, which has 4 MB, and the report at the end no longer count.

A server keeps nothing of a run that has ended: what lives in its heap after 1,500 runs is what lived after 500, apart from 1 MB of
compiled code. Its peak went from 134 MB after 100 runs to 203 after 5,000, because V8 collected its old objects only at four times what lives
(25 MB), once in 2,000 runs. A server's heap now grows by 30 % before it is collected, four times in 2,000 runs: between run 100 and run 2,000
its resident memory grows by 20 MB, before by 36, both measured on a busy machine, once each. What still grows is the page cache of SQLite, up to its limit of
16 MB, and compiled code.

**Jobs that workers have done** leave nothing in their server but the outcome of each of the last 10,000 (\`src/worker/pool/pool-memory.test.ts\`).
What lives in its heap is 27 MiB before the first job, 28 to 30 after each of five runs of 1,000 jobs, and 29 after one of 10,000. Its
resident memory levels off all the same only after some ten thousand jobs: 127 MiB at its start, 150 after 1,000 jobs, 197 after 11,000, 211 after 21,000; in
another series 203, 210, 209 and 222 after 15,000, 25,000, 35,000 and 45,000. A run in which 10,000 jobs are ready takes 11 MiB itself. Of the 211
MiB, V8 had 108: what lives, a young generation of up to 48, and garbage that waits for its collection; the file of the program 48; memory of
C and C++ 41, with up to 16 for SQLite's pages; the rest 14. With allocations of a cluster instead of two workers it was the same (198 after
15,000). V8 takes the size of its young generation only as an option at its start, which a program in the \`PATH\` cannot give.
`;

/** Where the time of one command goes over a run of 100,000 noop jobs; how long it takes is in the part `growth`. */
const READS = [
  ["`logs last STEP`, `job show`", "the start of the command, and 10 ms to find the step among all jobs"],
  [
    "`explain last STEP`, `explain last`",
    "a story needs loops and budgets as they were at each event, so the run is folded, but only from what happened beside attempts that completed, and from all events of the jobs concerned: start 180 ms, definition 120, graph and jobs 100, garbage 100. To be faster, a story would have to be told without the whole definition",
  ],
  [
    "`show last`",
    "every job is read and put into a table that is as wide as its widest cells; where something failed, the log is folded as well (`resume`)",
  ],
  ["`events last`", "200,000 lines are worded, 6 us each; as JSON, keys are renamed"],
  ["`stats last`", "every event is read and counted"],
  ["`graph last`", "definition and jobs, and every step is drawn"],
  [
    "loading the run to resume it",
    "the whole log is folded; a run with so few events for each job has no snapshot",
  ],
];

const RESUMING = [
  "Memory grows with the run where the run is folded or its definition is read: its steps and jobs take 110 MB",
  "([above](#where-the-memory-of-a-large-run-goes)), and the rest is garbage. `logs`, `job show`, `events` and `list` take the same for every run.",
  "",
  "**Resuming.** A run of 1,003 jobs and 1,007,014 events is loaded with 0.33 s of CPU and 110 MiB from its snapshot (25 KB, made at event",
  "1,000,008), and with 4.3 s and 213 MiB from its whole log (medians of three, in turn). A snapshot of 100,000 jobs takes 0.4 s and 0.3 MB, and saves",
  "0.3 s of 1.3 while each job has only two events; so a run gets its first one after three times as many events as it has jobs, and at least 20,000.",
];

function readAims() {
  return [
    "## Reading a run of 100,000 jobs",
    "",
    "Where the time goes, of noop jobs on two cores; the figures are in the part `growth` below. The aim is 0.5 s for",
    "what is about one job and 2 s for what is about the whole run.",
    "",
    "| command | where it goes |",
    "|---|---|",
    ...READS.map((cells) => `| ${cells.join(" | ")} |`),
    "",
    ...RESUMING,
    "",
  ];
}

/** One row for each time that parts were recorded. */
function measuredWhere(sittings) {
  const rows = sittings.map(({ measured_at, parts, machine, versions, skipped }) => {
    const names = [...new Set(parts.map(({ id }) => `\`${partOf(id)}\``))];
    const installed = Object.entries(versions).filter(([, version]) => version !== null);
    const left = skipped.map(({ name, reason }) => `${name} (${reason})`);
    return [
      minuteOf(measured_at),
      names.join(", "),
      `${machine.cores} cores of ${machine.cpu}, ${machine.memory_gib} GiB, ${machine.system}`,
      installed.map(([name, version]) => `${name} ${version}`).join(", "),
      left.length > 0 ? left.join("; ") : "nothing",
    ];
  });
  return [
    "## Machine",
    "",
    "| measured | parts | machine | versions | left out |",
    "|---|---|---|---|---|",
    ...rows.map((cells) => `| ${cells.join(" | ")} |`),
    "",
  ];
}

function render(sittings) {
  const figures =
    sittings === undefined
      ? ["## Figures", "", "No full run has been recorded yet.", ""]
      : [...measuredWhere(sittings), ...tablesOf(sittings).map(partAsMarkdown)];
  const profiles = [WHERE_A_STEP_GOES, WHERE_MEMORY_GOES, WHERE_TIME_GOES];
  const aims = sittings === undefined ? [] : aimsOf(sittings);
  return [INTRO, ...measuredParts(), ...aims, ...profiles, ...readAims(), ...figures].join("\n");
}

const readJson = (file) => JSON.parse(readFileSync(file, "utf8"));
const [option, file] = process.argv.slice(2);
if (option === "--print") {
  process.stdout.write(render([readJson(file)]));
} else {
  const document = render(readRecorded().all);
  const present = existsSync(documentFile) ? readFileSync(documentFile, "utf8") : "";
  const isSame = present === document;
  if (option === "--check") {
    const word = isSame ? "up to date" : "out of date: npm run docs:benchmarks";
    console.log(`docs/benchmarks.md is ${word}`);
    process.exitCode = isSame ? 0 : 1;
  } else if (!isSame) writeFileSync(documentFile, document);
}
