import { BoundedMap } from "@/solver/collections/boundedMap";
import { LEAST_SHIFT } from "@/solver/workflow/configurationSet";
import {
  MOST_REQUESTS_SHOWN,
  type ModelSlots,
  type ProgramPath,
  type Round,
  type RoundCandidate,
  type RoundsView,
  type WorthTerms,
} from "../core/roundsView";
import type { ProgramConfigurations } from "./programConfigurations";
import type { StagedWork } from "./roundQueue";
import type { RoundAssignment } from "./roundSearch";

/** Number of rounds and programs that are stored. */
const MOST_ROUNDS = 16;
const MOST_PATHS = 64;
/** Number of assignments of a round that are shown: all of a wide beam, for all requests of long rounds, are many megabytes. */
const MOST_CANDIDATES = 8;

/** A round as it is stored. */
export interface HeldRound {
  readonly nowSeconds: number;
  readonly looked: number;
  readonly models: readonly ModelSlots[];
  readonly requests: readonly StagedWork[];
  /** Output tokens a second of all engines at saturation. */
  readonly mostTokensPerSecond: number;
  /** Best first. */
  readonly assignments: readonly RoundAssignment[];
  /** By request, the terms of its model in the best assignment; null where it got none. Left out where the round did not choose by worth. */
  readonly terms?: readonly (WorthTerms | null)[];
}

/** The latest rounds and the programs that they served; the view is built only on request. */
export class RoundLog {
  private readonly held: HeldRound[] = [];
  private latest = -1;
  private readonly programs = new BoundedMap<ProgramConfigurations>(MOST_PATHS);

  constructor(private readonly models: readonly string[]) {}

  /** Only the last of consecutive rounds in which nothing could be sent is kept. */
  note(round: HeldRound): void {
    if (round.requests.length > 0 || this.held[this.latest]?.requests.length !== 0) this.latest = (this.latest + 1) % MOST_ROUNDS;
    this.held[this.latest] = round;
  }

  /** A request of the program was sent. */
  sent(program: ProgramConfigurations): void {
    this.programs.put(`${program.workflow.name} ${program.programId}`, program);
  }

  view(): RoundsView {
    const rounds = this.held.map((_, back) => this.held[(this.latest - back + this.held.length) % this.held.length] as HeldRound);
    return {
      rounds: rounds.map((round) => this.roundOf(round)),
      programs: [...this.programs.values()].reverse().map((one) => this.pathOf(one)),
    };
  }

  private roundOf({ nowSeconds, looked, models, requests, mostTokensPerSecond, assignments, terms }: HeldRound): Round {
    const kept = requests.length === 0 ? [] : assignments;
    const candidates = kept.slice(0, MOST_CANDIDATES).map(({ gain, flexibility, choices }): RoundCandidate => {
      const given = this.models.map((_, model) => choices.reduce((count, choice) => count + (choice === model ? 1 : 0), 0));
      const named = this.namedOf(requests.slice(0, MOST_REQUESTS_SHOWN), choices, terms);
      return { utilisationGain: gain / mostTokensPerSecond, flexibility, given, assignments: named };
    });
    const carriedOut = candidates[0]?.given.reduce((sum, count) => sum + count, 0) ?? 0;
    const counts = { weighed: looked, passedOver: looked - carriedOut, requests: requests.length, kept: kept.length };
    return { nowSeconds, ...counts, models, candidates };
  }

  private namedOf(requests: readonly StagedWork[], choices: Int8Array, terms: HeldRound["terms"]): RoundCandidate["assignments"] {
    return requests.flatMap(({ work }, at) => {
      const model = this.models[choices[at] ?? -1];
      if (model === undefined) return [];
      const own = terms?.[at];
      return [{ workId: work.id, programId: work.programId, agent: work.call?.agent ?? "", model, ...(own && { terms: own }) }];
    });
  }

  private pathOf({ programId, workflow, accurate, left, chosen, shift }: ProgramConfigurations): ProgramPath {
    const { agents, size } = workflow.space;
    const sets = { accurate: accurate.slice(), left: left.slice(), chosen: [...chosen] };
    return {
      programId,
      workflow: workflow.name,
      agents,
      models: this.models,
      configurations: size,
      ...sets,
      ...(Math.abs(shift) >= LEAST_SHIFT && { oddsFactor: Math.exp(shift) }),
    };
  }
}
