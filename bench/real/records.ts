import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JudgeTimes } from "@/solver/judging/judgeTime";
import { type Provenance, provenance } from "../lib/provenance";
import { resultsFolder } from "../lib/results";
import type { CascadeFigures } from "./cascadeFigures";
import type { MeasuredRun, RunFigures } from "./figures";

/** A prediction with the plan's 90 % band of the p95. */
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

/** What the figures of a record rest on. */
interface Of extends Provenance {
  /** What the record is of: a record is made once. */
  readonly key: string;
  readonly atMs: number;
}

interface Load {
  readonly requestsPerSecond: number;
  /** SHA-256 of the profile that the prediction is made with. */
  readonly profile: string;
}

interface Run extends Load {
  /** When the first request of the run was about to be sent. */
  readonly beganMs: number;
}

/** One answer of each planning question by one model. */
export interface RecordedAnswers {
  readonly model: string;
  readonly outputTokens: readonly number[];
  /** 0 or 100. */
  readonly label: readonly number[];
  readonly judged: readonly number[];
}

/** One line of the bench's file. */
export type RealRecord =
  | (Of & {
      readonly kind: "engine";
      readonly loadSeconds: number;
      readonly command: readonly string[];
      readonly cores: string;
    })
  /** A fitted profile, as `weir measure` wrote it. */
  | (Of & {
      readonly kind: "fit";
      readonly minutes: number;
      readonly report: unknown;
      readonly profile: unknown;
    })
  | (Of & { readonly kind: "saturation"; readonly requestsPerSecond: number; readonly each: readonly number[] })
  | (Of &
      Load & {
        readonly kind: "predicted";
        readonly predicted: Predicted;
        /** The p95 when the planner knows another part of the replayed record than the one that is sent; null: arrivals are drawn. */
        readonly p95OtherPart: number | null;
      })
  | (Of &
      Run & {
        readonly kind: "measured";
        readonly measured: MeasuredRun;
      })
  /** Outcomes of the planning questions, and the judge's time. */
  | (Of & {
      readonly kind: "outcomes";
      readonly inputTokens: readonly number[];
      readonly models: readonly RecordedAnswers[];
      readonly judge: JudgeTimes;
    })
  | (Of & Load & { readonly kind: "cascade-predicted"; readonly predicted: CascadeFigures })
  | (Of & Run & { readonly kind: "cascade-measured"; readonly measured: CascadeFigures });

type Kind = RealRecord["kind"];
export type RecordOf<Name extends Kind> = Extract<RealRecord, { kind: Name }>;
type Made = RealRecord extends infer One ? (One extends RealRecord ? Omit<One, "atMs" | keyof Provenance> : never) : never;

/** The bench's records: each is appended at once, so that a stopped bench continues where it was. */
export class Records {
  readonly file: string;
  readonly provenance: Provenance;
  readonly #all: RealRecord[];

  /** @throws Error where the file has records of another commit or machine: figures of two must not stand in one table. */
  constructor(file = join(resultsFolder("real"), "runs.jsonl"), own = provenance()) {
    this.file = file;
    this.provenance = own;
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    // A process that was killed may have left half a line.
    this.#all = text.split("\n").flatMap((line) => parsed(line));
    const other = this.#all.find(({ commit, machine }) => commit !== own.commit || machine !== own.machine);
    if (other !== undefined)
      throw new Error(
        `${file} has records of commit ${other.commit} on ${other.machine}; this is ${own.commit} on ${own.machine}: move the file away to measure again.`,
      );
  }

  find<Name extends Kind>(kind: Name, key: string): RecordOf<Name> | undefined {
    return this.all(kind).find((one) => one.key === key);
  }

  all<Name extends Kind>(kind: Name): readonly RecordOf<Name>[] {
    return this.#all.filter((one): one is RecordOf<Name> => one.kind === kind);
  }

  add(made: Made): void {
    const record = { ...made, ...this.provenance, atMs: Date.now() } as RealRecord;
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
