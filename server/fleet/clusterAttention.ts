import type { CardStore } from "@/server/cards/cardStore";
import type { Attention } from "@/server/contracts/studio";
import type { ClusterRow } from "@/server/store/clusterRepository";
import { cardOf } from "@/solver/hardware/catalogue";
import { attentionOf } from "./attention";
import { readConnection } from "./connection";
import type { DriftWatch } from "./driftWatch";
import type { Fleet } from "./fleet";

export interface ClusterAttentionParts {
  readonly fleet: Pick<Fleet, "get" | "problem">;
  readonly drifts: Pick<DriftWatch, "drift" | "gateway">;
  readonly cards: Pick<CardStore, "read">;
}

/** Why a stored cluster needs attention now. */
export function clusterAttention({ id, spec, connection, gateway }: ClusterRow, parts: ClusterAttentionParts): readonly Attention[] {
  const { fleet, drifts, cards } = parts;
  const cluster = fleet.get(id);
  const read = readConnection(connection);
  const { gpus } = cards.read().catalogue;
  return attentionOf({
    nowMs: Date.now(),
    spec,
    connection: read.ok ? read.value : null,
    gatewayRunBy: gateway?.runBy ?? "studio",
    problem: fleet.problem(id),
    seen: cluster?.seen() ?? null,
    frame: cluster?.collector()?.frames().at(-1) ?? null,
    gateway: drifts.gateway(id),
    drift: drifts.drift(id),
    isPriced: (gpu) => (cardOf(gpus, gpu)?.usdPerGpuHour ?? null) !== null,
  });
}
