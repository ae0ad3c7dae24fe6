import type { BuildPlanInput } from "@/solver/cascade/buildPlan";
import type { NoPlanKind } from "@/solver/cascade/exploration";
import type { Explorer } from "@/solver/cascade/explore";
import type { FixedRouting } from "./planningRequest";

/** Why a routing set by hand is not planned for. */
interface RoutingRefusal {
  readonly kind: Extract<NoPlanKind, "malformed" | "no-room">;
  readonly reason: string;
}

/** A routing set by hand as indices, or why it is refused. */
export function fixedRouting(
  explorer: Explorer,
  { models, thresholds, startBelow = 0 }: NonNullable<FixedRouting>,
): NonNullable<BuildPlanInput["fixed"]> | RoutingRefusal {
  const { sample, shapes, given, directStart } = explorer.input;
  const ladder = sample.models;
  const stages = models.map((model) => ladder.indexOf(model));
  const stranger = models.find((_, index) => (stages[index] ?? -1) < 0);
  if (stranger !== undefined) return malformed(`${stranger} is not among the models to plan with: ${ladder.join(", ")}.`);
  if (stages.some((model, index) => index > 0 && model <= (stages[index - 1] ?? -1)))
    return malformed(`A cascade goes from the smaller to the larger model: ${models.join(", ")} is not in the order ${ladder.join(", ")}.`);
  if (thresholds.length !== stages.length - 1)
    return malformed(`A cascade of ${stages.length} stages needs ${stages.length - 1} thresholds, found ${thresholds.length}.`);
  if (startBelow > 0 && directStart === undefined)
    return malformed(
      `A start by a router's score of ${startBelow} needs a router: ask for a direct start, or let all requests start at ${models[0]}.`,
    );
  const roomless = models.find((_, index) => shapes[stages[index] ?? 0]?.length === 0);
  if (roomless !== undefined) {
    const reason =
      given === undefined
        ? `${roomless} fits on no GPUs of the cluster in a shape that it may have.`
        : `No engine of ${roomless} that runs fits its GPUs by the cards, so that nothing can be simulated with it.`;
    return { kind: "no-room", reason };
  }
  return { stages, thresholds, startBelow: stages.length > 1 ? startBelow : 0 };
}

const malformed = (reason: string): RoutingRefusal => ({ kind: "malformed", reason });
