import { BoundedMap } from "@/solver/collections/boundedMap";
import type { AgentForecast } from "./agentForecast";
import { type AgentLine, agentLine, type LineAgent } from "./agentLine";
import { ApplicationGraph } from "./applicationGraph";
import { callGraph } from "./callGraph";
import { type LearnerBounds, learnerBounds } from "./learnerBounds";
import { agentKey, type LearntAgent } from "./learntAgent";
import { LearntLatencies } from "./learntLatencies";
import { applicationOf, type ObservedCall, tidied } from "./observedCall";
import type { OpenProgram } from "./openProgram";
import { ProgramTracker } from "./programTracker";
import { remainingLatency } from "./remainingLatency";
import { type KeptApplication, type WorkflowSnapshot, workflowSnapshotSchema } from "./workflowSnapshot";
import type { WorkflowCounts, WorkflowsView } from "./workflowsView";

/** A call that has arrived. */
export interface ComingCall {
  readonly id: string;
  readonly programId: string;
  /** As in `ObservedCall`. */
  readonly application: string;
  readonly agent: string;
  readonly upstream: readonly string[];
  readonly nowSeconds: number;
  /** When its program began, according to the client; left out: with its first call. */
  readonly startedSeconds?: number;
}

export interface KnownCall {
  /** `application/agent`; for a call without an agent `application/`. */
  readonly agentKey: string;
  readonly programStartSeconds: number;
}

/** The share of applications, least recently seen first, from which one is evicted where there is no room for another. */
const FORGETTABLE = 1 / 8;

/**
 * Learns the call graphs of applications and the latencies of their agents from the calls as they are served, without any given structure
 * (Kairos, section 4). A call contributes its agent's request latency when it ends; a program contributes its graph and remaining latencies
 * when it ends, as only whole programs show how long was left. Calls may be reported in any order, twice, or never: nothing throws, and the
 * stored state is bounded.
 */
export class WorkflowLearner {
  private readonly bounds: LearnerBounds;
  private readonly applications: BoundedMap<ApplicationGraph>;
  private readonly programs: ProgramTracker;
  private readonly latencies: LearntLatencies;
  private readonly counted = { programs: 0, calls: 0, unnamedCalls: 0, lateCalls: 0, missingUpstream: 0, ties: 0, forgotten: 0 };
  private learnt = 0;

  constructor(bounds: Partial<LearnerBounds> = {}, kept?: WorkflowSnapshot) {
    this.bounds = { ...learnerBounds, ...bounds };
    this.applications = new BoundedMap(this.bounds.applications);
    this.latencies = new LearntLatencies(this.bounds, kept);
    if (kept !== undefined) Object.assign(this.counted, kept.counts);
    this.programs = new ProgramTracker(this.bounds, {
      quietSeconds: (application) => this.applications.get(application)?.quietSeconds ?? this.bounds.quietSeconds,
      ended: (program) => this.learnProgram(program),
      tooLate: (application, gapSeconds) => {
        const known = this.applications.get(application);
        if (known !== undefined)
          known.quietSeconds = Math.min(this.bounds.longestQuietSeconds, Math.max(known.quietSeconds, 2 * gapSeconds));
      },
    });
  }

  /** @returns null where it is not the output of `keep`. `nowSeconds` is of the new learner's clock. */
  static restore(kept: unknown, nowSeconds: number, bounds?: Partial<LearnerBounds>): WorkflowLearner | null {
    const read = workflowSnapshotSchema.safeParse(kept);
    if (!read.success) return null;
    const learner = new WorkflowLearner(bounds, read.data);
    for (const application of read.data.applications) learner.seen(application.name, nowSeconds, application);
    learner.refreshLine();
    return learner;
  }

  /** A call has arrived. A known call changes nothing. */
  start({ id, programId, application, agent, nowSeconds, startedSeconds }: ComingCall): KnownCall {
    const open = this.programs.get(programId);
    const goesOn = open !== undefined && nowSeconds - open.fullSeconds <= this.bounds.longestQuietSeconds;
    // A name that all requests share would never be learnt.
    if (open !== undefined && !goesOn) this.programs.cut(open);
    const program = goesOn ? open : this.programs.begin(programId, applicationOf(application, agent), nowSeconds);
    if (startedSeconds !== undefined && startedSeconds < program.startSeconds) program.startSeconds = startedSeconds;
    if (!program.calls.has(id)) {
      if (program.calls.size < this.bounds.callsOfProgram) program.calls.set(id, null);
      else {
        program.beyond += 1;
        program.fullSeconds = Math.min(program.fullSeconds, nowSeconds);
      }
      program.underWay += 1;
      program.over = false;
    }
    this.programs.heard(program, nowSeconds);
    return { agentKey: agentKey(program.application, agent), programStartSeconds: program.startSeconds };
  }

