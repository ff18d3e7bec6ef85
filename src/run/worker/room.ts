/** The resources of a worker, or those that an attempt takes of it. */
export interface Room {
  readonly slots: number;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly gpus: number;
}

/** The resources that an attempt takes. */
export interface Taker extends Room {
  /** When it is over at the latest, on the monotonic clock. Null if unknown. */
  readonly endsAt: number | null;
}

export const NO_ROOM: Room = { slots: 0, cpus: 0, memoryBytes: 0, gpus: 0 };

export function fits(needs: Room, free: Room): boolean {
  return (
    needs.slots <= free.slots &&
    needs.cpus <= free.cpus &&
    needs.memoryBytes <= free.memoryBytes &&
    needs.gpus <= free.gpus
  );
}

export function plus(one: Room, other: Room): Room {
  return {
    slots: one.slots + other.slots,
    cpus: one.cpus + other.cpus,
    memoryBytes: one.memoryBytes + other.memoryBytes,
    gpus: one.gpus + other.gpus,
  };
}

export function minus(one: Room, other: Room): Room {
  return {
    slots: one.slots - other.slots,
    cpus: one.cpus - other.cpus,
    memoryBytes: one.memoryBytes - other.memoryBytes,
    gpus: one.gpus - other.gpus,
  };
}
