import type { GateCause, GatewayStatus } from "@/server/contracts/gateway/gatewayAdmin";

/** A stage is reported after this number of answers in a row without a score: a single one may have nothing to compare. */
const reportedFrom = 5;

interface Unscored {
  readonly cause: GateCause;
  readonly answers: number;
}

/** Counts answers in a row that a stage's gate could not score, by model, such as those of an engine that reports no log probabilities. */
export class GateWatch {
  readonly #unscored = new Map<string, Unscored>();

  /** @param cause null: the gate gave a score. */
  note(model: string, cause: GateCause | null): void {
    if (cause === null) this.#unscored.delete(model);
    else this.#unscored.set(model, { cause, answers: (this.#unscored.get(model)?.answers ?? 0) + 1 });
  }

  /** Forgets all but these models: the others have no gate any more. */
  keep(models: readonly string[]): void {
    for (const model of this.#unscored.keys()) if (!models.includes(model)) this.#unscored.delete(model);
  }

  /** The stages that an operator must know of. */
  get reported(): NonNullable<GatewayStatus["unscoredStages"]> {
    return [...this.#unscored].flatMap(([model, unscored]) => (unscored.answers < reportedFrom ? [] : [{ model, ...unscored }]));
  }
}
