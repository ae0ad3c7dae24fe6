import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { Answer, Observation, StepOptions } from "./connector";
import type { Look } from "./waitUntil";

/** A host's report on its hardware and its engines; the gateway's view of them comes from elsewhere. */
export interface HostObservation extends Omit<Observation, "routing" | "policyModels" | "isJudged" | "judge"> {
  /** The judge for policies that have no judge among their engines; null if the host has none. */
  readonly judge: GatewayConfig["judge"];
}

export interface LookOptions {
  readonly signal?: AbortSignal | undefined;
  /** For calls on which a user waits; absent: the limit of a step. */
  readonly limitMs?: number | undefined;
}

/**
 * Where engines run and how they are started and ended: the part of a cluster that depends on its kind. Routing is the same for all kinds
 * (`createConnector`). Repeating an action on a host changes nothing and succeeds. A host with a given topology says so; it gets no request
 * to start or stop an engine.
 */
export interface EngineHost {
  observe(options: LookOptions): Promise<Answer<HostObservation>>;
  /** Starts an engine; returns what was found as soon as the start is in progress. */
  start(engine: EngineOrder, options: StepOptions): Promise<Answer<string>>;
  /** Ends an engine and waits until its GPUs are free. */
  stop(engineId: string, options: StepOptions): Promise<Answer<string>>;
  /**
   * The host's knowledge of an engine that does not answer: what it waits for, or why it never will; null if it knows nothing. Absent if a
   * host only knows that an engine exists.
   */
  readonly why?: (engineId: string, options: LookOptions) => Promise<Look | null>;
  /** The newest message in the log of an engine that loads, secrets masked; null if there is none. Absent if it cannot be read. */
  readonly progress?: (engineId: string, options: LookOptions) => Promise<string | null>;
  /**
   * The text it would write to start an engine, in an operator's form: YAML, a command line. Absent if an engine is started by a call only.
   */
  readonly generate?: (engine: EngineOrder, planId: string | null) => Answer<string>;
  /** The present text of an engine, in the form of `generate`; null if there is none. */
  readonly actual?: (engineId: string, options: LookOptions) => Promise<Answer<string | null>>;
  /** `start` without any write, with a dry run by the server if it supports one; returns what it would do. */
  readonly rehearse?: (engine: EngineOrder, options: StepOptions) => Promise<Answer<string>>;
  /** The last lines of an engine's log, secrets masked. Absent if they cannot be read. */
  readonly log?: (engineId: string, options: LookOptions) => Promise<Answer<string>>;
  /**
   * Starts the programs that the cluster needs beside its engines, where one does not run. Called again and again while the cluster is
   * watched. Absent if it has none.
   */
  readonly keep?: () => void;
  /** Ends those programs. Called when the cluster is detached. */
  readonly release?: () => void;
  /** Loads a workload's prompts into engines that replay them; absent if engines are real. */
  readonly loadOutcomes?: (workloadId: string, options: StepOptions) => Promise<Answer<string>>;
}
