import type { EnsemblePlacement } from "@/server/contracts/ensembles";
import type { Outcome } from "@/server/contracts/studio";
import { estimatedLoadSeconds, type WeightStorage } from "@/solver/ensemble/loadEstimate";
import { type AnswerLengths, outputLengths } from "@/solver/ensemble/outputLengths";
import type { SessionCost } from "@/solver/ensemble/placement";
import { fittedSessionCost, LEAST_COUNTS, simulatedSessionCost } from "@/solver/ensemble/sessionCost";
import type { SessionRow } from "@/solver/ensemble/sessionRow";
import { workerShape } from "@/solver/ensemble/workerShape";
import { type EngineProfile, engineNames } from "@/solver/hardware/engineProfile";
import type { GpuCard } from "@/solver/hardware/gpus";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { quantile } from "@/solver/numeric/quantile";

type PlacedModel = EnsemblePlacement["experts"][number];

/** What sessions of one model take on a worker, and where that is from. */
export interface ModelSessions {
  readonly cost: SessionCost;
  readonly costFrom: PlacedModel["cost"];
  readonly loadSeconds: number;
  readonly loadFrom: PlacedModel["load"];
  readonly meanOutputTokens: number;
}

/** What sessions of a model are made up of. */
export interface SessionsOf {
  readonly model: ModelCard;
  readonly gpu: GpuCard;
  readonly gpusPerWorker: number;
  /** All that it is to answer, which a session has at most. */
  readonly prompts: number;
  readonly lengths: AnswerLengths;
  /** Measured ones, of any model. */
  readonly rows: readonly SessionRow[];
  readonly storage: WeightStorage;
  readonly profile: EngineProfile;
  readonly concurrency: number | null;
}

const SEED = 1;

/**
 * Time of a model's sessions: fitted to measured ones where there are enough, else simulated; and of its loads: the median of measured ones, else estimated.
 * Those of emulated engines are taken where there are no others, and are called modelled and estimated all the same.
 *
 * @returns a sentence where the model, or every one of its requests, does not fit a worker.
 */
export function modelSessions(asked: SessionsOf): Outcome<{ readonly sessions: ModelSessions }> {
  const { model, gpu, gpusPerWorker, lengths, storage, profile } = asked;
  const shaped = workerShape(model, gpu, { gpus: gpusPerWorker, profile });
  if (!shaped.fits) {
    const worker = gpusPerWorker === 1 ? `one ${gpu.name}` : `${gpusPerWorker} x ${gpu.name}`;
    const { gpusThatFit, reason } = shaped;
    if (gpusThatFit.length === 0) return { ok: false, message: `${model.id} fits no worker of ${gpu.name}: ${reason}.` };
    return {
      ok: false,
      message: `${model.id} does not fit a worker of ${worker}: give workers ${orList(gpusThatFit)} of them, or take another model.`,
    };
  }
  const { kvTokens } = shaped.replica;
  if (Array.from(lengths.outputTokens).every((tokens, at) => (lengths.inputTokens[at] ?? 0) + tokens > kvTokens))
    return {
      ok: false,
      message: `No prompt with its answer has room in the KV cache of ${Math.floor(kvTokens)} tokens that ${model.id} has on a worker: give workers more GPUs, or bound answers by maxTokens.`,
    };
  const own = asked.rows.filter((row) => row.model === model.id && row.gpu === gpu.id && row.tp === gpusPerWorker);
  const measured = own.filter(({ origin }) => origin === "measured");
  // Emulated engines follow the planner's own model: beside measured sessions theirs say nothing.
  const rows = measured.length > 0 ? measured : own;
  const emulated = measured.length > 0 ? "" : " of emulated engines";
  const output = outputLengths(lengths);
  const fitted = fittedSessionCost(rows, output);
  const { prompts: mostPrompts, concurrency } = asked;
  const counts = new Set(rows.map(({ prompts }) => prompts)).size;
  const few = counts === 0 ? "" : `; sessions of ${counts} different counts of prompts are known, and a fit takes ${LEAST_COUNTS}`;
  const loads = rows.flatMap(({ loadSeconds }) => loadSeconds ?? []);
  const estimate = estimatedLoadSeconds(model, gpusPerWorker, storage);
  return {
    ok: true,
    sessions: {
      ...(fitted === null
        ? {
            cost: simulatedSessionCost(shaped.replica, { ...lengths, seed: SEED }, { mostPrompts, concurrency }),
            costFrom: {
              kind: "modelled",
              source: `simulated on the cards of ${model.id} and ${gpu.id} and the engine profile ${profile.name} (${engineNames[profile.engine]})${few}`,
            },
          }
        : {
            cost: fitted.cost,
            costFrom: {
              kind: emulated === "" ? "measured" : "modelled",
              source: `fitted to ${fitted.sessions} sessions${emulated}, each predicted within ${percent(fitted.heldOutError)} by the others in the mean`,
            },
          }),
      loadSeconds: loads.length > 0 ? quantile(loads, 0.5) : estimate.seconds,
      loadFrom:
        loads.length > 0
          ? {
              kind: emulated === "" ? "measured" : "estimated",
              source: `the median of ${loads.length} ${loads.length === 1 ? "load" : "loads"}${emulated}`,
            }
          : { kind: "estimated", source: estimate.source },
      meanOutputTokens: output.meanTokens,
    },
  };
}

const percent = (share: number): string => `${(100 * share).toPrecision(2)} %`;

const orList = (numbers: readonly number[]): string => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(numbers.map(String));
