/** Does the work in a microtask of its own, however often it is asked for before. */
export class Turns {
  private isAsked = false;

  constructor(private readonly work: () => void) {}

  wake(): void {
    if (this.isAsked) return;
    this.isAsked = true;
    queueMicrotask(() => {
      this.isAsked = false;
      this.work();
    });
  }
}
