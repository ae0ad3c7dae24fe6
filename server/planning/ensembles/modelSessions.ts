import type { Outcome } from "@/server/contracts/studio";
import type { EnsemblePlacement } from "@/server/contracts/studio/ensembles";
import type { SessionCost } from "@/solver/ensemble/placement/placement";
import { estimatedLoadSeconds, type WeightStorage } from "@/solver/ensemble/sessions/loadEstimate";
import { type AnswerLengths, outputLengths } from "@/solver/ensemble/sessions/outputLengths";
import { fittedSessionCost, levelledSessionCost, simulatedSessionCost } from "@/solver/ensemble/sessions/sessionCost";
import { ranWithin, type SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { workerShape } from "@/solver/ensemble/sessions/workerShape";
import { type EngineProfile, engineTitle } from "@/solver/hardware/engineProfile";
import type { GpuCard } from "@/solver/hardware/gpus";
import type { ModelCard } from "@/solver/hardware/modelCard";
import { quantile } from "@/solver/numeric/quantile";
import { counted } from "@/solver/wording/wording";

type PlacedModel = EnsemblePlacement["experts"][number];

/** The time of sessions of one model on a worker, and its source. */
export interface ModelSessions {
  readonly cost: SessionCost;
  readonly costFrom: PlacedModel["cost"];
  readonly loadSeconds: number;
  readonly loadFrom: PlacedModel["load"];
  readonly meanOutputTokens: number;
}

/** The parameters of a model's sessions. */
export interface SessionsOf {
  readonly model: ModelCard;
  readonly gpu: GpuCard;
  readonly gpusPerWorker: number;
  /** All prompts for it, which is the most that a session has. */
  readonly prompts: number;
  readonly lengths: AnswerLengths;
  /** Measured sessions, of any model. */
  readonly rows: readonly SessionRow[];
  readonly storage: WeightStorage;
  readonly profile: EngineProfile;
  /** Requests that a session has in flight at most; null: the engine's limit. */
  readonly concurrency: number | null;
}

const SEED = 1;

/**
 * Time of a model's sessions: fitted to measured ones where these had as many requests in flight as is asked and a fit says anything of as many prompts, else
 * simulated, at the level of those that there are; and of its loads: the median of measured ones, else estimated. Those of emulated engines are taken where there
 * are no others, for their level alone, as the simulator is their source, and are called modelled and estimated all the same.
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
  const { kvTokens, maxSequences } = shaped.replica;
  if (Array.from(lengths.outputTokens).every((tokens, at) => (lengths.inputTokens[at] ?? 0) + tokens > kvTokens))
    return {
      ok: false,
      message: `No prompt with its answer has room in the KV cache of ${Math.floor(kvTokens)} tokens that ${model.id} has on a worker: give workers more GPUs, or bound answers by maxTokens.`,
    };
  const { concurrency } = asked;
  const own = asked.rows.filter((row) => row.model === model.id && row.gpu === gpu.id && row.tp === gpusPerWorker);
  const all = own.filter(({ prompts }) => prompts > 0);
  const alike = all.filter((row) => ranWithin(row, { concurrency, maxSequences }));
  const sessions = preferred(alike);
  const loads = preferred(own.filter(({ loadSeconds }) => loadSeconds !== null));
  const output = outputLengths(lengths);
  const unlike = all.length - alike.length;
  const others = unlike === 0 ? "" : `; ${unlike} had another number of requests in flight than is asked`;
  const simulatedOn = `simulated on the cards of ${model.id} and ${gpu.id} and the engine profile ${profile.name} (${engineTitle(profile.engine)})`;
  const costOf = (): Pick<ModelSessions, "cost" | "costFrom"> => {
    const fit = sessions.of === "" ? fittedSessionCost(sessions.rows, output, asked.prompts) : null;
    if (fit?.ok) {
      const within = percent(fit.fitted.heldOutError);
      const source = `fitted to ${fit.fitted.sessions} sessions, each predicted within ${within} by the others in the mean`;
      return { cost: fit.fitted.cost, costFrom: { kind: "measured", source } };
    }
    const mostPrompts = Math.max(asked.prompts, ...sessions.rows.map(({ prompts }) => prompts));
    const simulated = simulatedSessionCost(shaped.replica, { ...lengths, seed: SEED }, { mostPrompts, concurrency });
    const levelled = levelledSessionCost(simulated, sessions.rows, output.meanTokens);
    if (levelled === null) return { cost: simulated, costFrom: { kind: "modelled", source: `${simulatedOn}${others}` } };
    const by = `${counted(levelled.sessions, "session")}${sessions.of === "" ? " that were measured" : sessions.of}`;
    const level = `at the level of ${by}: ${Number(levelled.level.toPrecision(3))} times the simulated seconds`;
    const source = `${simulatedOn}, ${level}${fit === null ? "" : `; ${fit.reason}`}${others}`;
    return { cost: levelled.cost, costFrom: { kind: "modelled", source } };
  };
  const estimate = estimatedLoadSeconds(model, gpusPerWorker, storage);
  return {
    ok: true,
    sessions: {
      ...costOf(),
      loadSeconds:
        loads.rows.length > 0
          ? quantile(
              loads.rows.flatMap(({ loadSeconds }) => loadSeconds ?? []),
              0.5,
            )
          : estimate.seconds,
      loadFrom:
        loads.rows.length > 0
          ? {
              kind: loads.of === "" ? "measured" : "estimated",
              source: `the median of ${loads.rows.length} ${loads.rows.length === 1 ? "load" : "loads"}${loads.of}`,
            }
          : { kind: "estimated", source: estimate.source },
      meanOutputTokens: output.meanTokens,
    },
  };
}

/**
 * Measured sessions if there are any: emulated engines follow the planner's own model, so their sessions add no information to measured
 * ones.
 */
export function preferred(rows: readonly SessionRow[]): { readonly rows: readonly SessionRow[]; readonly of: "" | " of emulated engines" } {
  const measured = rows.filter(({ origin }) => origin === "measured");
  return measured.length > 0 ? { rows: measured, of: "" } : { rows, of: " of emulated engines" };
}

const percent = (share: number): string => `${(100 * share).toPrecision(2)} %`;

const orList = (numbers: readonly number[]): string => new Intl.ListFormat("en-GB", { type: "disjunction" }).format(numbers.map(String));
