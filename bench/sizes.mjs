// How much each mode measures, in one place. `all` makes docs/benchmarks.md, `quick` is what `.ci/run` shows, and `tiny`
// only shows that every part works: its figures mean nothing.
export const SIZES = {
  all: {
    start: { rounds: 15 },
    wide: { rounds: 7, jobs: 2_000 },
    chain: { rounds: 7, steps: 300 },
    noop: { rounds: 7, steps: 2_000 },
    book: { rounds: 7, attempts: 2_000 },
    growth: { rounds: 3, jobs: [1_000, 10_000, 100_000], serverRuns: [100, 1_000, 5_000] },
    postgres: { rounds: 5, wide: 2_000, chain: 300 },
    handOver: { rounds: 3, steps: 200 },
    workers: { rounds: 1, jobs: [10_000, 100_000] },
  },
  quick: {
    start: { rounds: 5 },
    wide: { rounds: 3, jobs: 200 },
    chain: { rounds: 3, steps: 50 },
    noop: { rounds: 3, steps: 500 },
    book: { rounds: 3, attempts: 200 },
    growth: { rounds: 1, jobs: [100, 1_000], serverRuns: [20, 100] },
    postgres: { rounds: 1, wide: 200, chain: 50 },
    handOver: { rounds: 1, steps: 20 },
    workers: { rounds: 1, jobs: [1_000] },
  },
  tiny: {
    start: { rounds: 1 },
    wide: { rounds: 1, jobs: 3 },
    chain: { rounds: 1, steps: 2 },
    noop: { rounds: 1, steps: 3 },
    book: { rounds: 1, attempts: 3 },
    growth: { rounds: 1, jobs: [3, 4], serverRuns: [1, 2] },
    postgres: { rounds: 1, wide: 3, chain: 2 },
    handOver: { rounds: 1, steps: 3 },
    workers: { rounds: 1, jobs: [3] },
  },
};

/** Parts in the order in which they are measured and shown. */
export const PARTS = Object.keys(SIZES.all);
