import { AZURE_CONVERSATION_SHAPE, gammaArrivals } from "../engine/gammaArrivals";
import { applyJudge, hasMeasuredJudge, type LabelledTable } from "./applyJudge";
import { DEFAULT_JUDGE_AUC } from "./judgeModel";
import type { JudgeSource, Workload, WorkloadOrigin } from "./workload";

/** Arrivals of a workload without its own: an hour at the rate of the Azure conversation trace that they are modelled on. */
const GENERATED_ARRIVALS = 20_000;
const GENERATED_REQUESTS_PER_SECOND = 5.53;

export interface WorkloadParts {
  readonly name: string;
  /** Outcomes and, in words, their origin. `generated` marks a table that was drawn, not read, `measured` one that a profile measured. The rest: see the origin. */
  readonly outcomes: Pick<WorkloadOrigin, "measured" | "agreement" | "confidence" | "scorers"> & {
    readonly table: LabelledTable;
    readonly origin: string;
    readonly generated?: boolean;
  };
  /** null: bursty arrivals are generated, and the origin says so. */
  readonly arrivals: (Pick<WorkloadOrigin, "byHour"> & { readonly arrivalSeconds: Float64Array; readonly origin: string }) | null;
  /** null: measured scores where the table has them, else a judge modelled at the default AUC. A number always selects a modelled judge. */
  readonly judgeAuc: number | null;
  readonly seed: number;
}

/** Joins outcomes, arrivals and a judge into a workload. */
export function buildWorkload({ name, outcomes, arrivals, judgeAuc, seed }: WorkloadParts): Workload {
  const judge: JudgeSource =
    judgeAuc === null && hasMeasuredJudge(outcomes.table)
      ? { kind: "measured" }
      : { kind: "modelled", auc: judgeAuc ?? DEFAULT_JUDGE_AUC, seed };
  const { arrivalSeconds, origin, byHour } = arrivals ?? { ...generatedArrivals(seed), byHour: undefined };
  return {
    name,
    outcomes: applyJudge(outcomes.table, judge),
    arrivalSeconds,
    judge,
    origin: {
      outcomes: outcomes.origin,
      arrivals: origin,
      generated: outcomes.generated ?? false,
      ...(outcomes.measured === undefined ? {} : { measured: outcomes.measured }),
      ...(outcomes.agreement === undefined ? {} : { agreement: outcomes.agreement }),
      ...(outcomes.confidence === undefined ? {} : { confidence: outcomes.confidence }),
      ...(outcomes.scorers === undefined ? {} : { scorers: outcomes.scorers }),
      ...(byHour === undefined ? {} : { byHour }),
    },
    seed,
  };
}

/** Bursty arrivals, for a workload without its own. */
export const generatedArrivals = (seed: number) => ({
  arrivalSeconds: gammaArrivals({
    requests: GENERATED_ARRIVALS,
    requestsPerSecond: GENERATED_REQUESTS_PER_SECOND,
    shape: AZURE_CONVERSATION_SHAPE,
    seed,
  }),
  origin: `generated: Gamma renewal process of shape ${AZURE_CONVERSATION_SHAPE}, fitted to the Azure conversation trace of 2023`,
});
