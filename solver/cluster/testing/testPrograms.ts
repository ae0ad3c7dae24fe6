import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { seededRandom } from "@/solver/numeric/random";
import type { ProgramSample } from "@/solver/workflow/programSample";
import type { Workflow, WorkflowStage } from "@/solver/workflow/workflow";
import type { ClusterReplica } from "../clusterEngines";

const stage = (reads: readonly number[]): WorkflowStage => ({
  ...{ role: "agent", part: reads.length === 0 ? "solves" : "joins" },
  ...{ reads, instructionTokens: 20, lengthRatio: 1, lengthSpread: 0 },
});

/** A workflow of any shape, given by the stages that each stage reads. */
export const workflowOf = (...reads: readonly (readonly number[])[]): Workflow => ({
  ...{ name: "test", title: "A test's", source: "none" },
  stages: reads.map(stage),
});

export const single = workflowOf([]);
export const chain = workflowOf([], [0], [1], [2]);
export const fan = workflowOf([], [0], [0], [0], [1, 2, 3]);

export const testModels = ["small", "large"] as const;

interface Programs {
  readonly workflows: readonly Workflow[];
  readonly programs: number;
  readonly programsPerSecond: number;
  readonly seed: number;
}

/** Programs whose lengths and labels have the same distribution for all stages; with `workflows` in turn. */
export function programsOf({ workflows, programs, programsPerSecond, seed }: Programs): ProgramSample {
  const random = seededRandom(seed);
  let now = 0;
  const arrivalSeconds = Float64Array.from({ length: programs }, () => (now += random.exponential(programsPerSecond)));
  const workflow = Uint16Array.from({ length: programs }, (_, program) => program % workflows.length);
  const counts = Array.from(workflow, (index) => workflows[index]?.stages.length ?? 0);
  const firstRequest = new Int32Array(programs + 1);
  for (const [program, count] of counts.entries()) firstRequest[program + 1] = (firstRequest[program] ?? 0) + count;
  const program = Int32Array.from(counts.flatMap((count, index) => Array.from({ length: count }, () => index)));
  const drawn = (mu: number) => Int32Array.from(program, () => 1 + Math.min(1500, random.lognormal(mu, 0.9)));
  return {
    models: testModels,
    workflows,
    arrivalSeconds,
    workflow,
    prompt: Int32Array.from({ length: programs }, (_, index) => index),
    firstRequest,
    program,
    row: program,
    givenTokens: drawn(5),
    outputTokens: testModels.map(() => drawn(4.5)),
    label: testModels.map((_, size) => Float64Array.from(program, () => (random.next() < 0.4 + 0.3 * size ? 100 : 0))),
  };
}

/** An engine whose steps take 10 ms and a little more for each sequence and token. */
export const testReplica: ReplicaModel = {
  stepTime: {
    decodeBaseSeconds: (sequences) => 0.01 + 0.0005 * sequences,
    secondsPerKvToken: 1e-7,
    mixedStepSeconds: ({ tokens, sequences, kvTokensRead }) => 0.01 + 0.0005 * sequences + 2e-5 * tokens + 1e-7 * kvTokensRead,
    provenance: [],
  },
  kvTokens: 60_000,
  maxSequences: 32,
  maxBatchedTokens: 2048,
  requestSeconds: () => 0.005,
};

/** `count` replicas of each model; above what fits one batch, `maxInFlight` keeps the queue inside the engines. */
export function testReplicas(
  count: number,
  { maxInFlight = 32, ...more }: Partial<ReplicaModel & { maxInFlight: number }> = {},
): ClusterReplica[] {
  return testModels.flatMap((model) =>
    Array.from({ length: count }, (_, index) => ({ id: `${model}-${index}`, model, replica: { ...testReplica, ...more }, maxInFlight })),
  );
}
