import type { UnscoredKind } from "@/server/contracts/studio";
import type { CallGroup, StoredCall } from "@/server/store/profileRepository";

interface Sums {
  done: number;
  failed: number;
  outputTokens: number;
  withOutput: number;
  seconds: number;
  timed: number;
  cut: number;
}

interface MeasureSums {
  done: number;
  failed: number;
  usd: number;
  score: number;
  scored: number;
  readonly unscored: Partial<Record<UnscoredKind, number>>;
}

/** How many of a measure's readings of an answer count for its mean: the first, or the first in both orders. */
export type CountedReadings = (measureId: string) => number;

/** The displayed counts of a job, updated as its calls end, or from groups of them. */
export class Tally {
  readonly #models = new Map<string, Sums>();
  readonly #measures = new Map<string, MeasureSums>();
  readonly #failures = new Map<string, number>();
  readonly #counted: CountedReadings;
  inputTokens = 0;
  outputTokens = 0;
  usd = 0;
  lost = 0;

  constructor(groups: readonly CallGroup[], counted: CountedReadings) {
    this.#counted = counted;
    for (const group of groups) this.#add(group);
  }

  /** A call that has ended, in its last recorded state. `before`: its cost and lost attempts that were counted already. */
  take(call: StoredCall, before: { readonly usd: number; readonly lost: number }): void {
    const { model, measureId, reading, state, unscored, failure, inputTokens, outputTokens, seconds, score, cut } = call;
    this.#add({
      ...{ model, measureId, reading, state, unscored, failure, calls: 1, usd: call.usd - before.usd, lost: call.lost - before.lost },
      ...{ inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0, withOutput: outputTokens === null ? 0 : 1 },
      ...{ seconds: seconds ?? 0, timed: seconds === null ? 0 : 1, score: score ?? 0, scored: score === null ? 0 : 1, cut: cut ?? 0 },
    });
  }

  model(model: string): Readonly<Sums> {
    return this.#sumsOf(model);
  }

  measure(measureId: string): Readonly<MeasureSums> {
    return this.#measureOf(measureId);
  }

  /** The commonest reasons of calls that failed. */
  failures(most: number): readonly { readonly reason: string; readonly calls: number }[] {
    const all = [...this.#failures].map(([reason, calls]) => ({ reason, calls }));
    return all.sort((one, other) => other.calls - one.calls).slice(0, most);
  }

  #add(group: CallGroup): void {
    this.usd += group.usd;
    this.lost += group.lost;
    if (group.measureId !== "") this.#measureOf(group.measureId).usd += group.usd;
    if (group.state !== "done" && group.state !== "failed") return;
    this.inputTokens += group.inputTokens;
    this.outputTokens += group.outputTokens;
    const sums = group.measureId === "" ? this.#sumsOf(group.model) : this.#measureOf(group.measureId);
    sums[group.state] += group.calls;
    if (group.state === "failed" && group.failure !== null)
      this.#failures.set(group.failure, (this.#failures.get(group.failure) ?? 0) + group.calls);
    if (group.measureId === "") addTo(this.#sumsOf(group.model), group);
    else this.#addReading(this.#measureOf(group.measureId), group);
  }

  #addReading(sums: MeasureSums, { unscored, calls, reading, measureId, score, scored }: CallGroup): void {
    if (unscored !== null) sums.unscored[unscored] = (sums.unscored[unscored] ?? 0) + calls;
    if (reading >= this.#counted(measureId)) return;
    sums.score += score;
    sums.scored += scored;
  }

  #sumsOf(model: string): Sums {
    const known = this.#models.get(model) ?? { done: 0, failed: 0, outputTokens: 0, withOutput: 0, seconds: 0, timed: 0, cut: 0 };
    this.#models.set(model, known);
    return known;
  }

  #measureOf(measureId: string): MeasureSums {
    const known = this.#measures.get(measureId) ?? { done: 0, failed: 0, usd: 0, score: 0, scored: 0, unscored: {} };
    this.#measures.set(measureId, known);
    return known;
  }
}

function addTo(sums: Sums, { outputTokens, withOutput, seconds, timed, cut }: CallGroup): void {
  sums.outputTokens += outputTokens;
  sums.withOutput += withOutput;
  sums.seconds += seconds;
  sums.timed += timed;
  sums.cut += cut;
}
