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
process costs. \`env true\` is a real program everywhere: compare that one. Daruma and make start plain words without a shell; ninja always uses one, and
in the rows "through a shell" a semicolon behind the command makes the others use one too.

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

**One step** took 106 and 109 ms (medians of 15 rounds, twice) on a busy machine, 2.3 and 2.4 times as long as \`node -e 0\`; the version before, measured
in turn with it, took 123 and 122 ms, 2.7 times. The times of one traced run, rounded, 104 ms in all:

| ms | what |
|---:|---|
| 44 | Node itself; more than a third of it is OpenSSL reading its settings |
| 6 | the modules of Node that the start needs; the thread of the database is started, which costs Node 30 ms of CPU beside all that follows |
| 12 | V8 takes over the part of the program that runs need, as it compiled it last time (1.8 MB) |
| 11 | the program sets up its modules and commands and starts the launcher |
| 9 | reading the workflow and loading what runs it; at the same time a new database is copied from the one that the build made |
| 10 | eight transactions and reads, five of which wait for the disk |
| 5 | the launcher starts a shell, which runs the step |
| 7 | closing: the log of the database is put into its file, the launcher and the thread end, Node leaves |

The code of the whole program in one file was 2.2 MB and took 10 ms longer. A database whose tables are made on the spot needs 5 ms more CPU and waits for the
disk seven times instead of once; in a folder that has one already, it is opened while the program loads.

Spread over these are some 25 ms in which V8 compiles 600 functions of Node's own modules (streams, sockets, child processes,
threads), again in every process. It does not cache their code; only a snapshot of a started program would contain it, and Node loads one only
by an option, which a program in the \`PATH\` cannot give. Loading less of Node (compression, promises of files, cryptography) was tried:
cryptography alone saves 6 of 220 ms of CPU, but tokens need it; the other two save about 1 ms, which is within the noise. The CPU time of the
main thread in two profiles suggests that the ratio cannot fall much below 1.9; this is inferred, not measured.

**A process** (\`env true\`, 2,000 wide, idle machine) takes 1.9 ms of CPU in all and 2.5 through a shell; with make it takes 1.1 and 1.6. The program itself is
the same in both, so Daruma's record costs 0.8 ms a step: by an older profile of 500 steps the main thread takes half of that, SQLite and files a quarter each, the launcher
less than 0.1. make keeps both cores busy with programs alone; so does Daruma, with programs and the record. Without a shell a step with a record therefore cannot be
faster than 1.1 / 1.9 = 0.58 times make, and is 0.57 times as fast. For 0.75 the record would have to cost 0.4 ms. The launcher is woken twice for each process, by the command and
by the process's end, reads 280 bytes and writes 42. A step costs 8 context switches (make 4); a step of a chain costs 14, in one run.

**2,000 x \`true\`** took 1.46 s of CPU in one profile: 47 % on the main thread (a quarter of it the start, a seventh reading the file), 24 % in V8's threads that
compile hot functions once more, 15 % on the thread of the database, 9 % in shells and launcher. There were 738 commits, of 10 pages each; a step costs 15 KB of the
database's log. The time is not that of the CPU alone: the eight steps under way wait for a commit together. Telling V8 to compile hot functions three times as late
(\`--interrupt-budget\`) saved 10 % of the CPU and 3 % of the time (1,195 and 1,152 ms, medians of 7, in turn); it was not taken, because V8 refuses code that it kept under other
options. No longer scanning streams that stayed empty, and joining the names of folders once for a run: 1,236 and 1,147 ms (medians of 8, in turn, with real-time
priority on a busy machine).

**A step of a chain** waits most of its time. In a chain of 3,000 it takes 0.9 ms, of which the main thread is idle for two thirds: for the commit
that must come before the next process (an append with its sync takes 0.2 to 0.3 ms on this disk), and for the process. A chain of 300 also pays for its start,
0.3 ms a step, and for code that V8 has not compiled yet. Medians of one traced chain of 300 on a busy machine, 1.27 ms a step:

| ms | what |
|---:|---|
| 0.34 | the launcher is told, its shell forks and ends, the launcher tells |
| 0.25 | the result is taken, what follows is decided and written down for the database |
| 0.22 | the sync |
| 0.20 | the next attempt is prepared: its logs, limits, environment |
| 0.13 | the statements of the commit |
| 0.13 | messages to the thread of the database and back, and to the launcher |

Process and sync alone take as long as a whole step of ninja (0.58 ms). To show progress only after the next process was started was tried; it took 0.1 ms
more CPU a step and was not taken.

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
| hand-over, process | start and exit of \`date\`, and the worker's part; about half of a hand-over |
| chain on PostgreSQL, a step | 0.6 ms CPU on Daruma's main thread, 0.2 on V8's other threads, and one commit in the database; notifying was 5 % of that and is done once in 25 ms |

**A chain of 300 on PostgreSQL** takes 1.1 ms a step with real-time priority: 0.4 of Daruma's own, and 0.7 from handing over the commit to its answer. Of the
latter the driver's message takes 0.1. The database takes 0.4 if the same commits follow each other without a pause (it was 0.5): a sync 0.17, the round trip 0.08, four tables and
the check of the lease the rest; a commit of one row takes 0.22. The missing 0.2 are probably the time in which two processes wake up that have
slept in turn (inferred). Nothing may start before its start is committed, so commits of one row and no work of Daruma's own would be the floor:
0.22 ms, where DBOS takes 1.4 and the aim is 0.55. That needs half of both parts. No function of Daruma takes more than 3 %; most of them run before V8 has compiled them (inferred).

**2,000 steps side by side on PostgreSQL** took 465 ms before the last round of work and 370 after it, where DBOS takes 1,456 (medians of 7 rounds in turn, real-time
priority), so 3.9 times as fast as DBOS instead of 3.1; the chain of 300 went from 357 to 329 ms (DBOS 410). 64 of them share a commit, which costs the database 2.8 ms
instead of 4.4, mostly since the job of an event stands in a column and is not looked for in its text. A step made 110 KB of garbage; paths and environments that
nobody reads were a quarter of that. What is left keeps both cores busy: 205 ms of CPU on the main thread, 300 in V8's threads, which compile and collect, and
about 150 in the database, together 655 of 740. So more overlap would not help, and it was tried: the database wrote the first 32 starts while the others were decided, and
the run took 369 ms instead of 380, within the noise. For 5 times DBOS (290 ms) a step must do less: build less for each attempt, so that V8 has less to compile.

**1,000 jobs a second.** That leaves two cores 2 ms for each job, which server, workers, launchers and programs share; Daruma's own part is 0.5 ms of CPU in the
server and 0.3 in both workers. The first 500 jobs of a server cost twice as much, since V8 has not compiled its code yet. A third worker that no job fits once made
it 88 a second: in every turn the server looked at all jobs that were ready. Ready jobs now wait in a queue for each kind of requirement, and
a kind that nobody can take is passed over at once.

**400 MB for 100,000 jobs over workers.** The server peaked at 460 to 496 MiB and now peaks at 371 to 379 (389 to 397 MB), before its first thousands of jobs are done; both on a
busy machine, the latter in one whole run. What made the difference: steps that ask the same of a worker share what they ask (40 MiB); the jobs of a batch file
share what they say alike while they are read (50, and reading takes 1.0 s of CPU instead of 3.8); the first commit goes to the
thread of the database in lists of 1,024 rows (45); jobs that put out nothing share that, and attempts at one place share the place (14). After 25,000 jobs the server had 355
MiB: V8 241, of which 140 live (the run's steps and jobs 110, the server itself 30); the file of the program 53; memory of C and C++ 58, of which 8 are SQLite's pages and
some 25 are what the text of the definition (7.6 MB) left in the thread of the database.

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
| its output, remembered for \`outputs.history\`; where it is empty, all jobs share it | 68 |

A run of 100,000 noop steps peaks at 350 MB (334 MiB; 368 before the first commit, which has a row for every job, went to the thread of the database in pieces;
medians of two on a busy machine): 75 for the program itself, 110 for its jobs, and most of the rest is garbage that waits for its collection.
The text of the definition, which has 4 MB, and the report at the end no longer count.

A server keeps nothing of a run that has ended: what lives in its heap after 1,500 runs is what lived after 500, apart from 1 MB of
compiled code. Its peak went from 134 MB after 100 runs to 203 after 5,000, because V8 collected its old objects only at four times what lives
(25 MB), once in 2,000 runs. A server's heap now grows by 30 % before it is collected, four times in 2,000 runs: between run 100 and run 2,000
its resident memory grows by 20 MB, before by 36, both measured on a busy machine, once each. What still grows is the page cache of SQLite, up to its limit of
8 MB (16 when this was measured), and compiled code.

**Jobs that workers have done** leave nothing in their server but the outcome of each of the last 10,000 (\`src/fleet/desk/pool-memory.test.ts\`).
What lives in its heap is 27 MiB before the first job, 28 to 30 after each of five runs of 1,000 jobs, and 29 after one of 10,000. Its
resident memory levels off all the same only after some ten thousand jobs: 127 MiB at its start, 150 after 1,000 jobs, 197 after 11,000, 211 after 21,000; in
another series 203, 210, 209 and 222 after 15,000, 25,000, 35,000 and 45,000. A run in which 10,000 jobs are ready takes 11 MiB itself. Of the 211
MiB, V8 had 108: what lives, a young generation of up to 48, and garbage that waits for its collection; the file of the program 48; memory of
C and C++ 41, with up to 16 for SQLite's pages, which are 8 now; the rest 14. With allocations of a cluster instead of two workers it was the same (198 after
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
