import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { CardStore } from "@/server/cards/cardStore";
import type { Outcome } from "@/server/contracts/studio";
import { type ClusterConnection, readConnection } from "@/server/fleet/connection";
import { freePort } from "@/server/lib/freePort";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import type { Store } from "@/server/store/store";
import type { UserCards } from "@/solver/hardware/cardSchema";
import { PROCESSOR_CARD, processorCard } from "@/solver/hardware/processorCard";
import { type RealPlaces, realConnection } from "./realConnection";
import { judgeName, realClusterName, realModelNames } from "./realNames";
import { must, SetupFailure, type SetupStep } from "./setupStep";

/** Ports of the judge and its engine; engines take lower ones. */
const BESIDE_PORTS = { from: 8200, to: 8299 } as const;

/** A cascade has two engines, each on a core of its own; where there is one core they share it. */
const LEAST_CORES = 2;

export interface ClusterParts {
  readonly store: Pick<Store, "clusters">;
  readonly cards: CardStore;
  readonly places: RealPlaces;
  readonly stateDir: string;
  readonly attach: {
    attach(
      request: { readonly name: string; readonly connection: ClusterConnection; readonly gateway: null },
      actor: string,
    ): Promise<Outcome<{ readonly id: string }>>;
    change(clusterId: string, connection: ClusterConnection, actor: string): Promise<Outcome<object>>;
  };
}

const modelFolder = (stateDir: string): string => join(stateDir, "real-models");

/** Writes the files of both models that are missing. */
export const prepareFiles =
  ({ stateDir }: Pick<ClusterParts, "stateDir">): SetupStep =>
  async ({ say }) => {
    say("Writing the models' files");
    must(await prepareRealModels(modelFolder(stateDir), ["gguf"]));
    return `${realModelNames.join(" and ")} are in ${modelFolder(stateDir)}.`;
  };

/** Adds the cards of both models and of a core, and attaches this computer as a cluster of processes; a present one is brought up to date. */
export const attachCluster =
  ({ store, cards, places, stateDir, attach }: ClusterParts): SetupStep =>
  async ({ actor, record, keep, say }) => {
    say("Attaching this computer");
    const { models } = must(await prepareRealModels(modelFolder(stateDir), ["gguf"]));
    must(cards.change((own) => withProcessorCard(withRealModelCards(own))));
    const { clusterId } = record();
    const row = clusterId === null ? null : store.clusters.get(clusterId);
    const attached = row !== null && row.connection !== null ? readConnection(row.connection) : null;
    const fileOf = (name: (typeof realModelNames)[number], kind: "gguf" | "trainedGguf"): string =>
      models.find((model) => model.name === name)?.[kind] ?? "";
    const connection = realConnection({
      places,
      card: PROCESSOR_CARD,
      cores: Math.max(LEAST_CORES, availableParallelism()),
      files: { "arith-small": fileOf("arith-small", "gguf"), "arith-large": fileOf("arith-large", "gguf") },
      judgeFile: fileOf("arith-small", "trainedGguf"),
      ports: (attached?.ok ? portsOf(attached.value) : null) ?? (await besidePorts()),
    });
    if (row !== null && attached !== null) {
      must(await attach.change(row.id, connection, actor));
      return "This computer is attached.";
    }
    const { id } = must(await attach.attach({ name: realClusterName, connection, gateway: null }, actor));
    keep({ clusterId: id });
    return "This computer is attached as a cluster of its own, with its own gateway.";
  };

const withProcessorCard = (cards: UserCards): UserCards =>
  cards.gpus.some(({ id }) => id === PROCESSOR_CARD) ? cards : { ...cards, gpus: [...cards.gpus, processorCard(totalmem())] };

type BesidePorts = Parameters<typeof realConnection>[0]["ports"];

async function besidePorts(): Promise<BesidePorts> {
  const judge = await freePort(BESIDE_PORTS, new Set());
  const judgeEngine = judge === null ? null : await freePort(BESIDE_PORTS, new Set([judge]));
  if (judge === null || judgeEngine === null)
    throw new SetupFailure(
      `No two ports from ${BESIDE_PORTS.from} to ${BESIDE_PORTS.to} are free for the judge: free some, then start again.`,
    );
  return { judge, judgeEngine };
}

/** The ports that an attached cluster's judge has already. */
function portsOf(connection: ClusterConnection): BesidePorts | null {
  if (connection.kind !== "processes" || connection.judge?.model !== judgeName) return null;
  const judgeEngine = connection.beside.find(({ name }) => name === "judge-engine")?.command;
  const port = Number(judgeEngine?.[judgeEngine.indexOf("--port") + 1]);
  return Number.isInteger(port) ? { judge: Number(new URL(connection.judge.url ?? "").port), judgeEngine: port } : null;
}
