import type { Shape } from "../provider.js";
import type { NodeLimits, Piece } from "./demand.js";

/** Free capacity of one allocation in its remaining time: processors, memory and GPUs, each times milliseconds. */
export class Bin {
  readonly pieces: Piece[] = [];
  private cpuMs: number;
  private memoryMs: number;
  private gpuMs: number;

  constructor(
    private readonly size: NodeLimits,
    private readonly forMs: number,
  ) {
    this.cpuMs = size.cpus * forMs;
    this.memoryMs = size.memoryBytes * forMs;
    this.gpuMs = size.gpus * forMs;
  }

  /** Adds a job. Returns false if it does not fit in size, in time, or beside the others. */
  take(piece: Piece): boolean {
    const { cpus, memoryBytes, gpus, forMs } = piece;
    const { size } = this;
    if (cpus > size.cpus || memoryBytes > size.memoryBytes || gpus > size.gpus || forMs > this.forMs)
      return false;
    const [cpuMs, memoryMs, gpuMs] = [cpus * forMs, memoryBytes * forMs, gpus * forMs];
    if (cpuMs > this.cpuMs || memoryMs > this.memoryMs || gpuMs > this.gpuMs) return false;
    this.cpuMs -= cpuMs;
    this.memoryMs -= memoryMs;
    this.gpuMs -= gpuMs;
    this.pieces.push(piece);
    return true;
  }
}

/** Sorts large jobs first, so that small ones fill the gaps. */
export function bySize(first: Piece, second: Piece): number {
  return (
    second.gpus - first.gpus ||
    second.cpus - first.cpus ||
    second.memoryBytes - first.memoryBytes ||
    first.jobId - second.jobId
  );
}

export function cpusOf({ nodes, cpus }: Pick<Shape, "nodes" | "cpus">): number {
  return nodes * cpus;
}
