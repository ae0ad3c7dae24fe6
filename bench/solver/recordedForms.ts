import { fitMeasured } from "@/solver/calibration/fitMeasured";
import type { MeasuredRun } from "@/solver/calibration/measuredRun";
import { arrivals } from "@/solver/engine/arrivals";
import { tpotSeconds } from "@/solver/engine/outcomeSummary";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { measuredReplica } from "@/solver/hardware/measuredEngine";
import { mean, quantile } from "@/solver/numeric/quantile";
import { atMost, type Benchmark } from "../lib/benchmark";
import { fittedToOthers, LIMITS, openRuns, replicaUnder, table } from "./recordedSweep";

const REQUESTS = 20_000;
const MS = 1000;

/** Offered load, as a share of what was completed, above which an open loop has no steady state to predict. */
const OVERLOADED = 1.1;

type Errors = Readonly<Record<"ttft" | "tpot" | "endToEnd" | "p95", number>>;

const limits = {
  kvTokens: { value: 40_000, origin: "assumed" },
  maxSequences: { value: LIMITS.maxSequences, origin: "observed" },
  maxBatchedTokens: { value: LIMITS.maxBatchedTokens, origin: "reported" },
  contextTokens: { value: 2048, origin: "reported" },
} as const;

function closedRuns(): readonly MeasuredRun[] {
  return table("closed.csv").map((record) => {
    const number = (name: string): number => Number(record[name]);
    const [inputTokens, outputTokens, concurrency] = [number("isl"), number("osl"), number("concurrency")];
    return {
      ...{ inputTokens, outputTokens, concurrency, requests: number("n"), seconds: number("n") / Math.max(1, number("rps")) },
      ...{ ttftSeconds: number("ttft_ms") / MS, tpotSeconds: number("tpot_ms") / MS, endToEndSeconds: number("e2e_ms") / MS },
      ...{ p50Seconds: number("p50_ms") / MS, p95Seconds: number("p95_ms") / MS },
    };
  });
}

function fitOf(runs: readonly MeasuredRun[]) {
  const options = {
    model: "tiny-b",
    gpu: "cpu-core",
    shape: { tp: 1, pp: 1 },
    limits,
    noise: null,
    asOf: "2026-11-23",
    source: "recorded",
  };
  const fit = fitMeasured(runs, { ...options, emulated: false });
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  return fit;
}

/** Median errors of the measured form on closed loops kept aside by their lengths. */
function closedErrors(): Errors {
  const { keptAside } = fitOf(closedRuns());
  const median = (of: readonly (number | null)[]): number => quantile(Float64Array.from(of.map((error) => Math.abs(error ?? 0))), 0.5);
  return {
    ttft: median(keptAside.map(({ errors }) => errors.ttft)),
    tpot: median(keptAside.map(({ errors }) => errors.tpot)),
    endToEnd: median(keptAside.map(({ errors }) => errors.endToEnd)),
    p95: median(keptAside.map(({ p95 }) => p95)),
  };
}

/** A replica fitted to the closed loops at lengths that no open loop has. */
function measuredToOthers(): ReplicaModel {
  const judged = new Set(openRuns().map(({ inputTokens, outputTokens }) => `${inputTokens} ${outputTokens}`));
  return measuredReplica(fitOf(closedRuns().filter((run) => !judged.has(`${run.inputTokens} ${run.outputTokens}`))).engine);
}

/** Median errors of a replica on the recorded open loops below saturation. */
function openErrors(replica: ReplicaModel): Errors {
  const all = table("open.csv").filter((record) => Number(record.rate_rps) <= OVERLOADED * Number(record.completed_rps));
  const errors = all.map((record): Errors => {
    const number = (name: string): number => Number(record[name]);
    const outcome = simulateReplica(replica, {
      inputTokens: new Int32Array(REQUESTS).fill(number("isl")),
      outputTokens: new Int32Array(REQUESTS).fill(number("osl")),
      arrivalSeconds: arrivals({
        law: { kind: "poisson" },
        requests: REQUESTS,
        requestsPerSecond: number("n") / number("seconds"),
        seed: 5,
      }),
    });
    const apart = (predicted: number, column: string): number => Math.abs((MS * predicted) / number(column) - 1);
    return {
      ttft: apart(mean(outcome.ttftSeconds), "ttft_ms"),
      tpot: apart(mean(tpotSeconds(outcome)), "tpot_ms"),
      endToEnd: apart(mean(outcome.endToEndSeconds), "e2e_ms"),
      p95: apart(quantile(outcome.endToEndSeconds, 0.95), "p95_ms"),
    };
  });
  const median = (name: keyof Errors): number => quantile(Float64Array.from(errors.map((one) => one[name])), 0.5);
  return { ttft: median("ttft"), tpot: median("tpot"), endToEnd: median("endToEnd"), p95: median("p95") };
}

const words = ({ ttft, tpot, endToEnd, p95 }: Errors): string =>
  `TTFT ${percent(ttft)}, TPOT ${percent(tpot)}, end to end ${percent(endToEnd)}, p95 ${percent(p95)}`;
const percent = (error: number): string => `${(100 * error).toFixed(1)} %`;

export const recordedFormBenchmarks: readonly Benchmark[] = [
  {
    name: "recorded sweep: measured form, closed loops kept aside",
    budget: atMost(10, "the measured form does not carry over to lengths that the fit has not seen"),
    run: () => {
      const errors = closedErrors();
      return {
        figure: 100 * errors.endToEnd,
        unit: "% off end to end",
        detail: `medians on 56 closed loops kept aside by lengths: ${words(errors)}`,
      };
    },
  },
  {
    name: "recorded sweep: measured form, open loops",
    budget: atMost(15, "a fit to closed loops does not carry over to the queues of open loops"),
    run: () => {
      const [measured, kernels] = [openErrors(measuredToOthers()), openErrors(replicaUnder(fittedToOthers(openRuns()).profile))];
      return {
        figure: 100 * measured.p95,
        unit: "% off in the p95",
        detail: `medians on 12 open loops at lengths that the fit had not seen: measured form ${words(measured)}; kernel form ${words(kernels)}`,
      };
    },
  },
];
