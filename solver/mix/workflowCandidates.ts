import { ProgramGates } from "@/solver/cluster/programGates";
import { mean } from "@/solver/numeric/quantile";
import { accurateSet, configurationQuality } from "@/solver/workflow/configurationOutcomes";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import { programQuality } from "@/solver/workflow/programQuality";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { cheapestOf, costAt } from "./modelPrices";
import { type TokenWork, workOf } from "./modelWork";
import type { MixCandidate } from "./problem";
import { qualityLow } from "./qualityLow";

/** How the programs of a workflow get their models. */
export type WorkflowRoute =
  /** All have the same configuration, by its number in the space. */
  | { readonly kind: "configuration"; readonly configuration: number }
  /** Each has the accurate configuration that costs least at prices of the models' work. */
  | { readonly kind: "accurate"; readonly prices: readonly number[] };

type WorkflowCandidate = MixCandidate & { readonly route: WorkflowRoute };

export interface WorkflowGround {
  /** Programs of the workflow alone, whose models are those of the space. */
  readonly sample: ProgramSample;
  readonly space: ConfigurationSpace;
  /** By model. */
  readonly tokens: readonly TokenWork[];
  readonly prices: readonly (readonly number[])[];
  readonly floor: number;
}

/** Points by which the skipping of agents may change quality, which the first choice of configurations does not see. */
const SKIP_POINTS = 5;

/**
 * Configurations for all programs of a workflow (Aragog, section 3.1): of those that keep the floor, the cheapest at each of the prices. If
 * none keeps it, the one of the best quality. Outcomes are modelled (`programQuality.ts`).
 */
export function configurationCandidates(ground: WorkflowGround): readonly WorkflowCandidate[] {
  const { sample, space, tokens, floor, prices } = ground;
  const quality = lowQualities(ground);
  const work = meanWork(sample, space, tokens);
  const margin = sample.workflows.some(({ stages }) => stages.some(({ gate }) => gate !== undefined)) ? SKIP_POINTS : 0;
  const all = Array.from(quality, (own, configuration) => ({ configuration, quality: own, work: work(configuration), otherSeconds: 0 }));
  const best = all.reduce((one, other) => (other.quality > one.quality ? other : one));
  const chosen = new Set([
    best,
    ...cheapestOf(
      all.filter((own) => own.quality >= floor - margin),
      prices,
    ),
  ]);
  return [...chosen].map(({ configuration }) => ({
    ...served(ground, () => configuration),
    route: { kind: "configuration", configuration },
  }));
}

/** At each of the prices, every program's cheapest accurate configuration: what a choice just in time does by prices of capacity. */
export function accurateCandidates(ground: WorkflowGround): readonly WorkflowCandidate[] {
  const { sample, space, tokens, prices } = ground;
  const work = meanWork(sample, space, tokens);
  const works = Array.from({ length: space.size }, (_, configuration) => work(configuration));
  const accurate = programsOf(sample).map((program) => accurateSet(configurationQuality(sample, program, space)));
  return prices.map((own) => {
    const order = works.map((each, configuration) => ({ configuration, cost: costAt(own, each) })).sort((a, b) => a.cost - b.cost);
    const chosen = accurate.map(
      (set) => order.find(({ configuration }) => hasConfiguration(set, configuration))?.configuration ?? space.size - 1,
    );
    return { ...served(ground, (program) => chosen[program] ?? space.size - 1), route: { kind: "accurate", prices: own } };
  });
}

const programsOf = ({ arrivalSeconds }: ProgramSample): readonly number[] => Array.from(arrivalSeconds.keys());

function lowQualities({ sample, space }: WorkflowGround): Float64Array {
  const known = programsOf(sample)
    .map((program) => configurationQuality(sample, program, space))
    .filter((each) => !each.some(Number.isNaN));
  return Float64Array.from({ length: space.size }, (_, at) => qualityLow(known.map((each) => each[at] ?? 0)));
}

/** Mean work by model of a configuration, from mean lengths: all agents are called. */
function meanWork(sample: ProgramSample, space: ConfigurationSpace, tokens: readonly TokenWork[]): (configuration: number) => number[] {
  const agents = space.agents.map((_, agent) => {
    const requests = programsOf(sample).map((program) => (sample.firstRequest[program] ?? 0) + agent);
    return {
      given: mean(requests.map((request) => sample.givenTokens[request] ?? 0)),
      written: sample.outputTokens.map((own) => mean(requests.map((request) => own[request] ?? 0))),
    };
  });
  return (configuration) => {
    const models = space.agents.map((_, agent) => modelIn(space, configuration, agent));
    const work = tokens.map(() => 0);
    for (const [agent, { given, written }] of agents.entries()) {
      const model = models[agent] ?? 0;
      const read = (space.reads[agent] ?? []).reduce((sum, other) => sum + (agents[other]?.written[models[other] ?? 0] ?? 0), given);
      const tokensOf = tokens[model];
      if (tokensOf !== undefined) work[model] = (work[model] ?? 0) + workOf(tokensOf, read, written[model] ?? 0);
    }
    return work;
  };
}

/** Mean work, and lower bound of the mean quality, of the programs in their configurations, with agents skipped where the answers they read agree. */
function served({ sample, space, tokens }: WorkflowGround, configurationOf: (program: number) => number): MixCandidate {
  const gates = new ProgramGates(sample);
  const model = new Int8Array(sample.program.length).fill(-1);
  const written = new Int32Array(sample.program.length);
  const calls = space.reads.map((reads) => ({ reads, work: tokens.map(() => 0) }));
  const qualities: number[] = [];
  for (const program of programsOf(sample)) {
    const first = sample.firstRequest[program] ?? 0;
    const configuration = configurationOf(program);
    for (const [agent, reads] of space.reads.entries()) {
      const request = first + agent;
      const given = gates.decide(request, model);
      if (given !== null) {
        written[request] = written[given] ?? 0;
        continue;
      }
      const own = modelIn(space, configuration, agent);
      model[request] = own;
      written[request] = sample.outputTokens[own]?.[request] ?? 0;
      const read = reads.reduce((sum, other) => sum + (written[first + other] ?? 0), sample.givenTokens[request] ?? 0);
      const tokensOf = tokens[own];
      const work = calls[agent]?.work;
      if (tokensOf !== undefined && work !== undefined) work[own] = (work[own] ?? 0) + workOf(tokensOf, read, written[request] ?? 0);
    }
    qualities.push(programQuality(sample, program, model, (request) => gates.givenBy(request)));
  }
  const known = qualities.filter((own) => !Number.isNaN(own));
  const means = calls.map(({ reads, work }) => ({ reads, work: work.map((own) => own / qualities.length) }));
  return {
    work: tokens.map((_, own) => means.reduce((sum, { work }) => sum + (work[own] ?? 0), 0)),
    calls: means,
    quality: qualityLow(known),
    otherSeconds: 0,
  };
}
