import type { SolveAnswer } from "@/server/contracts/studio";
import { EXIT, type ExitCode, refuse } from "./exitCodes";

/** Says why there is no plan, and of each constraint that conflicts what would do instead; scripts that asked for JSON get the answer whole. */
export function refuseInfeasible(answer: Extract<SolveAnswer, { outcome: "infeasible" }>, json: boolean): ExitCode {
  if (json) process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  const lines = (answer.conflict ?? []).map(({ says, needs }) => `  - ${says}: ${needs}`);
  return refuse([answer.reason, ...lines].join("\n"), EXIT.infeasible);
}
