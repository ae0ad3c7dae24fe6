import type { SolveAnswer } from "@/server/contracts/studio";
import { EXIT, type ExitCode, refuse } from "./exitCodes";

/** Says why there is no plan, with the constraints that conflict and what would do instead; scripts that asked for JSON get the answer whole. */
export function refuseInfeasible(answer: Extract<SolveAnswer, { outcome: "infeasible" }>, json: boolean): ExitCode {
  if (json) process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  return refuse(answer.reason, EXIT.infeasible);
}
