import { buildPolicy } from "@/solver/policies/buildPolicy";
import { spareReplica } from "@/solver/policies/places/spareReplica";
import type { Replica } from "../engines/replica";
import type { ReplicaPool } from "../engines/replicaPool";
import { PolicyDriver } from "../queue/policyDriver";
import type { JudgePlace, JudgeSite } from "./judgeSite";

/** Engines tried for one score; the same number as for one stage. */
const attempts = 3;

export interface JudgeEnginesOptions {
  readonly model: string;
  readonly pool: ReplicaPool;
  readonly queued: Map<string, number>;
  readonly onRoom: (nowMs: number) => void;
  /** Called for every answer of one of them. */
  readonly onAnswered: (model: string) => void;
}

/**
 * A judge on engines of the configuration. Calls share their slots with requests that name the model. As in the planner's simulation
 * (`solver/cluster/judgeQueue.ts`), they go to the least loaded engine, or wait first come first served if all are full.
 */
export class JudgeEngines implements JudgeSite {
  readonly attempts = attempts;
  /** Its clock runs in wall seconds. */
  readonly timeScale = 1;
  readonly driver: PolicyDriver;
  readonly #options: JudgeEnginesOptions;
  #calls = 0;

  constructor(options: JudgeEnginesOptions) {
    this.#options = options;
    const { model, pool, queued, onRoom } = options;
    const policy = buildPolicy({ kind: "fixed", model, order: { kind: "fcfs" }, place: { kind: "least-load" } });
    const outage = { isLost: (lost: string) => pool.isLost(lost), lowerMayAnswer: false };
    const { timeScale } = this;
    this.driver = new PolicyDriver({ policy, replicas: () => pool.replicas, outage: () => outage, timeScale, queued, onRoom });
  }

  unavailable(): string | null {
    const { model, pool } = this.#options;
    return pool.available(model) ? null : `no engine of ${model} takes work`;
  }

  /** Always null: only the queue decides whose turn it is, and it gives a slot without delay if one is free. */
  tryEnter(): null {
    return null;
  }

  hasSpare(): boolean {
    return spareReplica(this.#options.model, this.#options) !== undefined;
  }

  trySpare(): JudgePlace | null {
    const { model, onRoom } = this.#options;
    const replica = spareReplica(model, this.#options);
    if (replica === undefined) return null;
    replica.begin();
    return this.#place(replica, () => {
      replica.end();
      onRoom(performance.now());
    });
  }

  async enter(signal: AbortSignal): Promise<JudgePlace | null> {
    const id = `judge-${this.#calls}`;
    this.#calls += 1;
    const work = { id, programId: id, stage: 0, inputTokens: 0 };
    const grant = await this.driver.queue(work, signal);
    if (grant.kind !== "granted") return null;
    const { replica } = grant;
    return this.#place(replica, (failed) => this.driver.release(id, replica, { failed }));
  }

  full(): string {
    return `no engine of ${this.#options.model} had room`;
  }

  /** Does nothing: the engines' connections belong to the pool. */
  close(): void {}

  #place(replica: Replica, end: (failed: boolean) => void): JudgePlace {
    return {
      pool: replica.pool,
      path: `${replica.basePath}/v1/chat/completions`,
      servedName: replica.servedName,
      watch: replica.stallDetector,
      leave: (how) => {
        if (how === "failed") replica.failed();
        if (how === "answered") {
          replica.succeeded();
          this.#options.onAnswered(replica.model);
        }
        end(how === "failed");
      },
    };
  }
}
