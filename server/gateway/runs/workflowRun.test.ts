import fc from "fast-check";
import { expect, it } from "vitest";
import type { AbortKind } from "@/server/contracts/gateway/gatewayAdmin";
import type { StageDone, WorkflowRunEvent } from "@/server/contracts/gateway/workflowRuns";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { AgentFailure, runWorkflow } from "./workflowRun";

/** Any graph of up to eight agents. */
const anyWorkflow = fc.array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 8 }).map((drawn) =>
  workflowDocumentSchema.parse({
    name: "any",
    agents: drawn.map((reads, at) => ({
      name: `agent-${at}`,
      reads: at === 0 ? [] : [...new Set(reads.map((read) => `agent-${read % at}`))],
    })),
  }),
);

interface PredictorQuery {
  readonly agent: string;
  readonly given: readonly string[];
  readonly signal: AbortSignal;
  answer(): void;
  fail(): void;
}

/** A run whose agents end on the test's command. */
function begin(document: WorkflowDocument, signal = new AbortController().signal) {
  const asking: PredictorQuery[] = [];
  const events: WorkflowRunEvent[] = [];
  const ended = runWorkflow({
    ...{ id: "run-1", document, signal, timeScale: 1, tell: (event) => void events.push(event) },
    ask: ({ name }, answers, stop) =>
      new Promise<StageDone>((resolve, reject) => {
        stop.addEventListener("abort", () => reject(stop.reason));
        const usage = { inputTokens: 1, outputTokens: 1 };
        asking.push({
          ...{ agent: name, given: answers.map(({ agent, output }) => `${agent}: ${output}`), signal: stop },
          answer: () => resolve({ agent: name, model: "small", decisionId: name, seconds: 0, ...usage, output: `of ${name}` }),
          fail: () => reject(new AgentFailure({ message: `${name} broke.`, code: "broken", status: 422 })),
        });
      }),
  });
  return { asking, events, ended };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("asks every agent once, as soon as all that it reads is answered and not before, with these answers", async () => {
  await fc.assert(
    fc.asyncProperty(anyWorkflow, fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), async (document, picks) => {
      const { asking, events, ended } = begin(document);
      const answered = new Set<string>();
      for (const pick of picks.slice(0, document.agents.length)) {
        await settled();
        const ready = document.agents.filter(({ reads }) => reads.every((read) => answered.has(read))).map(({ name }) => name);
        expect(asking.map(({ agent }) => agent).sort()).toEqual(ready.sort());
        const open = asking.filter(({ agent }) => !answered.has(agent));
        const next = open[pick % open.length];
        if (next === undefined) throw new Error("An agent is always under way until all have answered");
        const { reads = [] } = document.agents.find(({ name }) => name === next.agent) ?? {};
        expect(next.given).toEqual(reads.map((read) => `${read}: of ${read}`));
        answered.add(next.agent);
        next.answer();
      }
      const run = await ended;
      expect([run.status, run.output, run.error]).toEqual(["completed", `of ${document.agents.at(-1)?.name}`, null]);
      expect(run.stages.map(({ agent }) => agent)).toEqual([...answered]);
      expect([events[0]?.type, events.at(-1)?.type, events.length]).toEqual(["run.started", "run.completed", 2 + 2 * answered.size]);
    }),
    { numRuns: 200 },
  );
});

it("after a failure begins nothing, aborts what is under way, and keeps what was there", async () => {
  await fc.assert(
    fc.asyncProperty(anyWorkflow, fc.nat(), fc.nat(), async (document, before, pick) => {
      const { asking, events, ended } = begin(document);
      const answers = before % document.agents.length;
      for (let at = 0; at < answers; at += 1) {
        await settled();
        asking[at]?.answer();
      }
      await settled();
      const open = asking.slice(answers);
      const failing = open[pick % open.length];
      failing?.fail();
      const run = await ended;
      const asked = asking.length;
      await settled();
      expect(asking).toHaveLength(asked);
      expect(open.every(({ signal }) => signal.aborted)).toBe(true);
      expect(run.error).toEqual({ message: `${failing?.agent} broke.`, code: "broken", status: 422, agent: failing?.agent });
      expect([run.status, run.stages.map(({ agent }) => agent)]).toEqual(["failed", asking.slice(0, answers).map(({ agent }) => agent)]);
      expect(events.at(-1)).toEqual({ type: "run.failed", run });
    }),
    { numRuns: 200 },
  );
});

it.each<[AbortKind, number]>([
  ["deadline", 504],
  ["shutting-down", 503],
  ["client-gone", 499],
])("that is ended from outside (%s) says so and names no agent", async (reason, status) => {
  const document = workflowDocumentSchema.parse({ name: "two", agents: [{ name: "one" }, { name: "two", reads: ["one"] }] });
  const abort = new AbortController();
  const { asking, ended } = begin(document, abort.signal);
  await settled();
  abort.abort(reason);
  const run = await ended;
  expect(run.error).toMatchObject({ status, agent: null });
  expect(asking.map(({ agent }) => agent)).toEqual(["one"]);
});

it("whose request could not be made at all says for which agent and why", async () => {
  const document = workflowDocumentSchema.parse({ name: "one", agents: [{ name: "one" }] });
  const run = await runWorkflow({
    ...{ id: "run-1", document, signal: new AbortController().signal, timeScale: 1, tell: () => undefined },
    ask: () => Promise.reject(new Error("connect ECONNREFUSED")),
  });
  expect(run.error).toEqual({
    message: "The gateway could not call one: connect ECONNREFUSED.",
    code: "run_failed",
    status: 502,
    agent: "one",
  });
});
