import type { ProgramSample } from "./programSample";

/** A request of the joined sample: the sample that it is taken from, its index there, and its program in both. */
interface Taken {
  readonly from: ProgramSample;
  readonly request: number;
  readonly program: number;
}

/**
 * A sample whose programs are those of the first, but for some of the other in their places: they arrive when those that they replace did.
 * Rows and prompts of both are of one outcome table.
 *
 * @param isOther whether the program of an index is the other sample's.
 * @throws RangeError where the samples differ in their models or in the number of programs.
 */
export function joinedPrograms(one: ProgramSample, other: ProgramSample, isOther: (program: number) => boolean): ProgramSample {
  const programs = one.arrivalSeconds.length;
  if (other.arrivalSeconds.length !== programs)
    throw new RangeError(`Joined samples have as many programs, found ${programs} and ${other.arrivalSeconds.length}`);
  if (one.models.join() !== other.models.join())
    throw new RangeError(`Joined samples have the same models, found ${one.models.join(", ")} and ${other.models.join(", ")}`);
  const sourceOf = Array.from({ length: programs }, (_, program) => (isOther(program) ? other : one));
  const firstRequest = new Int32Array(programs + 1);
  const taken: Taken[] = [];
  for (const [program, from] of sourceOf.entries()) {
    const [first = 0, end = 0] = from.firstRequest.subarray(program, program + 2);
    for (let request = first; request < end; request += 1) taken.push({ from, request, program });
    firstRequest[program + 1] = taken.length;
  }
  const ofPrograms = (read: (from: ProgramSample, program: number) => number | undefined) =>
    sourceOf.map((from, program) => read(from, program) ?? 0);
  const ofRequests = (read: (from: ProgramSample) => Int32Array | undefined): Int32Array =>
    Int32Array.from(taken, ({ from, request }) => read(from)?.[request] ?? 0);
  const { models } = one;
  return {
    models,
    workflows: [...one.workflows, ...other.workflows],
    arrivalSeconds: one.arrivalSeconds,
    workflow: Uint16Array.from(ofPrograms((from, program) => (from.workflow[program] ?? 0) + (from === other ? one.workflows.length : 0))),
    prompt: Int32Array.from(ofPrograms((from, program) => from.prompt[program])),
    firstRequest,
    program: Int32Array.from(taken, ({ program }) => program),
    row: ofRequests((from) => from.row),
    givenTokens: ofRequests((from) => from.givenTokens),
    outputTokens: models.map((_, model) => ofRequests((from) => from.outputTokens[model])),
    label: models.map((_, model) => Float64Array.from(taken, ({ from, request }) => from.label[model]?.[request] ?? Number.NaN)),
    ...((one.misled ?? other.misled) && { misled: Uint8Array.from(taken, ({ from, request }) => from.misled?.[request] ?? 0) }),
    ...((one.votes ?? other.votes) && {
      votes: models.map((_, model) => taken.map(({ from, request }) => from.votes?.[model]?.[request] ?? null)),
    }),
  };
}
