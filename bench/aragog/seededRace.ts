import { justInTimeOver, perWorkflow } from "@/server/lab/aragogRace";
import { TYPICAL_PROGRAMS } from "@/server/lab/labCells";
import { drawnDocuments } from "@/server/lab/labConfigurations";
import { enginesByModel } from "@/server/lab/labEngines";
import { heldOutPrograms, planningPrograms, tableOf } from "@/server/lab/labPrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { aragogSystems } from "@/solver/lab/aragogSystems";
import { capacityOf } from "@/solver/lab/engineFigures";
import type { LabSpec, LabSystem } from "@/solver/lab/labSpec";
import { qualitiesOf } from "@/solver/lab/perWorkflow";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { MOST_LOSS } from "@/solver/prediction/acceptance";
import { type ConfigurationSpace, configurationSpace } from "@/solver/workflow/configurationSpace";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { allGpus, LEARNT, ORACLE, PER_WORKFLOW_ALLOWED, type RaceCase } from "./raceCase";
import { enginesOf, type RaceAnswers, withSmall } from "./raceLadders";

/** Number of times the programs of a run fill all places that engines have below saturation. */
const BATCHES_SERVED = 12;

/**
 * Time to read a prompt and predict its accurate configurations: far above the result of `configurations`, and charged to every system that
 * reads them.
 */
const ROUTE_SECONDS = 0.01;

/** Weir's heads run on a core of the machine that routes, so that the router's GPU may serve too. */
const WITHOUT_GPU: readonly string[] = [ORACLE, LEARNT];

const hasRouter = (name: string): boolean => WITHOUT_GPU.includes(name) || name.startsWith("B ");

/** Raced as a beam of width 1, if widths are raced. */
const GREEDY = "Greedy rounds";

export const hardware = { catalogue: catalogueOf(noUserCards), profile: vllmProfile };

/** Agents of the source's constrained spaces that must have the model of another. */
const SAME_MODEL: Readonly<Record<string, (agent: string) => string | undefined>> = {
  "self-refine": (agent) => (agent === "refiner" ? "critic" : undefined),
  voting: (agent) => (agent.startsWith("voter-") && agent !== "voter-1" ? "voter-1" : undefined),
};

function declaredFor({ workflow, constrained }: RaceCase): readonly WorkflowDocument[] {
  return drawnDocuments([{ workflow }]).map((document) => ({
    ...document,
    agents: document.agents.map((agent) => {
      const sameModelAs = constrained && SAME_MODEL[workflow]?.(agent.name);
      return sameModelAs ? { ...agent, sameModelAs } : agent;
    }),
  }));
}

/** A case under one seed: the seed splits the prompts again, so that intervals over seeds include the split and the training on it. */
export interface SeededRace {
  readonly answers: RaceAnswers;
  readonly spec: Omit<LabSpec, "rates" | "systems">;
  readonly systems: readonly LabSystem[];
  readonly capacity: number;
  readonly largestQuality: number;
  /** Programs for planning, programs to serve, and the configurations of their workflow. */
  readonly sample: ProgramSample;
  readonly served: ProgramSample;
  readonly space: ConfigurationSpace;
}

/** A case under a seed: systems, engines and programs. */
export function seeded(of: RaceCase, { workload: unsplit, texts }: RaceAnswers, seed: number): SeededRace {
  const { ladder, workflow, gpus, correlation, misleads, only, beams = [], batches = BATCHES_SERVED } = of;
  const workload = { ...unsplit, seed };
  const replicas = [...enginesOf(ladder, gpus)];
  const engines = enginesByModel(replicas, hardware);
  const table = tableOf(workload, ladder.models);
  const described = { mix: [{ workflow, share: 1 }], correlation, misleads };
  const sample = planningPrograms(described, workload, table, TYPICAL_PROGRAMS);
  const policy = justInTimeOver({ engines, sample, workflows: declaredFor(of), catalogue: hardware.catalogue });
  const places = replicas.reduce(
    (sum, { model, count }) => sum + count * (policy.models.find((own) => own.model === model)?.saturationBatch ?? 0),
    0,
  );
  const programs = Math.ceil((batches * places * TYPICAL_PROGRAMS) / sample.program.length);
  const spec: SeededRace["spec"] = {
    ...{ ...described, workloadId: "bench", programs, arrivals: "poisson", replicas, usdPerGpuHour: 1, seeds: [seed] },
    ...{ queue: "engines", aging: null, telemetrySeconds: 1 },
    overhead: { routeSeconds: ROUTE_SECONDS, predictSeconds: 0, decideSeconds: 0.001 },
  };
  const served = heldOutPrograms({ ...spec, rates: [1], systems: [] }, workload, table, seed);
  // With perfect knowledge, as in the source: of exactly the programs that are served.
  const fixed = perWorkflow(policy, served);
  const known = aragogSystems((selection) => ({ ...policy, selection }), fixed).map(({ about: _, ...system }) => system);
  const allowed: LabSystem = {
    ...{ name: PER_WORKFLOW_ALLOWED, lengths: "none", confidence: "none" },
    policy: { ...policy, selection: { kind: "fixed", configurations: perWorkflow(policy, served, MOST_LOSS) } },
  };
  const raced = [...known.slice(0, 1), allowed, ...known.slice(1)].filter(({ name }) => name !== GREEDY);
  const own = raced.filter(({ name }) => only?.includes(name) ?? true);
  const [oracle] = raced.filter(({ name }) => name === ORACLE);
  const widths = beams.map(
    (width): LabSystem => ({ ...(oracle as LabSystem), name: `B ${width}`, policy: { ...policy, selection: { kind: "beam", width } } }),
  );
  const wider = withSmall(replicas);
  const space = configurationSpace(
    policy.workflows[0]?.workflow as WorkflowDocument,
    policy.models.map(({ model }) => model),
  );
  return {
    answers: { workload, texts },
    spec,
    systems: [
      // A system without a router has its GPU, if there is one beyond the engines'.
      ...[...own, ...widths].map((system) => (gpus === 8 && !hasRouter(system.name) ? { ...system, replicas: wider } : system)),
      ...own
        .filter(({ name }) => gpus === 8 && WITHOUT_GPU.includes(name))
        .map((system) => ({ ...system, name: allGpus(system.name), replicas: wider })),
    ],
    ...{ sample, served, space, capacity: capacityOf(engines, sample) },
    largestQuality: qualitiesOf(served, workflow, space)[space.size - 1] ?? Number.NaN,
  };
}
