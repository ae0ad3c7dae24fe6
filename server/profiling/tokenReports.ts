/** Which models of a job report log probabilities of their answers. A model that once did not is not asked for them again. */
export class TokenReports {
  readonly #wanted: boolean;
  readonly #reporting = new Set<string>();
  readonly #without: Set<string>;
  /** Calls that were refused with the request for log probabilities, and are made without it. */
  readonly #plain = new Set<number>();

  /** @param without models that were found not to report them. */
  constructor(wanted: boolean, without: Iterable<string>) {
    this.#wanted = wanted;
    this.#without = new Set(without);
  }

  get without(): readonly string[] {
    return [...this.#without];
  }

  /** Whether an answer is asked for with them. */
  asks(model: string, call: number): boolean {
    return this.#wanted && !this.#without.has(model) && !this.#plain.has(call);
  }

  /** Whether a model has reported some. Until then a refusal may be of them, not of the prompt. */
  reports(model: string): boolean {
    return this.#reporting.has(model);
  }

  /** The call is made again, without them. */
  askPlainly(call: number): void {
    this.#plain.add(call);
  }

  /** A call was answered: with log probabilities, or without them though it was asked for them or another attempt at it was. */
  answered(model: string, call: number, { asked, reported }: { readonly asked: boolean; readonly reported: boolean }): void {
    if (asked && reported) this.#reporting.add(model);
    const isWithout = asked ? !reported : this.#plain.has(call);
    if (isWithout) this.#without.add(model);
  }

  /** The call has ended. */
  forget(call: number): void {
    this.#plain.delete(call);
  }
}
