import type { WaitingWork } from "../core/policy";
import type { ProgramConfigurations } from "./programConfigurations";
import type { RoundRequest } from "./roundSearch";

/** A waiting request as the policy knows it. */
export interface StagedWork {
  readonly work: WaitingWork;
  /** Null where it is of no declared workflow, or of no agent of it. */
  readonly program: ProgramConfigurations | null;
  readonly agent: number;
  /** The model that it is bound to, by index; -1 where it is bound to none. */
  bound: number;
  /** Whether it has been sent or refused. */
  gone: boolean;
}

/** What the queue goes by. */
export interface RoundSource {
  readonly waiting: readonly WaitingWork[];
  /** Number of the round, unlike those before. */
  readonly round: number;
  /** Models that are not there, as bits. */
  readonly out: number;
  staged(work: WaitingWork): StagedWork;
  /** The models that it may run on, as bits. */
  allowed(staged: StagedWork): number;
}

/**
 * The requests of one round in the order in which they have a claim: that in which their programs began, inside a program the deeper agents
 * first. Only what may run on a free model is given out; of the rest no more is looked at than that.
 */
export class RoundQueue {
  /** Requests that were looked at, and those that were given out. */
  looked = 0;
  readonly given: StagedWork[] = [];
  /** Whether requests of a program were left for another round, since others of it stand elsewhere in the list. */
  deferred = false;
  private at = 0;
  /** Requests whose programs began at one moment. */
  private block: readonly StagedWork[] = [];
  private inBlock = 0;

  constructor(private readonly source: RoundSource) {}

  next(open: number): RoundRequest | undefined {
    const { round, out } = this.source;
    for (let one = this.pull(open); one !== undefined; one = this.pull(open)) {
      const allowed = this.source.allowed(one);
      if ((allowed & open) === 0) continue;
      const { program } = one;
      // What is bound is weighed by itself: another of its program waits until the choice has narrowed what that may have.
      const continues = program !== null && one.bound < 0 && this.given.at(-1)?.program === program;
      if (program !== null && !continues) {
        if (program.round === round) {
          this.deferred = true;
          continue;
        }
        program.round = round;
      }
      this.given.push(one);
      if (program === null) return { allowed, left: null, having: [], continues: false, continued: false };
      const continued = this.block[this.inBlock]?.program === program;
      return { allowed, left: program.leftWithout(out), having: program.workflow.space.having[one.agent] ?? [], continues, continued };
    }
    return undefined;
  }

  private pull(open: number): StagedWork | undefined {
    if (this.inBlock >= this.block.length) {
      this.block = this.nextBlock(open);
      this.inBlock = 0;
    }
    return this.block[this.inBlock++];
  }

  /** The next whose programs began at one moment, of which any may have a model that is open: what none is open for now has none later in the round. */
  private nextBlock(open: number): readonly StagedWork[] {
    const { source } = this;
    const { waiting } = source;
    const block: StagedWork[] = [];
    let began = Number.NaN;
    let serves = false;
    for (; this.at < waiting.length; this.at += 1) {
      const work = waiting[this.at];
      if (work === undefined || work.state.kind !== "queued") continue;
      if (work.programArrivalSeconds !== began) {
        if (serves) break;
        block.length = 0;
        began = work.programArrivalSeconds;
      }
      const one = source.staged(work);
      if (one.gone) continue;
      this.looked += 1;
      serves ||= (source.allowed(one) & open) !== 0;
      block.push(one);
    }
    return !serves ? [] : block.length < 2 ? block : byProgram(block);
  }
}

/** Programs by their first request in the list, inside a program the deeper agents first, of equal depth as listed. */
function byProgram(block: readonly StagedWork[]): readonly StagedWork[] {
  const programs = new Map<unknown, StagedWork[]>();
  for (const one of block) {
    const key = one.program ?? one;
    const own = programs.get(key);
    if (own === undefined) programs.set(key, [one]);
    else own.push(one);
  }
  const depth = ({ program, agent }: StagedWork): number => program?.workflow.space.depth[agent] ?? 0;
  return [...programs.values()].flatMap((own) => (own.length < 2 ? own : own.sort((a, b) => depth(b) - depth(a))));
}
