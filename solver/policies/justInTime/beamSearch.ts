import { countInBoth, countOf, intersection } from "@/solver/workflow/configurationSet";
import { MOST_WEIGHED } from "../core/policy";
import type { RoundAssignment, RoundRequest, RoundSearch, RoundSlots } from "./roundSearch";

/** Partial assignments over the requests processed so far, best first, as parallel arrays. */
class Frontier {
  size = 0;
  /** By assignment and model, the slots it takes. */
  readonly taken: Int16Array;
  readonly gain: Float64Array;
  /** Sum of the shares of configurations that its requests keep, and the number of those requests. */
  readonly keptShares: Float64Array;
  readonly assigned: Int16Array;
  /** The configurations left to the program of the last request. */
  readonly left: (Uint32Array | null)[];

  constructor(width: number, models: number) {
    this.taken = new Int16Array(width * models);
    this.gain = new Float64Array(width);
    this.keptShares = new Float64Array(width);
    this.assigned = new Int16Array(width);
    this.left = new Array<Uint32Array | null>(width).fill(null);
  }

  flexibility(at: number): number {
    const assigned = this.assigned[at] ?? 0;
    return assigned === 0 ? 1 : (this.keptShares[at] ?? 0) / assigned;
  }
}

/**
 * Beam search over a round's requests in order of precedence (Aragog, section 3.2): partial assignments are extended by every model
 * that is allowed and has a slot, and the best `width` are kept. A request gets no model only in an assignment in which no allowed slot is
 * left. Of assignments that take the same slots of each model the one that leaves most configurations represents all: their
 * extensions are the same. Ties go to the smaller models of the earlier requests.
 */
export function beamSearch(width: number, models: number): RoundSearch {
  const search = new BeamSearch(width, models);
  return (round) => search.search(round);
}

class BeamSearch {
  private before: Frontier;
  private after: Frontier;
  /** By request and rank, the rank of the assignment that was extended and the model that it was extended by. */
  private readonly parent: Int16Array;
  private readonly choice: Int8Array;
  /** Extensions of the current request that are kept so far, best first. */
  private readonly parents: Int16Array;
  private readonly choices: Int8Array;
  private readonly gains: Float64Array;
  private readonly keptShares: Float64Array;
  private found = 0;
  /** Whether extensions with the same slots may continue differently: they leave different configurations to the next request's program. */
  private mayDiffer = false;
  /** By model, the share of configurations that the current request would keep; 0 where it may not have the model. */
  private readonly shares: Float64Array;

  constructor(
    private readonly width: number,
    private readonly models: number,
  ) {
    this.before = new Frontier(width, models);
    this.after = new Frontier(width, models);
    this.parent = new Int16Array(MOST_WEIGHED * width);
    this.choice = new Int8Array(MOST_WEIGHED * width);
    this.parents = new Int16Array(width + 1);
    this.choices = new Int8Array(width + 1);
    this.gains = new Float64Array(width + 1);
    this.keptShares = new Float64Array(width + 1);
    this.shares = new Float64Array(models);
  }

  search(round: RoundSlots): readonly RoundAssignment[] {
    const { before } = this;
    before.size = 1;
    before.taken.fill(0, 0, this.models);
    before.gain[0] = 0;
    before.keptShares[0] = 0;
    before.assigned[0] = 0;
    before.left[0] = null;
    let weighed = 0;
    while (weighed < MOST_WEIGHED) {
      const open = this.open(round.free);
      const request = open === 0 ? undefined : round.next(open);
      if (request === undefined) break;
      this.extend(round, request);
      this.settle(request, weighed);
      weighed += 1;
    }
    return this.assignments(weighed);
  }

  /** Models of which any assignment has a slot left, as bits. */
  private open(free: Int32Array): number {
    const { before, models } = this;
    let open = 0;
    for (let at = 0; at < before.size; at += 1) {
      for (let model = 0; model < models; model += 1) {
        if ((before.taken[at * models + model] ?? 0) < (free[model] ?? 0)) open |= 1 << model;
      }
    }
    return open;
  }

  private extend(round: RoundSlots, request: RoundRequest): void {
    const { before, models } = this;
    this.found = 0;
    this.mayDiffer = request.continued;
    if (!request.continues) this.weigh(request, request.left);
    for (let at = 0; at < before.size; at += 1) {
      if (request.continues) this.weigh(request, before.left[at] ?? null);
      let extended = false;
      for (let model = 0; model < models; model += 1) {
        const share = this.shares[model] ?? 0;
        if (share === 0 || (before.taken[at * models + model] ?? 0) >= (round.free[model] ?? 0)) continue;
        extended = true;
        let gain = 0;
        for (let each = 0; each < models; each += 1) {
          const taken = (before.taken[at * models + each] ?? 0) + (each === model ? 1 : 0);
          if (taken > 0) gain += round.gain(each, taken);
        }
        this.offer(at, model, gain, (before.keptShares[at] ?? 0) + share);
      }
      if (!extended) this.offer(at, -1, before.gain[at] ?? 0, before.keptShares[at] ?? 0);
    }
  }

