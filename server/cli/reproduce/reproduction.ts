/** Systems whose published figures `weir reproduce` measures. */
export const reproducedSystems = ["cascadia", "chimera", "aragog", "kairos", "mosaic"] as const;

export type ReproducedSystem = (typeof reproducedSystems)[number];

/** What this code has beside a figure of the source. */
export type OwnFigure =
  | {
      readonly kind: "measured";
      /** null: the benchmark ran and has none, as of a system that is overloaded; text: several, as by stage. */
      readonly value: number | string | null;
      readonly unit: string;
      /** Interval of 90 % over seeds; null where a figure has one seed, or none. */
      readonly interval: { readonly low: number; readonly high: number } | null;
      readonly seeds: number | null;
      /** The benchmark that measured it, as `npm run bench` names it. */
      readonly benchmark: string;
      /** What it was measured on. */
      readonly detail: string;
    }
  /** No benchmark measures it: the row's difference says why. */
  | { readonly kind: "not-measured" }
  /** The benchmark needs data that are not there. */
  | { readonly kind: "data-missing"; readonly files: readonly string[] }
  | { readonly kind: "failed"; readonly benchmark: string; readonly message: string };

/** A figure of the source, in its own words and unit. */
export interface SourceFigure {
  /** `5`, `table 1`, or `text`. */
  readonly figure: string;
  readonly what: string;
  /** null: the source shows it in a plot alone. */
  readonly value: number | string | null;
  readonly unit: string;
  readonly section: string;
}

export interface ReproducedRow {
  readonly source: SourceFigure;
  readonly ours: OwnFigure;
  /** Why the two differ, or why there is only one of them. */
  readonly difference: string;
}

/** Files of data beside the repository that a system's figures are measured on. */
export interface NeededData {
  readonly file: string;
  readonly what: string;
  /** Where it comes from. */
  readonly from: string;
  readonly present: boolean;
}

export interface Reproduction {
  readonly system: ReproducedSystem;
  /** Where it was measured. */
  readonly machine: string;
  readonly data: readonly NeededData[];
  readonly rows: readonly ReproducedRow[];
}

interface ReproduceRequest {
  readonly system: ReproducedSystem;
  /** Only these figures or tables, such as `5` or `table 1`; null: all. */
  readonly figures: readonly string[] | null;
  /** Called before each benchmark. */
  progress(line: string): void;
}

/** What `bench/reproduce` exports to the command line; a message where the source has no such figure. */
export type Reproduce = (
  request: ReproduceRequest,
) => Promise<{ readonly ok: true; readonly reproduction: Reproduction } | { readonly ok: false; readonly message: string }>;
