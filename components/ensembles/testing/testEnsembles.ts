import type { Batch, EnsemblePlacement, KeptEnsemble } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";

/** An ensemble of three experts, whole. */
export const testEnsemble = (change: Partial<Ensemble> = {}): Ensemble => ({
  ...{ name: "maths", experts: ["gemma-2-9b", "qwen2.5-7b", "llama-3.1-8b"], expertsPerQuestion: 3, extraction: { kind: "choice" } },
  ...{ confidence: { kind: "plurality" }, tau: 1, aggregator: { model: "llama-3.1-70b" }, quorum: 2, deadlineSeconds: 60 },
  ...change,
});

export const testKept = (change: Partial<Ensemble> = {}): KeptEnsemble => ({
  ...{ ensemble: testEnsemble(change), version: 1, createdAt: "2026-03-01T10:00:00Z", actor: "ada" },
});

/** A placement of two experts on two workers, next to round-robin and list scheduling. */
export const testPlacement = (change: Partial<EnsemblePlacement> = {}): EnsemblePlacement => {
  const session = (model: string, prompts: number, fromSeconds: number, untilSeconds: number) => ({
    ...{ model, prompts, fromSeconds, readySeconds: fromSeconds + 40, untilSeconds },
  });
  const expert = (model: string, kind: "measured" | "modelled") => ({
    ...{ model, prompts: 1000, loadSeconds: 40, secondsPerPrompt: 0.5, replicaCap: 2, replicas: 2 },
    ...{ says: "A third load would cost more than it saves.", cost: { kind, source: "12 sessions" } },
    ...{ load: { kind: "estimated" as const, source: "16 GiB at 3 GB/s" }, tokensPerSecond: { whole: 1810.4, shard: 1204.6 } },
  });
  return {
    ...{ gpu: "h100-sxm", gpusPerWorker: 1, questions: 1000, maxModelsPerWorker: 2 },
    experts: [expert("gemma-2-9b", "measured"), expert("qwen2.5-7b", "modelled")],
    schedules: [
      {
        ...{ kind: "placed", makespanSeconds: 500, idle: 0.02, loads: 3 },
        workers: [[session("gemma-2-9b", 500, 0, 500)], [session("gemma-2-9b", 500, 0, 240), session("qwen2.5-7b", 1000, 240, 480)]],
      },
      {
        ...{ kind: "round-robin", makespanSeconds: 800, idle: 0.4, loads: 2 },
        workers: [[session("gemma-2-9b", 1000, 0, 800)], [session("qwen2.5-7b", 1000, 0, 160)]],
      },
      {
        ...{ kind: "list-scheduling", makespanSeconds: 480, idle: 0.1, loads: 2 },
        workers: [[session("gemma-2-9b", 1000, 0, 480)], [session("qwen2.5-7b", 1000, 0, 160)]],
      },
    ],
    solved: {
      ...{ makespanSeconds: 500, lowerBoundSeconds: 499.6, gap: 0.0008, engine: "HiGHS", seconds: 0.4, proven: false, by: "milp" },
    },
    sweep: [
      { maxModelsPerWorker: 1, makespanSeconds: 800 },
      { maxModelsPerWorker: 2, makespanSeconds: 500 },
    ],
    aggregator: {
      ...{ model: "llama-3.1-70b", tp: 2, copies: 1, loadSeconds: 60 },
      points: Array.from({ length: 11 }, (_, at) => ({ share: at / 10, seconds: at * 100 })),
    },
    notes: [],
    ...change,
  };
};

type BatchSession = Batch["sessions"][number];

/** A session that has not begun. */
export const testSession = (change: Partial<BatchSession> = {}): BatchSession => ({
  ...{ stage: "experts", worker: 0, turn: 0, model: "gemma-2-9b", prompts: 100, answered: 0, failed: 0, state: "waiting", engine: null },
  ...{ predicted: { loadSeconds: 40, seconds: 100 }, measured: { loadSeconds: null, seconds: null }, expected: null },
  ...change,
});

/** An emulated batch halfway through. */
export const testBatch = (change: Partial<Batch> = {}): Batch => ({
  ...{ id: "b1", name: "night", createdAt: "2026-03-01T10:00:00Z", endedAt: null, actor: "ada", clusterId: "c", promptSetId: "p" },
  ...{ ensemble: "maths", state: "running", pause: null, questions: 100, emulated: true, document: testEnsemble(), schedules: [] },
  request: {
    ...{ name: "night", clusterId: "c", promptSetId: "p", ensemble: "maths", workers: 2, gpusPerWorker: 1, maxModelsPerWorker: null },
    ...{ replicas: "amortised", concurrency: 64, timeoutSeconds: 600, attempts: 3 },
  },
  sessions: [testSession({ state: "running", answered: 50 })],
  progress: {
    expertAnswers: { asked: 300, done: 144, failed: 6 },
    questions: { skipped: 30, aggregated: 8, unanswered: 2, open: 60, toAggregate: 20 },
    ...{ noVote: 3, failures: [{ failure: "no answer within 600 s", calls: 6 }], lost: 0, retried: 9, etaSeconds: 240 },
    questionsRead: null,
  },
  aggregatorPredicted: { loadSeconds: 60, seconds: 200, share: 1, says: "As if all were sent." },
  accuracy: { right: 32, questions: 40 },
  notes: [],
  ...change,
});
