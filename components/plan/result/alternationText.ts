import { formatCounted, formatScore, formatSeconds } from "@/components/ui/format";
import type { AlternationReport } from "@/solver/plan/plan";

/** Smaller differences are not mentioned: the figures do not show them. */
const LEAST_SECONDS = 0.005;
const LEAST_POINTS = 0.05;

/** The result of the paper's alternation between deployment and routing compared with the direct search, in one sentence. */
export function alternationText({ iterations, found, kept, difference }: AlternationReport): string {
  const rounds = formatCounted(iterations, "round");
  if (found === null) return `The paper's alternation found no plan within floor and budget in ${rounds}.`;
  if (kept === "same") return `The paper's alternation found the same plan, in ${rounds}.`;
  const seconds = difference?.latencySeconds ?? 0;
  const points = difference?.quality ?? 0;
  const apart = [
    ...(Math.abs(seconds) < LEAST_SECONDS ? [] : [`${formatSeconds(Math.abs(seconds))} ${seconds > 0 ? "slower" : "faster"}`]),
    ...(Math.abs(points) < LEAST_POINTS ? [] : [`${formatScore(Math.abs(points))} points ${points > 0 ? "better" : "worse"}`]),
  ].join(" and ");
  const against = apart === "" ? "as good by the tables as the direct search's" : `${apart} than the direct search's`;
  const ending = kept === "alternation" ? "it is used" : "the direct search's plan is used";
  return `The paper's alternation found a plan ${against}, in ${rounds}; ${ending}.`;
}
