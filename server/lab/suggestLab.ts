import type { Outcome } from "@/server/contracts/studio";
import type { LabReplicas, LabSpec, LabSuggestion, LabSuggestionRequest } from "@/server/contracts/studio/lab";
import { refuseField } from "@/server/lib/fieldFault";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { cardOf } from "@/solver/hardware/catalogue";
import { tensorParallelisms } from "@/solver/hardware/parallelism";
import { capacityOf, engineFigures, meanTokens } from "@/solver/lab/engineFigures";
import { suggestedSystems } from "@/solver/lab/suggestedSystems";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { aragogRace } from "./aragogRace";
import { TYPICAL_PROGRAMS } from "./labCells";
import { drawnDocuments } from "./labConfigurations";
import { enginesByModel, type LabHardware, modelledEngine } from "./labEngines";
import { LEAST_SPAN_SECONDS } from "./labNotes";
import { planningPrograms, tableOf } from "./labPrograms";
import { enginesRefusal, mixRefusal } from "./labRefusal";

export interface SuggestionGround extends LabHardware {
  readonly workloadId: string;
  readonly workload: Workload;
  /** Engines of a plan; null where none is named. */
  readonly replicas: readonly LabReplicas[] | null;
  /** Type of GPU that engines are suggested on where none are known, and what an hour of one costs. */
  readonly gpu: string;
  readonly usdPerGpuHour: number;
  readonly given?: LabSuggestionRequest["given"];
}

/** Shares of what the engines carry, at which batches are part full, fuller, and full while bursts last. */
const LOADS = [0.5, 0.8, 0.95];

/** Most models that engines are suggested for: more are seldom raced, and each takes GPUs. */
const MOST_MODELS = 3;

/** Coding workflows of the source, in equal parts. */
const MIX: LabSpec["mix"] = ["planner-coder-qa-coder", "planner-coder", "coder"].map((workflow) => ({ workflow, share: 1 }));

/** No publication states the correlation of a program's stages; the middle of the range of a sweep. */
const CORRELATION = 0.5;

/** Workflows of the source of just-in-time choice: where a mix has one, that is raced too. */
const ARAGOG_WORKFLOWS: readonly string[] = ["self-refine", "text-to-sql", "voting", "decomposition"];

/** Enough to cover `LEAST_SPAN_SECONDS` at the highest rate, within what a run of seconds can simulate. */
const PROGRAMS = { least: 500, most: 2000 };

/** A description to start from: engines, workflows, three loads, three seeds, and Chimera with all it is compared with. Small enough for seconds. */
export function suggestLab(ground: SuggestionGround): Outcome<{ readonly suggestion: LabSuggestion }> {
  const { workload, given = {} } = ground;
  const replicas = given.replicas ?? ground.replicas ?? fittingEngines(ground);
  if (replicas.length === 0) {
    const models = workload.outcomes.models.map(({ model }) => model).join(", ");
    return { ok: false, message: `None of ${models} fits ${ground.gpu} by its card: name engines.` };
  }
  const { mix = MIX, correlation = CORRELATION } = given;
  const refused = enginesRefusal("replicas", replicas, ground) ?? mixRefusal(mix);
  if (refused !== null) return refuseField(refused);
  const engines = enginesByModel(replicas, ground);
  const table = tableOf(
    workload,
    engines.map(({ model }) => model),
  );
  const documents = mix.some(({ workflow }) => ARAGOG_WORKFLOWS.includes(workflow)) ? drawnDocuments(mix) : [];
  const misleading = given.misleads === undefined ? {} : { misleads: given.misleads };
  const sample = planningPrograms({ mix, correlation, ...misleading }, workload, table, TYPICAL_PROGRAMS);
  const { planning } = splitPrompts(workload.outcomes.promptIds.length, workload.seed);
  const models = table.models.flatMap(({ model }, index) => {
    const own = engines.find((each) => each.model === model);
    return own === undefined
      ? []
      : [{ model, quality: meanQuality(table, index, planning), ...engineFigures(own, meanTokens(sample, index)) }];
  });
  const saturationRate = capacityOf(engines, sample);
  if (saturationRate === 0)
    return refuseField({ path: "replicas", reason: "none of these engines has room in its KV cache for the requests." });
  const aragog =
    engines.length > 1 && documents.length > 0
      ? aragogRace({ engines, sample, workflows: documents, catalogue: ground.catalogue }, ground.workload)
      : [];
  const systems = suggestedSystems(models, aragog);
  const rates = LOADS.map((load) => Number((load * saturationRate).toPrecision(3)));
  const spanned = Math.ceil((LEAST_SPAN_SECONDS * Math.max(...rates)) / 100) * 100;
  const programs = Math.min(PROGRAMS.most, Math.max(PROGRAMS.least, spanned));
  const spec: LabSpec = {
    ...{ workloadId: ground.workloadId, mix, correlation, ...misleading, programs, arrivals: "poisson", replicas: [...replicas] },
    usdPerGpuHour: ground.usdPerGpuHour,
    ...(ground.profile.id === engineProfiles.vllm.id ? {} : { engineProfile: ground.profile.id }),
    // As the source has it: a request is at its engine at once, which orders those that wait.
    ...{ queue: "engines", aging: { starvedSteps: 1000, quantumSteps: 100 }, telemetrySeconds: 1 },
    overhead: { routeSeconds: 0.005, predictSeconds: 0.002, decideSeconds: 0.001 },
    rates,
    seeds: [1, 2, 3],
    systems: systems.map(({ about: _, ...system }) => system),
  };
  return { ok: true, suggestion: { spec, saturationRate, systems } };
}

/** Engines of the smallest, the middle and the largest of the table's models that fit, one each, of the fewest GPUs. */
function fittingEngines({ workload, gpu, ...hardware }: SuggestionGround): readonly LabReplicas[] {
  const fitting = workload.outcomes.models.flatMap(({ model }): readonly LabReplicas[] => {
    const precision = cardOf(hardware.catalogue.models, model)?.precision;
    if (precision === undefined) return [];
    const shapes = tensorParallelisms.map((tp): LabReplicas => ({ model, gpu, precision, tp, pp: 1, count: 1 }));
    return shapes.filter((engine) => modelledEngine(engine, hardware).ok).slice(0, 1);
  });
  const last = fitting.length - 1;
  return last < MOST_MODELS ? fitting : [0, Math.round(last / 2), last].flatMap((at) => fitting[at] ?? []);
}

/** Share of good answers of a model to these prompts; half if nothing is known. */
function meanQuality({ models }: OutcomeTable, index: number, prompts: Int32Array): number {
  const known = Float64Array.from(prompts, (row) => models[index]?.label[row] ?? Number.NaN).filter((label) => !Number.isNaN(label));
  return known.length === 0 ? 0.5 : known.reduce((sum, label) => sum + label, 0) / known.length / 100;
}
