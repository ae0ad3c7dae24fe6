import type { Action, Need, Policy, PolicyEvent, PolicyReason, View, WaitingWork, WorkflowCall } from "../core/policy";
import type { PlannedQueue } from "./plannedMemory";

/** What gives queued requests a model and a replica while there is room. */
export interface Dispatcher extends Pick<Policy, "preference" | "thenBy" | "choosesModel" | "readsEvidence" | "rounds"> {
  /** In addition to the needs of the route, the order and the place. */
  readonly needs: readonly Need[];
  /** Null where every request is of the route. */
  readonly calls: CallStages | null;
  /**
   * Sends what it can of the view's queued work, and refuses what no model may serve.
   * @returns whether the place held work back although there was room.
   */
  dispatch(view: View, actions: Action[]): boolean;
  /** The route accepted a scored answer of one of its stages, or escalated it. */
  judged?(stage: number, escalated: boolean): void;
  observe?(event: PolicyEvent): void;
  /** Queued work left without being sent. */
  forget(workId: string): void;
  /** Ids of the held-back work that goes before all other. */
  due(): Iterable<string>;
  /** Copies of the queues, to place their work on trial. */
  plannedQueues(view: View): readonly PlannedQueue[];
}

/**
 * The stages at which calls of workflows are answered, after those of the route: one for each model that they may be given. Their answers
 * are accepted, whatever their score.
 */
interface CallStages {
  readonly models: readonly string[];
  /** The index of the model at whose stage requests start that have no model yet. */
  readonly start: number;
  /** Whether scores of answers change what later calls may be given. */
  readonly areScored: boolean;
  /** Whether a call is of an agent of a declared workflow. */
  knows(call: WorkflowCall | undefined): boolean;
  /** Whether waiting work is such a call. */
  isCall(work: WaitingWork): boolean;
  /** Whether answers of the model are scored. */
  judges(model: number): boolean;
  /** Notes the score of an answer; null: its gate gave none. Returns why the answer is accepted. */
  answered(workId: string, model: number, score: number | null): PolicyReason;
}
