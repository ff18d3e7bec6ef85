import type { Store } from "../../store/store.js";

type NamingStore = Pick<Store, "readEvents" | "readJobNames">;

/** What the items of fan-outs are called: their values, read once for each list. */
export class ItemNames {
  private readonly lists = new Map<string, Promise<readonly string[]>>();

  constructor(private readonly store: NamingStore) {}

  /** `img-0197.jpg`, or `eu / berlin` in a fan-out within another; null: the job is of no item. */
  async nameOf(runId: number, scope: string): Promise<string | null> {
    const [slash, bracket] = [scope.lastIndexOf("/"), scope.lastIndexOf("[")];
    if (slash < 0 || bracket < slash) return null;
    const outer = scope.slice(0, slash);
    const place = scope.slice(bracket + 1, -1);
    const list = await this.namesIn(runId, outer, scope.slice(slash + 1, bracket));
    const around = await this.nameOf(runId, outer);
    const name = list[Number(place)] ?? place;
    return around === null ? name : `${around} / ${name}`;
  }

  private namesIn(runId: number, scope: string, step: string): Promise<readonly string[]> {
    const key = JSON.stringify([runId, scope, step]);
    const known = this.lists.get(key) ?? this.read(runId, scope, step);
    this.lists.set(key, known);
    return known;
  }

  private async read(runId: number, scope: string, step: string): Promise<readonly string[]> {
    const openers = await this.store.readJobNames(runId, { step });
    const opener = openers.find((job) => job.scope === scope);
    if (opener === undefined) return [];
    const opened = await this.store.readEvents(runId, { job: opener.id, types: ["scopes.opened"] });
    const last = opened.at(-1)?.event;
    return last?.type === "scopes.opened" ? last.items.map(({ key, name }) => name ?? key) : [];
  }
}
