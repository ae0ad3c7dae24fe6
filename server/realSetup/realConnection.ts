import { join } from "node:path";
import type { ClusterConnection } from "@/server/fleet/connection";
import { judgeName, realModelNames } from "./realNames";

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
  readonly ports: { readonly judge: number; readonly judgeEngine: number };
}

/** Requests that an engine answers at once. */
const SEQUENCES = "16";

/** A judge is asked for one answer of a stage at a time, by several requests. */
const JUDGE_SEQUENCES = "8";

/** Longest prompt and answer of a judged request, tokens. */
const CONTEXT_TOKENS = "2048";

/**
 * The real models as an ordinary cluster of processes. Each engine has one core; its judge scores an answer by the smallest probability that
 * the small model, at trained depth in an engine of its own, gives a token of it.
 */
export function realConnection({ places, card, cores, files, judgeFile, ports }: RealParts): ClusterConnection {
  const { root, node, addonsFolder } = places;
  const [small] = realModelNames;
  const limits = (sequences: string): string[] => ["--sequences", sequences, "--context", CONTEXT_TOKENS, "--threads", "1"];
  const judgeEngine = [
    ...[node, join(root, "dist", "engine.mjs"), "--addons", addonsFolder, "--model", judgeFile, "--alias", small],
    ...["--host", "127.0.0.1", "--port", String(ports.judgeEngine), ...limits(JUDGE_SEQUENCES)],
  ];
  const judge = [
    ...[node, join(root, "dist", "judge.mjs"), "--engine", `http://127.0.0.1:${ports.judgeEngine}`, "--model", small],
    ...["--host", "127.0.0.1", "--port", String(ports.judge)],
  ];
  return {
    kind: "processes",
    gpus: { card, count: cores, processor: true },
    engine: "weir",
    templates: {},
    models: Object.fromEntries(realModelNames.map((name) => [name, { source: files[name], args: limits(SEQUENCES) }])),
    environment: {},
    ports: { from: 8100, to: 8199 },
    adopt: [],
    beside: [
      { name: "judge-engine", command: judgeEngine },
      { name: "judge", command: judge },
    ],
    judge: { model: judgeName, url: `http://127.0.0.1:${ports.judge}` },
    dcgmUrls: [],
  };
}
