import type { WaitingWork } from "@/solver/policies/core/policy";

/** Queued work of all models by the start of its programs; among equal starts in order of arrival. */
export class ProgramQueue {
  private readonly works: WaitingWork[] = [];
  /** By work, the start of its program. */
  private readonly began = new Map<string, number>();

  /** The whole list, valid until the next change. */
  get shown(): readonly WaitingWork[] {
    return this.works;
  }

  add(work: WaitingWork): void {
    this.began.set(work.id, work.programArrivalSeconds);
    this.works.splice(this.firstAfter(work.programArrivalSeconds), 0, work);
  }

  /** Removes the work acted on. Returns the number removed. */
  leave(acted: Iterable<string>): number {
    const before = this.works.length;
    for (const id of acted) {
      const began = this.began.get(id);
      if (began === undefined) continue;
      this.began.delete(id);
      let at = this.firstAfter(began) - 1;
      while (this.works[at]?.id !== id) at -= 1;
      this.works.splice(at, 1);
    }
    return before - this.works.length;
  }

  /** Position of the first whose program began later. */
  private firstAfter(seconds: number): number {
    let low = 0;
    let high = this.works.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.works[middle]?.programArrivalSeconds ?? 0) > seconds) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
