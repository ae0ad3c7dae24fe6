import { defaultCascade, type GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import { ensemblePrefix } from "@/server/contracts/gateway/gatewayEnsembles";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { callGatesOf, singleStagesOf, thresholdsOf } from "@/solver/plan/policySchema";
import type { Outage, Policy, StartingRequest } from "@/solver/policies/core/policy";
import type { Capture } from "../capture/capture";
import { providerDialect } from "../dialects/providerDialect";
import { ReplicaPool } from "../engines/replicaPool";
import { GateWatch } from "../gates/gateWatch";
import { type Caller, Callers, type CallersOptions } from "../http/callers";
import { chatEndpoint } from "../http/chatEndpoint";
import type { GatewayLimits } from "../http/limits";
import { callOf, type ModelRequest } from "../http/modelRequest";
import type { Judge } from "../judge/judge";
import { JudgeInForce, type JudgeLimits } from "../judge/judgeInForce";
import type { ArtifactStore } from "../prediction/artifactStore";
import type { Wanted } from "../prediction/prediction";
import {
  hashesOf,
  isSame,
  type PolicyPrediction,
  type Prediction,
  type RequestPredictions,
  scoreOf,
} from "../prediction/requestPredictions";
import type { PolicyDriver } from "../queue/policyDriver";
import { RoundTallies } from "../queue/roundTallies";
import { ServiceRates, unknownRetrySeconds } from "../queue/serviceRates";
import type { WorkflowTracker } from "../workflows/workflowTracker";
import { CascadeNames, cascadeName } from "./cascadeNames";
import { ConfiguredSecrets } from "./configuredSecrets";
import {
  type CanaryShare,
  canaryModel,
  cascadeModel,
  directModel,
  modelsBehind,
  panicModel,
  type ServedModel,
  type ServingDeps,
} from "./servedModel";
import type { DecisionObserver, TrafficObserver } from "./trafficObserver";

/** Whose request it is: the name and the labels of its API key. */
export type LeavingClient = Pick<Caller, "key" | "labels">;

interface StartingParts {
  /** Null: no policy reads predictions. */
  readonly policyPrediction: PolicyPrediction | null;
  readonly client: LeavingClient;
}

export interface ServingOptions extends Pick<GatewayLimits, "quietSeconds" | "recoverySeconds"> {
  readonly judge: JudgeLimits;
  readonly stateDirectory: string;
  /** The studio's file of the origins of secrets; null: the gateway has its own. */
  readonly secretOriginsFile: string | null;
  readonly predictions: RequestPredictions;
  readonly artifacts: ArtifactStore;
  readonly workflows: WorkflowTracker;
  readonly callers?: CallersOptions;
  /** Called when engines of a model come or go. */
  readonly onAvailabilityChange: () => void;
}

/**
 * Everything the gateway serves now. A new configuration replaces the served models whose behaviour it changes; requests in flight continue
 * under the one they started with; only those whose model was removed are rerouted.
 */
export class Serving {
  /** Which secrets go where. */
  readonly secrets: ConfiguredSecrets;
  readonly pool: ReplicaPool;
  readonly callers: Callers;
  readonly cascadeNames = new CascadeNames();
  readonly predictions: RequestPredictions;
  /** Trained predictors that policies may name. */
  readonly artifacts: ArtifactStore;
  /** What calls have taught about the agents that make them. */
  readonly workflows: WorkflowTracker;
  #shadow: DecisionObserver | null = null;
  /** Copies requests of the cascade; null if no mirror runs. */
  mirror: TrafficObserver | null = null;
  /** Stores prompts; null if no capture runs. */
  capture: Capture | null = null;
  #config: GatewayConfig | null = null;
  #models: ReadonlyMap<string, ServedModel> = new Map();
  /** Served models of earlier configurations that still have requests. */
  #earlier: readonly ServedModel[] = [];
  /**
   * Requests that wait for an engine, by model, over all policies; those of a policy that chooses models when engines have room are counted
   * by its served name.
   */
  readonly queued = new Map<string, number>();
  /** Decisions of such policies. */
  readonly rounds = new RoundTallies();
  /** Stages whose gates give no scores. */
  readonly gateWatch = new GateWatch();
  readonly #rates = new ServiceRates();
  readonly #judge: JudgeInForce;
  #outage: Outage = { isLost: (model) => this.pool.isLost(model), lowerMayAnswer: true };
  #panic: { readonly model: string; readonly served: ServedModel | null } | null = null;
  #canary: { readonly asked: CanaryShare; readonly served: ServedModel | null } | null = null;

  constructor({
    judge,
    stateDirectory,
    secretOriginsFile,
    quietSeconds,
    recoverySeconds,
    predictions,
    artifacts,
    workflows,
    callers,
    onAvailabilityChange,
  }: ServingOptions) {
    this.secrets = new ConfiguredSecrets(stateDirectory, secretOriginsFile);
    const { origins } = this.secrets;
    this.callers = new Callers(callers);
    this.predictions = predictions;
    this.artifacts = artifacts;
    this.workflows = workflows;
    this.pool = new ReplicaPool({
      quietSeconds,
      recoverySeconds,
      origins,
      provider: providerDialect,
      onAvailabilityChange: () => {
        this.pump();
        onAvailabilityChange();
      },
    });
    const { pool, queued } = this;
    const onRoom = (nowMs: number): void => this.pump(nowMs);
    this.#judge = new JudgeInForce(judge, origins, { pool, queued, onRoom, onAnswered: (model) => this.answered(model) });
  }

  get config(): GatewayConfig | null {
    return this.#config;
  }

  /** The names clients should use: the cascade's stable one and its own, then every engine model, then every ensemble. */
  get names(): readonly string[] {
    return [...new Set([defaultCascade, ...this.#models.keys(), ...this.ensembles.map(({ name }) => `${ensemblePrefix}${name}`)])];
  }

  /** Mixtures of agents over the models. */
  get ensembles(): readonly Ensemble[] {
    return this.#config?.settings?.ensembles ?? [];
  }

  /** Whether an operator has sent every request for text to one model. */
  get panicking(): boolean {
    return this.#panic !== null;
  }

  /** The cascade in force. */
  get cascade(): ServedModel | undefined {
    return this.#config === null ? undefined : this.#models.get(cascadeName(this.#config.name));
  }

  get judge(): Judge | null {
    return this.#judge.judge;
  }

  /** Follows the decisions of the cascade; null if no shadow runs. */
  get shadow(): DecisionObserver | null {
    return this.#shadow;
  }

  set shadow(shadow: DecisionObserver | null) {
    this.#shadow = shadow;
    this.#needPredictors();
  }

  /** Clients that still name the cascade of an earlier configuration are served by the one in force. */
  find(name: string): ServedModel | undefined {
    return this.#models.get(name) ?? (this.cascadeNames.mean(name) ? this.cascade : undefined);
  }

  /** Whether a list of names has the one that a request asks for; `cascade/default` is the cascade in force under each of its names. */
  isAmong(models: readonly string[], model: string): boolean {
    if (models.includes(model)) return true;
    return models.includes(defaultCascade) && this.cascade !== undefined && this.find(model) === this.cascade;
  }

  /** Whether a request of that client may leave the house for a hosted model. Providers answer chat completions alone. */
  mayLeave({ model, endpoint }: ModelRequest, { key, labels }: LeavingClient): boolean {
    if (endpoint.enginePath !== chatEndpoint.enginePath) return false;
    const rules = this.#config?.settings?.dataMayLeave ?? [];
    const fits = (wanted: string | undefined, given: string | null | undefined): boolean => wanted === undefined || wanted === given;
    return rules.some(
      (rule) =>
        fits(rule.key, key) && fits(rule.team, labels?.team) && fits(rule.project, labels?.project) && this.isAmong(rule.models, model),
    );
  }

  /** The stages of `served` that a request must not visit; undefined if it may visit all. */
  barredStages(served: ServedModel, asked: ModelRequest, client: LeavingClient): readonly number[] | undefined {
    if (!this.pool.hasHosted) return undefined;
    const hosted = served.singles.flatMap((model, stage) => (this.pool.isHosted(model) ? [stage] : []));
    return hosted.length === 0 || this.mayLeave(asked, client) ? undefined : hosted;
  }

  /** The served model of a request: the one it names, unless an operator has replaced it. */
  serverOf({ model, programId, endpoint }: ModelRequest): ServedModel | undefined {
    if (this.#panic !== null && endpoint.text !== null) return this.#panic.served ?? undefined;
    const named = this.find(model);
    const canary = named?.kind === "cascade" ? this.#canary : null;
    return canary?.served && canary.asked.takes(programId) ? canary.served : named;
  }

  /** Sends every request for text to one model, waiting ones too; null ends that, and work that waits for the model continues. */
  setPanic(model: string | null): void {
    this.#retire(this.#panic?.served);
    this.#panic = model === null ? null : { model, served: null };
    this.#settle();
  }

  /**
   * Sends the programs that `canary` takes to its candidate instead of the cascade; null ends that, and work that waits for the candidate
   * continues.
   */
  setCanary(canary: CanaryShare | null): void {
    if (canary?.candidate !== this.#canary?.asked.candidate) this.#retire(this.#canary?.served);
    this.#canary = canary === null ? null : { asked: canary, served: this.#canary?.served ?? null };
    this.#settle();
  }

  /** Ends the canary; work that waits for its candidate is rerouted to the cascade. */
  dropCanary(): void {
    const served = this.#canary?.served;
    this.#canary = null;
    served?.driver.withdraw(() => false);
    this.#settle();
  }

  /** Whether a smaller model may answer where every larger one of its cascade is lost. */
  get lowerMayAnswer(): boolean {
    return this.#outage.lowerMayAnswer;
  }

  /** Lets smaller models answer for lost larger ones, or refuses such requests, waiting ones too. */
  set lowerMayAnswer(lowerMayAnswer: boolean) {
    this.#outage = { ...this.#outage, lowerMayAnswer };
    this.pump();
  }

  /** Puts a valid configuration into force. */
  install(config: GatewayConfig, earlierNames: readonly string[]): void {
    this.pool.update(config);
    this.#judge.install(config);
    this.callers.update(config.settings?.keys);
    this.workflows.use(config.timeScale);
    const names = [...new Set(config.replicas.map(({ model }) => model))];
    this.#rates.keep(names);
    const { policy } = config;
    const gated = singleStagesOf(policy).filter((_, stage) => (thresholdsOf(policy)[stage] ?? 0) > 0);
    this.gateWatch.keep([...gated, ...callGatesOf(policy).map(({ model }) => model)]);
    this.#config = config;
    this.cascadeNames.use(config.name, earlierNames);
    const deps = this.#deps(config);
    const wanted = [cascadeModel(deps), ...names.map((model) => directModel(model, deps))];
    const lines = new Set(wanted.flatMap(({ driver, models }) => models.map((model) => driver.lineOf(model))));
    for (const line of lines) this.queued.set(line, this.queued.get(line) ?? 0);
    for (const [line, count] of this.queued) if (count === 0 && !lines.has(line)) this.queued.delete(line);
    const before = this.#models;
    this.#models = new Map(wanted.map((model) => [model.name, knownOr(model, before.get(model.name))]));
    this.#earlier = [...this.#earlier, ...before.values()];
    this.#settle();
  }

  /**
   * Whether work of `served` may wait for an engine of `model`, or of any of its models if it chooses them when engines have room. Work of
   * an earlier policy does not wait for engines that only finish their requests, and work of an ended policy waits for none.
   */
  serves(served: ServedModel, model: string): boolean {
    const current = this.#isCurrent(served);
    if (!current && !this.#earlier.includes(served)) return false;
    return modelsBehind(served, model).some((one) => this.pool.lists(one, { cordoned: current }));
  }

  /** Whether a request may continue with `model` under `served`; otherwise it is rerouted. */
  keeps(served: ServedModel, { endpoint }: ModelRequest, model: string): boolean {
    const displaced = this.#panic !== null && endpoint.text !== null && served !== this.#panic.served;
    return !displaced && this.serves(served, model);
  }

  /** Offers free room to the queues, starting with the one whose head has waited longest. */
  pump(nowMs = performance.now()): void {
    const queues: { readonly driver: PolicyDriver; readonly oldestWallSeconds: number }[] = [];
    const add = ({ driver, timeScale }: Pick<ServedModel, "driver" | "timeScale">): void => {
      const oldest = driver.oldestSeconds;
      if (oldest !== undefined) queues.push({ driver, oldestWallSeconds: oldest / timeScale });
    };
    if (this.#panic?.served) add(this.#panic.served);
    if (this.#canary?.served) add(this.#canary.served);
    for (const served of this.#models.values()) add(served);
    for (const served of this.#earlier) add(served);
    for (const line of this.#judge.lines) add(line);
    queues.sort((a, b) => a.oldestWallSeconds - b.oldestWallSeconds);
    for (const { driver } of queues) driver.pump(nowMs);
  }

  /** Asks predictors about a request for the policies that decide on it; null if none of them reads predictions. */
  predict(asked: ModelRequest): Promise<Prediction> | null {
    const wanted = this.#wantedFor(asked);
    return wanted.length === 0 || asked.endpoint.text === null ? null : this.#predict(asked, wanted);
  }

  async #predict(asked: ModelRequest, wanted: readonly Wanted[]): Promise<Prediction> {
    const prediction = await this.predictions.about(asked, wanted);
    // Another policy may have come into force meanwhile.
    const now = this.#wantedFor(asked);
    return now.every((want) => wanted.some((had) => isSame(had, want))) ? prediction : this.#predict(asked, now);
  }

  #wantedFor(asked: ModelRequest): readonly Wanted[] {
    const served = this.serverOf(asked);
    const own = served?.wanted ?? null;
    const shadowed = served?.kind === "cascade" ? (this.#shadow?.wanted ?? null) : null;
    return own === null && shadowed === null ? nothingWanted : [own, shadowed].filter((wanted) => wanted !== null);
  }

  /** A request, as policies see it, that would start now under `served`. */
  starting(served: ServedModel, asked: ModelRequest, { policyPrediction, client }: StartingParts): StartingRequest {
    const { programKey: programId, inputTokens } = asked;
    const routerScores = (model: string): number | undefined => scoreOf(model, asked, policyPrediction);
    const judgeResting = served.judge?.isPaused ?? false;
    const call = callOf(asked);
    const barredStages = this.barredStages(served, asked, client);
    return { programId, call, inputTokens, routerScores, replicas: this.pool.replicas, judgeResting, outage: this.#outage, barredStages };
  }

  /** Share of a queue's bound that work of a class may fill; all of it if the settings do not name the class. */
  queueFraction(objective: string | null): number {
    return this.#config?.settings?.priorityClasses?.find(({ name }) => name === objective)?.queueFraction ?? 1;
  }

  /** An engine of `model` has answered. */
  answered(model: string): void {
    this.#rates.answered(model);
  }

  /** Wall seconds, whole and at least 1, until a line in its present state is served at the recent rate of `models`. */
  estimateQueueWaitSeconds(line: string, models: readonly string[]): number {
    return this.#rates.estimateQueueWaitSeconds(models, this.queued.get(line) ?? 0);
  }

  /** Wall seconds, whole and at least 1, until the next probe of an engine of these models that is down. */
  recoverySeconds(models: readonly string[]): number {
    const waits = models.map((model) => this.pool.nextProbeSeconds(model) ?? unknownRetrySeconds);
    return Math.max(1, Math.ceil(Math.min(...waits)));
  }

  /** A request begins under `served`. */
  begin(served: ServedModel): void {
    served.driver.active += 1;
  }

  /** A request that began under `served` is answered, or continues under another. */
  end(served: ServedModel): void {
    served.driver.active -= 1;
    if (served.driver.active > 0 || !this.#earlier.includes(served)) return;
    this.#earlier = this.#earlier.filter((model) => model !== served);
    if (this.#config !== null) this.#watchKv(this.#config);
  }

  /** A program has ended: no request of it follows under any policy. */
  endProgram(programKey: string): void {
    for (const { driver } of this.#all) driver.end(programKey);
  }

  /** Closes every connection to engines and judge, and the predictors' thread. */
  close(): void {
    this.predictions.service.close();
    this.pool.close();
    this.#judge.close();
  }

  get #all(): readonly ServedModel[] {
    return [this.#panic?.served, this.#canary?.served, ...this.#models.values(), ...this.#earlier].filter((served) => served != null);
  }

  #isCurrent(served: ServedModel): boolean {
    return served === this.#models.get(served.name) || served === this.#panic?.served || served === this.#canary?.served;
  }

  /** Keeps a replaced served model until its requests are answered. */
  #retire(served: ServedModel | null | undefined): void {
    if (served) this.#earlier = [...this.#earlier, served];
  }

  /** Rebuilds the served models and withdraws waiting work that they no longer serve. */
  #settle(): void {
    if (this.#config === null) return;
    const deps = this.#deps(this.#config);
    const before = [this.#panic?.served, this.#canary?.served];
    if (this.#panic !== null) {
      const { model, served } = this.#panic;
      this.#panic = { model, served: knownOr(panicModel(model, deps), served) };
    }
    if (this.#canary !== null) {
      const { asked, served } = this.#canary;
      this.#canary = { asked, served: knownOr(canaryModel(asked.candidate, deps), served) };
    }
    for (const served of before) this.#retire(served);
    this.#earlier = [...new Set(this.#earlier)].filter((model) => !this.#isCurrent(model) && model.driver.active > 0);
    this.#watchKv(this.#config);
    this.#needPredictors();
    for (const served of this.#all) {
      const displaced = this.#panic !== null && served !== this.#panic.served;
      served.driver.withdraw((model) => !displaced && this.serves(served, model));
    }
    this.#judge.withdraw();
    this.pump();
  }

  /** Reads the engines' KV use while a policy needs it. */
  #watchKv({ timeScale }: GatewayConfig): void {
    this.pool.watchKv(this.#all.some(({ driver }) => readsKv(driver.policy)) ? timeScale : null);
  }

  /** Loads the predictors that policies name. */
  #needPredictors(): void {
    const wanted = [...this.#all.map((served) => served.wanted), this.#shadow?.wanted].filter((one) => one != null);
    const hashes = wanted.flatMap(hashesOf);
    void this.predictions.service.need(hashes.length === 0 ? null : new Set(hashes));
  }

  #deps(config: GatewayConfig): ServingDeps {
    const { pool, judge, gateWatch, queued, rounds } = this;
    return {
      config,
      pool,
      outage: () => this.#outage,
      judge,
      gateWatch,
      forecastRevision: () => this.workflows.forecastRevision,
      queued,
      rounds,
      onRoom: (nowMs) => this.pump(nowMs),
      shadow: () => this.#shadow,
    };
  }
}

const nothingWanted: readonly Wanted[] = [];

/** Whether a policy reads what engines say of their KV caches: their use, or how large those are that hold prefixes. */
const readsKv = ({ needs }: Policy): boolean => needs.includes("kv-telemetry") || needs.includes("prefixes");

/** The existing served model if it behaves as the wanted one, with its queue and what its policy has learnt. */
function knownOr(wanted: ServedModel, known: ServedModel | null | undefined): ServedModel {
  return known?.key === wanted.key ? known : wanted;
}
