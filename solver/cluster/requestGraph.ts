import type { ProgramSample } from "@/solver/workflow/programSample";

/** Which requests read which others' answers, and the number that each still waits for. */
export class RequestGraph {
  private readonly sample: ProgramSample;
  /** The stages that read each stage, by workflow. */
  private readonly readers: readonly (readonly (readonly number[])[])[];
  /** Number of answers that each request has yet to read. */
  private readonly missing: Int32Array;

  constructor(sample: ProgramSample) {
    this.sample = sample;
    this.readers = sample.workflows.map(({ stages }) =>
      stages.map((_, stage) => stages.flatMap(({ reads }, reader) => reads.flatMap((read) => (read === stage ? [reader] : [])))),
    );
    this.missing = Int32Array.from(sample.program, (program, request) => {
      const stages = sample.workflows[sample.workflow[program] ?? 0]?.stages ?? [];
      return stages[request - (sample.firstRequest[program] ?? 0)]?.reads.length ?? 0;
    });
  }

  /** Number of answers that a request waits for. */
  unread(request: number): number {
    return this.missing[request] ?? 0;
  }

  /** Requests that read the request's answer, once for each time they read it. */
  *readersOf(request: number): Generator<number> {
    const { sample, readers } = this;
    const program = sample.program[request] ?? 0;
    const first = sample.firstRequest[program] ?? 0;
    for (const stage of readers[sample.workflow[program] ?? 0]?.[request - first] ?? []) yield first + stage;
  }

  /** Records that a request read one more answer; returns whether that was the last it waited for. */
  read(request: number): boolean {
    const left = this.unread(request) - 1;
    this.missing[request] = left;
    return left === 0;
  }
}
