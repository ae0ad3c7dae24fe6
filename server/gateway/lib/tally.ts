import { Labelled, type Labels } from "./labelled";

/** Counts by labels, much cheaper than a Prometheus counter, which is filled from it at each read. */
export class Tally<L extends string> {
  readonly #counts: Labelled<L, { count: number }>;

  constructor(labelNames: readonly L[]) {
    this.#counts = new Labelled(labelNames, () => ({ count: 0 }));
  }

  get entries(): readonly { readonly labels: Labels<L>; readonly count: number }[] {
    return this.#counts.entries.map(({ labels, value: { count } }) => ({ labels, count }));
  }

  inc(labels: Labels<L>, by = 1): void {
    this.#counts.at(labels).count += by;
  }

  /** Removes counts with a label that is `gone`. */
  forget(gone: (label: string, value: string) => boolean): void {
    this.#counts.forget(gone);
  }
}
