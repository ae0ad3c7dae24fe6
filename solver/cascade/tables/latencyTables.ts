import {
  type CurveWork,
  FINALIST_LOADS,
  type LoadCurve,
  type LoadPoint,
  loadCurve,
  SCREENING_LOADS,
  SEARCH_LOADS,
} from "@/solver/engine/loadCurve";
import { simulateReplica } from "@/solver/engine/simulateReplica";
import { atRate, thinnedArrivals } from "@/solver/engine/thinning";
import type { ReplicaShape } from "@/solver/hardware/parallelism";
import type { ShapedReplica } from "@/solver/hardware/replicaShapes";
import { quantile } from "@/solver/numeric/quantile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import type { SharedEngines } from "@/solver/plan/sharedEngines";
import type { PlanningSample } from "../routing/routing";
import { type CapacityTable, capacityTable } from "./capacityTable";
import type { FixedTopology } from "./fixedTopology";
import type { GpuMix } from "./gpuMix";
import { type Mix, meanLengths, mixKey, toppedUp } from "./mix";
import { capacityWithin, type ShapeCurve } from "./shapeMix";

export interface LatencyTablesInput {
  readonly sample: PlanningSample;
  /** Per model of the sample: the shapes that fit, ascending by GPUs. */
  readonly shapes: readonly (readonly ShapedReplica[])[];
  /** Recorded arrivals, unscaled. */
  readonly arrivalSeconds: Float64Array;
  readonly requestsPerSecond: number;
  readonly maxGpus: number;
  /** With GPUs of several types: the number of each. */
  readonly mix?: GpuMix;
  /** The existing replicas of each model; left out: they are chosen, and shapes that bring little are left out. */
  readonly fixedTopology?: FixedTopology;
  /** With a fixed topology: engines that serve several models; left out: each serves one. */
  readonly sharedEngines?: SharedEngines;
  /** Per model of the sample: set where it is hosted, so that it has one replica on no GPU. Left out: none is. */
  readonly hosted?: readonly (object | null)[];
  /** Maximum number of calls that one request makes of one model at a time, where gates ask for samples; left out: 1. */
  readonly callsPerRequest?: number;
  /** 0.95 for p95. */
  readonly quantile: number;
  readonly seed: number;
}

/** Tables of one mix for one model. */
export interface MixTables {
  readonly capacity: CapacityTable;
  /** Percentile of `relativeLatency` over the prompts of this mix, by which relative latencies are normalised. */
  readonly relativePercentile: number;
}

/** Tables of a similar mix, with the differences between the two. */
export interface NearTables {
  readonly tables: MixTables;
  /**
   * Mean answer length of the mix over that of the tables. To first order a replica that sustains rate r within L there sustains
   * r / lengthFactor within L * lengthFactor here: work and time grow with the tokens.
   */
  readonly lengthFactor: number;
}

export interface LatencyTables {
  /** Tables for a mix, shared by mixes of similar lengths and share. */
  near(model: number, mix: Mix): NearTables;
  /** Tables simulated with exactly this mix and more requests: for finalists. `also` lets in shapes that bring little by themselves. */
  exact(model: number, mix: Mix, also?: (replica: ShapedReplica) => boolean): MixTables;
  /**
   * Latency of every prompt at a model relative to the others, from one simulation of all planning prompts at
   * moderate load. Only ratios are meaningful.
   */
  relativeLatency(model: number): Float64Array;
  /** Tokens of cache that one request of a mix holds, on average over them and over the time it runs: its prompt and half its answer. */
  heldTokens(model: number, mix: Mix): number;
  readonly simulations: () => number;
  /** Returns a function that forgets the shared tables made from now on: the first mix of several determines their shared table. */
  checkpoint(): () => void;
}

/** Requests of the longest run, and of the run over all prompts. */
const MOST_REQUESTS = Math.max(...[...SEARCH_LOADS, ...FINALIST_LOADS].map(({ most }) => most));

/** Load, relative to saturation, of the simulation behind `relativeLatency`. */
const REFERENCE_LOAD = 0.6;

