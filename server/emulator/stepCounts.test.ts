import fc from "fast-check";
import { expect, it } from "vitest";
import { parsePromText } from "@/server/engines/promText";
import { createReplica } from "@/solver/engine/createReplica";
import type { ReplicaModel } from "@/solver/engine/replicaModel";
import { StepCounts } from "./stepCounts";

/** Every step takes a second, and the cache is so small that sequences are preempted. */
const model: ReplicaModel = {
  stepTime: { decodeBaseSeconds: () => 1, secondsPerKvToken: 0, mixedStepSeconds: () => 1, provenance: [] },
  kvTokens: 40,
  maxSequences: 5,
  maxBatchedTokens: 12,
  requestSeconds: () => 0,
};

interface Request {
  readonly atSeconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The step in which its client leaves, if it is not answered by then. */
  readonly leavesAt: number | null;
}

const anyRequests = fc
  .array(
    fc.record({
      atSeconds: fc.nat(20),
      inputTokens: fc.integer({ min: 1, max: 20 }),
      outputTokens: fc.integer({ min: 1, max: 15 }),
      leavesAt: fc.option(fc.nat(40), { freq: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((requests): readonly Request[] => [...requests].sort((left, right) => left.atSeconds - right.atSeconds));

/** A histogram's counts by edge, its sum and its count. */
function read(page: string, name: string) {
  const { byName } = parsePromText(page);
  const figure = (part: string) => byName.get(`vllm:${name}_${part}`)?.[0]?.value;
  const buckets = byName.get(`vllm:${name}_bucket`)?.map(({ labels, value }) => [Number(labels.le?.replace("+Inf", "Infinity")), value]);
  return { buckets, sum: figure("sum"), count: figure("count") };
}

/** The same of a list of values. */
const histogramOf = (values: readonly number[], edges: readonly number[]) => ({
  buckets: edges.map((edge) => [edge, values.filter((value) => value <= edge).length]),
  sum: values.reduce((sum, value) => sum + value, 0),
  count: values.length,
});

it("counts at any time the gaps and steps of all tokens so far, preempted sequences and aborted requests included", () => {
  let [preemptions, aborts] = [0, 0];
  fc.assert(
    fc.property(anyRequests, (requests) => {
      let now = 0;
      const inside = new Set(requests.keys());
      const tokenSeconds = requests.map((): number[] => []);
      const steps = new StepCounts({
        inputTokens: (handle) => requests[handle]?.inputTokens ?? 0,
        generatedTokens: (handle) => replica.generatedTokens(handle, now),
      });
      const replica = createReplica(model, (run) => steps.ran(run));
      for (const [handle, request] of requests.entries()) expect(replica.enqueue(handle, request)).toBe(true);
      for (let second = 0; inside.size > 0; second++) {
        // In the middle of a step: those before it have made their tokens.
        now = second + 0.5;
        const finished = new Set<number>();
        replica.advanceTo(now, (kind, handle, seconds) => {
          steps.event(kind, handle, seconds);
          if (kind === "finished") finished.add(handle);
        });
        for (const handle of inside) {
          const request = requests[handle] as Request;
          const own = tokenSeconds[handle] as number[];
          const tokens = finished.has(handle) ? request.outputTokens : replica.generatedTokens(handle, now);
          if (tokens > own.length) own.push(second);
          expect(own).toHaveLength(tokens);
          if (finished.has(handle)) inside.delete(handle);
          else if (request.leavesAt !== null && request.leavesAt <= second) {
            steps.aborted(handle);
            replica.abort(handle, now);
            inside.delete(handle);
            aborts += 1;
          }
        }
        const gaps = tokenSeconds.flatMap((own) => own.slice(1).map((at, index) => at - (own[index] as number)));
        const perStep = new Map<number, number>();
        for (const [handle, own] of tokenSeconds.entries())
          for (const [index, at] of own.entries())
            perStep.set(at, (perStep.get(at) ?? 0) + 1 + (index === 0 ? (requests[handle] as Request).inputTokens : 0));
        const page = steps.text("m", replica.stepsSoFar);
        const [gapsRead, tokensRead] = [read(page, "inter_token_latency_seconds"), read(page, "iteration_tokens_total")];
        const edgesOf = ({ buckets = [] }: typeof gapsRead) => buckets.map(([edge]) => edge as number);
        expect(gapsRead).toEqual(histogramOf(gaps, edgesOf(gapsRead)));
        expect(tokensRead).toEqual(histogramOf([...perStep.values()], edgesOf(tokensRead)));
      }
      preemptions += replica.preemptions;
    }),
    { numRuns: 60 },
  );
  // Or the property says nothing about them.
  expect([preemptions > 10, aborts > 10]).toEqual([true, true]);
});