  /** Fills `shares` for a request with the given configurations left to its program. */
  private weigh({ allowed, having }: RoundRequest, left: Uint32Array | null): void {
    const whole = left === null ? 1 : countOf(left);
    for (let model = 0; model < this.models; model += 1) {
      const may = (allowed & (1 << model)) !== 0;
      const own = having[model];
      this.shares[model] = !may ? 0 : left === null || own === undefined ? 1 : countInBoth(left, own) / whole;
    }
  }

  /** Inserts an extension among the best, or drops it. */
  private offer(parent: number, choice: number, gain: number, keptShares: number): void {
    const flexibility = this.flexibilityOf(parent, choice, keptShares);
    const twin = this.mayDiffer ? -1 : this.twinOf(parent, choice, gain);
    if (twin >= 0) {
      const known = this.flexibilityOf(this.parents[twin] ?? 0, this.choices[twin] ?? 0, this.keptShares[twin] ?? 0);
      if (flexibility <= known) return;
      this.takeOut(twin);
    }
    let at = this.found;
    while (at > 0 && this.isBetter(gain, flexibility, at - 1)) at -= 1;
    if (at >= this.width) return;
    for (let rank = Math.min(this.found, this.width - 1); rank > at; rank -= 1) this.move(rank - 1, rank);
    this.parents[at] = parent;
    this.choices[at] = choice;
    this.gains[at] = gain;
    this.keptShares[at] = keptShares;
    this.found = Math.min(this.width, this.found + 1);
  }

  private isBetter(gain: number, flexibility: number, rank: number): boolean {
    const other = this.gains[rank] ?? 0;
    if (gain !== other) return gain > other;
    return flexibility > this.flexibilityOf(this.parents[rank] ?? 0, this.choices[rank] ?? 0, this.keptShares[rank] ?? 0);
  }

  private flexibilityOf(parent: number, choice: number, keptShares: number): number {
    const assigned = (this.before.assigned[parent] ?? 0) + (choice < 0 ? 0 : 1);
    return assigned === 0 ? 1 : keptShares / assigned;
  }

  /** The rank of a kept extension that takes the same slots; -1 where there is none. */
  private twinOf(parent: number, choice: number, gain: number): number {
    const { taken } = this.before;
    const { models } = this;
    for (let rank = 0; rank < this.found; rank += 1) {
      // Equal slots have equal gains.
      if (this.gains[rank] !== gain) continue;
      const [other, otherChoice] = [this.parents[rank] ?? 0, this.choices[rank] ?? 0];
      let alike = true;
      for (let model = 0; alike && model < models; model += 1) {
        const own = (taken[parent * models + model] ?? 0) + (model === choice ? 1 : 0);
        alike = own === (taken[other * models + model] ?? 0) + (model === otherChoice ? 1 : 0);
      }
      if (alike) return rank;
    }
    return -1;
  }

  private takeOut(rank: number): void {
    for (let at = rank; at + 1 < this.found; at += 1) this.move(at + 1, at);
    this.found -= 1;
  }

  private move(from: number, to: number): void {
    this.parents[to] = this.parents[from] ?? 0;
    this.choices[to] = this.choices[from] ?? 0;
    this.gains[to] = this.gains[from] ?? 0;
    this.keptShares[to] = this.keptShares[from] ?? 0;
  }

  /** Makes the kept extensions the assignments that the next request extends. */
  private settle(request: RoundRequest, index: number): void {
    const { before, after, models, width } = this;
    for (let rank = 0; rank < this.found; rank += 1) {
      const parent = this.parents[rank] ?? 0;
      const choice = this.choices[rank] ?? 0;
      for (let model = 0; model < models; model += 1) {
        after.taken[rank * models + model] = (before.taken[parent * models + model] ?? 0) + (model === choice ? 1 : 0);
      }
      after.gain[rank] = this.gains[rank] ?? 0;
      after.keptShares[rank] = this.keptShares[rank] ?? 0;
      after.assigned[rank] = (before.assigned[parent] ?? 0) + (choice < 0 ? 0 : 1);
      after.left[rank] = request.continued ? narrowed(request, request.continues ? before.left[parent] : request.left, choice) : null;
      this.parent[index * width + rank] = parent;
      this.choice[index * width + rank] = choice;
    }
    after.size = this.found;
    this.before = after;
    this.after = before;
  }

  private assignments(weighed: number): readonly RoundAssignment[] {
    const { before, width } = this;
    return Array.from({ length: before.size }, (_, rank) => {
      const choices = new Int8Array(weighed);
      let at = rank;
      for (let request = weighed - 1; request >= 0; request -= 1) {
        choices[request] = this.choice[request * width + at] ?? -1;
        at = this.parent[request * width + at] ?? 0;
      }
      return { gain: before.gain[rank] ?? 0, flexibility: before.flexibility(rank), choices };
    });
  }
}

/** The configurations that a request's choice leaves to its program. */
function narrowed({ having }: RoundRequest, left: Uint32Array | null | undefined, choice: number): Uint32Array | null {
  const own = having[choice];
  return left == null || own === undefined ? (left ?? null) : intersection(left, own);
}
