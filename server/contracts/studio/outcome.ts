export interface AuditLine {
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject: string;
  readonly detail: string;
}

/** What is wrong with one field of a request. */
export interface FieldFault {
  /** Names and places joined by dots, such as `rates.1`. */
  readonly path: string;
  /** What the field belongs to, where its path does not tell, such as the name of a system. */
  readonly of?: string;
  readonly reason: string;
}

/** A refusal: a sentence for people with the reason and the way out, and for code the field that is at fault, where it is one. */
export interface Refusal {
  readonly ok: false;
  readonly message: string;
  readonly field?: FieldFault;
}

/** What became of something an operator asked for: done or refused. */
export type Outcome<Done extends object> = ({ readonly ok: true } & Done) | Refusal;

/** Counts between edges: `counts[i]` values lie in [edges[i], edges[i + 1]). */
export interface Histogram {
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}
