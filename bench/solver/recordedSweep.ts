import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fitProfile } from "@/solver/calibration/fitProfile";
import { readServingRow } from "@/solver/calibration/readServingRow";
import type { ServingRow } from "@/solver/calibration/servingRow";
import { arrivals } from "@/solver/engine/arrivals";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { saturationRate } from "@/solver/engine/saturation";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { unfittedProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, readUserCards } from "@/solver/hardware/catalogue";
import { withLimits } from "@/solver/hardware/engineLimits";
import type { KernelProfile } from "@/solver/hardware/engineProfile";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { mean, quantile } from "@/solver/numeric/quantile";
import { atMost, type Benchmark } from "../lib/benchmark";

const FOLDER = join(process.env.WEIR_ROOT ?? ".", "bench", "recorded");

/** Settings of the engine; see the folder's README. */
export const LIMITS = { maxSequences: 32, maxBatchedTokens: 2048 };

const REQUESTS = 20_000;

/** An open loop: Poisson arrivals of requests of one length each. */
export interface OpenRun {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Requests divided by the seconds in which they were sent. */
  readonly offeredPerSecond: number;
  readonly completedPerSecond: number;
  readonly p95Seconds: number;
}

type Record_ = Readonly<Record<string, string>>;

export function table(name: string): readonly Record_[] {
  const [header = "", ...lines] = readFileSync(join(FOLDER, name), "utf8").trim().split(/\r?\n/);
  const names = header.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, at) => [names[at] ?? "", cell])));
}

function cards() {
  const read = readUserCards(readFileSync(join(FOLDER, "cards.json"), "utf8"), "cards.json");
  if (!read.ok) throw new Error(read.message);
  return catalogueOf(read.cards);
}

const catalogue = cards();

function closedRuns(): readonly ServingRow[] {
  return table("closed.csv").map((record, index) => {
    const limits = { max_num_seqs: String(LIMITS.maxSequences), max_num_batched_tokens: String(LIMITS.maxBatchedTokens) };
    const read = readServingRow({ ...record, ...limits, precision: "bf16", random_range_ratio: "1" }, index + 2, catalogue);
    if (read.outcome !== "row") throw new Error(JSON.stringify(read));
    return read.row;
  });
}

export const openRuns = (): readonly OpenRun[] =>
  table("open.csv").map((record) => {
    const number = (name: string): number => Number(record[name]);
    return {
      inputTokens: number("isl"),
      outputTokens: number("osl"),
      offeredPerSecond: number("n") / number("seconds"),
      completedPerSecond: number("completed_rps"),
      p95Seconds: number("p95_ms") / 1000,
    };
  });

const key = ({ inputTokens, outputTokens }: Pick<OpenRun, "inputTokens" | "outputTokens">): string =>
  `${inputTokens} in, ${outputTokens} out`;

/** A profile fitted to the closed loops at the lengths that have no open loop. */
export function fittedToOthers(judged: readonly OpenRun[], from = unfittedProfile) {
  const unseen = new Set(judged.map(key));
  const rows = closedRuns().filter((row) => !unseen.has(key(row)));
  const fit = fitProfile(rows, from, { efficiencies: true, id: "recorded", name: "Recorded", asOf: "2026-11-23", cards: catalogue });
  if (fit.outcome !== "fitted") throw new Error(fit.reason);
  return { ...fit, rows: rows.length };
}

export function replicaUnder(profile: KernelProfile): ReplicaModel {
  const [model, gpu] = [catalogue.models["tiny-b"], catalogue.gpus["cpu-core"]];
  const fit = model && gpu ? replicaModel(model, gpu, { tp: 1, pp: 1 }, profile) : undefined;
  if (!fit?.fits) throw new Error("tiny-b fits one core");
  return withLimits(fit.replica, LIMITS);
}

export interface Judged {
  readonly lengths: string;
  readonly what: "saturation" | "p95";
  readonly share: number;
  readonly measured: number;
  readonly predicted: number;
  readonly error: number;
}

/** Measurements in open loops compared with the model's predictions: the saturation rate, and p95s below it. */
export function judge(profile: KernelProfile, runs: readonly OpenRun[]): readonly Judged[] {
  const replica = replicaUnder(profile);
  return [...new Set(runs.map(key))].flatMap((lengths) => {
    const own = runs.filter((run) => key(run) === lengths);
    const [overloaded] = [...own].sort((a, b) => b.offeredPerSecond - a.offeredPerSecond);
    if (overloaded === undefined) return [];
    const { inputTokens, outputTokens } = overloaded;
    const all = { inputTokens: new Int32Array(REQUESTS).fill(inputTokens), outputTokens: new Int32Array(REQUESTS).fill(outputTokens) };
    const saturation = saturationRate(replica, all, 2000) ?? Number.NaN;
    const measured = overloaded.completedPerSecond;
    const p95s = own
      .filter((run) => run !== overloaded)
      .map((run): Judged => {
        const arrivalSeconds = arrivals({ law: { kind: "poisson" }, requests: REQUESTS, requestsPerSecond: run.offeredPerSecond, seed: 5 });
        const predicted = quantile(simulateReplica(replica, { ...all, arrivalSeconds }).endToEndSeconds, 0.95);
        const share = run.offeredPerSecond / measured;
        return { lengths, what: "p95", share, measured: run.p95Seconds, predicted, error: predicted / run.p95Seconds - 1 };
      });
    return [{ lengths, what: "saturation" as const, share: 1, measured, predicted: saturation, error: saturation / measured - 1 }, ...p95s];
  });
}

const percent = (error: number): string => `${error < 0 ? "" : "+"}${Math.round(100 * error)}`;

/** Half and three quarters of saturation: the loads at which the model is evaluated. */
export const isJudged = ({ what, share }: Judged): boolean => what === "saturation" || share > 0.4;

function worst(what: Judged["what"]): Benchmark["run"] {
  return () => {
    const runs = openRuns();
    const fit = fittedToOthers(runs);
    const judged = judge(fit.profile, runs).filter((one) => one.what === what && isJudged(one));
    const errors = judged.map(({ error }) => Math.abs(error));
    const each = judged.map(
      ({ lengths, share, error }) => `${lengths}${what === "p95" ? ` at ${Math.round(100 * share)} %` : ""} ${percent(error)}`,
    );
    return {
      figure: 100 * Math.max(...errors),
      unit: "% off",
      detail: `worst of ${judged.length}, mean ${Math.round(100 * mean(errors))}: ${each.join("; ")} %; open loops of a real vLLM 0.32 at lengths that the fit had not seen, fitted to ${fit.rows} closed loops at others`,
    };
  };
}

export const recordedSweepBenchmarks: readonly Benchmark[] = [
  {
    name: "recorded sweep: saturation rate",
    budget: atMost(15, "the front end or the engine's limit of sequences is not simulated: 26 % off"),
    run: worst("saturation"),
  },
  {
    name: "recorded sweep: p95 at 50 and 75 % of saturation",
    budget: atMost(25, "the front end or the engine's limit of sequences is not simulated: 43 % off"),
    run: worst("p95"),
  },
];
