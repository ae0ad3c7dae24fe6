import { type Action, MOST_HELD, type Policy, type ReplicaView, type WaitingWork } from "@/solver/policies/core/policy";
import type { AgentForecast } from "@/solver/workflow/learning/agentForecast";
import type { FoundSets } from "./clusterWorld";
import { ModelQueue } from "./modelQueue";
import { ProgramQueue } from "./programQueue";

/**
 * Maximum work of a model's queue that a policy which may hold work back sees at once, in addition to what it may hold back: it may leave
 * room for any number of requests all the time. Where it takes so much, it is called again.
 */
export const MOST_SHOWN = 256;

/**
 * Work that waits for a policy's decisions. Under long overload thousands wait and each decision concerns a few of them: of each model's
 * queue a policy sees only the first that the model's replicas have room for, by the policy's preference and by age; one that may hold work
 * back sees as many more as it tries, and those that are due. This does not
 * change its decisions and makes their cost independent of the queue's length. Only where a policy that may hold back releases more
 * than MOST_SHOWN at one instant may the later ones be older instead of preferred: the preferred ones it saw are used up.
 * Work that may go to any model is one queue, and a policy that chooses models sees all of it.
 */
export class WaitingList {
  private readonly policy: Pick<Policy, "preference" | "thenBy" | "modelOfStage" | "askAgainSeconds" | "choosesModel" | "due">;
  /** Maximum work of a model's queue that the policy sees at once. */
  readonly mostShown: number;
  private answered: WaitingWork[] = [];
  private readonly queues = new Map<string, ModelQueue>();
  /** Set where the policy chooses models; else null. */
  private readonly common: ProgramQueue | null;
  /** Number of pieces of waiting work. */
  size = 0;

  constructor(policy: WaitingList["policy"]) {
    this.policy = policy;
    this.common = policy.choosesModel ? new ProgramQueue() : null;
    this.mostShown = policy.askAgainSeconds === undefined ? Number.POSITIVE_INFINITY : MOST_SHOWN;
  }

  add(work: WaitingWork): void {
    this.size++;
    if (work.state.kind === "answered") {
      this.answered.push(work);
      return;
    }
    if (this.common !== null) {
      this.common.add(work);
      return;
    }
    const model = this.policy.modelOfStage(work.stage);
    const queue = this.queues.get(model) ?? new ModelQueue(this.policy, this.policy.askAgainSeconds !== undefined);
    this.queues.set(model, queue);
    queue.add(work);
  }

  /** The work that the policy decides about, given its replicas. */
  shown(replicas: readonly ReplicaView[]): readonly WaitingWork[] {
    if (this.common !== null) return this.answered.length === 0 ? this.common.shown : [...this.answered, ...this.common.shown];
    const shown = [...this.answered];
    const { askAgainSeconds, due } = this.policy;
    const more = askAgainSeconds === undefined ? 0 : MOST_HELD;
    const first = due?.() ?? [];
    for (const [model, queue] of this.queues) {
      const room = queue.size === 0 ? 0 : Math.min(this.mostShown, roomAt(model, replicas));
      if (room > 0) queue.show(room + more, shown, first);
    }
    return shown;
  }

  /** Ends the search of work that may go to any model. Returns it; undefined where it waits no longer. */
  searched(workId: string, { accurate, margins }: FoundSets): WaitingWork | undefined {
    const work = this.common?.shown.find(({ id }) => id === workId);
    return work && Object.assign(work, { accurate, margins, searching: undefined });
  }

  /** Gives queued work the forecasts in force, by which its order may change. */
  reforecast(forecastOf: (workId: string) => AgentForecast | undefined): void {
    for (const work of this.common?.shown ?? []) Object.assign(work, { forecast: forecastOf(work.id) });
    for (const queue of this.queues.values()) queue.reforecast(forecastOf);
  }

  /** Removes the work acted on from the list. @throws when the policy acted on work that does not wait, or out of the declared order. */
  remove(actions: readonly Action[]): void {
    const acted = new Set(actions.map((action) => action.workId));
    const before = this.answered.length;
    if (before > 0) this.answered = this.answered.filter((work) => !acted.has(work.id));
    let removed = before - this.answered.length;
    removed += this.common?.leave(acted) ?? 0;
    for (const queue of this.queues.values()) removed += queue.leave(acted);
    if (removed !== acted.size) throw new Error("The policy acted on work that does not wait, or not in the order it came");
    this.size -= removed;
  }
}

function roomAt(model: string, replicas: readonly ReplicaView[]): number {
  let room = 0;
  for (const replica of replicas) {
    if (replica.model === model && replica.accepting) room += Math.max(0, replica.maxInFlight - replica.inFlight);
  }
  return room;
}
