import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { ReplicaView, WaitingWork } from "../core/policy";

/** The first line of a record: the policy, and its engines. */
export interface RecordedSetting {
  readonly policy: PolicyDocument;
  readonly replicas: readonly Pick<ReplicaView, "id" | "model" | "maxInFlight" | "kvTokens">[];
}

/** A further line: a moment, what happened in it, and what was decided then. */
export type RecordedTurn = readonly [seconds: number, events: readonly RecordedEvent[], decided: readonly string[]];

/** Requests and programs are numbers, in the order in which they come. */
export type RecordedEvent =
  /** Program -1: a program of its own, which ends with it. */
  | readonly ["arrives", program: number, inputTokens: number, more?: RecordedArrival]
  | readonly ["answers", request: number, score: number | null]
  /** An agent's answer is a vote. */
  | readonly ["votes", request: number, vote: string | null, outputTokens: number]
  /** An engine fails it; at the end of its retries its stage cannot answer it. */
  | readonly ["fails", request: number, retries: boolean]
  | readonly ["leaves", request: number]
  /** The search for a program's accurate configurations ends. */
  | readonly ["found", program: number, found: RecordedSets]
  /** What is learnt of an agent, from now on. */
  | readonly ["learns", agent: string, forecast: Omit<AgentForecast, "agent">]
  | readonly ["engine", replica: number, change: EngineChange]
  | readonly ["may answer lower", may: boolean]
  | readonly ["ends", program: number];

/** Accurate configurations as the words of a set, and margins in base64. */
interface RecordedSets {
  readonly accurate?: readonly number[];
  readonly margins?: string;
}

/** The sets of a program come with its first request. */
export interface RecordedArrival extends RecordedSets {
  readonly tokens?: number;
  readonly programTokens?: number;
  /** By model. */
  readonly scores?: readonly number[];
  readonly judgeResting?: true;
  /** Workflow and agent, as `workflow/agent`. */
  readonly call?: string;
  readonly searching?: true;
}

export interface EngineChange {
  readonly accepting?: boolean;
  readonly down?: boolean;
  /** Whether the driver lists it. */
  readonly listed?: boolean;
  readonly kvUse?: number;
  readonly preemptions?: number;
}

export type Sets = Pick<WaitingWork, "accurate" | "margins">;

/** What a record has of a program's configurations, as a driver gives it. */
export const setsOf = ({ accurate, margins }: Pick<RecordedArrival, "accurate" | "margins">): Sets => ({
  ...(accurate && { accurate: Uint32Array.from(accurate) }),
  ...(margins !== undefined && { margins: Int8Array.from(atob(margins), (byte) => byte.charCodeAt(0)) }),
});

/** Its place in its workflow. */
export function callOf({ call }: RecordedArrival): Pick<WaitingWork, "call"> {
  const [workflow = "", agent = ""] = call?.split("/") ?? [];
  return call === undefined ? {} : { call: { workflow, agent } };
}
