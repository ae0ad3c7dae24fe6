import type { NoMix } from "@/solver/mix/solveMix";
import { counted } from "@/solver/wording/wording";

/** What is said of engines or a cluster. */
interface Told {
  readonly gpus: number;
  readonly cluster: string;
  readonly loadFactor: number;
}

/** Why there are no engines for a mix, in a sentence, and what would help. */
export function noMixText(none: NoMix, { gpus, cluster, loadFactor }: Told): string {
  switch (none.kind) {
    case "floor":
      return `The quality of ${none.name} reaches ${none.best.toFixed(1)} at most by its lower 90 % bound on planning prompts, under the floor of ${none.floor}: lower it.`;
    case "no-room":
      return `No way to serve ${none.name} does without ${none.models.join(" or ")}, for which ${cluster} has no room.`;
    case "overloaded":
      return none.factor < 0.005
        ? `${capital(cluster)} has no room for the models that the mix needs side by side: ${counted(gpus, "GPU")}.`
        : `${capital(cluster)} carries ${(100 * none.factor).toFixed(0)} % of these rates at most with its ${counted(gpus, "GPU")} loaded to ${(100 * loadFactor).toFixed(0)} %: add GPUs, or lower rates or floors.`;
    case "constraints":
      return "No engines keep all constraints at once.";
    case "undecided":
      return "The search for engines ran out of time before it found any.";
  }
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
