import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PlanningSample, planningSample } from "@/solver/cascade/routing/routing";
import { simulateCluster } from "@/solver/cluster/simulateCluster";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import type { CascadePolicy } from "@/solver/plan/plan";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { gateCandidates } from "@/solver/stageGates/gateCandidates";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { asksJudgeOn, type GateDocuments, type StageGates, stageGatesOf, withGateScores } from "@/solver/stageGates/stageGate";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import type { Workload } from "@/solver/workload/workload";
import { fitLadder, type GainSetting, gainSetting, type LadderCosts, tradeOffs } from "./gainSettings";

const LADDER = ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"];
const STAGES = [0, 1, 2];
const GPU_SECONDS = [1, 2, 4];

/** Whole scores of a judge as if measured, so that every gate may be planned with. */
function workloadOf(seed: number): Workload {
  const { outcomes, ...rest } = shortWorkload({ prompts: 240, ladder: LADDER, seed });
  const models = outcomes.models.map((own) => ({ ...own, judged: own.judged.map(Math.round) }));
  const scored = withRouterScores({ ...outcomes, models }, { auc: 0.75, seed });
  return withColumns({ ...rest, judge: { kind: "measured" }, outcomes: scored }, { samples: 2, seed });
}

function gatesOf(workload: Workload, documents: GateDocuments): StageGates {
  const gates = stageGatesOf(workload, documents);
  if (isRefused(gates)) throw new Error(gates.kind);
  return gates;
}

/** The planning prompts as a planner with these gates sees them. */
function sampleOf(workload: Workload, gates: StageGates): PlanningSample {
  const rows = splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning;
  const sample = planningSample(withGateScores(workload, gates), rows, LADDER);
  return gates.size === 0 ? sample : { ...sample, asksJudge: asksJudgeOn(gates, LADDER, rows) };
}

/** Cascade routing at every trade-off of the grid. */
function settingsOf(sample: PlanningSample, gates: LadderCosts["gates"]): readonly GainSetting[] {
  const ladder = fitLadder(sample, STAGES, { gpuSeconds: GPU_SECONDS, gates });
  if (ladder === null) throw new Error("too few labels");
  return tradeOffs(ladder).flatMap((tradeOff) => gainSetting(sample, ladder, tradeOff) ?? []);
}

/** The policy of a setting in a simulation of the planning prompts, by default one request after another. */
function simulated(
  workload: Workload,
  { document, thresholds }: Pick<GainSetting, "document" | "thresholds">,
  documents: GateDocuments | null,
  { everySeconds = 1000 }: { readonly everySeconds?: number } = {},
) {
  const policy: CascadePolicy = {
    kind: "cascade",
    ...{ stages: LADDER.map((model) => ({ model })), thresholds: [...thresholds] },
    judge: { model: "weir-judge", secondsPerCall: 0.3, usdPerCall: 0 },
    ...(documents === null ? {} : { gates: LADDER.slice(0, -1).map((model) => documents[model] ?? { kind: "judge" }) }),
    directStart: { below: [0, 0], router: { kind: "trained", predictor: "ab".repeat(32) } },
    cascadeRouting: document,
    ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
    approvedRanges: { thresholds: thresholds.map((threshold) => ({ min: threshold, max: threshold })) },
  };
  const rows = splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning;
  return simulateCluster({
    policy: buildPolicy(policy),
    replicas: LADDER.map((model) => {
      const fit = replicaModel(modelCards[model]!, gpuCards["h100-sxm"]!, { tp: 1, pp: 1 });
      if (!fit.fits) throw new Error(fit.reason);
      return { id: model, model, replica: fit.replica, maxInFlight: 64 };
    }),
    sample: { arrivalSeconds: Float64Array.from(rows, (_, at) => everySeconds * at), prompt: rows },
    ...{ outcomes: workload.outcomes, judgeSeconds: 0.3 },
    ...(documents === null ? {} : { gates: gatesOf(workload, documents) }),
  });
}

