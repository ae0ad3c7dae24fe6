import { BoundedMap } from "@/solver/collections/boundedMap";
import type { LearnerBounds } from "./learnerBounds";
import type { OpenProgram } from "./openProgram";

/** The record of a program after its end. */
interface EndedProgram {
  readonly application: string;
  readonly startSeconds: number;
  readonly lastSeconds: number;
  /** It ended by silence, without a report of its end. */
  readonly silent: boolean;
}

/** The tracker's queries and callbacks. */
export interface ProgramKeeper {
  /** How long programs of the application may be silent. */
  quietSeconds(application: string): number;
  /** Called when it has ended, and nothing is in flight. */
  ended(program: OpenProgram): void;
  /** Called when a call arrived that long after the last report of its program, which had been silent and was considered ended. */
  tooLate(application: string, gapSeconds: number): void;
}

/** Open programs and their ends: by a report, or after silence. The least recently reported are evicted first where there is no room. */
export class ProgramTracker {
  forgotten = 0;
  /** The least recently reported first. */
  private readonly open: BoundedMap<OpenProgram>;
  /** Those without a call in flight; the one idle for longest first. */
  private readonly idle = new Map<string, OpenProgram>();
  /** Number of calls of all open programs. */
  private calls = 0;
  private readonly past: BoundedMap<EndedProgram>;

  constructor(
    private readonly bounds: LearnerBounds,
    private readonly keeper: ProgramKeeper,
  ) {
    this.open = new BoundedMap(bounds.openPrograms);
    this.past = new BoundedMap(bounds.endedPrograms);
  }

  get size(): number {
    return this.open.size;
  }

  get(id: string): OpenProgram | undefined {
    return this.open.get(id);
  }

  /** Whether it has ended so recently that further reports still belong to it. */
  hasEnded(id: string, nowSeconds: number): boolean {
    const past = this.past.get(id);
    return past !== undefined && nowSeconds - past.lastSeconds <= this.bounds.longestQuietSeconds;
  }

  /** Opens a program that is not open; it is late where it had already ended. A name that reappears much later is another program. */
  begin(id: string, application: string, nowSeconds: number): OpenProgram {
    const past = this.hasEnded(id, nowSeconds) ? this.past.get(id) : undefined;
    if (past?.silent) this.keeper.tooLate(past.application, nowSeconds - past.lastSeconds);
    return {
      id,
      application: past?.application ?? application,
      late: past !== undefined,
      startSeconds: past?.startSeconds ?? nowSeconds,
      lastSeconds: nowSeconds,
      lastAnswerSeconds: Number.NEGATIVE_INFINITY,
      calls: new Map(),
      counted: 0,
      fullSeconds: Number.POSITIVE_INFINITY,
      underWay: 0,
      beyond: 0,
      failed: false,
      over: false,
    };
  }

  /** Records a report on an open program. */
  heard(program: OpenProgram, nowSeconds: number): void {
    program.lastSeconds = Math.max(program.lastSeconds, nowSeconds);
    this.idle.delete(program.id);
    this.calls += program.calls.size - program.counted;
    program.counted = program.calls.size;
    this.forget(this.open.put(program.id, program));
    // The last is the one that was just reported.
    while (this.calls > this.bounds.calls && this.open.size > 1) this.forget(this.open.takeOldest());
    if (program.underWay > 0) return;
    if (program.over) this.close(program, false);
    else this.idle.set(program.id, program);
  }

  /** Drops an open program of which nothing is known. */
  drop(program: OpenProgram): void {
    this.open.delete(program.id);
    this.idle.delete(program.id);
    this.calls -= program.counted;
  }

  /** Ends a program although calls of it still arrive: these belong to another one of its name. */
  cut(program: OpenProgram): void {
    this.drop(program);
    this.keeper.ended(program);
  }

  /** No further call will arrive; calls in flight may still end. */
  end(id: string, nowSeconds: number): void {
    const program = this.open.get(id);
    if (program === undefined) return;
    program.over = true;
    program.lastSeconds = Math.max(program.lastSeconds, nowSeconds);
    if (program.underWay === 0) this.close(program, false);
  }

  /** Ends programs that have been silent for too long, at most so many. @returns whether there may be more. */
  advance(nowSeconds: number, mostPrograms: number): boolean {
    let left = mostPrograms;
    for (const program of this.open.values()) {
      if (nowSeconds - program.lastSeconds < this.bounds.lostSeconds) break;
      if (left-- === 0) return true;
      this.close(program, true);
    }
    for (const program of this.idle.values()) {
      const silentSeconds = nowSeconds - program.lastSeconds;
      // Those behind it fell silent later, except after reports out of order, which the next pass finds.
      if (silentSeconds < this.bounds.quietSeconds) return false;
      if (silentSeconds < this.keeper.quietSeconds(program.application)) continue;
      if (left-- === 0) return true;
      this.close(program, true);
    }
    return false;
  }

  private forget(program: OpenProgram | undefined): void {
    if (program === undefined) return;
    this.drop(program);
    this.forgotten += 1;
  }

  private close(program: OpenProgram, silent: boolean): void {
    this.drop(program);
    const { application, startSeconds, lastSeconds } = program;
    this.past.put(program.id, { application, startSeconds, lastSeconds, silent });
    this.keeper.ended(program);
  }
}