/** GPU counts and latencies at which shapes are screened; on more GPUs the same shapes serve, more of them. */
const SCREEN_GPUS = 48;
const SCREEN_LEVELS = 12;

/** A shape is kept if without it some GPU count would be this much slower or weaker. Each shape costs simulations in every mix. */
const WORTH = 1.03;

/**
 * Latency percentiles by model, GPU count and mix of requests (the lookup tables of Cascadia, section 3.2), made on demand
 * and cached. A mix is the requests that reach a stage: thresholds change which they are, and escalated prompts have longer answers.
 *
 * @throws RangeError without recorded arrivals.
 */
export function createLatencyTables(input: LatencyTablesInput): LatencyTables {
  const { sample } = input;
  if (input.arrivalSeconds.length === 0) throw new RangeError("Latency tables need recorded arrivals, found none");
  let simulations = 0;
  const kept = new Map<string, { readonly tables: MixTables; readonly meanOutput: number }>();
  const useful = new Map<number, readonly ShapedReplica[]>();
  const relative = new Map<number, Float64Array>();
  const everything: Mix = { prompts: Int32Array.from({ length: sample.prompts }, (_, prompt) => prompt), share: 1 };

  function curves(shapes: readonly ShapedReplica[], work: CurveWork, loads: readonly LoadPoint[]): ShapeCurve[] {
    return shapes.flatMap(({ gpu, shape, replica }) => {
      const curve: LoadCurve | null = loadCurve(replica, work, loads);
      simulations += 1 + (curve?.rates.length ?? 0);
      return curve === null ? [] : [{ gpu, shape, gpus: shape.tp * shape.pp, curve }];
    });
  }

  /** Shapes worth their simulations, found once per model on all prompts with short runs. */
  function usefulShapes(model: number): readonly ShapedReplica[] {
    const known = useful.get(model);
    if (known !== undefined) return known;
    const all = input.shapes[model] ?? [];
    if (input.fixedTopology !== undefined) return all;
    const screened = curves(all, curveWork(input, model, everything), SCREENING_LOADS);
    const types = input.mix ?? [{ gpu: screened[0]?.gpu ?? "", gpus: input.maxGpus }];
    const worth = new Set(
      types.flatMap(({ gpu, gpus }) => [
        ...worthwhileShapes(
          screened.filter((one) => one.gpu === gpu),
          Math.min(gpus, SCREEN_GPUS),
        ),
      ]),
    );
    const fresh = all.filter(({ shape }) => worth.has(shape));
    useful.set(model, fresh);
    return fresh;
  }

  function make(
    model: number,
    mix: Mix,
    { loads, shapes }: { readonly loads: readonly LoadPoint[]; readonly shapes: readonly ShapedReplica[] },
  ): MixTables {
    const shaped = curves(shapes, curveWork(input, model, mix), loads);
    const latencies = relativeLatency(model);
    return {
      capacity: input.hosted?.[model] ? capacityTable(shaped, 1) : capacityTable(shaped, input.maxGpus, input.mix),
      relativePercentile: quantile(
        Float64Array.from(mix.prompts, (prompt) => latencies[prompt] ?? 0),
        input.quantile,
      ),
    };
  }

  function relativeLatency(model: number): Float64Array {
    const known = relative.get(model);
    if (known !== undefined) return known;
    const fresh = new Float64Array(sample.prompts);
    const [lean] = usefulShapes(model);
    if (lean !== undefined) {
      const work = curveWork(input, model, everything);
      const saturated = curves([lean], work, SCREENING_LOADS)[0]?.curve.rates.at(-1) ?? 1;
      const rate = Math.min(input.requestsPerSecond, REFERENCE_LOAD * saturated);
      const arrivalSeconds = atRate(work.arrivals(Math.max(1, input.requestsPerSecond / rate), sample.prompts), rate);
      const { endToEndSeconds } = simulateReplica(lean.replica, { ...work, arrivalSeconds });
      simulations += 1;
      const order = shuffledPrompts(everything.prompts, input.seed);
      for (const [position, prompt] of order.entries()) fresh[prompt] = endToEndSeconds[position] ?? 0;
    }
    relative.set(model, fresh);
    return fresh;
  }

  return {
    near(model, mix) {
      const enough = toppedUp(mix, sample.prompts);
      const lengths = meanLengths(sample, model, enough);
      const key = `${model} ${mixKey(lengths, mix.share)}`;
      const known = kept.get(key) ?? {
        tables: make(model, enough, { loads: SEARCH_LOADS, shapes: usefulShapes(model) }),
        meanOutput: lengths.output,
      };
      kept.set(key, known);
      return { tables: known.tables, lengthFactor: lengths.output / known.meanOutput };
    },
    exact(model, mix, also) {
      const useful = new Set(usefulShapes(model));
      const shapes = (input.shapes[model] ?? []).filter((one) => useful.has(one) || also?.(one));
      return make(model, toppedUp(mix, sample.prompts), { loads: FINALIST_LOADS, shapes });
    },
    relativeLatency,
    heldTokens(model, mix) {
      const { input: prompt, output } = meanLengths(sample, model, toppedUp(mix, sample.prompts));
      return prompt + output / 2;
    },
    simulations: () => simulations,
    checkpoint() {
      const known = new Set(kept.keys());
      const simulated = simulations;
      return () => {
        for (const key of kept.keys()) if (!known.has(key)) kept.delete(key);
        simulations = simulated;
      };
    },
  };
}

