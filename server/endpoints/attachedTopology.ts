import type { Outcome } from "@/server/contracts/studio";
import type { UserCards, UserModel } from "@/solver/hardware/cardSchema";
import { cardOf, catalogueOf } from "@/solver/hardware/catalogue";
import type { Precision } from "@/solver/hardware/modelCard";
import type { ClusterSpec, RunningReplica } from "@/solver/plan/clusterSpec";
import { withAdapterCards } from "./adapterCards";
import { attachedEngines, endpointNodes } from "./attachedEngines";
import type { EndpointConnection } from "./connection";

/** The planning input with given engines: part of a planning situation. */
export interface AttachedTopology {
  readonly cluster: ClusterSpec;
  readonly models: readonly string[];
  readonly running: readonly RunningReplica[];
  /** The user's cards, with those of models that are served in another precision than their card's. */
  readonly userCards: UserCards;
}

export interface AttachedTopologyOptions {
  readonly id: string;
  readonly name: string;
  readonly userCards: UserCards;
}

type Frozen = Outcome<AttachedTopology>;

/**
 * A connection in the form of a cluster for the planner: one node for each endpoint, on which only its engine can run. That none of them
 * starts or stops follows from the given topology, and is no constraint of the operator's.
 */
export function attachedTopology(connection: EndpointConnection, { id, name, userCards: own }: AttachedTopologyOptions): Frozen {
  const userCards = withAdapterCards(own, connection.endpoints);
  const { models: cards, gpus } = catalogueOf(userCards);
  const { gpu, nodes } = endpointNodes(connection);
  const engines = attachedEngines(connection);
  const models = [...new Set(engines.map(({ model }) => model))];
  const types = [...new Set(engines.map((engine) => engine.gpu))];
  const stranger = types.find((type) => cardOf(gpus, type) === undefined);
  if (stranger !== undefined) return { ok: false, message: `There is no card of a GPU "${stranger}".` };
  const price = (type: string): number => cardOf(gpus, type)?.usdPerGpuHour ?? 0;

  const requantised: UserModel[] = [];
  for (const model of models) {
    const card = cardOf(cards, model);
    if (card === undefined) return { ok: false, message: `There is no card of a model "${model}".` };
    const precisions: readonly Precision[] = [
      ...new Set(engines.filter((engine) => engine.model === model).map(({ precision }) => precision)),
    ];
    const [precision = card.precision] = precisions;
    if (precisions.length > 1)
      return {
        ok: false,
        message: `${model} is served in ${precisions.join(" and ")}: give one of them its own card, for their answers differ.`,
      };
    const { paramsB: _, provenance: __, ...described } = card;
    if (precision !== card.precision)
      requantised.push({ ...described, precision, kvBytesPerValue: described.kvBytesPerValue === 1 ? 1 : 2, source: "as attached" });
  }

  const others = types.filter((type) => type !== gpu);
  return {
    ok: true,
    cluster: {
      ...{ id, name, kind: "described", gpu, nodes, usdPerGpuHour: price(gpu) },
      ...(others.length === 0 ? {} : { otherUsdPerGpuHour: Object.fromEntries(others.map((type) => [type, price(type)])) }),
    },
    models,
    running: engines.map(({ model, tp, pp, placements }) => ({ model, shape: { tp, pp }, placements })),
    userCards: {
      ...userCards,
      models: [...userCards.models.filter(({ id: known }) => requantised.every((one) => one.id !== known)), ...requantised],
    },
  };
}
