import { BoundedMap } from "@/solver/collections/boundedMap";
import { ProgramConfigurations } from "./programConfigurations";
import type { StagedWorkflow } from "./stagedWorkflow";

/** Words of sets that programs hold in all, 16 MB: some 6,800 programs of 3^8 configurations. */
const MOST_WORDS = 2 ** 22;
/** Sets of a program: the accurate configurations, those left, and those left without models that are not there. */
const SETS = 3;

/** Programs of a policy's workflows as far as they have gone: at most 65,536 of them, and so many words of sets. Beyond that those that began first go. */
export class StagedPrograms {
  private readonly programs = new BoundedMap<ProgramConfigurations>();
  private words = 0;

  /** @param mostWords words of sets that they hold at most. */
  constructor(private readonly mostWords = MOST_WORDS) {}

  get size(): number {
    return this.programs.size;
  }

  /** The program of that id of which the agent is asked, begun anew where nothing is remembered of it or its next turn begins with that. */
  asked(workflow: StagedWorkflow, programId: string, agent: number): ProgramConfigurations {
    const key = keyOf(workflow, programId);
    const known = this.programs.get(key);
    if (known !== undefined && !known.isBegunAnewBy(agent)) return known;
    const program = new ProgramConfigurations(programId, workflow);
    this.words += wordsOf(program) - wordsOf(known);
    this.words -= wordsOf(this.programs.put(key, program));
    while (this.words > this.mostWords && this.programs.size > 1) this.words -= wordsOf(this.programs.takeOldest());
    return program;
  }

  /** No request of the program comes any more. */
  ended(workflow: StagedWorkflow, programId: string): void {
    const key = keyOf(workflow, programId);
    const known = this.programs.get(key);
    if (known === undefined) return;
    this.programs.delete(key);
    this.words -= wordsOf(known);
  }
}

const keyOf = ({ name }: StagedWorkflow, programId: string): string => `${name} ${programId}`;

const wordsOf = (program: ProgramConfigurations | undefined): number => (program === undefined ? 0 : SETS * program.accurate.length);
