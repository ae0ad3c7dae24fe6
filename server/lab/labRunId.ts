import { createHash } from "node:crypto";
import { cardOf, catalogueOf } from "@/solver/hardware/catalogue";
import type { GpuCard } from "@/solver/hardware/gpus";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { version } from "../../package.json";
import { readsPredictors } from "./labGround";
import type { LabTask } from "./labTask";

/**
 * The id of a run: SHA-256 of all inputs of its figures. They are the description, which contains the workload and trained predictors by
 * their hashes; the cards of its engines and their profile; the texts that predictors read, if any; recorded runs; and this release. The
 * same description with other premises is another run.
 *
 * @param textsId identifies texts: the id of their set in the store, or the SHA-256 of given ones; null if there are none.
 */
export function labRunId(
  { spec, userCards, engineProfile, recorded }: Pick<LabTask, "spec" | "userCards" | "engineProfile" | "recorded">,
  textsId: string | null,
): string {
  const { models, gpus } = catalogueOf(userCards);
  const engines = [...spec.replicas, ...spec.systems.flatMap(({ replicas }) => replicas ?? [])];
  const reads = spec.systems.some(readsPredictors);
  const premises = {
    ...{ spec, engineProfile, release: version, texts: reads ? textsId : null, recorded: recorded?.id ?? null },
    ...(recorded?.share !== undefined && { recordedShare: recorded.share }),
    models: [...new Set(engines.map(({ model }) => model))].sort().map((model) => cardOf(models, model) ?? null),
    gpus: [...new Set(engines.map(({ gpu }) => gpu))].sort().map((gpu) => unpriced(cardOf(gpus, gpu))),
  };
  return createHash("sha256")
    .update(canonicalJson(JSON.parse(JSON.stringify(premises)) as Json))
    .digest("hex");
}

/** The price per hour is part of the description. */
function unpriced(card: GpuCard | undefined) {
  if (card === undefined) return null;
  const { usdPerGpuHour: _, price: __, ...rest } = card;
  return rest;
}