  /**
   * Forecast of an agent's calls at a model.
   *
   * @returns undefined where nothing is learnt yet.
   */
  forecast(key: string, model: string): AgentForecast | undefined {
    const slash = key.indexOf("/");
    const agent = this.applications.get(key.slice(0, slash))?.known(key.slice(slash + 1));
    return this.latencies.forecast(key, agent, model);
  }

  /** A call has ended, with or without success. */
  finish(call: ObservedCall): void {
    const ended = tidied(call);
    if (ended === null) {
      this.leave(call.id, call.programId);
      return;
    }
    const { id, programId, finishedSeconds } = ended;
    let program = this.programs.get(programId);
    if (program === undefined) {
      // Reported again, or too late to be of use.
      if (this.programs.hasEnded(programId, finishedSeconds)) return;
      program = this.programs.begin(programId, applicationOf(call.application, call.agent), ended.arrivedSeconds);
    }
    const known = program.calls.get(id);
    if (known !== undefined && known !== null) return;
    const isBeyond = known === undefined && program.beyond > 0;
    // Its arrival was not reported: added all the same where there is room.
    if (known === undefined && !isBeyond && program.calls.size >= this.bounds.callsOfProgram) return;
    if (isBeyond) program.beyond -= 1;
    else program.calls.set(id, ended);
    if (isBeyond || known === null) program.underWay -= 1;
    program.lastAnswerSeconds = Math.max(program.lastAnswerSeconds, finishedSeconds);
    program.failed ||= ended.failed;
    this.learnCall(ended, program);
    this.programs.heard(program, finishedSeconds);
  }

  /** A call has arrived that is its whole program, as its client names none: nothing is stored of it before it has ended. */
  comeAlone({ application, agent, nowSeconds, startedSeconds = nowSeconds }: Omit<ComingCall, "id" | "programId" | "upstream">): KnownCall {
    return { agentKey: agentKey(applicationOf(application, agent), agent), programStartSeconds: Math.min(startedSeconds, nowSeconds) };
  }

  /** A call that was its whole program has ended, with or without success. */
  finishAlone(call: ObservedCall): void {
    const ended = tidied(call);
    if (ended === null) return;
    const program = {
      application: applicationOf(call.application, call.agent),
      late: false,
      failed: ended.failed,
      lastSeconds: ended.finishedSeconds,
      lastAnswerSeconds: ended.finishedSeconds,
    };
    this.learnCall(ended, program);
    if (ended.upstream.length === 0) this.learnSingle(ended, program.application);
    else this.learnCalls([ended], program);
  }

  /** A call was cancelled without ever reaching an engine. */
  leave(id: string, programId: string): void {
    const program = this.programs.get(programId);
    if (program === undefined) return;
    const known = program.calls.get(id);
    if (known === null) program.calls.delete(id);
    else if (known === undefined && program.beyond > 0) program.beyond -= 1;
    else return;
    program.underWay -= 1;
    if (program.calls.size === 0 && program.underWay === 0) this.programs.drop(program);
    else this.programs.heard(program, program.lastSeconds);
  }

  /** No further call of the program will arrive. */
  end(programId: string, nowSeconds: number): void {
    this.programs.end(programId, nowSeconds);
  }

  /**
   * Ends programs that have been silent too long, and learns from them.
   *
   * @param mostPrograms maximum number; it leaves the rest for the next time: a thousand programs of 30 calls take a quarter of a second.
   * @returns whether there may be a rest.
   */
  advance(nowSeconds: number, mostPrograms = Number.POSITIVE_INFINITY): boolean {
    return this.programs.advance(nowSeconds, mostPrograms);
  }

  get counts(): WorkflowCounts {
    return { ...this.keptCounts(), openPrograms: this.programs.size };
  }

  /** Increases whenever the result of `lineAgents` may have changed. */
  get revision(): number {
    return this.learnt;
  }

  /** The agents whose remaining latencies have converged: those have a place on the line. */
  lineAgents(): readonly LineAgent[] {
    return this.agents().flatMap(({ key, remaining: { settled } }) =>
      settled === null ? [] : [{ key, quantilesSeconds: settled.quantiles }],
    );
  }

  /** Activates a line; agents that are not part of it are placed on it without changing it. */
  takeLine(line: AgentLine): void {
    this.latencies.takeLine(line);
  }

  /** Computes the line and activates it. */
  refreshLine(): void {
    this.takeLine(agentLine(this.lineAgents()));
  }

