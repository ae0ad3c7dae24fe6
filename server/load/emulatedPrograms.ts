import type { EmulatedOutcomes } from "@/server/contracts/engine/emulatorAdmin";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { WorkflowStage } from "@/solver/workflow/workflow";

/** The stage that a request of a sample is. */
export function stageOf(sample: ProgramSample, request: number): WorkflowStage {
  const program = sample.program[request] ?? 0;
  const stage = sample.workflows[sample.workflow[program] ?? 0]?.stages[request - (sample.firstRequest[program] ?? 0)];
  if (stage === undefined) throw new RangeError(`The sample has no request ${request}`);
  return stage;
}

/** The agents whose answers a request of a sample reads, one for each answer, in the order of its stage's `reads`. */
export function upstreamAgents(sample: ProgramSample, request: number): readonly string[] {
  const first = sample.firstRequest[sample.program[request] ?? 0] ?? 0;
  return stageOf(sample, request).reads.map((stage) => stageOf(sample, first + stage).role);
}

/**
 * The name under which an emulator knows a request when models, by index and in the order of its stage's `reads`, have answered what it
 * reads: their answers stand in its prompt.
 */
export const programPrompt = (request: number, answeredBy: readonly number[]): string => [request, ...answeredBy].join("-");

/** Every request of a sample as a separate prompt for emulated engines, once for each choice of models that may answer what it reads. */
export function emulatedPrograms(name: string, sample: ProgramSample): EmulatedOutcomes {
  const { models, outputTokens, label, firstRequest, program } = sample;
  const promptIds: string[] = [];
  const inputTokens: number[] = [];
  const requests: number[] = [];
  for (let request = 0; request < program.length; request += 1) {
    const first = firstRequest[program[request] ?? 0] ?? 0;
    const read = stageOf(sample, request).reads.map((stage) => first + stage);
    for (const answeredBy of choices(models.length, read.length)) {
      promptIds.push(programPrompt(request, answeredBy));
      const history = read.reduce((sum, earlier, at) => sum + (outputTokens[answeredBy[at] ?? 0]?.[earlier] ?? 0), 0);
      inputTokens.push((sample.givenTokens[request] ?? 0) + history);
      requests.push(request);
    }
  }
  return {
    name,
    promptIds,
    inputTokens,
    models: models.map((model, index) => {
      // Nobody judges programs; labels that are not known are of no consequence to an emulator.
      const labels = requests.map((request) => known(label[index]?.[request]));
      return { model, outputTokens: requests.map((request) => outputTokens[index]?.[request] ?? 0), label: labels, judged: labels };
    }),
  };
}

const known = (label: number | undefined): number => (label === undefined || Number.isNaN(label) ? 0 : label);

/** All rows of `length` indices below `count`. */
function choices(count: number, length: number): readonly (readonly number[])[] {
  let rows: readonly (readonly number[])[] = [[]];
  for (let at = 0; at < length; at += 1) rows = rows.flatMap((row) => Array.from({ length: count }, (_, index) => [...row, index]));
  return rows;
}
