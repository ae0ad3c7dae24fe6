import { justInTimeOver } from "@/server/lab/aragogRace";
import type { ClusterReplica } from "@/solver/cluster/clusterEngines";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { arrivals } from "@/solver/engine/arrivals";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { JustInTimePolicy, PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { factsOf } from "@/solver/prediction/programFacts";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import type { ProgramPredictions, ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable } from "@/solver/workload/workload";
import { emulatedReplica } from "../agreement/setup";
import { MODELLED_OUTCOMES, promptTextsOf, trainedHeads } from "../lib/trainedHeads";

/** Workflows of the source with and without parallel branches. */
const raced = workflows.filter(({ name }) => name === "voting" || name === "self-refine");

/** Arrival speed-up over any engine here: all engines always have work. */
const FLOOD_PROGRAMS_PER_SECOND = 1000;

export interface AragogSetupOptions {
  /** Smallest model first. */
  readonly outcomes: OutcomeTable;
  /** By row of the table. */
  readonly texts: readonly (string | null)[];
  /** GPUs of the only engine of each model. */
  readonly gpus: readonly number[];
  readonly programs: number;
  /** Rate of programs relative to the maximum that the largest model alone serves. */
  readonly load: number;
  readonly maxInFlight: number;
  readonly seed: number;
}

/** Programs of two workflows, their engines, and the systems that may decide which model answers which of their stages. */
export interface AragogSetup {
  readonly sample: ProgramSample;
  readonly replicas: readonly ClusterReplica[];
  readonly maxInFlight: number;
  readonly gpus: readonly number[];
  readonly programsPerSecond: number;
  /** Rounds over configurations predicted by the gateway's heads. */
  readonly justInTime: JustInTimePolicy;
  /** The cheapest of these, chosen when a program arrives. */
  readonly perInput: JustInTimePolicy;
  readonly allLargest: PolicyDocument;
  /** Trained heads, which the policies name. */
  readonly artefacts: readonly Uint8Array[];
  /** Their predictions for the sample. */
  readonly predictions: ProgramPredictions;
  readonly textOf: (row: number) => string | null;
}

/** Equal options give equal setups. */
export function aragogSetup(options: AragogSetupOptions): AragogSetup {
  const { outcomes, texts, gpus, programs, load, maxInFlight, seed } = options;
  const models = outcomes.models.map(({ model }) => model);
  const { heldOut } = splitPrompts(outcomes.promptIds.length, seed);
  const draw = (programsPerSecond: number): ProgramSample =>
    drawPrograms({
      ...{ ...MODELLED_OUTCOMES, outcomes, prompts: heldOut, mix: raced.map((workflow) => ({ workflow, share: 1 })), seed },
      arrivalSeconds: arrivals({ law: { kind: "poisson" }, requests: programs, requestsPerSecond: programsPerSecond, seed }),
    });
  const replicas = models.map((model, at) => ({ id: `${model}-0`, model, replica: emulatedReplica(model, gpus[at]), maxInFlight }));
  const largest = models.at(-1) ?? "";
  const allLargest: PolicyDocument = { kind: "fixed", model: largest, order: { kind: "fcfs" }, place: { kind: "least-load" } };
  const flood = simulatePrograms({ policy: buildPolicy(allLargest), sample: draw(FLOOD_PROGRAMS_PER_SECOND), replicas });
  const programsPerSecond = (load * programs) / flood.horizonSeconds;
  const sample = draw(programsPerSecond);

  const trained = trainedHeads(raced, { outcomes, texts, seed });
  const engines = replicas.map(({ model, replica }) => ({
    model,
    replicas: [{ replica: { ...replica, maxSequences: maxInFlight }, count: 1 }],
  }));
  const over = justInTimeOver({ engines, sample, workflows: [], catalogue: catalogueOf(noUserCards) });
  const named = trained.map(({ document, hash }) => ({ workflow: document, predictor: hash }));
  const found = new Map(trained.map(({ document, predictor }) => [document.name, predictor]));
  const promptTexts = promptTextsOf({ outcomes, texts });
  const predictions: ProgramPredictions = {
    configurations: (program) => {
      const request = sample.firstRequest[program] ?? 0;
      const predictor = found.get(sample.workflows[sample.workflow[program] ?? 0]?.name ?? "");
      return predictor?.predict([factsOf(sample, promptTexts, request, sample.givenTokens[request] ?? 0)])[0]?.accurate;
    },
  };
  return {
    ...{ sample, replicas, maxInFlight, gpus, programsPerSecond, allLargest, predictions },
    justInTime: { ...over, workflows: named, selection: { kind: "beam", width: 4 } },
    perInput: { ...over, workflows: named, selection: { kind: "cheapest" } },
    artefacts: trained.map(({ bytes }) => bytes),
    textOf: (row) => texts[row] ?? null,
  };
}
