import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import { commandLine, commandTemplates } from "@/server/engines/commandLine";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import type { KubernetesConnection } from "./connection";

/** One node's part of a multi-node engine. */
interface GroupPart {
  readonly nodes: number;
  /** Its number among them, or a placeholder for it. */
  readonly rank: string;
  /** Address of the first. */
  readonly leader: string;
  /** Port where all of them reach the first. */
  readonly rendezvousPort: number;
  readonly first: boolean;
}

export interface CommandParts {
  readonly port: number;
  readonly group: GroupPart | null;
  /** Escapes arguments that an operator wrote, or that are derived from them. */
  readonly literal?: (argument: string) => string;
}

/** How an engine is started under its card's name; null if the connection does not know its model. */
export function engineCommand(
  engine: EngineOrder,
  connection: Pick<KubernetesConnection, "engine" | "models">,
  { port, group, literal = (argument) => argument }: CommandParts,
): readonly string[] | null {
  const model = Object.hasOwn(connection.models, engine.model) ? connection.models[engine.model] : undefined;
  if (model === undefined) return null;
  const { kind } = model.engine ?? connection.engine;
  const command = commandLine(commandTemplates[kind], {
    source: model.source,
    servedName: engine.model,
    host: "0.0.0.0",
    port,
    tp: engine.tp,
    pp: engine.pp,
    gpus: engine.placements.flatMap(({ gpus }) => gpus),
    precision: engine.precision,
    sequences: inFlightLimit(engine),
    args: [],
  });
  return [...command.map(literal), ...(group === null ? [] : groupFlags[kind](group)), ...model.args.map(literal)];
}

/** Sources: vLLM's page "Parallelism and Scaling" (multiprocessing over nodes), SGLang's "Deploy on Kubernetes". */
const groupFlags = {
  vllm: ({ nodes, rank, leader, rendezvousPort, first }: GroupPart): readonly string[] => [
    ...["--distributed-executor-backend", "mp", "--nnodes", `${nodes}`, "--node-rank", rank],
    ...["--master-addr", leader, "--master-port", `${rendezvousPort}`, ...(first ? [] : ["--headless"])],
  ],
  sglang: ({ nodes, rank, leader, rendezvousPort }: GroupPart): readonly string[] => [
    ...["--nnodes", `${nodes}`, "--node-rank", rank, "--dist-init-addr", `${leader}:${rendezvousPort}`],
  ],
};
