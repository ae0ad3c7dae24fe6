/** The problem with one field of a request. */
export interface FieldFault {
  /** Names and places joined by dots, such as `rates.1`. */
  readonly path: string;
  /** The owner of the field if its path does not identify it, such as the name of a system. */
  readonly of?: string;
  readonly reason: string;
}

/** A refusal: a sentence for people with the reason and the remedy, and for code the field at fault, if there is one. */
export interface Refusal {
  readonly ok: false;
  readonly message: string;
  readonly field?: FieldFault;
}

/** The result of an operator's request: done or refused. */
export type Outcome<Done extends object> = ({ readonly ok: true } & Done) | Refusal;

/** Counts between edges: `counts[i]` values are in [edges[i], edges[i + 1]). */
export interface Histogram {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}
