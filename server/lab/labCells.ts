import { createHash } from "node:crypto";
import type { LabCell, LabSystem } from "@/server/contracts/studio/lab";
import { modelPerturbation } from "@/solver/calibration/modelPerturbation";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import type { ProgramOutcome } from "@/solver/cluster/programOutcome";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { catalogueOf } from "@/solver/hardware/catalogue";
import { cellFigures } from "@/solver/lab/cellFigures";
import { cascadeOf, judgesAny, type PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { decodeArtefact } from "@/solver/prediction/artefact";
import type { Artefact } from "@/solver/prediction/checkedArtefact";
import { confidenceOfEmbeddings, confidencePredictor } from "@/solver/prediction/confidence";
import { lengthPredictor } from "@/solver/prediction/lengths";
import { knownConfidence, predictionsOf } from "@/solver/prediction/programFacts";
import { gateRefusalText, isRefused } from "@/solver/stageGates/gateRefusal";
import { callScores } from "@/solver/stageGates/stageGate";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { configurationsFor } from "./labConfigurations";
import { clusterReplicas, enginesByModel, gpusOf } from "./labEngines";
import { modelsServed } from "./labGround";
import { atRate, type DrawnPrograms, learntPrograms, servedPrograms, tableOf } from "./labPrograms";
import type { LabCellKey, LabGround, LabTask } from "./labTask";

/** Programs whose mean lengths tell how many requests an engine decodes at once, and that engines are timed on for when they saturate. */
export const TYPICAL_PROGRAMS = 1000;

/**
 * Runs cells of a run one after another. A cell depends on the task and its key only: not on the cells before it, nor on who runs them.
 * Programs and predictions of the last seed are kept, so that cells are quickest seed by seed.
 *
 * @returns the cell of a key. @throws Error with a sentence where no program is served whole.
 */
export function labCells(task: LabTask, ground: LabGround): (key: LabCellKey) => LabCell {
  const { spec, workload, userCards, engineProfile } = task;
  const hardware = { catalogue: catalogueOf(userCards), profile: engineProfile };
  const table = tableOf(workload, modelsServed(task));
  const from = { task, table, sketches: ground.sketches };
  const typical = learntPrograms(from, TYPICAL_PROGRAMS).sample;
  const artefacts = new Map<string, Artefact>();
  let kept: (DrawnPrograms & { readonly seed: number; readonly predictions: Map<string, ProgramPredictions> }) | null = null;

  function programsOf(seed: number) {
    if (kept?.seed !== seed) kept = { seed, ...servedPrograms(from, seed), predictions: new Map() };
    return kept;
  }

  function artefact(part: "lengths" | "confidence", source: { readonly artefact: string } | "learnt"): Artefact {
    const key = source === "learnt" ? `${part} learnt` : source.artefact;
    const bytes = source === "learnt" ? ground[part] : task.artefacts[source.artefact];
    if (bytes == null) throw new Error(`The predictor ${key} is not at hand.`);
    const known = artefacts.get(key) ?? decodeArtefact(bytes);
    artefacts.set(key, known);
    return known;
  }

  function predicted({ sample, texts }: DrawnPrograms, part: "lengths" | "confidence", source: LabSystem["lengths"]): ProgramPredictions {
    if (source === "none" || source === "input") return {};
    if (source === "oracle") {
      const { confidence, requestTokens, remainingTokens } = oraclePredictions(sample);
      return part === "lengths" ? { requestTokens, remainingTokens } : { confidence };
    }
    const found = artefact(part, source);
    if (found.kind !== part) throw new Error(`The predictor is of ${found.kind}, not of ${part}.`);
    if (found.kind === "confidence" && task.embeddings !== undefined)
      return knownConfidence(sample, found.models, confidenceOfEmbeddings(found, task.embeddings.values));
    return predictionsOf(
      sample,
      texts,
      found.kind === "lengths" ? { lengths: lengthPredictor(found) } : { confidence: confidencePredictor(found) },
    );
  }

  function predictionsFor(system: LabSystem, seed: number): ProgramPredictions {
    const { predictions, ...programs } = programsOf(seed);
    const once = (key: readonly unknown[], make: () => ProgramPredictions): ProgramPredictions => {
      const text = JSON.stringify(key);
      const known = predictions.get(text) ?? make();
      predictions.set(text, known);
      return known;
    };
    const { lengths, confidence, configurations, policy } = system;
    const declared =
      policy.kind === "just-in-time" ? [policy.models.map(({ model }) => model), policy.workflows, policy.callGates ?? []] : [];
    return {
      ...once(["lengths", lengths], () => predicted(programs, "lengths", lengths)),
      ...once(["confidence", confidence], () => predicted(programs, "confidence", confidence)),
      ...once(["configurations", configurations, ...declared], () => configurationsFor(programs, system, { ground, task })),
    };
  }

  /** The engine as it is in truth under the seed. */
  function deviating(own: ClusterReplica, seed: number): ClusterReplica {
    return { ...own, replica: modelPerturbation(own.replica, engineProfile.errors, { seed, engineId: own.id }) };
  }

  return (key) => {
    const [system, rate, seed] = [spec.systems[key.system], spec.rates[key.rate], spec.seeds[key.seed]];
    if (system === undefined || rate === undefined || seed === undefined) throw new Error("There is no such cell in the description.");
    const own = system.replicas ?? spec.replicas;
    const drawn = atRate(programsOf(seed).sample, rate);
    const sample = system.gates === "never" ? withoutGates(drawn) : drawn;
    const replicas = clusterReplicas(enginesByModel(own, hardware), spec, typical, system.policy.order);
    const outcome = simulatePrograms({
      policy: buildPolicy(withLengths(system)),
      sample,
      replicas: spec.enginesDeviate ? replicas.map((replica) => deviating(replica, seed)) : replicas,
      predictions: predictionsFor(system, seed),
      overhead: spec.overhead,
      ...scoringOf(system, sample, { workload, table }),
      ...(spec.telemetrySeconds > 0 ? { telemetrySeconds: spec.telemetrySeconds } : {}),
    });
    const figures = cellFigures(outcome, sample, gpusOf(own) * spec.usdPerGpuHour);
    if (figures === null)
      throw new Error(`${system.name} at ${rate} programs/s served no program whole: none of its engines has room for the requests.`);
    return { ...key, ...figures, digest: digestOf(outcome) };
  };
}

/** A predictor that is trained for the run has no hash: this stands for it. */
const OF_THE_RUN = "0".repeat(64);

/** The policy, which names a predictor of lengths where the run has one: policies take a length that none predicts for the client's own limit. */
function withLengths({ policy, lengths }: Pick<LabSystem, "policy" | "lengths">): PolicyDocument {
  if (lengths === "none" || lengths === "input") return policy;
  return { ...policy, learnt: { lengths: typeof lengths === "object" ? lengths.artefact : OF_THE_RUN, ...policy.learnt } };
}

/** The same programs, of which every stage is called. */
const withoutGates = (sample: ProgramSample): ProgramSample => ({
  ...sample,
  workflows: sample.workflows.map((workflow) => ({ ...workflow, stages: workflow.stages.map(({ gate: _, ...stage }) => stage) })),
});

/**
 * Scores of answers by the workload's judge, in the time that the policy states for a call, and of agents' answers by their models' gates;
 * nothing where none is scored. A stage of a program has the score of its model's single answer to the prompt of its row.
 */
function scoringOf(
  { name, policy }: LabSystem,
  sample: ProgramSample,
  { workload, table: { models } }: { readonly workload: Workload; readonly table: OutcomeTable },
): Pick<Parameters<typeof simulatePrograms>[0], "scoring"> {
  const cascade = cascadeOf(policy);
  const isJudged = cascade !== null && judgesAny(cascade.thresholds);
  const calls = policy.kind === "just-in-time" ? callScores(policy, workload, sample) : null;
  if (calls !== null && isRefused(calls)) throw new Error(`${name}: ${gateRefusalText(calls)}`);
  if (!isJudged && calls === null) return {};
  const scores = isJudged ? models.map(({ judged }) => Float64Array.from(sample.row, (own) => judged[own] ?? Number.NaN)) : [];
  return { scoring: { scores, seconds: isJudged ? cascade.judge.secondsPerCall : 0, ...(calls !== null && { calls }) } };
}

function digestOf({ readySeconds, waitSeconds, endToEndSeconds, model }: ProgramOutcome): string {
  const hash = createHash("sha256");
  for (const { buffer, byteOffset, byteLength } of [readySeconds, waitSeconds, endToEndSeconds, model])
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  return hash.digest("hex");
}
