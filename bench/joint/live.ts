import { justInTimeOver } from "@/server/lab/aragogRace";
import { tableOf } from "@/server/lab/labPrograms";
import { emulatedPrograms } from "@/server/load/emulatedPrograms";
import { runProgramLoad } from "@/server/load/programLoad";
import { arrivals } from "@/solver/engine/arrivals";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import { emulatedReplica } from "../agreement/setup";
import { cascadeModel, startBenchGateway } from "../gateway/gatewayBench";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { Emulation } from "../lib/emulation";
import { answersOf } from "../lib/ladders";
import { boundOf, decisionsText, decisionsWhile, type LiveDecisions } from "../lib/liveDecisions";
import { once } from "../lib/once";
import { MODELLED_OUTCOMES, trainedHeads } from "../lib/trainedHeads";
import { cheapestCascade, qualityOf } from "./singles";
import { worthOf } from "./systems";

/** On emulated GPUs of 48 GB: the largest needs two. */
const LADDER = { models: ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"], gpus: [1, 1, 2] } as const;
const MAX_IN_FLIGHT = 32;
const SEED = 1;

/** Two thirds are single requests; the others refine or vote. */
const MIX = [
  { name: "solver", share: 4 / 6 },
  { name: "self-refine", share: 1 / 6 },
  { name: "voting", share: 1 / 6 },
] as const;

const TIME_SCALE = 4;

/** So many programs come so fast that more than a thousand of their requests wait, and fewer than the gateway's queue holds. */
const PROGRAMS = 1200;
const PROGRAMS_PER_SECOND = 60;

/** Decisions are counted while at least so many requests wait. */
const LEAST_WAITING = 1000;

/** What the gateway said of its decisions, and what became of the programs. */
interface ServedPrograms extends LiveDecisions {
  readonly programs: number;
  readonly failed: number;
}

const run = once(async (): Promise<ServedPrograms> => {
  const { workload, texts } = await answersOf({ family: "Gemma-2-it", task: "gsm", replicas: [] });
  const outcomes = tableOf(workload, LADDER.models);
  const mix = MIX.flatMap(({ name, share }) => {
    const workflow = workflows.find((known) => known.name === name);
    return workflow === undefined ? [] : [{ workflow, share }];
  });
  const { planning, heldOut } = splitPrompts(outcomes.promptIds.length, SEED);
  const law = { kind: "poisson" } as const;
  const sample = drawPrograms({
    ...{ ...MODELLED_OUTCOMES, outcomes, prompts: heldOut, mix, seed: SEED },
    arrivalSeconds: arrivals({ law, requests: PROGRAMS, requestsPerSecond: PROGRAMS_PER_SECOND, seed: SEED }),
  });
  const heads = trainedHeads(
    mix.slice(1).map(({ workflow }) => workflow),
    { outcomes, texts, seed: SEED },
  );
  const engines = LADDER.models.map((model, at) => ({
    model,
    replicas: [{ replica: { ...emulatedReplica(model, LADDER.gpus[at]), maxSequences: MAX_IN_FLIGHT }, count: 1 }],
  }));
  const over = justInTimeOver({ engines, sample, workflows: [], catalogue: catalogueOf(noUserCards) });
  const ground = { outcomes, planning, costs: over.models.map(({ cost }) => cost) };
  const quality = outcomes.models.map((_, model) => qualityOf(ground, model));
  const policy: JustInTimePolicy = {
    ...over,
    workflows: heads.map(({ document, hash }) => ({ workflow: document, predictor: hash })),
    singles: cheapestCascade(ground, ((quality[0] ?? 0) + (quality.at(-1) ?? 0)) / 2),
    selection: worthOf(4),
  };
  const emulation = await Emulation.start({
    ...{ models: LADDER.models, gpus: LADDER.gpus, outcomes: emulatedPrograms("programs", sample), timeScale: TIME_SCALE },
    modelPerturbation: "joint",
  });
  try {
    const gateway = await startBenchGateway(policy, {
      engines: (model) => emulation.engineUrls.filter((_, at) => LADDER.models[at] === model),
      ...{ judge: emulation.judgeUrl, maxInFlight: MAX_IN_FLIGHT, timeScale: TIME_SCALE, artefacts: heads.map(({ bytes }) => bytes) },
    });
    try {
      const load = runProgramLoad({
        ...{ id: "joint", gatewayUrl: gateway.url, model: cascadeModel, timeScale: TIME_SCALE, sample },
        textOf: (row) => texts[row] ?? null,
      });
      const [read, { failures }] = await Promise.all([decisionsWhile(gateway, load, LEAST_WAITING), load]);
      return { ...read, programs: PROGRAMS, failed: failures.length };
    } finally {
      await gateway.close();
    }
  } finally {
    await emulation.end();
  }
});

/** The least bound of the gateway's buckets that a share of the decisions keeps, in milliseconds. */
async function decidedWithin(share: number): Promise<Measurement> {
  const served = await run();
  const detail = `${decisionsText(served)}; ${served.programs} programs, ${served.failed} failed; engines and judge are emulated`;
  return { figure: boundOf(served, share), unit: "ms at most", detail };
}

/** The joint policy in a real gateway over emulated engines while a thousand requests wait. */
export const jointLiveBenchmarks: readonly Benchmark[] = dataPresent()
  ? [
      { name: "joint policy live: decision, p50 at 1,000 waiting", budget: null, run: () => decidedWithin(0.5) },
      {
        name: "joint policy live: decision, p99 at 1,000 waiting",
        budget: atMost(1, "a decision looks at every waiting request, or many requests are sent at once"),
        run: () => decidedWithin(0.99),
      },
      {
        name: "joint policy live: longest delay of the event loop",
        budget: atMost(5, "a decision, a search or a reading of the metrics keeps the loop busy for longer"),
        run: async () => ({ ...(await decidedWithin(0.99)), figure: 1000 * (await run()).loop.longest }),
      },
    ]
  : [];
