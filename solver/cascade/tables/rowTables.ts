import { type DeployedRow, deployedRows, type RoutedCascade } from "./deployedRows";
import { createJudgeTables, type JudgeEngine, type JudgeTables } from "./judgeTables";
import { createLatencyTables, type LatencyTables, type LatencyTablesInput } from "./latencyTables";
import { createPeerTables, type PeerEngine, type PeerTables } from "./peerTables";
import { shareEngines } from "./shareEngines";

interface RowTablesInput extends LatencyTablesInput {
  /** A judge that is a separate engine; left out: none is. */
  readonly judgeEngine?: JudgeEngine;
  /** Further answers of the same model that each model's gate asks for, and the peers that gates ask; left out: none. */
  readonly gates?: { readonly samples: readonly number[]; readonly peers: readonly PeerEngine[] };
}

/** Latency tables of everything that cascades deploy: models, a judge that is an engine (null: none) and the peers of gates. */
export interface RowTables {
  readonly tables: LatencyTables;
  readonly judging: JudgeTables | null;
  readonly peers: readonly PeerTables[];
  /** The deployed models of a cascade: the model of each stage and, after them, a judge that is an engine, and peers. */
  rows(of: RoutedCascade): readonly DeployedRow[];
}

/** Tables of a situation; none is simulated before it is asked for. */
export function createRowTables(input: RowTablesInput): RowTables {
  const { samples = [], peers: peerEngines = [] } = input.gates ?? {};
  const tables = createLatencyTables({ ...input, callsPerRequest: 1 + Math.max(0, ...samples) });
  const judging = input.judgeEngine === undefined ? null : createJudgeTables(input, input.judgeEngine);
  const peers = peerEngines.map((engine) => createPeerTables(input, engine));
  return {
    tables,
    judging,
    peers,
    rows(of) {
      const rows = deployedRows({ ...input, tables, judging, peers, samples }, of);
      return input.sharedEngines === undefined ? rows : shareEngines(rows, input.sharedEngines);
    },
  };
}
