import type { LabSystem } from "@/server/contracts/studio/lab";
import { mixSeed } from "@/solver/numeric/random";
import type { JustInTimePolicy, PolicyDocument } from "@/solver/plan/policySchema";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { decodeArtefact, encodeArtefact } from "@/solver/prediction/artefact";
import type { Artefact } from "@/solver/prediction/checkedArtefact";
import { type Embeddings, embeddingsAt } from "@/solver/prediction/confidence";
import { configurationRowsOf } from "@/solver/prediction/configurationRows";
import { type ConfigurationPredictor, configurationPredictor, trainConfigurations } from "@/solver/prediction/configurations";
import type { ConfigurationSearch } from "@/solver/prediction/predictor";
import { factsOf } from "@/solver/prediction/programFacts";
import { oracleConfigurations } from "@/solver/workflow/configurationOutcomes";
import { configurationSpace } from "@/solver/workflow/configurationSpace";
import type { ProgramPredictions } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import { documentOfWorkflow } from "@/solver/workflow/workflowDocuments";
import { sameShape, workflowShape } from "@/solver/workflow/workflowShape";
import { type DrawnPrograms, learntPrograms, tableOf } from "./labPrograms";
import type { LabGround, LabTask } from "./labTask";

/** Programs that the heads of one workflow are learnt of. */
const TRAINING_PROGRAMS = 2000;

/** Prompts that are searched for in lockstep. */
const BATCH = 256;

/** A workflow over models, smallest first: what accurate configurations are of. */
interface ConfigurationCase {
  readonly workflow: WorkflowDocument;
  readonly models: readonly string[];
  /** The hash of the predictor that the policy names. */
  readonly predictor?: string | undefined;
}

const casesOf = ({ models, workflows: declared }: JustInTimePolicy): readonly ConfigurationCase[] =>
  declared.map(({ workflow, predictor }) => ({ workflow, predictor, models: models.map(({ model }) => model) }));

/** What heads depend on: which models may run which agents, and how the agents read. */
const keyOf = ({ workflow, models }: ConfigurationCase): string => JSON.stringify([models, workflowShape(workflow)]);

/** The hashes of predictors of configurations that a system reads. */
export const namedConfigurations = ({ policy, configurations }: Pick<LabSystem, "policy" | "configurations">): readonly string[] =>
  policy.kind === "just-in-time" && configurations === "named" ? policy.workflows.flatMap(({ predictor }) => predictor ?? []) : [];

/** Heads of every workflow and its models that a system learns for the run, encoded, by what they depend on. Each is trained once. */
export function learnConfigurations(task: LabTask, { sketches }: Pick<LabGround, "sketches">): Record<string, Uint8Array> {
  // Recorded runs are of no declared workflow.
  const { recorded: _, ...drawn } = task;
  const { spec, workload } = task;
  const learnt: Record<string, Uint8Array> = {};
  for (const { policy, configurations } of spec.systems) {
    if (policy.kind !== "just-in-time" || configurations !== "learnt") continue;
    for (const own of casesOf(policy)) {
      const key = keyOf(own);
      if (learnt[key] !== undefined || !spec.mix.some(({ workflow }) => workflow === own.workflow.name)) continue;
      const space = configurationSpace(own.workflow, own.models);
      // With one configuration there is nothing to choose, and nothing to learn.
      if (space.size === 1) continue;
      const mix = [{ workflow: own.workflow.name, share: 1 }];
      const table = tableOf(workload, own.models);
      const { sample, texts } = learntPrograms({ task: { ...drawn, spec: { ...spec, mix } }, table, sketches }, TRAINING_PROGRAMS);
      const rows = configurationRowsOf(sample, space, texts, own.workflow);
      const read = task.embeddings === undefined ? {} : { embeddings: embeddingsAt(task.embeddings, rows.prompts) };
      learnt[key] = encodeArtefact(trainConfigurations({ ...rows, ...read }, { seed: mixSeed(workload.seed, "lab") }));
    }
  }
  return learnt;
}

interface ConfigurationSources {
  readonly ground: Pick<LabGround, "configurations">;
  readonly task: Pick<LabTask, "artefacts" | "embeddings">;
}

