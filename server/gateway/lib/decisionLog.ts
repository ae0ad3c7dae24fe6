import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import { JsonBatch } from "./jsonBatch";

type Unnumbered = Omit<Decision, "sequence">;

const keptDecisions = 20_000;
const pageSize = 1000;
/** Records that become one batch: encoding them takes half a millisecond. */
const batchSize = 64;

/**
 * The latest decisions, numbered from 1 since the gateway started; older ones are dropped. All but the newest are kept as JSON outside the
 * heap: as objects, each is copied twice and marked again and again by the garbage collector.
 */
export class DecisionLog {
  readonly #capacity: number;
  readonly #batches: { readonly first: number; readonly records: JsonBatch }[] = [];
  /** The newest, fewer than a batch. */
  #newest: Unnumbered[] = [];
  #latest = 0;

  constructor(capacity: number = keptDecisions) {
    this.#capacity = capacity;
  }

  get latest(): number {
    return this.#latest;
  }

  append(decision: Unnumbered): void {
    this.#latest += 1;
    this.#newest.push(decision);
    if (this.#newest.length < batchSize) return;
    const first = this.#firstNewest;
    this.#batches.push({ first, records: new JsonBatch(this.#newest.map((record, at) => numberedJson(record, first + at))) });
    this.#newest = [];
    const [oldest] = this.#batches;
    if (oldest !== undefined && oldest.first + batchSize <= this.#oldestKept) this.#batches.shift();
  }

  /** The decision of that id as JSON; undefined if it was already dropped or is not made yet. */
  findJson(id: string): string | undefined {
    const at = this.#newest.findIndex((decision) => decision.id === id);
    const newest = this.#newest[at];
    if (newest !== undefined) return numberedJson(newest, this.#firstNewest + at);
    for (const { records } of this.#batches) {
      const found = records.find("id", id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** At most 1000 decisions whose sequence is above `after`, oldest first, as the JSON of a `DecisionPage`. */
  pageJson(after: number): string {
    const from = Math.max(after + 1, this.#oldestKept);
    const to = Math.min(this.#latest, from + pageSize - 1);
    const parts: string[] = [];
    for (const { first, records } of this.#batches) {
      if (first + batchSize > from && first <= to) parts.push(records.slice(Math.max(0, from - first), to - first + 1));
    }
    for (const [at, decision] of this.#newest.entries()) {
      const sequence = this.#firstNewest + at;
      if (sequence >= from && sequence <= to) parts.push(numberedJson(decision, sequence));
    }
    const missed = Math.max(0, Math.min(this.#oldestKept, this.#latest + 1) - (after + 1));
    return `{"decisions":[${parts.join(",")}],"latest":${this.#latest},"missed":${missed}}`;
  }

  /** The number of the oldest among the newest. */
  get #firstNewest(): number {
    return this.#latest - this.#newest.length + 1;
  }

  get #oldestKept(): number {
    return Math.max(1, this.#latest - this.#capacity + 1);
  }
}

/** The JSON of a record with its number, which is put into the text: a copy of an object of so many members costs as much as its JSON. */
const numberedJson = (decision: Unnumbered, sequence: number): string => `{"sequence":${sequence},${JSON.stringify(decision).slice(1)}`;
