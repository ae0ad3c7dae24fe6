import type { WaitingWork } from "../core/policy";
import type { ProgramConfigurations } from "./programConfigurations";
import type { RoundRequest } from "./roundSearch";

/** A waiting request with the policy's state of it. */
export interface StagedWork {
  readonly work: WaitingWork;
  /** Null where it is of no declared workflow, or of no agent of one. */
  readonly program: ProgramConfigurations | null;
  readonly agent: number;
  /** The index of the model that it is bound to; -1 where it is not bound. */
  bound: number;
  /** Whether it has been sent or refused. */
  gone: boolean;
}

/** The inputs of the queue. */
export interface RoundSource {
  readonly waiting: readonly WaitingWork[];
  /** Number of the round, unique among rounds. */
  readonly round: number;
  /** Models that are not there, as bits. */
  readonly out: number;
  /** Whether `waiting` is in an order of its own, not in that in which programs began. */
  readonly ordered: boolean;
  staged(work: WaitingWork): StagedWork;
  /** The models that it may run on, as bits. */
  allowed(staged: StagedWork): number;
}

/**
 * The requests of one round in order of precedence: by the start of their programs, within a program the deeper agents
 * first; or, in an order of its own, as listed, of each program one request a round. Only requests that may run on a free model are returned; the others are examined no further than needed for that.
 */
export class RoundQueue {
  /** Number of requests that were examined, and of those that were returned. */
  looked = 0;
  readonly given: StagedWork[] = [];
  /** Whether requests of a program were left for another round, because others of it are elsewhere in the list. */
  deferred = false;
  private at = 0;
  /** Requests whose programs began at the same time. */
  private block: readonly StagedWork[] = [];
  private inBlock = 0;

  constructor(private readonly source: RoundSource) {}

  next(open: number): RoundRequest | undefined {
    const { round, out } = this.source;
    for (let one = this.pull(open); one !== undefined; one = this.pull(open)) {
      const allowed = this.source.allowed(one);
      if ((allowed & open) === 0) continue;
      const { program } = one;
      // A bound request is processed on its own: another of its program waits until the choice has narrowed its models.
      const continues = !this.source.ordered && program !== null && one.bound < 0 && this.given.at(-1)?.program === program;
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

  /** The next group of programs with the same start of which any may have an open model; closed models stay closed for the round. */
  private nextBlock(open: number): readonly StagedWork[] {
    const { source } = this;
    const { waiting } = source;
    const block: StagedWork[] = [];
    let began = Number.NaN;
    let serves = false;
    for (; this.at < waiting.length; this.at += 1) {
      const work = waiting[this.at];
      if (work === undefined || work.state.kind !== "queued") continue;
      if (source.ordered || work.programArrivalSeconds !== began) {
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

/** Programs by their first request in the list, within a program the deeper agents first, of equal depth as listed. */
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
