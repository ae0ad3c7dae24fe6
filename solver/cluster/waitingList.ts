import type { Action, Policy, ReplicaView, WaitingWork } from "@/solver/policies/policy";

/** A model's queued work in the order it came; what stands before `head` has left. */
interface Queue {
  works: WaitingWork[];
  head: number;
}

/** Places that have come free at the head of a queue before it is moved up. */
const SPENT = 1024;

/**
 * Work that waits for a policy's decisions. Under long overload thousands wait and each decision is about a few of them: a policy
 * that serves its queues in the order they came is shown no more of each than the model's replicas have room for, which
 * leaves its decisions as they are and their cost independent of the queue's length.
 */
export class WaitingList {
  private readonly policy: Pick<Policy, "firstComeFirstServed" | "modelOfStage">;
  /** Answered work; for other policies all work, in the order it came. */
  private listed: WaitingWork[] = [];
  private readonly queues = new Map<string, Queue>();
  /** Pieces of work that wait. */
  size = 0;

  constructor(policy: WaitingList["policy"]) {
    this.policy = policy;
  }

  add(work: WaitingWork): void {
    this.size++;
    if (!this.policy.firstComeFirstServed || work.state.kind === "answered") {
      this.listed.push(work);
      return;
    }
    const model = this.policy.modelOfStage(work.stage);
    const queue = this.queues.get(model);
    if (queue === undefined) this.queues.set(model, { works: [work], head: 0 });
    else queue.works.push(work);
  }

  /** What the policy is to decide about, given its replicas. */
  shown(replicas: readonly ReplicaView[]): readonly WaitingWork[] {
    if (this.queues.size === 0) return this.listed;
    const shown = [...this.listed];
    for (const [model, { works, head }] of this.queues) {
      const end = Math.min(works.length, head + (head < works.length ? roomAt(model, replicas) : 0));
      for (let at = head; at < end; at++) shown.push(works[at] as WaitingWork);
    }
    return shown;
  }

  /** Takes the work acted on off the list. @throws when the policy acted on work it was not shown, or out of the order it promised. */
  remove(actions: readonly Action[]): void {
    const acted = new Set(actions.map((action) => action.workId));
    const before = this.listed.length;
    this.listed = this.listed.filter((work) => !acted.has(work.id));
    let removed = before - this.listed.length;
    for (const queue of this.queues.values()) removed += leave(queue, acted);
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

/** Moves the head of a queue past what was acted on; returns how much that was. */
function leave(queue: Queue, acted: ReadonlySet<string>): number {
  const from = queue.head;
  while (queue.head < queue.works.length && acted.has(queue.works[queue.head]?.id ?? "")) queue.head++;
  const left = queue.head - from;
  if (queue.head > SPENT && queue.head > queue.works.length / 2) {
    queue.works = queue.works.slice(queue.head);
    queue.head = 0;
  }
  return left;
}