/**
 * Drops shapes of one GPU type one by one, largest first, while those that remain do nearly as well as all of them at every latency and
 * GPU count. Each simulated latency is among those tested: there a shape starts to serve, and at the highest every shape does, so that
 * the last shape is always kept.
 */
function worthwhileShapes(screened: readonly ShapeCurve[], maxGpus: number): readonly ReplicaShape[] {
  const { levels } = capacityTable(screened, 0);
  const step = Math.ceil(levels.length / SCREEN_LEVELS);
  const limits = new Set([...levels.filter((_, level) => level % step === 0), ...screened.flatMap(({ curve }) => [...curve.seconds])]);
  const wanted = [...limits].map((limit) => ({ limit, capacity: capacityWithin(screened, limit, maxGpus) }));
  let kept = screened;
  for (const candidate of [...screened].reverse()) {
    const rest = kept.filter((other) => other !== candidate);
    const missed = wanted.some(({ limit, capacity }) => {
      const without = capacityWithin(rest, limit * WORTH, maxGpus);
      return capacity.some((rate, gpus) => rate > WORTH * (without[gpus] ?? 0));
    });
    if (!missed) kept = rest;
  }
  return kept.map(({ shape }) => shape);
}

/** Each prompt of the mix once in shuffled order, repeated until there are enough requests. */
function curveWork(input: LatencyTablesInput, model: number, mix: Mix): CurveWork {
  const { sample } = input;
  const order = shuffledPrompts(mix.prompts, input.seed);
  const prompts = new Int32Array(Math.max(MOST_REQUESTS, order.length));
  for (let index = 0; index < prompts.length; index += 1) prompts[index] = order[index % order.length] ?? 0;
  return {
    inputTokens: prompts.map((prompt) => sample.inputTokens[prompt] ?? 0),
    outputTokens: prompts.map((prompt) => sample.outputTokens[model]?.[prompt] ?? 0),
    traceRequests: input.arrivalSeconds.length * mix.share,
    stageRequestsPerSecond: input.requestsPerSecond * mix.share,
    // Not the stage's own rate: tables serve mixes of larger shares too, and on an engine that others load any load.
    highestRequestsPerSecond:
      input.sharedEngines === undefined ? input.requestsPerSecond * (input.callsPerRequest ?? 1) : Number.POSITIVE_INFINITY,
    quantile: input.quantile,
    arrivals: (oneIn, count) =>
      thinnedArrivals(input.arrivalSeconds, { share: mix.share, oneIn, count, seed: mixSeed(input.seed, "thin") }),
  };
}

const shuffledPrompts = (prompts: Int32Array, seed: number): Int32Array =>
  shuffled(prompts.length, seededRandom(mixSeed(seed, "mix"))).map((at) => prompts[at] ?? 0);
