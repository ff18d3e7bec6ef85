/** Setup of all tests: with `SEED=n` fast-check draws from it too. It prints the seed of a failure by itself. */
if (process.env.SEED !== undefined) {
  const { configureGlobal } = await import("fast-check");
  configureGlobal({ seed: Number(process.env.SEED) });
}
