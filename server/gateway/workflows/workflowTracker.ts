import type { Logger } from "pino";
import type { StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import { type AgentForecast, PublishedForecasts } from "@/solver/workflow/learning/agentForecast";
import { agentLine } from "@/solver/workflow/learning/agentLine";
import { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { WorkflowCounts } from "@/solver/workflow/learning/workflowsView";
import type { ModelRequest } from "../http/modelRequest";
import type { MetricRegistry } from "../lib/metricRegistry";
import { CachedView } from "./cachedView";
import { type FollowedCall, observedCallOf } from "./followedCall";
import { LineThread } from "./lineThread";
import { WorkflowFile } from "./workflowFile";
import { WorkflowTallies } from "./workflowTallies";

/** Interval of the checks which programs have ended. */
const sweepMs = 1_000;
/** Programs that are learnt in one turn of the event loop: a program of 64 calls takes half a millisecond. */
const programsATurn = 4;
/** Least time between two placements of agents and between two writes of the file. */
const lineMs = 2_000;
const saveMs = 10_000;
/** Agents that are placed within a millisecond: for them alone no thread is kept, which takes 15 MB. */
const fewAgents = 8;
/** Upper bound of the share of the event loop's time that either takes: thousands of agents are placed and written less often. */
const share = 1 / 50;
/** Decisions use the values that records show, rounded. */
const decimals = 1e6;

interface BookOptions {
  readonly stateDirectory: string;
  readonly log: Logger;
}

/**
 * Learns workflows from the calls that the gateway serves, under any policy, across configurations and restarts. It reads nothing of
 * prompts and answers. Times are engine seconds of the gateway's clock.
 */
export class WorkflowTracker {
  readonly #log: Logger;
  readonly #file: WorkflowFile;
  readonly #thread = new LineThread();
  readonly #tallies = new WorkflowTallies();
  readonly #view = new CachedView();
  readonly #published = new PublishedForecasts((agentKey, model) => this.#forecast(agentKey, model));
  #learner = new WorkflowLearner();
  #sinceMs = Date.now();
  #timeScale = 1;
  #sweeping: NodeJS.Timeout | undefined;
  /** The revision at the last placement of agents, and the earliest time of the next, on the clock of `performance.now()`. */
  #placed = { revision: 0, agents: 0, notBeforeMs: 0, fails: false };
  #placing = false;
  #learning = false;
  /** Whether there are unwritten changes, and the earliest time of the next write. */
  #unsaved = { changed: false, notBeforeMs: 0 };
  #failed = false;

  constructor({ stateDirectory, log }: BookOptions) {
    this.#file = new WorkflowFile(stateDirectory);
    this.#log = log;
  }

  /** Unix milliseconds since when it has been learning. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Exports the counts of what is learnt as gateway metrics. */
  register(registry: MetricRegistry): void {
    this.#tallies.register(registry, () => this.#placed.agents);
  }

  /** Loads what an earlier start learned and continues from there. An unusable file is set aside with a log entry. Never rejects. */
  async load(): Promise<void> {
    try {
      const found = await this.#file.load();
      if (found !== null) {
        const awaySeconds = (Math.max(0, Date.now() - found.atMs) / 1000) * this.#timeScale;
        const learner = WorkflowLearner.restore(found.learnt, this.#nowSeconds - awaySeconds);
        if (learner === null) throw new Error("the stored workflows have an unknown format");
        this.#resume(learner);
        this.#sinceMs = found.sinceMs;
      }
    } catch (err) {
      const aside = await this.#file.setAside();
      this.#log.error({ err, path: this.#file.path, aside }, "starting without the stored workflows");
    }
    this.#sweeping = setInterval(() => this.#sweep(), sweepMs).unref();
  }

  /** Engine seconds that pass in one wall second from now on. */
  use(timeScale: number): void {
    if (timeScale === this.#timeScale) return;
    const kept = this.#learner.keep(this.#nowSeconds);
    this.#timeScale = timeScale;
    this.#resume(WorkflowLearner.restore(kept, this.#nowSeconds) ?? new WorkflowLearner());
  }

  /**
   * A request for text is accepted. Null if it cannot be followed.
   * @param key name of its API key; null if it has none.
   */
  start(asked: ModelRequest, key: string | null): FollowedCall | null {
    const nowSeconds = this.#nowSeconds;
    const { decisionId: id, workflow: application, agent, upstreamAgents: upstream, startedAtMs } = asked;
    const alone = asked.programId === id;
    const programId = alone ? id : [key ?? "", application, asked.programId].join("\n");
    const learner = this.#learner;
    const startedSeconds = startedAtMs === null ? nowSeconds : nowSeconds - ((Date.now() - startedAtMs) / 1000) * this.#timeScale;
    this.#view.change();
    return this.#guarded(null, () => {
      const { agentKey, programStartSeconds } = alone
        ? learner.comeAlone({ application, agent, nowSeconds, startedSeconds })
        : learner.start({ id, programId, application, agent, upstream, nowSeconds, startedSeconds });
      return { agentKey, programStartSeconds, arrivedSeconds: nowSeconds, programId, learner };
    });
  }

  /** What earlier calls of the agent taught, as last published; undefined if nothing had been learnt by then. */
  forecast({ agentKey }: FollowedCall, model: string): AgentForecast | undefined {
    return this.#published.of(agentKey, model);
  }

  /** Increases whenever forecasts are published anew. */
  get forecastRevision(): number {
    return this.#published.revision;
  }

  #forecast(agentKey: string, model: string): AgentForecast | undefined {
    const known = this.#guarded(undefined, () => this.#learner.forecast(agentKey, model));
    if (known === undefined) return undefined;
    return {
      agent: known.agent,
      distanceSeconds: rounded(known.distanceSeconds),
      remainingCalls: rounded(known.remainingCalls),
      requestSeconds: rounded(known.requestSeconds),
      tokensPerSecond: rounded(known.tokensPerSecond),
    };
  }

  /**
   * The request is answered, or given up.
   * @param stages as recorded.
   */
  ended(asked: ModelRequest, followed: FollowedCall, stages: readonly StageRecord[]): void {
    const { learner, programId } = followed;
    // The learner was reset meanwhile, or its clock changed.
    if (learner !== this.#learner) return;
    this.#view.change();
    this.#guarded(undefined, () => {
      // A request that names no program is the only call of its program.
      const alone = programId === asked.decisionId;
      const call = observedCallOf(asked, followed, stages);
      if (call === null) {
        if (!alone) learner.leave(asked.decisionId, programId);
        return;
      }
      if (alone) learner.finishAlone(call);
      else learner.finish(call);
      this.#tallies.call(asked.agent);
      this.#unsaved.changed = true;
    });
  }

  get counts(): WorkflowCounts {
    return this.#learner.counts;
  }

  /** What is learnt (`WorkflowsView`), as JSON. */
  viewJson(): string {
    return this.#view.json(() => this.#learner.view(this.#nowSeconds));
  }

  /** Forgets all that was learnt, at once; durable when it returns. If it rejects, deleting the data on disk is tried again. */
  forget(): Promise<void> {
    this.#resume(new WorkflowLearner());
    this.#sinceMs = Date.now();
    this.#file.dropAside();
    return this.#write();
  }

  /** Stops its own activity, and stores what was learnt. Never rejects. */
  async close(): Promise<void> {
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
    this.#thread.close();
    if (this.#unsaved.changed) await this.#saved();
    await this.#file.settled;
  }

  get #nowSeconds(): number {
    return (performance.now() / 1000) * this.#timeScale;
  }

  #sweep(): void {
    if (!this.#learning) this.#learn();
    const nowMs = performance.now();
    const moved = this.#learner.revision !== this.#placed.revision;
    if (moved && nowMs >= this.#placed.notBeforeMs && !this.#placing) void this.#place();
    if (this.#unsaved.changed && nowMs >= this.#unsaved.notBeforeMs) void this.#saved();
    this.#view.tidy(nowMs);
  }

  /** Learns from the programs that have ended, a few in each turn of the event loop, so that requests do not wait for all of them. */
  #learn(): void {
    const more = this.#guarded(false, () => this.#learner.advance(this.#nowSeconds, programsATurn));
    if (this.#tallies.follow(this.#learner.counts)) {
      this.#unsaved.changed = true;
      this.#view.change();
    }
    this.#learning = more && this.#sweeping !== undefined;
    if (this.#learning) setImmediate(() => this.#learn()).unref();
  }

  #resume(learner: WorkflowLearner): void {
    this.#tallies.follow(this.#learner.counts);
    this.#tallies.resume(learner.counts);
    this.#learner = learner;
    this.#placed.revision = learner.revision;
    this.#placed.agents = learner.lineAgents().length;
    this.#published.publish();
    this.#view.drop();
  }

  /** Places the agents again, which takes a while, and publishes forecasts; until then they keep their places. */
  async #place(): Promise<void> {
    this.#placing = true;
    const learner = this.#learner;
    const { revision } = learner;
    const startedMs = performance.now();
    const agents = this.#guarded([], () => learner.lineAgents());
    this.#placed.agents = agents.length;
    const placing = agents.length <= fewAgents ? this.#guarded(null, () => agentLine(agents)) : this.#thread.place(agents);
    const askedMs = performance.now();
    const line = await placing;
    const placedMs = performance.now();
    // What was learnt may have been forgotten meanwhile.
    if (line !== null && learner === this.#learner) {
      this.#guarded(undefined, () => learner.takeLine(line));
      this.#placed.revision = revision;
      this.#view.change();
    }
    if (learner === this.#learner) this.#published.publish();
    const fails = line === null && this.#sweeping !== undefined;
    if (fails && !this.#placed.fails) this.#log.warn("agents could not be placed by what they taught, and stand where they stood");
    this.#placed.fails = fails;
    const nowMs = performance.now();
    this.#placed.notBeforeMs = nowMs + Math.max(lineMs, (askedMs - startedMs + nowMs - placedMs) / share);
    this.#placing = false;
  }

  /** Writes what was learnt. Never rejects. */
  #saved(): Promise<void> {
    return this.#write().catch((err: unknown) => this.#log.error({ err }, "the learned workflows could not be stored"));
  }

  /** As `#saved`, but rejects if it cannot be written; then it is tried again. */

  async #write(): Promise<void> {
    this.#unsaved.changed = false;
    const startedMs = performance.now();
    const written = this.#file.save({ sinceMs: this.#sinceMs, atMs: Date.now(), learnt: this.#learner.keep(this.#nowSeconds) });
    const nowMs = performance.now();
    this.#unsaved.notBeforeMs = nowMs + Math.max(saveMs, (nowMs - startedMs) / share);
    try {
      await written;
    } catch (err) {
      this.#unsaved.changed = true;
      throw err;
    }
  }

  /** Requests are answered whether or not they can be learned from: only the first failure is logged. */
  #guarded<T>(otherwise: T, learn: () => T): T {
    try {
      return learn();
    } catch (err) {
      if (!this.#failed) this.#log.error({ err }, "a call could not be observed");
      this.#failed = true;
      return otherwise;
    }
  }
}

const rounded = (value: number): number => Math.round(value * decimals) / decimals;
