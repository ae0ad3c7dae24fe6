import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { resultsFolder } from "../lib/results";
import type { CascadeFigures } from "./cascadeFigures";
import type { MeasuredRun, RunFigures } from "./figures";

/** A prediction with the plan's 90 % band of the p95. Made and stored before its run. */
export interface Predicted extends RunFigures {
  readonly p95Low: number;
  readonly p95High: number;
  /** Requests per second over the predicted saturation. */
  readonly utilisation: number;
  /** Why the planner refuses the load, where it does: the figures are then simulated without a plan. */
  readonly refused: string | null;
  /** SHA-256 of the plan; null without one. */
  readonly plan: string | null;
}

/** Where and when a record was made. */
interface At {
  /** What the record is of: a record is made once. */
  readonly key: string;
  readonly atMs: number;
}

/** One line of the bench's file. */
export type RealRecord =
  | (At & { readonly kind: "engine"; readonly says: string; readonly loadSeconds: number })
  /** A fitted profile, as `weir measure` wrote it. */
  | (At & { readonly kind: "fit"; readonly minutes: number; readonly report: unknown; readonly profile: unknown })
  | (At & { readonly kind: "saturation"; readonly requestsPerSecond: number; readonly each: readonly number[] })
  | (At & { readonly kind: "predicted"; readonly requestsPerSecond: number; readonly predicted: Predicted })
  | (At & { readonly kind: "measured"; readonly requestsPerSecond: number; readonly measured: MeasuredRun })
  | (At & { readonly kind: "judge"; readonly secondsPerCall: number; readonly samples: number })
  | (At & { readonly kind: "cascade-predicted"; readonly requestsPerSecond: number; readonly predicted: CascadeFigures })
  | (At & { readonly kind: "cascade-measured"; readonly requestsPerSecond: number; readonly measured: CascadeFigures });

type Kind = RealRecord["kind"];
type Of<Name extends Kind> = Extract<RealRecord, { kind: Name }>;
type Made = RealRecord extends infer One ? (One extends RealRecord ? Omit<One, "atMs"> : never) : never;

/** The bench's records: each is appended at once, so that a stopped bench goes on where it was. */
export class Records {
  readonly file: string;
  readonly #all: RealRecord[];

  constructor(file = join(resultsFolder("real"), "runs.jsonl")) {
    this.file = file;
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    // A process that was killed may have left half a line.
    this.#all = text.split("\n").flatMap((line) => parsed(line));
  }

  find<Name extends Kind>(kind: Name, key: string): Of<Name> | undefined {
    return this.all(kind).find((one) => one.key === key);
  }

  all<Name extends Kind>(kind: Name): readonly Of<Name>[] {
    return this.#all.filter((one): one is Of<Name> => one.kind === kind);
  }

  add(made: Made): void {
    const record = { ...made, atMs: Date.now() } as RealRecord;
    const torn = existsSync(this.file) && !readFileSync(this.file, "utf8").endsWith("\n") ? "\n" : "";
    appendFileSync(this.file, `${torn}${JSON.stringify(record)}\n`);
    this.#all.push(record);
  }
}

function parsed(line: string): readonly RealRecord[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as RealRecord];
  } catch {
    return [];
  }
}
