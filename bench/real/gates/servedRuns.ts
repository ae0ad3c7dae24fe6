import { arrivals } from "@/solver/engine/arrivals";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { type BenchGateway, cascadeModel, startBenchGateway } from "../../gateway/gatewayBench";
import { LARGE } from "../connections";
import { CLIENT_CORE } from "../measuring";
import { type Answering, answerIn, chatBody } from "../questions";
import { runClient } from "../runClient";
import type { GateCases } from "./cases";
import { type CoreUse, coreUse, type RolePorts, snapshot } from "./coreUse";
import type { ServedPolicy } from "./servedGates";

/** One policy under one slice of the load. */
export interface ServedSlice {
  readonly name: string;
  readonly threshold: number | null;
  readonly repeat: number;
  /** Of requests that were answered: end to end, whether the answer is right, and whether the larger model gave it. */
  readonly requests: readonly { readonly seconds: number; readonly isRight: boolean; readonly isSentOn: boolean }[];
  readonly failed: number;
  /** Sending after the schedule, the most of the slice. */
  readonly lateSeconds: number;
  /** Requests that used the processor seconds below: those of the slice and those before it that open connections. */
  readonly served: number;
  readonly use: CoreUse & { readonly gateway: number };
  /** Of every call of the judge. */
  readonly judgeSeconds: readonly number[];
  /** From each answer of the smaller model to its score. */
  readonly gateSeconds: readonly number[];
  /** Answers that the gate could not score, and further answers that no engine had room for. */
  readonly unscored: number;
  readonly withoutRoom: number;
}

interface Served {
  readonly engines: readonly Answering[];
  readonly judge: Answering;
  readonly ports: RolePorts;
  readonly cases: GateCases;
  /** Whether there is time for what takes so many seconds. */
  timeLeft(seconds: number): boolean;
}

/** Requests before each slice, sent at once: they open connections. */
const WARM_UP = 8;
/** Seconds of a client's start and of a change of the policy. */
const AROUND_SLICE = 1.5;

/**
 * Every policy under the same load through the real gateway: slices of some seconds in turn, in an order that is drawn anew for each, so that
 * slow minutes of the machine hit all alike. A repeat that would not end in time is not begun.
 */
export async function servedRuns(policies: readonly ServedPolicy[], served: Served): Promise<readonly ServedSlice[]> {
  const { engines, judge, cases, timeLeft } = served;
  const [first] = policies;
  if (first === undefined) return [];
  const gateway = await startBenchGateway(first.policy, {
    engines: (model) => engines.filter((engine) => engine.model === model).map(({ url }) => url),
    ...{ judge: judge.url, judgeModel: judge.model },
  });
  try {
    const slices: ServedSlice[] = [];
    let sequence = 0;
    const measured = async (policy: ServedPolicy, repeat: number, slice: number): Promise<ServedSlice> => {
      await gateway.put(policy.policy);
      const found = await measuredSlice(gateway, { policy, slice, repeat, sequence, ...served });
      sequence = found.sequence;
      return found.slice;
    };
    // Code is compiled while it first runs: a slice of each gate does not count.
    for (const [at, policy] of policies.entries())
      if (policies.findIndex(({ name }) => name === policy.name) === at) await measured(policy, 0, 0);
    for (let repeat = 0; repeat < cases.repeats; repeat += 1) {
      if (!timeLeft(cases.slices * policies.length * (cases.sliceSeconds + AROUND_SLICE))) break;
      for (let slice = 0; slice < cases.slices; slice += 1) {
        const order = shuffled(policies.length, seededRandom(mixSeed("gates served", repeat, slice)));
        for (const at of order) {
          const policy = policies[at];
          if (policy !== undefined) slices.push(await measured(policy, repeat, slice));
        }
        const minutes = (performance.now() / 60_000).toFixed(1);
        process.stderr.write(`${minutes} minutes, gates served: repeat ${repeat + 1}, slice ${slice + 1} of ${cases.slices}\n`);
      }
    }
    return slices;
  } finally {
    await gateway.close();
  }
}

interface Slice extends Served {
  readonly policy: ServedPolicy;
  readonly slice: number;
  readonly repeat: number;
  /** Of the last record that was read. */
  readonly sequence: number;
}

async function measuredSlice(
  gateway: BenchGateway,
  { policy, slice, repeat, cases, ports, sequence }: Slice,
): Promise<{ readonly slice: ServedSlice; readonly sequence: number }> {
  const { requestsPerSecond, sliceSeconds } = cases;
  const count = Math.round(requestsPerSecond * sliceSeconds);
  const seed = mixSeed("gates served", slice);
  const questions = arithmeticQuestions(count, seed);
  const at = arrivals({ law: { kind: "poisson" }, requests: count, requestsPerSecond, seed });
  const requests = questions.map((question, index) => {
    return { atSeconds: at[index] ?? 0, body: chatBody(cascadeModel, question), outputTokens: null };
  });
  const task = { url: gateway.url, path: "/v1/chat/completions", requests, warmUp: WARM_UP, inFlight: null, streamed: false };
  const [before, gatewayBefore] = [snapshot(), await gateway.usage()];
  const { answers, unanswered } = await runClient({ ...task, seconds: (at.at(-1) ?? 0) + 1 }, CLIENT_CORE);
  const [after, gatewayAfter] = [snapshot(), await gateway.usage()];
  const decisions = await gateway.decisionsAfter(sequence);
  const visits = decisions.flatMap(({ stages }) => stages);
  const answered = answers.filter(({ status }) => status === 200);
  return {
    sequence: decisions.at(-1)?.sequence ?? sequence,
    slice: {
      ...{ name: policy.name, threshold: policy.threshold, repeat, served: count + WARM_UP },
      requests: answered.map(({ index, endSeconds, text = "", answeredBy }) => ({
        ...{ seconds: endSeconds, isRight: answerIn(text) === questions[index]?.answer, isSentOn: answeredBy === LARGE },
      })),
      failed: unanswered + answers.length - answered.length,
      lateSeconds: answers.reduce((most, { lateSeconds }) => Math.max(most, lateSeconds), 0),
      use: { ...coreUse(before, after, ports), gateway: gatewayAfter.cpuSeconds - gatewayBefore.cpuSeconds },
      judgeSeconds: visits.flatMap(({ judgeSeconds }) => judgeSeconds ?? []),
      gateSeconds: visits.flatMap(({ gate }) => (gate === undefined ? [] : gate.seconds)),
      unscored: visits.filter(({ unscored }) => unscored !== undefined).length,
      withoutRoom: visits.flatMap(({ gate }) => gate?.calls ?? []).filter(({ outcome }) => outcome === "no-free-engine").length,
    },
  };
}