/** What is said of the accurate configurations of programs where a system reads any; computed program by program, or all at once by predictors. */
export function configurationsFor(
  { sample, texts }: DrawnPrograms,
  { policy, configurations = "none" }: Pick<LabSystem, "policy" | "configurations">,
  { ground, task: { artefacts, embeddings } }: ConfigurationSources,
): ProgramPredictions {
  if (policy.kind !== "just-in-time" || configurations === "none") return {};
  const cases = casesOf(policy);
  if (configurations === "oracle") {
    const spaces = new Map(cases.map(({ workflow, models }) => [workflow.name, configurationSpace(workflow, models)]));
    return { configurations: oracleConfigurations(sample, spaces) };
  }
  const predicted = new Map<number, ConfigurationSearch>();
  const withMargins = policy.callGates !== undefined;
  for (const own of cases) {
    const bytes = configurations === "learnt" ? ground.configurations[keyOf(own)] : artefacts[own.predictor ?? ""];
    if (bytes === undefined) continue;
    const predictor = predictorOf(decodeArtefact(bytes));
    const programs = Array.from(sample.workflow.keys()).filter(
      (program) => sample.workflows[sample.workflow[program] ?? 0]?.name === own.workflow.name,
    );
    for (let from = 0; from < programs.length; from += BATCH) {
      const batch = programs.slice(from, from + BATCH);
      for (const [at, found] of searchesOf(predictor, { sample, texts }, { batch, embeddings, withMargins }).entries())
        predicted.set(batch[at] ?? 0, found);
    }
  }
  return {
    configurations: (program) => predicted.get(program)?.accurate,
    ...(withMargins && { margins: (program) => predicted.get(program)?.margins }),
  };
}

/** What a predictor finds for a batch of programs, by their prompts' words or embeddings, whichever its heads read. */
function searchesOf(
  predictor: ConfigurationPredictor,
  { sample, texts }: DrawnPrograms,
  { batch, embeddings, withMargins }: { batch: readonly number[]; embeddings: Embeddings | undefined; withMargins: boolean },
): readonly ConfigurationSearch[] {
  if (predictor.artefact.reading.words === null) {
    if (embeddings === undefined) throw new Error("The predictor reads an encoder's embeddings, and the run has none.");
    const prompts = Int32Array.from(batch, (program) => sample.prompt[program] ?? 0);
    return predictor.predictOfEmbeddings(embeddingsAt(embeddings, prompts).values, { withMargins });
  }
  const facts = batch.map((program) => {
    const request = sample.firstRequest[program] ?? 0;
    return factsOf(sample, texts, request, sample.givenTokens[request] ?? 0);
  });
  return predictor.predict(facts, { withMargins });
}

function predictorOf(artefact: Artefact): ConfigurationPredictor {
  if (artefact.kind !== "configurations") throw new Error(`The predictor is of ${artefact.kind}, not of configurations.`);
  return configurationPredictor(artefact);
}

/** Workflows of a mix of which the lab draws programs of one shape only: those that can be declared. */
export const drawnDocuments = (mix: readonly { readonly workflow: string }[]): readonly WorkflowDocument[] =>
  workflows
    .filter(({ name, otherShapes }) => otherShapes === undefined && mix.some(({ workflow }) => workflow === name))
    .map(documentOfWorkflow);

/** Names of a mix's workflows of which a policy has no configurations, since it declares none or other agents: their requests go to the largest model. */
export function undeclared(policy: PolicyDocument, mix: readonly { readonly workflow: string }[]): readonly string[] {
  if (policy.kind !== "just-in-time") return [];
  const drawn = drawnDocuments(mix);
  const agents = (document: WorkflowDocument | undefined): string =>
    JSON.stringify(document?.agents.map(({ name, reads }) => [name, reads]));
  return mix.flatMap(({ workflow: name }) => {
    const own = drawn.find((document) => document.name === name);
    const declared = policy.workflows.find(({ workflow }) => workflow.name === name);
    return own !== undefined && declared !== undefined && agents(own) === agents(declared.workflow) ? [] : [name];
  });
}

/** Why a trained predictor does not fit a workflow of a policy, as the rest of a sentence; null if it does. */
export function unfitPredictor(artefact: Artefact, policy: JustInTimePolicy, workflow: string): string | null {
  if (artefact.kind !== "configurations") return `tells ${artefact.kind}, not configurations`;
  if (artefact.reading.words === null) return "reads an encoder's embeddings, which the lab does not make: name one that reads words";
  const own = policy.workflows.find((each) => each.workflow.name === workflow);
  const models = policy.models.map(({ model }) => model);
  return own !== undefined && sameShape(own.workflow, artefact.workflow) && models.join() === artefact.models.join()
    ? null
    : `was trained for ${artefact.workflow.name} over ${artefact.models.join(", ")}, with agents that are not those of the policy's ${workflow} or other models`;
}
