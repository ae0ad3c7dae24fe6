import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";

const keptDecisions = 20_000;
const pageSize = 1000;

export interface DecisionPage {
  readonly decisions: readonly Decision[];
  readonly latest: number;
  /** Decisions after the requested sequence that are no longer kept. */
  readonly missed: number;
}

/** The latest decisions, numbered from 1 since the gateway started. Older ones are overwritten. */
export class DecisionLog {
  readonly #ring: (Decision | undefined)[];
  #latest = 0;

  constructor(capacity: number = keptDecisions) {
    this.#ring = new Array(capacity);
  }

  get latest(): number {
    return this.#latest;
  }

  append(decision: Omit<Decision, "sequence">): void {
    this.#latest += 1;
    this.#ring[this.#latest % this.#ring.length] = { sequence: this.#latest, ...decision };
  }

  /** The decision of that id; undefined if it was already overwritten or is not made yet. */
  find(id: string): Decision | undefined {
    return this.#ring.find((decision) => decision?.id === id);
  }

  /** At most 1000 decisions whose sequence is above `after`, oldest first. */
  page(after: number): DecisionPage {
    const oldestKept = Math.max(1, this.#latest - this.#ring.length + 1);
    const from = Math.max(after + 1, oldestKept);
    const to = Math.min(this.#latest, from + pageSize - 1);
    const decisions: Decision[] = [];
    for (let sequence = from; sequence <= to; sequence += 1) {
      const decision = this.#ring[sequence % this.#ring.length];
      if (decision) decisions.push(decision);
    }
    return { decisions, latest: this.#latest, missed: Math.max(0, Math.min(oldestKept, this.#latest + 1) - (after + 1)) };
  }
}
