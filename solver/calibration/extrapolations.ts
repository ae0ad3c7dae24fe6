import { type CardCatalogue, cardOf } from "../hardware/catalogue";
import { type EngineProfile, engineNames } from "../hardware/engineProfile";
import { kernelCoefficients } from "../hardware/kernelCoefficients";
import type { ServingRow } from "./servingRow";

/** Factor beyond the fitted range of lengths and load that still counts as near it: kernels are known from their tables at all sizes. */
const RANGE_SLACK = 8;

/**
 * In which respects a run is outside the rows its profile was fitted to, in words; empty when it is not. Models and GPUs are not reported
 * for a profile that was not fitted to any.
 */
export function extrapolations(
  row: Omit<ServingRow, "line" | "id" | "origin" | "measured">,
  profile: EngineProfile,
  cards: CardCatalogue,
): readonly string[] {
  const reasons: string[] = [];
  const gpu = cardOf(cards.gpus, row.gpu);
  const model = cardOf(cards.models, row.model);
  if (row.engine !== profile.engine)
    reasons.push(`the profile is of ${engineNames[profile.engine]}, the run of ${engineNames[row.engine]}`);
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
  for (const [name, value, { least, most }] of [
    ["prompt tokens", row.inputTokens, fittedOn.inputTokens],
    ["answer tokens", row.outputTokens, fittedOn.outputTokens],
    ["requests in flight", row.concurrency, fittedOn.concurrency],
  ] as const) {
    if (value < least / RANGE_SLACK || value > most * RANGE_SLACK) reasons.push(`${value} ${name}, fitted on ${least} to ${most}`);
  }
  return reasons;
}
