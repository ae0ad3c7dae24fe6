import { type Ranked, RankedHeap } from "@/solver/collections/rankedHeap";
import type { Policy, WaitingWork } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";

/** A piece of queued work, linked to its neighbours in order of arrival. */
interface Entry extends Ranked {
  readonly work: WaitingWork;
  /** Position in order of arrival. */
  readonly order: number;
  /** Rank when last computed: it may have grown since. */
  key: number;
  tie: number;
  waits: boolean;
  previous: Entry | null;
  next: Entry | null;
}

/** The order in which a policy takes work off a model's queue. */
type Preferring = Pick<Policy, "preference" | "thenBy">;

/** Maximum number of heap entries of work that has left, in addition to twice those of waiting work. */
const MOST_SPENT = 64;

/** One model's queued work, whose first pieces by preference and by age can be listed without reading the rest. */
export class ModelQueue {
  size = 0;
  private readonly preference: Preferring["preference"];
  private readonly thenBy: NonNullable<Preferring["thenBy"]>;
  private first: Entry | null = null;
  private last: Entry | null = null;
  private came = 0;
  private readonly anyLeaves: boolean;
  private readonly entryOf = new Map<string, Entry>();
  /** Entries of work that has left are dropped when they reach the top. */
  private heap = new RankedHeap<Entry>();

  /** Without a preference only the order of arrival counts; `passesOver`: later work may leave before earlier work all the same. */
  constructor({ preference, thenBy = () => 0 }: Preferring, passesOver = false) {
    this.preference = preference;
    this.thenBy = thenBy;
    this.anyLeaves = passesOver || preference !== null;
  }

  add(work: WaitingWork): void {
    const key = this.preference?.(work) ?? 0;
    const tie = this.preference === null ? 0 : this.thenBy(work);
    const entry: Entry = { work, order: this.came++, key, tie, waits: true, previous: this.last, next: null };
    if (this.last === null) this.first = entry;
    else this.last.next = entry;
    this.last = entry;
    this.size++;
    if (this.anyLeaves) this.entryOf.set(work.id, entry);
    if (this.preference !== null) this.heap.push(entry);
  }

  /** Replaces the forecasts of all work, and with them its keys. */
  reforecast(forecastOf: (workId: string) => AgentForecast | undefined): void {
    const { preference, thenBy } = this;
    const entries: Entry[] = [];
    for (let entry = this.first; entry !== null; entry = entry.next) {
      const { work } = entry;
      Object.assign(work, { forecast: forecastOf(work.id) });
      if (preference === null) continue;
      entry.key = preference(work);
      entry.tie = thenBy(work);
      entries.push(entry);
    }
    this.heap = new RankedHeap(entries);
  }

  /**
   * Appends, in order of arrival, the candidates for a policy's choice of `room` pieces of work: so many oldest, so many most preferred, and
   * those of `first` that are here.
   */
  show(room: number, shown: WaitingWork[], first: Iterable<string> = []): void {
    if (room <= 0) return;
    const oldest: Entry[] = [];
    for (let entry = this.first; entry !== null && oldest.length < room; entry = entry.next) oldest.push(entry);
    const named = Array.from(first, (id) => this.entryOf.get(id)).filter((entry) => entry !== undefined);
    if (room >= this.size || (this.preference === null && named.length === 0)) {
      for (const { work } of oldest) shown.push(work);
      return;
    }
    const preferred: Entry[] = [];
    for (const { preference } = this; preference !== null && preferred.length < room; ) preferred.push(this.popLowest(preference));
    for (const entry of preferred) this.heap.push(entry);
    const chosen = new Set([...oldest, ...named, ...preferred]);
    for (const { work } of [...chosen].sort((a, b) => a.order - b.order)) shown.push(work);
  }

  /** Removes the work acted on; in order of arrival without exception, from the head only. Returns the number removed. */
  leave(acted: ReadonlySet<string>): number {
    const before = this.size;
    if (!this.anyLeaves) {
      while (this.first !== null && acted.has(this.first.work.id)) this.unlink(this.first);
    } else {
      for (const id of acted) {
        const entry = this.entryOf.get(id);
        if (entry !== undefined) this.unlink(entry);
      }
      if (this.heap.size > 2 * this.size + MOST_SPENT) this.heap = new RankedHeap(this.heap.all().filter(({ waits }) => waits));
    }
    return before - this.size;
  }

  private unlink(entry: Entry): void {
    const { previous, next } = entry;
    if (previous === null) this.first = next;
    else previous.next = next;
    if (next === null) this.last = previous;
    else next.previous = previous;
    entry.waits = false;
    this.entryOf.delete(entry.work.id);
    this.size--;
  }

  /** Removes the waiting work with the lowest key from the heap; there must be some. */
  private popLowest(preference: NonNullable<Preferring["preference"]>): Entry {
    for (;;) {
      const lowest = this.heap.pop() as Entry;
      if (!lowest.waits) continue;
      const key = preference(lowest.work);
      const tie = this.thenBy(lowest.work);
      if (!(key > lowest.key || tie > lowest.tie)) return lowest;
      lowest.key = key;
      lowest.tie = tie;
      this.heap.push(lowest);
    }
  }
}
