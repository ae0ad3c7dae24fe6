import type { WaitingWork } from "../core/policy";
import type { Route } from "../core/policyParts";

/**
 * Escalations and answers that a stage counts as having had before the first: half of its answers are taken to go on until some have been
 * seen.
 */
const PRIOR = { escalated: 1, answered: 2 };

/** Scored answers after which those before count half: the share follows traffic that changes. */
const MOST_ANSWERED = 400;

/** Of so many that join the queue one takes the stage of its route, whatever is worth more: the share of a stage stays measured. */
const MEASURED_SHARE = 16;

/** Requests of no declared workflow in rounds: those of a route whose stages each have one of the rounds' models. */
export class RoundSingles {
  readonly stages: number;
  /** By stage, the index of its model. */
  private readonly modelOf: readonly number[];
  /** By stage, answers that the route gave a verdict on, and those of them that it escalated. */
  private readonly answered: Float64Array;
  private readonly escalated: Float64Array;
  /** Work that is answered at the stage of its route, and the number that joined since the last. */
  private readonly measured = new WeakSet<WaitingWork>();
  private joined = 0;

  /** @throws RangeError when a stage's model is not among the rounds'. */
  constructor(
    readonly route: Route,
    private readonly models: readonly string[],
  ) {
    this.stages = route.models.length;
    this.modelOf = route.models.map((model) => {
      const at = models.indexOf(model);
      if (at < 0) throw new RangeError(`The ${route.kind} serves ${model}, which is not among ${models.join(", ")}.`);
      return at;
    });
    this.answered = new Float64Array(this.stages).fill(PRIOR.answered);
    this.escalated = new Float64Array(this.stages).fill(PRIOR.escalated);
  }

  /** The model of the stage that the work waits for, as a bit. */
  own({ stage }: WaitingWork): number {
    return 1 << this.modelAt(stage);
  }

  /** The name of a model. */
  nameOf(model: number): string {
    return this.models[model] ?? "";
  }

  /** The index of a stage's model; -1 for no stage of the route. */
  modelAt(stage: number): number {
    return this.modelOf[stage] ?? -1;
  }

  /**
   * The models that may answer in place of its own, as bits, its own included: those of later stages without those whose engines failed it;
   * of one request in `MEASURED_SHARE` its own alone. Its own where stages are not ranked: such a route chooses by rules of its own.
   */
  candidates(work: WaitingWork): number {
    const { stage, failedStages = [] } = work;
    if (this.route.unordered === true || this.measured.has(work)) return this.own(work);
    const may = (at: number): boolean => at >= stage && !failedStages.includes(at);
    return this.modelOf.reduce((bits, model, at) => (may(at) ? bits | (1 << model) : bits), 0);
  }

  /** The work joined a queue. */
  queued(work: WaitingWork): void {
    this.joined = (this.joined + 1) % MEASURED_SHARE;
    if (this.joined === 0) this.measured.add(work);
  }

  /** The stage at which a model answers the work; its own where the model serves that. */
  stageFor({ stage }: WaitingWork, model: number): number {
    return this.modelAt(stage) === model ? stage : this.modelOf.indexOf(model);
  }

  /** The chance that an answer of the stage is escalated, from the verdicts so far. 0 for the last. */
  escalatedShare(stage: number): number {
    if (stage >= this.stages - 1 || !this.route.judges(stage)) return 0;
    return (this.escalated[stage] ?? 0) / (this.answered[stage] ?? 1);
  }

  /** Expected seconds of the stages that follow a stage's answer, where each takes `seconds` of its model. */
  secondsAfter(stage: number, seconds: (model: number) => number): number {
    let after = 0;
    for (let later = this.stages - 1; later > stage; later -= 1) {
      const share = this.escalatedShare(later - 1);
      after = share === 0 ? 0 : share * (seconds(this.modelAt(later)) + after);
    }
    return after;
  }

  /** A scored answer of the stage was escalated, or not. Answers without a score say nothing of how good they are. */
  judged(stage: number, escalated: boolean): void {
    const answered = (this.answered[stage] ?? 0) + 1;
    const by = answered > MOST_ANSWERED ? 0.5 : 1;
    this.answered[stage] = by * answered;
    this.escalated[stage] = by * ((this.escalated[stage] ?? 0) + (escalated ? 1 : 0));
  }
}
