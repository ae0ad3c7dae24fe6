import { type JudgePorts, judgePrograms } from "@/server/confidenceJudge/judgePrograms";
import type { ClusterConnection } from "@/server/fleet/connection";
import { realModelNames } from "./realNames";

/** Where the parts of the real engines are on this computer. */
export interface RealPlaces {
  /** The folder of Weir, with `dist`. */
  readonly root: string;
  /** Node, which runs the engines. */
  readonly node: string;
  readonly addonsFolder: string;
}

export interface RealParts {
  readonly places: RealPlaces;
  /** Name of the card of one core. */
  readonly card: string;
  readonly cores: number;
  /** GGUF file of each model, and of the model that judges. */
  readonly files: Readonly<Record<(typeof realModelNames)[number], string>>;
  readonly judgeFile: string;
  readonly ports: JudgePorts;
}

/** Requests that an engine answers at once. */
const SEQUENCES = "16";

/** Longest prompt and answer, tokens. */
const CONTEXT_TOKENS = "2048";

/** The real models as an ordinary cluster of processes, with their judge. Each engine has one thread, which the system may run on any core. */
export function realConnection({ places, card, cores, files, judgeFile, ports }: RealParts): ClusterConnection {
  const limits = ["--sequences", SEQUENCES, "--context", CONTEXT_TOKENS, "--threads", "1"];
  return {
    kind: "processes",
    gpus: { card, count: cores, processor: true },
    engine: "weir",
    templates: {},
    models: Object.fromEntries(realModelNames.map((name) => [name, { source: files[name], args: limits }])),
    environment: {},
    ports: { from: 8100, to: 8199 },
    adopt: [],
    ...judgePrograms({ ...places, file: judgeFile, ports }),
    dcgmUrls: [],
  };
}
