import { type CardCatalogue, cardOf } from "../hardware/catalogue";
import { type EngineProfile, engineTitle, isMeasured } from "../hardware/engineProfile";
import { kernelCoefficients } from "../hardware/kernelCoefficients";
import { type KeyedEngine, type MeasuredProfile, measurementsOf } from "../hardware/measuredProfile";
import type { ServingRow } from "./servingRow";

/** Factor beyond the fitted range of lengths and load that still counts as near it: kernels are known from their tables at all sizes. */
const RANGE_SLACK = 8;

/** The same for a measured engine, of which nothing but its runs is known. */
const MEASURED_SLACK = 1.5;

/** A run's properties that decide whether it is within what a profile was fitted to. */
type Run = Omit<ServingRow, "line" | "id" | "origin" | "measured" | "engine"> & { readonly engine: string };

/**
 * In which respects a run is outside the rows its profile was fitted to, in words; empty when it is not. Models and GPUs are not reported
 * for a profile that was not fitted to any.
 */
export function extrapolations(row: Run, profile: EngineProfile, cards: CardCatalogue): readonly string[] {
  if (isMeasured(profile)) return beyondMeasured(row, profile);
  const reasons: string[] = [];
  const gpu = cardOf(cards.gpus, row.gpu);
  const model = cardOf(cards.models, row.model);
  if (row.engine !== profile.engine)
    reasons.push(`the profile is of ${engineTitle(profile.engine)}, the run of ${engineTitle(row.engine)}`);
  if (gpu !== undefined && gpu.efficienciesOf !== gpu.id)
    reasons.push(`no kernel tables of ${gpu.name}: those of ${gpu.efficienciesOf} stand in`);
  if (
    gpu !== undefined &&
    row.precision === "fp8" &&
    (gpu.denseFlopsFp8 === null || kernelCoefficients[gpu.efficienciesOf].gemm.fp8 === null)
  )
    reasons.push(`no fp8 kernel tables of ${gpu.name}: bf16 kernels reading half the bytes stand in`);
  if (row.precision === "int4") reasons.push("no kernel tables of int4 weights: bf16 kernels reading fewer bytes stand in");
  if (row.shape.pp > 1) reasons.push("no measured run had a pipeline");
  const { fittedOn } = profile;
  if (fittedOn === null) return reasons;
  if (!fittedOn.gpus.includes(row.gpu)) reasons.push(`no run on ${row.gpu} was fitted`);
  if (!fittedOn.weights.includes(row.precision)) reasons.push(`no run with ${row.precision} weights was fitted`);
  if (!fittedOn.models.includes(row.model))
    reasons.push(
      model?.architecture.feedForward.kind === "moe" ? "no run of a mixture of experts was fitted" : `no run of ${row.model} was fitted`,
    );
  if (row.shape.tp > fittedOn.tp.most) reasons.push(`tp ${row.shape.tp}, fitted up to ${fittedOn.tp.most}`);
  return [...reasons, ...outside(row, fittedOn, RANGE_SLACK)];
}

/** In which respects a run is outside the measurement of its engine. */
function beyondMeasured(row: Run, profile: MeasuredProfile): readonly string[] {
  const all = measurementsOf(profile, row);
  const engine = all.at(-1);
  if (engine === undefined) return [`no measurement of ${row.model} on ${row.gpu}: kernel tables and the built-in profile stand in`];
  return [...otherSoftware(engine, all), ...outside(row, engine.measuredOn, MEASURED_SLACK)];
}

/** Whether the measurement that counts may be of another engine software than the one that serves. */
function otherSoftware({ engine, standsInFor }: KeyedEngine, all: readonly KeyedEngine[]): readonly string[] {
  if (standsInFor !== undefined)
    return [`${engineTitle(standsInFor)} was not measured: times and limits of ${engineTitle(engine)} stand in`];
  const names = all.map((one) => engineTitle(one.engine));
  return all.length === 1
    ? []
    : [`measured with ${names.join(" and ")}, and which one serves is not known: times are of ${engineTitle(engine)}`];
}

interface Spans {
  readonly inputTokens: { readonly least: number; readonly most: number };
  readonly outputTokens: { readonly least: number; readonly most: number };
  readonly concurrency: { readonly least: number; readonly most: number };
}

/** Which lengths and load of a run are outside those of the fitted runs by more than a factor. */
const outside = (row: Run, { inputTokens, outputTokens, concurrency }: Spans, slack: number): readonly string[] =>
  (
    [
      ["prompt tokens", row.inputTokens, inputTokens],
      ["answer tokens", row.outputTokens, outputTokens],
      ["requests in flight", row.concurrency, concurrency],
    ] as const
  ).flatMap(([name, value, { least, most }]) =>
    value < least / slack || value > most * slack ? [`${value} ${name}, fitted on ${least} to ${most}`] : [],
  );
