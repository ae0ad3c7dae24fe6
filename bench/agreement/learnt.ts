import { createHash } from "node:crypto";
import { makeGround } from "@/server/lab/labGround";
import { tableOf } from "@/server/lab/labPrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { noUserCards } from "@/solver/hardware/catalogue";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { confidencePredictor } from "@/solver/prediction/confidence";
import { lengthPredictor } from "@/solver/prediction/lengths";
import { predictionsOf } from "@/solver/prediction/programFacts";
import { splitPrompts } from "@/solver/workload/split";
import { emulatedGpu } from "../lib/emulation";
import { answersOf, workflowsOf } from "../lib/ladders";
import type { AgreementCase } from "./agreementRun";
import { agreementSetup, policyOf } from "./setup";

const task = "gsm";
const models = ["gemma-2-2b", "gemma-2-9b"];

/** Slack dispatch with predictors that the gateway runs itself, trained as in the lab on prompts that are not sent. */
export async function learntCase(load: number): Promise<AgreementCase> {
  const replicas = models.map((model) => ({ model, gpu: emulatedGpu, precision: "bf16" as const, tp: 1, pp: 1, count: 1 }));
  const { workload, texts } = await answersOf({ family: "Gemma-2-it", task, replicas });
  const outcomes = tableOf(workload, models);
  const setup = agreementSetup({
    ...{ outcomes, prompts: splitPrompts(outcomes.promptIds.length, workload.seed).heldOut, workflowNames: workflowsOf[task] },
    ...{ programs: 300, load, enginesEach: 1, maxInFlight: 16, seed: 1 },
  });
  const policy = policyOf(setup, "Chimera");
  const trained = makeGround({
    spec: {
      ...{ workloadId: "bench", programs: 300, arrivals: "poisson", usdPerGpuHour: 0, queue: "centre", aging: null, telemetrySeconds: 0 },
      ...{ overhead: { routeSeconds: 0, predictSeconds: 0, decideSeconds: 0 }, rates: [1], seeds: [1], correlation: 0.5, replicas },
      mix: workflowsOf[task].map((workflow) => ({ workflow, share: 1 })),
      systems: [{ name: "learnt", policy, lengths: "learnt", confidence: "learnt" }],
    },
    ...{ workload, userCards: noUserCards, engineProfile: vllmProfile, artefacts: {}, texts: { kind: "given", texts } },
  });
  const [lengths, confidence] = [decoded(trained.lengths, "lengths"), decoded(trained.confidence, "confidence")];
  const promptTexts = { sketches: trained.sketches, promptTokens: outcomes.inputTokens };
  return {
    setup,
    policy: { ...policy, learnt: { lengths: lengths.hash, confidence: confidence.hash } },
    prediction: {
      by: "predictors",
      artefacts: [lengths.bytes, confidence.bytes],
      predictions: predictionsOf(setup.sample, promptTexts, {
        lengths: lengthPredictor(lengths.artefact),
        confidence: confidencePredictor(confidence.artefact),
      }),
      textOf: (row) => texts[row] ?? null,
    },
  };
}

function decoded<Kind extends "lengths" | "confidence">(bytes: Uint8Array | null, kind: Kind) {
  const artefact = bytes === null ? null : decodeArtefact(bytes);
  if (bytes === null || artefact?.kind !== kind) throw new Error(`No predictor of ${kind} was trained`);
  type Own = Extract<typeof artefact, { kind: Kind }>;
  return { bytes, artefact: artefact as Own, hash: createHash("sha256").update(bytes).digest("hex") };
}
