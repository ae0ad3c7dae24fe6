import type { Workload } from "@/solver/workload/workload";
import { type GateTournament, gateTournament, type TournamentOptions } from "./gateTournament";
import type { RankedGate, StageResult } from "./stageTournament";
import { noTournamentText } from "./tournamentText";

/** A gate without its scores of single answers. */
export type GateFigures = Omit<RankedGate, "scores">;

export interface StageFigures extends Omit<StageResult, "gates"> {
  readonly gates: readonly GateFigures[];
}

export interface TournamentFigures extends Omit<GateTournament, "stages"> {
  readonly stages: readonly StageFigures[];
}

type TournamentOutcome = { readonly ok: true; readonly tournament: TournamentFigures } | { readonly ok: false; readonly message: string };

/** The figures of a workload's tournament of gates, or why there is none, in a sentence. */
export function tournamentFigures(workload: Workload, options: TournamentOptions): TournamentOutcome {
  const { models, promptIds } = workload.outcomes;
  const tournament = models.length < 2 ? null : gateTournament(workload, options);
  if (tournament === null) return { ok: false, message: noTournamentText({ models: models.length, prompts: promptIds.length }) };
  const stages = tournament.stages.map((stage) => ({ ...stage, gates: stage.gates.map(({ scores: _, ...gate }) => gate) }));
  return { ok: true, tournament: { ...tournament, stages } };
}