describe("cascade routing over a gate", () => {
  const workload = workloadOf(5);
  const candidates = gateCandidates(workload, LADDER, () => true);

  it.each(candidates)("$kind: decides in a simulation what it decided on the planning prompts", ({ kind, documents }) => {
    const fitted = documents === null ? {} : { kind };
    const sample = sampleOf(workload, gatesOf(workload, documents ?? {}));
    const settings = settingsOf(
      sample,
      STAGES.map(() => ({ ...fitted, gpuSeconds: 0.1 })),
    );
    const scoring = settings.filter(({ document }) => document.gates.some((gate) => gate !== null));
    expect(scoring.length).toBeGreaterThan(0);
    for (const setting of [scoring[0], scoring.at(-1)]) {
      if (setting === undefined) continue;
      const { finalStage, stages } = simulated(workload, setting, documents);
      expect(Array.from(finalStage)).toEqual(Array.from(setting.routed.exit));
      expect(stages.map(({ share }) => share)).toEqual(setting.routed.share.map((share) => expect.closeTo(share, 9)));
    }
  });

  it("covers every kind of gate", () => {
    expect(candidates.map(({ kind }) => kind)).toEqual(["judge", "confidence", "agreement", "scorer", "sequence"]);
  });

  it("decides as over the judge where the gate's scores are the judge's", () => {
    const same = { raw: [0, 100], calibrated: [0, 100] };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1000 }), fc.double({ min: 0, max: 3, noNaN: true }), (seed, gpuSeconds) => {
        const { outcomes, ...rest } = workloadOf(seed);
        const models = outcomes.models.map((own) => ({ ...own, confidence: own.judged }));
        const alike: Workload = { ...rest, outcomes: { ...outcomes, models } };
        const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration: same };
        const documents = Object.fromEntries(LADDER.slice(0, -1).map((model) => [model, gate]));
        const judged = settingsOf(
          sampleOf(alike, new Map()),
          STAGES.map(() => ({ gpuSeconds })),
        );
        const gated = settingsOf(
          sampleOf(alike, gatesOf(alike, documents)),
          STAGES.map(() => ({ kind: "confidence", gpuSeconds })),
        );
        const decided = ({ routed: { judgements: _, ...routed }, thresholds }: GainSetting) => ({ routed, thresholds });
        expect(gated.map(decided)).toEqual(judged.map(decided));
        const [one, other] = [judged[judged.length >> 1], gated[gated.length >> 1]];
        if (one === undefined || other === undefined) return;
        expect(simulated(alike, other, documents).finalStage).toEqual(simulated(alike, one, null).finalStage);
      }),
      { numRuns: 8 },
    );
  });

  it("asks for no further answers to compare with where no score is worth them", () => {
    const documents = candidates.find(({ kind }) => kind === "agreement")?.documents ?? {};
    const sample = sampleOf(workload, gatesOf(workload, documents));
    const [some] = settingsOf(
      sample,
      STAGES.map(() => ({ kind: "agreement", gpuSeconds: 0.1 })),
    );
    if (some === undefined) throw new Error("no setting");
    const { pointsPerGpuSecond, gates } = some.document;
    const dear = { ...some.document, gates: gates.map((gate) => gate && { ...gate, gpuSeconds: 101 / pointsPerGpuSecond }) };
    const ungated = { ...some, document: { ...dear, gates: gates.map(() => null) }, thresholds: [0, 0] };
    const close = { everySeconds: 0.05 };
    const [scored, never, none] = [some, { ...some, document: dear }, ungated].map((setting) =>
      simulated(workload, setting, documents, close),
    );
    expect(never?.endToEndSeconds).toEqual(none?.endToEndSeconds);
    expect(scored?.endToEndSeconds).not.toEqual(none?.endToEndSeconds);
  });
});
