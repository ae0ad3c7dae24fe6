import { createCalibrationService } from "@/server/api/hardware/calibrationService";
import { createMeasuringService } from "@/server/api/hardware/measuringService";
import { createCalibrationSource } from "@/server/calibration/calibrationSource";
import { profileInUse } from "@/server/calibration/profileInUse";
import type { CardStore } from "@/server/cards/cardStore";
import { awaitEngine, defaultLoadLimitMs } from "@/server/clusters/connector/awaitEngine";
import type { EngineHost, HostObservation } from "@/server/clusters/connector/engineHost";
import { engineId } from "@/server/clusters/steps/targetEngines";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { MadeProfile, Outcome } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import { createUploads } from "@/server/store/uploads";
import { type EngineProfile, isMeasured } from "@/solver/hardware/engineProfile";
import { measurementsOf } from "@/solver/hardware/measuredProfile";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";

const actor = "weir";
const shape = { tp: 1, pp: 1 } as const;

/** Most minutes and tokens of load for each engine. */
const MINUTES = 2;
const TOKENS = 300_000;

/** With its load, an engine takes so long. */
const MINUTES_AN_ENGINE = 4;

export interface VllmSpeedParts {
  readonly store: Store;
  readonly cards: CardStore;
  readonly stateDir: string;
  /** Of the cluster with vLLM. */
  readonly host: EngineHost;
  readonly models: readonly string[];
  /** false: leaves it out. */
  readonly measures: boolean;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

const LATER =
  "Predictions for it rest on round figures of a processor core, or on the measurement of another engine, and are marked as extrapolated. To measure it later, run `npm run real` again while none of its engines runs, or measure an engine of a plan: Calibration, Measure this engine.";

/**
 * Measures vLLM with each model that was not measured yet, before any plan uses the cores: starts an engine as a plan does, measures it and
 * ends it. Plans use the profile from then on. Where one model cannot be measured nothing changes: a profile that has one model of a card
 * leaves the others out of plans.
 *
 * @returns its result, in sentences.
 * @throws the signal's reason if it aborts; no engine is left.
 */
export async function measureVllm(parts: VllmSpeedParts): Promise<string> {
  const { store, models, measures, say, stateDir, cards } = parts;
  const missing = unmeasured(store, models);
  if (missing.length === 0) return "vLLM was measured before.";
  if (!measures) return `vLLM is not measured. ${LATER}`;
  const sourceOf = createCalibrationSource({ clusterOf: () => null, store });
  const calibrations = createCalibrationService({ store, uploads: createUploads(stateDir), cards, sourceOf });
  const measuring = createMeasuringService({ store, cards, fleet: { list: () => [] }, keep: calibrations.keep });
  say(
    `Measuring the speed of vLLM with ${missing.join(" and ")}, about ${MINUTES_AN_ENGINE * missing.length} minutes. Leave it out by \`npm run real -- --no-measure\`.`,
  );
  const before = profileInUse(store).id;
  let [last, runs] = [null as string | null, 0];
  const giveUp = (): void => {
    calibrations.use(before, actor);
    if (last !== null) calibrations.remove(last, actor);
  };
  for (const model of missing) {
    const measured = await measuredModel(model, measuring, parts).catch((reason: unknown) => {
      giveUp();
      throw reason;
    });
    if (!measured.ok) {
      giveUp();
      return `vLLM was not measured with ${model}: ${measured.message} ${LATER}`;
    }
    const { profileId, points } = measured;
    calibrations.use(profileId, actor);
    // The next profile has its engine too.
    if (last !== null) calibrations.remove(last, actor);
    last = profileId;
    runs += points.length;
  }
  return `vLLM was measured in ${runs} runs. Plans use the profile "${profileInUse(store).name}".`;
}

/** The models that no profile has with vLLM on a core; none if a stored profile has all of them, whether or not it is in use. */
function unmeasured({ calibrations }: Pick<Store, "calibrations">, models: readonly string[]): readonly string[] {
  const has = (profile: EngineProfile, model: string): boolean =>
    isMeasured(profile) && measurementsOf(profile, { model, gpu: PROCESSOR_CARD, shape }).some(({ engine }) => engine === "vllm");
  if (calibrations.list().some(({ profile }) => models.every((model) => has(profile, model)))) return [];
  const used = profileInUse({ calibrations });
  return models.filter((model) => !has(used, model));
}

/** Starts an engine of a model, measures it, and ends it in any case. */
async function measuredModel(
  model: string,
  measuring: ReturnType<typeof createMeasuringService>,
  { host, signal, say }: VllmSpeedParts,
): Promise<Outcome<MadeProfile>> {
  const seen = await host.observe({ signal });
  if (!seen.ok) return seen;
  const placed = orderOf(model, seen.value);
  if (!placed.ok) return placed;
  const { order } = placed;
  const options = { signal, report: () => undefined };
  say(`${model}: starting an engine, which loads for 75 to 100 s, the first time longer ...`);
  const begunMs = performance.now();
  try {
    const started = await host.start(order, options);
    if (!started.ok) return started;
    const ready = await awaitEngine(host, order, { ...options, limitMs: defaultLoadLimitMs });
    if (!ready.ok) return ready;
    const url = await urlOf(order.id, host, signal);
    if (!url.ok) return url;
    say(`${model}: it answers after ${Math.round((performance.now() - begunMs) / 1000)} s. Measuring it for ${MINUTES} minutes ...`);
    const asked = { model, gpu: PROCESSOR_CARD, minutes: MINUTES, tokens: TOKENS, tp: 1, pp: 1, concurrency: null, servingOthers: false };
    const ordered = await measuring.start({ url: url.url, ...asked }, actor);
    return ordered.ok ? await measuring.wait({ signal, onState: () => undefined }) : ordered;
  } finally {
    const ended = await host.stop(order.id, { ...options, signal: new AbortController().signal });
    if (!ended.ok) say(ended.message);
  }
}

/** The order of a model on the first free core; refused while engines of the cluster run, which would share the load of the cores. */
function orderOf(model: string, { engines, nodes, gpu }: HostObservation): Outcome<{ readonly order: EngineOrder }> {
  if (engines.length > 0) {
    const running = engines.map(({ id }) => id).join(", ");
    return { ok: false, message: `${running} ${engines.length === 1 ? "runs" : "run"}, and the cores are not free.` };
  }
  const [node] = nodes;
  const held = new Set(node?.heldGpus?.map((one) => one.gpu));
  const core = Array.from({ length: node?.gpus ?? 0 }, (_, index) => index).find((index) => !held.has(index));
  if (node === undefined || core === undefined) return { ok: false, message: "No core is free." };
  const placements = [{ node: node.name, gpus: [core] }];
  const served = { model, precision: "bf16" } as const;
  return { ok: true, order: { id: engineId(served, shape, placements), ...served, gpu, ...shape, placements } };
}

async function urlOf(id: string, host: EngineHost, signal: AbortSignal): Promise<Outcome<{ readonly url: string }>> {
  const seen = await host.observe({ signal });
  if (!seen.ok) return seen;
  const engine = seen.value.engines.find((one) => one.id === id);
  return engine === undefined ? { ok: false, message: `${id} is gone.` } : { ok: true, url: engine.url };
}
