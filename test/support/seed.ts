/** `SEED=n` makes a random test draw what it drew then. Each says its seed when it fails. */
export function chooseSeed(): number {
  return Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
}
