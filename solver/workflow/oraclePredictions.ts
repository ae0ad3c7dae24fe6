import { programQuality } from "./programQuality";
import type { ProgramPredictions, ProgramSample } from "./programSample";
import { laterStages } from "./workflow";

/**
 * An oracle's predictions of a sample's requests: the tokens each writes, those that it and everything after it in its program write
 * (parallel stages count separately), all on one model, and as confidence the quality of the program with every stage on that model,
 * divided by 100 (undefined where it is not known).
 */
export function oraclePredictions(sample: ProgramSample) {
  const requests = sample.program.length;
  const remaining = sample.outputTokens.map((tokens) => remainingOf(sample, tokens));
  const quality = sample.models.map((_, model) => {
    const modelOfRequest = new Int8Array(requests).fill(model);
    return Float64Array.from(sample.workflow, (_, program) => programQuality(sample, program, modelOfRequest));
  });
  return {
    confidence: (request: number, model: number) => {
      const known = quality[model]?.[sample.program[request] ?? -1];
      return known === undefined || Number.isNaN(known) ? undefined : known / 100;
    },
    requestTokens: (request: number, model: number) => sample.outputTokens[model]?.[request],
    remainingTokens: (request: number, model: number) => remaining[model]?.[request],
  } satisfies Required<Omit<ProgramPredictions, "configurations" | "margins">>;
}

/** Output tokens of each request and of those of its program that come after it, each once. */
function remainingOf({ workflows, workflow, program, firstRequest }: ProgramSample, outputTokens: Int32Array): Int32Array {
  const later = workflows.map(laterStages);
  return outputTokens.map((own, request) => {
    const of = program[request] ?? 0;
    const first = firstRequest[of] ?? 0;
    const after = later[workflow[of] ?? 0]?.[request - first] ?? [];
    return after.reduce((sum, stage) => sum + (outputTokens[first + stage] ?? 0), own);
  });
}
