import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { Answer, Observation, StepOptions } from "./connector";
import type { Look } from "./waitUntil";

/** What a host tells of its hardware and its engines; what the gateway makes of them is known elsewhere. */
export interface HostObservation extends Omit<Observation, "routing" | "policyModels" | "isJudged" | "judge"> {
  /** Who judges answers of policies that have no judge among their engines; null where the host has none. */
  readonly judge: GatewayConfig["judge"];
}

export interface LookOptions {
  readonly signal?: AbortSignal | undefined;
  /** For whom somebody waits; left out: as long as a step may take. */
  readonly limitMs?: number | undefined;
}

/**
 * Where engines run and by whom they are started and ended: the part of a cluster that differs from one kind to the next. Routing is
 * the same for all (`createConnector`). What a host does again that was done before changes nothing and succeeds. One whose
 * topology is given says so and is asked neither to start nor to stop an engine.
 */
export interface EngineHost {
  observe(options: LookOptions): Promise<Answer<HostObservation>>;
  /** Brings an engine up; answers as soon as it is on its way, what was found. */
  start(engine: EngineOrder, options: StepOptions): Promise<Answer<string>>;
  /** Ends an engine and waits until its GPUs are free. */
  stop(engineId: string, options: StepOptions): Promise<Answer<string>>;
  /**
   * What the host knows of an engine that does not answer: what it waits for, or why it never will; null where it knows nothing. Left out
   * where a host knows no more than that an engine is there.
   */
  readonly why?: (engineId: string, options: LookOptions) => Promise<Look | null>;
  /** What it would put down to start an engine, as an operator would write it: YAML, a command line. Left out where starting is only a call. */
  readonly generate?: (engine: EngineOrder, planId: string | null) => Answer<string>;
  /** What stands there of an engine, in the form of `generate`; null where nothing does. */
  readonly actual?: (engineId: string, options: LookOptions) => Promise<Answer<string | null>>;
  /** `start` with every write withheld, the server itself asked where it can rehearse; what it would do. */
  readonly rehearse?: (engine: EngineOrder, options: StepOptions) => Promise<Answer<string>>;
  /** The last lines that an engine logged, secrets masked. Left out where they cannot be read. */
  readonly log?: (engineId: string, options: LookOptions) => Promise<Answer<string>>;
  /** Gives engines that replay a workload its prompts; left out where engines are real. */
  readonly loadOutcomes?: (workloadId: string, options: StepOptions) => Promise<Answer<string>>;
}
