/** Names of workers inside an engine's own process begin so; what they ran died with it. */
export const LOCAL_WORKER_PREFIX = "local-";

export function isLocalWorker(name: string): boolean {
  return name.startsWith(LOCAL_WORKER_PREFIX);
}

/** The worker's name for answers of people. */
export const HUMAN = "human";

/** Where an attempt runs, in addition to the name of its worker. Null if unknown. */
export interface AttemptPlace {
  /** The machine. */
  readonly node: string | null;
  /** What a scheduler gave its worker, as `CLUSTER/ID`. */
  readonly allocation: string | null;
  /** How often the scheduler had started that allocation again: the same id may come several times. */
  readonly restart: number | null;
}

export const NOWHERE: AttemptPlace = { node: null, allocation: null, restart: null };

/**
 * The name that answers for failures caused by where an attempt ran: the worker's given name, so that a restarted
 * worker is the same; on a cluster the node, as `CLUSTER/NODE`. Null for the server's own worker, or a person.
 */
export function answerableFor(
  worker: string,
  { node, allocation }: Pick<AttemptPlace, "node" | "allocation">,
): string | null {
  if (worker === "" || worker === HUMAN || isLocalWorker(worker)) return null;
  const [cluster] = (allocation ?? "").split("/");
  if (cluster && node !== null) return `${cluster}/${node}`;
  return worker.split("/")[0]!;
}

/**
 * Why an attempt is where it is, where that is not the room alone. `elsewhere`, `same`: what `retry.on_worker` says.
 * `probation`: it shows whether a worker works again. `only`: nobody else could have it, and the worker is in quarantine.
 */
export type Placed = "elsewhere" | "same" | "probation" | "only";

/** The parts of it that are known: what nobody has said takes no room in the log. */
export function knownPlace({ node, allocation, restart }: AttemptPlace): Partial<AttemptPlace> {
  return {
    ...(node === null ? {} : { node }),
    ...(allocation === null ? {} : { allocation }),
    ...(restart === null ? {} : { restart }),
  };
}

const MAX_PLACES = 1_000;
const places = new Map<string, AttemptPlace>();

/** Older logs do not say where. Attempts at one place share it: 100,000 jobs remember theirs. */
export function placeOf({
  node = null,
  allocation = null,
  restart = null,
}: Partial<AttemptPlace>): AttemptPlace {
  if (node === null && allocation === null && restart === null) return NOWHERE;
  const key = JSON.stringify([node, allocation, restart]);
  if (places.size >= MAX_PLACES) places.clear();
  const place = places.get(key) ?? Object.freeze({ node, allocation, restart });
  places.set(key, place);
  return place;
}

/** How server and workers speak of what a step wants beside room: one of these and a name. */
export const SECRET = "secret ";
export const PROGRAM = "program ";
