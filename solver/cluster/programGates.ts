import { decideNode, type NodeDecision } from "@/solver/ensemble/gate/nodeGate";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { agentNames } from "@/solver/workflow/workflowDocuments";

/** A decision on a request whose stage may be skipped. */
export interface GatedRequest {
  readonly request: number;
  readonly decision: NodeDecision;
}

/** The agreement gates of a sample's programs: which requests are skipped, and whose answers they give instead. */
export class ProgramGates {
  /** Every decision so far, in the order in which they were made. */
  readonly decided: GatedRequest[] = [];
  private readonly sample: ProgramSample;
  private readonly names: readonly (readonly string[])[];
  private readonly given = new Map<number, number>();

  /** @throws RangeError where a stage may be skipped and the sample has no votes. */
  constructor(sample: ProgramSample) {
    this.sample = sample;
    this.names = sample.workflows.map(({ stages }) => agentNames(stages));
    const gated = sample.workflows.find(({ stages }) => stages.some(({ gate }) => gate !== undefined));
    if (gated !== undefined && sample.votes === undefined)
      throw new RangeError(`${gated.name} may skip a stage where answers agree, and its programs have no votes`);
  }

  /** The request whose answer a skipped one gives; undefined for one that was not skipped. */
  givenBy(request: number): number | undefined {
    return this.given.get(request);
  }

  /**
   * Decides on a request all of whose inputs are answered.
   *
   * @param model by request, index into the sample's models of the one that answered.
   * @returns the request whose answer is given in its place, itself answered by a model; null: it is sent.
   */
  decide(request: number, model: ArrayLike<number>): number | null {
    const { sample } = this;
    const program = sample.program[request] ?? 0;
    const first = sample.firstRequest[program] ?? 0;
    const workflow = sample.workflow[program] ?? 0;
    const stage = sample.workflows[workflow]?.stages[request - first];
    if (stage?.gate === undefined) return null;
    const names = this.names[workflow] ?? [];
    const read = stage.reads.map((at) => ({ name: names[at] ?? "", answered: this.given.get(first + at) ?? first + at }));
    const decision = decideNode(
      stage.gate,
      read.map(({ name: expert, answered }) => {
        const by = model[answered] ?? -1;
        return { expert, vote: sample.votes?.[by]?.[answered] ?? null, outputTokens: sample.outputTokens[by]?.[answered] ?? 0 };
      }),
    );
    this.decided.push({ request, decision });
    if (decision.kind === "run-node") return null;
    const given = read.find(({ name }) => name === decision.agent)?.answered;
    if (given === undefined) throw new RangeError(`No answer of ${decision.agent} was read`);
    this.given.set(request, given);
    return given;
  }
}
