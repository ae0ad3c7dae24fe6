import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import type { CardStore } from "@/server/cards/cardStore";
import { judgePorts, noJudgePorts } from "@/server/confidenceJudge/judgePrograms";
import type { Outcome } from "@/server/contracts/studio";
import type { ClusterConnection } from "@/server/fleet/connection";
import { prepareRealModels } from "@/server/realModels/prepareRealModels";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import type { Store } from "@/server/store/store";
import { PROCESSOR_CARD, withProcessorCard } from "@/solver/hardware/processorCard";
import { type RealPlaces, realConnection } from "./realConnection";
import { realClusterName, realModelNames } from "./realNames";
import { SetupFailure, type SetupStep, unwrap } from "./setupStep";

/** A cascade has two engines of one thread each; where there is one core they share it. */
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
    unwrap(await prepareRealModels(modelFolder(stateDir), ["gguf"]));
    return `${realModelNames.join(" and ")} are in ${modelFolder(stateDir)}.`;
  };

/** Adds the cards of both models and of a core, and attaches this computer as a cluster of processes; a present one is brought up to date. */
export const attachCluster =
  ({ store, cards, places, stateDir, attach }: ClusterParts): SetupStep =>
  async ({ actor, record, keep, say }) => {
    say("Attaching this computer");
    const { models } = unwrap(await prepareRealModels(modelFolder(stateDir), ["gguf"]));
    unwrap(cards.change((own) => withProcessorCard(withRealModelCards(own), totalmem())));
    const { clusterId } = record();
    const row = clusterId === null ? null : store.clusters.get(clusterId);
    const others = store.clusters.list().flatMap(({ id, connection }) => (id === clusterId ? [] : [connection]));
    const ports = await judgePorts(row?.connection ?? null, others);
    if (ports === null) throw new SetupFailure(`${noJudgePorts}: free some, then start again.`);
    const fileOf = (name: (typeof realModelNames)[number], kind: "gguf" | "trainedGguf"): string =>
      models.find((model) => model.name === name)?.[kind] ?? "";
    const connection = realConnection({
      places,
      card: PROCESSOR_CARD,
      cores: Math.max(LEAST_CORES, availableParallelism()),
      files: { "arith-small": fileOf("arith-small", "gguf"), "arith-large": fileOf("arith-large", "gguf") },
      judgeFile: fileOf("arith-small", "trainedGguf"),
      ports,
    });
    if (row !== null && row.connection !== null) {
      unwrap(await attach.change(row.id, connection, actor));
      return "This computer is attached.";
    }
    const { id } = unwrap(await attach.attach({ name: realClusterName, connection, gateway: null }, actor));
    keep({ clusterId: id });
    return "This computer is attached as a cluster of its own, with its own gateway.";
  };
