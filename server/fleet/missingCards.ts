import type { Observation } from "@/server/clusters/connector/connector";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { ClusterConnection } from "./connection";

/** A card that a connection names and that is not there. */
export interface MissingCard {
  readonly kind: "model" | "gpu";
  readonly id: string;
  readonly sentence: string;
}

/** Cards that a connection names, and those of GPUs that were seen, as far as they are missing; each once. */
export function missingCards(
  connection: ClusterConnection,
  seen: Pick<Observation, "gpu" | "nodes"> | null,
  cards: CardCatalogue,
): readonly MissingCard[] {
  const { models, gpus } = namedCards(connection);
  const found = seen === null ? [] : seen.nodes.map((node) => node.gpu ?? seen.gpu);
  const missingModels = models.filter((id) => cardOf(cards.models, id) === undefined);
  const missingGpus = [...gpus, ...found].filter((id) => cardOf(cards.gpus, id) === undefined);
  return [
    ...[...new Set(missingModels)].map((id) => ({ kind: "model" as const, id, sentence: `There is no card of a model "${id}".` })),
    ...[...new Set(missingGpus)].map((id) => ({ kind: "gpu" as const, id, sentence: `There is no card of a GPU "${id}".` })),
  ];
}

function namedCards(connection: ClusterConnection): { readonly models: readonly string[]; readonly gpus: readonly string[] } {
  switch (connection.kind) {
    case "endpoints":
      return { models: connection.endpoints.map(({ model }) => model), gpus: connection.endpoints.map(({ gpu }) => gpu) };
    case "processes":
      return { models: Object.keys(connection.models), gpus: connection.gpus === undefined ? [] : [connection.gpus.card] };
    case "kubernetes":
      return { models: Object.keys(connection.models), gpus: [...own(connection.gpu), ...Object.values(connection.gpuProducts)] };
    case "ray":
      return { models: Object.keys(connection.models), gpus: [...own(connection.gpu), ...Object.values(connection.accelerators)] };
  }
}

const own = (gpu: string | undefined): readonly string[] => (gpu === undefined ? [] : [gpu]);
