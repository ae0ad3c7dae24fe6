import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type StageDone, type WorkflowRunEvent, workflowRunSchema } from "@/server/contracts/gateway/workflowRuns";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { programsOf, testModels, testReplicas } from "@/solver/cluster/testing/testPrograms";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import { runWorkflow } from "./workflowRun";

/** A voter's vote, null where its answer has none, and the length of its answer. */
interface Voter {
  readonly vote: string | null;
  readonly tokens: number;
}

const voterNames = (voters: readonly Voter[]): string[] => voters.map((_, at) => `voter-${at}`);

/** Voters, a tally that may be skipped, and a writer after it. */
const votingOf = (voters: readonly Voter[], skip: object): WorkflowDocument =>
  workflowDocumentSchema.parse({
    name: "voting",
    agents: [
      ...voterNames(voters).map((name) => ({ name })),
      { name: "tally", part: "votes", reads: voterNames(voters), skip: { extraction: { kind: "number" }, ...skip } },
      { name: "writer", part: "revises", reads: ["tally"] },
    ],
  });

/** What the gateway does: the run, its events, and what the writer was given. */
async function runInGateway(document: WorkflowDocument, voters: readonly Voter[]) {
  const asked: string[] = [];
  const events: WorkflowRunEvent[] = [];
  let given = "";
  const run = await runWorkflow({
    ...{ id: "run-1", document, timeScale: 1, signal: new AbortController().signal, tell: (event) => void events.push(event) },
    async ask({ name }, answers): Promise<StageDone> {
      asked.push(name);
      if (name === "writer") given = answers.map(({ agent, output }) => `${agent}: ${output}`).join();
      const voter = voters[voterNames(voters).indexOf(name)];
      const output = voter === undefined ? `by ${name}` : `It is ${voter.vote ?? "unknown"}.`;
      return { agent: name, model: "small", decisionId: name, seconds: 0, inputTokens: 1, outputTokens: voter?.tokens ?? 1, output };
    },
  });
  return { run, asked, events, given };
}

/** What the simulator does with one program of the same workflow, whose answers have the same votes and lengths. */
function runInSimulator(document: WorkflowDocument, voters: readonly Voter[]) {
  const drawn = programsOf({ workflows: [workflowOfDocument(document)], programs: 1, programsPerSecond: 1, seed: 1 });
  const votes = [...voters.map(({ vote }) => vote), null, null];
  const tokens = Int32Array.from([...voters.map((voter) => voter.tokens), 1, 1]);
  const sample = { ...drawn, votes: testModels.map(() => votes), outputTokens: testModels.map(() => tokens) };
  const policy = buildPolicy({
    ...{ kind: "balanced", order: { kind: "fcfs" }, place: { kind: "least-load" } },
    models: testModels.map((model) => ({ model, maxBatchSize: 32 })),
  });
  return { sample, outcome: simulatePrograms({ policy, sample, replicas: testReplicas(1) }) };
}

const anyVoters = fc.array(fc.record({ vote: fc.constantFrom("1", "2", "3", null), tokens: fc.integer({ min: 1, max: 400 }) }), {
  minLength: 2,
  maxLength: 5,
});
const anySkip = fc.record({
  tau: fc.constantFrom(1 / 3, 0.5, 0.6, 2 / 3, 1),
  confidence: fc.constantFrom(
    { kind: "plurality" },
    { kind: "accuracy-weighted", accuracy: { "voter-0": 0.9, "voter-1": 0.6 } },
    { kind: "length-aware", meanTokens: { "voter-0": 100, "voter-1": 50 } },
  ),
});

