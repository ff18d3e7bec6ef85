/** One end of an allocation on a real cluster. All begin at once, so that the slow ones are waited for together. */
export class Scenario {
  private running: Promise<string[]> | null = null;

  constructor(
    readonly name: string,
    readonly expected: readonly string[],
    private readonly play: (name: string) => Promise<string[]>,
    /** It can be shown only where control groups limit memory. */
    readonly needsMemoryLimit = false,
  ) {}

  begin(): void {
    this.running = this.play(this.name.replaceAll(/\W+/g, "-"));
    // Whoever asks for the outcome hears of it.
    this.running.catch(() => {});
  }

  outcome(): Promise<string[]> {
    if (this.running === null) throw new Error(`${this.name} has not begun`);
    return this.running;
  }
}
