import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { mixSeed } from "@/solver/numeric/random";
import { promptsScored, type Routed } from "../routing/routing";
import { createLatencyTables, type LatencyTables, type LatencyTablesInput } from "./latencyTables";
import type { Mix } from "./mix";

/** A model that answers beside stages, because their gates compare its answers with theirs. */
export interface PeerEngine {
  readonly model: string;
  /** The replica shapes that fit, ascending by GPUs. */
  readonly shapes: readonly ShapedReplica[];
  /** Of its answers, by prompt of the sample. */
  readonly outputTokens: Int32Array;
  /** Models of the sample whose gates ask it. */
  readonly askedBy: readonly number[];
}

type Asked = { readonly stages: readonly number[]; readonly routed: Pick<Routed, "start" | "exit" | "visits" | "judged" | "scored"> };

/** Latency tables of a peer's engines: its requests are the answers to stages' prompts, asked for when those stages are. */
export interface PeerTables {
  readonly engine: PeerEngine;
  readonly tables: LatencyTables;
  /** The answers that a cascade's gates ask for, as a mix of the tables. */
  mix(of: Asked): Mix;
  /** Stages of a cascade whose gates ask it, each with the relative latency of its answer to each prompt. */
  besides(of: Asked): readonly { readonly stage: number; readonly relative: Float64Array }[];
}

/** Tables over every answer that gates may ask for; they arrive like the requests of the trace, thinned to those of a given cascade. */
export function createPeerTables(input: LatencyTablesInput, engine: PeerEngine): PeerTables {
  const { sample } = input;
  const { model, shapes, outputTokens, askedBy } = engine;
  const repeated = (tokens: Int32Array): Int32Array => Int32Array.from(askedBy.flatMap(() => [...tokens]));
  const tables = createLatencyTables({
    ...input,
    sample: {
      models: [model],
      prompts: askedBy.length * sample.prompts,
      inputTokens: repeated(sample.inputTokens),
      outputTokens: [repeated(outputTokens)],
      label: [],
      judged: [],
    },
    shapes: [shapes],
    requestsPerSecond: input.requestsPerSecond * askedBy.length,
    seed: mixSeed(input.seed, `peer ${model}`),
  });
  const asking = ({ stages, routed }: Asked) =>
    stages.flatMap((own, stage) =>
      routed.judged[stage] && askedBy.includes(own) ? [{ stage, from: askedBy.indexOf(own) * sample.prompts }] : [],
    );
  return {
    engine,
    tables,
    mix(of) {
      const calls = asking(of).flatMap(({ stage, from }) => Array.from(promptsScored(of.routed, stage), (prompt) => from + prompt));
      return { prompts: Int32Array.from(calls), share: calls.length / sample.prompts / askedBy.length };
    },
    besides(of) {
      const relative = tables.relativeLatency(0);
      return asking(of).map(({ stage, from }) => ({ stage, relative: relative.subarray(from, from + sample.prompts) }));
    },
  };
}