describe("an agent that may be skipped where the answers it reads agree", () => {
  it("is decided alike in the simulator and in the gateway, and called in both or in neither", async () => {
    let [skips, calls] = [0, 0];
    await fc.assert(
      fc.asyncProperty(anyVoters, anySkip, async (voters, skip) => {
        const document = votingOf(voters, skip);
        const { run, asked } = await runInGateway(document, voters);
        const { outcome } = runInSimulator(document, voters);
        expect(outcome.gated).toHaveLength(1);
        const [simulated] = outcome.gated.map(({ decision }) => decision);
        const [served] = run.skipped ?? [];
        if (simulated?.kind === "skip-node") {
          skips += 1;
          expect(served?.decision).toEqual(simulated);
        } else {
          calls += 1;
          expect(run.skipped).toEqual([]);
        }
        expect(asked.includes("tally")).toBe(simulated?.kind === "run-node");
        expect(outcome.model[voters.length] === -1).toBe(simulated?.kind === "skip-node");
        expect([run.status, outcome.unserved]).toEqual(["completed", 0]);
      }),
      { numRuns: 150 },
    );
    expect(Math.min(skips, calls)).toBeGreaterThan(20);
  });

  it("gives the leading answer to those that read it, in its own name, and has an event of its own", async () => {
    const voters = [
      { vote: "7", tokens: 10 },
      { vote: "8", tokens: 10 },
      { vote: "8", tokens: 30 },
    ];
    const { run, events, given } = await runInGateway(votingOf(voters, { tau: 0.6 }), voters);
    const decision = { kind: "skip-node", agent: "voter-1", confidence: 2 / 3, votes: "2:1" };
    expect(run.skipped).toEqual([{ agent: "tally", decision, output: "It is 8." }]);
    expect(events.filter(({ type }) => type === "stage.skipped")).toEqual([
      { type: "stage.skipped", agent: "tally", decision, output: "It is 8." },
    ]);
    expect(given).toBe("tally: It is 8.");
    expect(workflowRunSchema.parse(run)).toEqual(run);
  });

  it("saves its time in the simulator, has the leading answer's quality and adds that answer to its readers' prompts", () => {
    const voters = [1, 2, 3].map((at) => ({ vote: "4", tokens: 20 * at }));
    const skipped = runInSimulator(votingOf(voters, { tau: 1 }), voters);
    const split = voters.map((voter, at) => ({ ...voter, vote: String(at) }));
    const called = runInSimulator(votingOf(split, { tau: 1 }), split);
    expect(skipped.outcome.endToEndSeconds[0]).toBeLessThan(called.outcome.endToEndSeconds[0] ?? 0);
    expect(called.outcome.gated[0]?.decision).toEqual({ kind: "run-node", confidence: 1 / 3, votes: "1:1:1" });
    // All who voted wrote, the tally did not, and the writer did.
    expect(skipped.outcome.outputTokens[0]).toBe(20 + 40 + 60 + 1);
    expect(skipped.outcome.quality[0]).not.toBeNaN();
  });

  it.each([
    [{ reads: ["one"], part: "votes" }, "tally reads one answer: only two or more can agree"],
    [{ reads: [], part: "votes" }, "tally reads no answer: only two or more can agree"],
    [{ reads: ["one", "two"], part: "joins" }, /^tally is no vote on what it reads/],
    [
      { reads: ["one", "planner"], part: "votes" },
      "tally reads planner, which plans and does not answer: it cannot be compared with an answer",
    ],
    [
      { reads: ["one", "critic"], part: "votes" },
      "tally reads critic, which checks and does not answer: it cannot be compared with an answer",
    ],
  ])("is refused in one sentence where its inputs cannot be compared: %j", (tally, says) => {
    const agents = [
      { name: "one" },
      { name: "two" },
      { name: "planner", part: "helps" },
      { name: "critic", part: "checks", reads: ["one"] },
    ];
    const skip = { extraction: { kind: "number" }, tau: 1 };
    const read = workflowDocumentSchema.safeParse({ name: "any", agents: [...agents, { name: "tally", ...tally, skip }] });
    expect(read.error?.issues.map(({ message }) => message)).toEqual([says instanceof RegExp ? expect.stringMatching(says) : says]);
  });

  it("is refused where it weighs the votes of an agent that it does not read", () => {
    const gate = { extraction: { kind: "number" }, tau: 1, confidence: { kind: "accuracy-weighted", accuracy: { one: 0.9, tow: 0.4 } } };
    const agents = [{ name: "one" }, { name: "two" }, { name: "tally", reads: ["one", "two"], part: "votes", skip: gate }];
    const read = workflowDocumentSchema.safeParse({ name: "any", agents });
    expect(read.error?.issues.map(({ message }) => message)).toEqual(["tally weighs the votes of tow, whose answer it does not read"]);
  });
});