  view(nowSeconds: number): WorkflowsView {
    const { latencies } = this;
    return {
      asOfSeconds: nowSeconds,
      applications: Array.from(this.applications.values(), (application) => application.view())
        .filter(({ programs }) => programs > 0)
        .sort((a, b) => b.programs - a.programs),
      agents: this.agents().map((agent) => agent.view(latencies.hasLine ? latencies.distanceSeconds(agent) : null)),
      counts: this.counts,
    };
  }

  /** All learnt state, for `restore`. */
  keep(nowSeconds: number): WorkflowSnapshot {
    return {
      version: 1,
      counts: this.keptCounts(),
      applications: Array.from(this.applications.values(), (application) => application.keep(nowSeconds)),
      ...this.latencies.keep(),
    };
  }

  private agents(): readonly LearntAgent[] {
    return Array.from(this.applications.values(), (application) => [...application.all()]).flat();
  }

  private keptCounts(): WorkflowSnapshot["counts"] {
    let { forgotten } = this.counted;
    for (const application of this.applications.values()) forgotten += application.forgotten;
    return { ...this.counted, forgotten: forgotten + this.programs.forgotten };
  }

  /** The application, marked as just seen. */
  private seen(name: string, nowSeconds: number, kept?: KeptApplication): ApplicationGraph {
    const known = this.applications.get(name) ?? new ApplicationGraph(name, this.bounds, { nowSeconds, ...(kept && { kept }) });
    if (kept === undefined) known.lastSeenSeconds = nowSeconds;
    if (!this.applications.has(name) && this.applications.size === this.bounds.applications) this.forgetOne();
    this.applications.put(name, known);
    return known;
  }

  /** Evicts an application: of the least recently seen the one with fewest programs, so that names used once do not displace others. */
  private forgetOne(): void {
    const oldest = [...this.applications.values()].slice(0, Math.max(1, Math.floor(this.bounds.applications * FORGETTABLE)));
    const gone = oldest.reduce((least, application) => (application.programs < least.programs ? application : least));
    this.applications.delete(gone.name);
    this.counted.forgotten += 1 + gone.forgotten;
  }

  private learnCall(call: ObservedCall, program: Pick<OpenProgram, "application" | "late">): void {
    this.counted.calls += 1;
    if (call.agent === "") this.counted.unnamedCalls += 1;
    if (program.late) this.counted.lateCalls += 1;
    const agent = this.seen(program.application, call.finishedSeconds).seen(call.agent);
    if (call.failed) return;
    agent.answered(call);
    this.latencies.answered(call);
  }

  private learnProgram(program: OpenProgram): void {
    const calls = [...program.calls.values()].filter((call) => call !== null);
    if (calls.length > 0 && !program.late) this.learnCalls(calls, program);
  }

  /** As `learnCalls`, from a program of one call that follows none. */
  private learnSingle(call: ObservedCall, name: string): void {
    this.counted.programs += 1;
    const agent = this.seen(name, call.finishedSeconds).learnSingle(call);
    if (call.failed) return;
    const seconds = call.finishedSeconds - call.dispatchedSeconds;
    agent.remaining.add(seconds);
    agent.remainingCalls.add(1);
    this.latencies.remained(seconds, 1);
    this.learnt += 1;
  }

  /** Learns from the calls of a program that has ended. */
  private learnCalls(
    calls: readonly ObservedCall[],
    program: Pick<OpenProgram, "application" | "failed" | "lastSeconds" | "lastAnswerSeconds">,
  ): void {
    const graph = callGraph(calls, this.bounds.resolutionSeconds);
    this.counted.programs += 1;
    this.counted.missingUpstream += graph.missingUpstream;
    this.counted.ties += graph.ties;
    const application = this.seen(program.application, program.lastSeconds);
    application.learn(graph, program.lastAnswerSeconds - (graph.calls[0]?.arrivedSeconds ?? 0));
    if (program.failed) return;
    const remaining = remainingLatency(graph.calls);
    let lastSeconds = Number.NEGATIVE_INFINITY;
    for (const { finishedSeconds } of graph.calls) lastSeconds = Math.max(lastSeconds, finishedSeconds);
    // Calls beyond the bound continued after the calls in the graph.
    const furtherSeconds = program.lastAnswerSeconds - lastSeconds;
    for (const [at, { agent }] of graph.calls.entries()) {
      const [seconds, left] = [(remaining[at] ?? 0) + furtherSeconds, graph.remainingCalls[at] ?? 1];
      const known = application.known(agent);
      known?.remaining.add(seconds);
      known?.remainingCalls.add(left);
      this.latencies.remained(seconds, left);
    }
    this.learnt += 1;
  }
}
