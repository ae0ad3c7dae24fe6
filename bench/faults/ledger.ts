import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Outcome, Reply } from "./clients";

/** The outcome of a status on the gateway's record. */
function outcomeOf(status: number): Outcome {
  if (status === 200) return "answered";
  if (status === 429) return "shed";
  return status === 499 ? "left" : "failed";
}

/** Refused before a decision was made: counted by the gateway, not on record. */
const doorStatuses: ReadonlySet<number> = new Set([408, 413]);

type Counts = Record<Outcome, number>;

const none = (): Counts => ({ answered: 0, shed: 0, failed: 0, left: 0, lost: 0 });

/** Sums clients' observations and the gateway's records, and compares them request by request. */
export class Ledger {
  sent = 0;
  readonly seen = none();
  readonly recorded = none();
  /** Descriptions of lost requests and of disagreements between client and record: the first few. */
  readonly losses: string[] = [];
  readonly contradictions: string[] = [];
  /** Why engine calls failed and answers were not judged, in the words of the record. */
  readonly reasons = new Map<string, number>();
  /** Reported to a client and not on record yet, and the other way round. */
  readonly #replies = new Map<string, Reply>();
  readonly #decisions = new Map<string, Decision>();

  /** Counts a request as sent, and its outcome once it is known. */
  async follow(request: Promise<Reply>): Promise<Reply> {
    this.sent += 1;
    const reply = await request;
    this.seen[reply.outcome] += 1;
    if (reply.outcome === "lost") this.losses.push(`${reply.status}: ${reply.said}`);
    if (reply.decisionId === null || doorStatuses.has(reply.status)) return reply;
    const decision = this.#decisions.get(reply.decisionId);
    if (decision === undefined) this.#replies.set(reply.decisionId, reply);
    else this.#compare(reply, decision);
    return reply;
  }

  /** Adds a record of the gateway. */
  record(decision: Decision): void {
    this.recorded[outcomeOf(decision.status)] += 1;
    for (const { verdict, judgedScore, judgeSeconds, reason, detail } of decision.stages) {
      if (verdict !== "failed" && (judgeSeconds === null || judgedScore !== null)) continue;
      const text = detail === undefined ? reason : `${reason}: ${detail}`;
      this.reasons.set(text, (this.reasons.get(text) ?? 0) + 1);
    }
    if (this.#decisions.has(decision.id)) this.contradictions.push(`${decision.id} is on record twice`);
    const reply = this.#replies.get(decision.id);
    if (reply === undefined) this.#decisions.set(decision.id, decision);
    else this.#compare(reply, decision);
  }

  /** Replies that clients received and the gateway has no record of. */
  get unrecorded(): number {
    return this.#replies.size;
  }

  /** Records whose client received nothing, because it had left. */
  get unheard(): number {
    return this.#decisions.size;
  }

  #compare(reply: Reply, decision: Decision): void {
    this.#replies.delete(decision.id);
    this.#decisions.delete(decision.id);
    const recorded = outcomeOf(decision.status);
    if (reply.outcome === "left" || recorded === reply.outcome) return;
    this.contradictions.push(`${decision.id}: the client saw ${reply.outcome}, the record says ${decision.status} ${decision.reason}`);
  }
}
