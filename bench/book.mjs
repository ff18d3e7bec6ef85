// What the failure book costs a failing attempt: the same run with its rows, and with a database that drops them.
import { join } from "node:path";
import { compare, race } from "./race.mjs";
import { daruma, darumaWith, PARALLEL, running } from "./workloads.mjs";

const FAILING = "exec: \"echo 'no such host' >&2; exit 7\", continue_on_failure: true";

function failing(attempts) {
  const steps = Array.from({ length: attempts }, (_, n) => `  s${n}: { ${FAILING} }`);
  return `name: bench\nsteps:\n${steps.join("\n")}\n`;
}

/** In a store that is there already, so that both begin alike. */
function inStore(attempts, prepare) {
  const run = darumaWith(failing(attempts));
  return async (folder) => {
    await daruma(1, "wide", running("true"))(folder);
    // Only here: the other parts do without the packages of the program.
    const { DatabaseSync } = await import("@photostructure/sqlite");
    const database = new DatabaseSync(join(folder, "state/daruma.db"));
    prepare(database);
    database.close();
    return run(folder);
  };
}

export async function benchBook({ rounds, attempts }, skipped) {
  const contenders = {
    daruma: inStore(attempts, () => {}),
    "daruma, rows dropped": inStore(attempts, (database) =>
      database.exec("CREATE TRIGGER no_book BEFORE INSERT ON book_row BEGIN SELECT RAISE(IGNORE); END"),
    ),
  };
  const results = await race(contenders, rounds, skipped);
  const figure = { key: "ms", title: "ms/attempt", digits: 2, of: ({ wallMs }) => wallMs / attempts };
  return [
    {
      id: "book",
      title: `${attempts} attempts that fail, with and without their rows in the failure book`,
      note: `${PARALLEL} at a time; the aim is that the book costs less than 10 %, a ratio below 1.10`,
      rounds,
      ...compare(results, figure),
    },
  ];
}
