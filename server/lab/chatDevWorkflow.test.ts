import { createReadStream } from "node:fs";
import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { AgentCall } from "@/solver/workflow/measuredPrograms";
import { type RecordedRun, readAgentRuns } from "./agentRuns";

const FOLDER = "../shared/data/workflows";
const runs = [file(`${FOLDER}/calls.csv`), file(`${FOLDER}/runs.csv`)];

async function recordedRuns(): Promise<readonly RecordedRun[]> {
  const read = await readAgentRuns({
    calls: { name: "calls.csv", stream: createReadStream(`${FOLDER}/calls.csv`) },
    runs: { name: "runs.csv", stream: createReadStream(`${FOLDER}/runs.csv`) },
  });
  if (!read.ok) throw new Error(read.message);
  return read.runs;
}

/** The records name no agents as headers do: taken for one is a phase and who spoke in it, in one word. */
const agentOf = ({ phase, agent }: AgentCall): string => [phase, agent].filter(Boolean).join(":").replaceAll(" ", "-");

/** Feeds the runs one after another; what each call follows is taken to be the call before it, which the records do not say either. */
function learnt(runs: readonly RecordedRun[], upstream: "named" | "left out"): WorkflowLearner {
  // Recorded by a clock of whole seconds.
  const learner = new WorkflowLearner({ resolutionSeconds: 1 });
  let nowSeconds = 0;
  for (const { id: programId, calls } of runs) {
    const startSeconds = nowSeconds;
    for (const [at, call] of calls.entries()) {
      const before = calls[at - 1];
      const identity = {
        ...{ id: `${at}`, programId, application: "ChatDev", agent: agentOf(call) },
        upstream: upstream === "left out" || before === undefined ? [] : [agentOf(before)],
      };
      const arrivedSeconds = startSeconds + call.startSeconds;
      const finishedSeconds = startSeconds + call.endSeconds;
      nowSeconds = Math.max(nowSeconds, finishedSeconds);
      learner.start({ ...identity, nowSeconds: arrivedSeconds });
      learner.finish({
        ...{ ...identity, arrivedSeconds, dispatchedSeconds: arrivedSeconds, finishedSeconds },
        ...{ model: "recorded", inputTokens: call.promptTokens, outputTokens: call.completionTokens, failed: false },
      });
    }
    learner.end(programId, nowSeconds);
  }
  learner.refreshLine();
  return learner;
}

test("of ChatDev's 87 runs the chain of phases and its loops are learnt, with the counts of the records", needs(...runs), async () => {
  const runs = await recordedRuns();
  const { applications, counts } = learnt(runs, "named").view(0);
  const [application] = applications;
  expect(counts).toMatchObject({ programs: 87, calls: 1812, unnamedCalls: 14, lateCalls: 0, missingUpstream: 0, forgotten: 0 });
  expect(application?.nodes).toHaveLength(30);

  const recorded = new Map<string, number>();
  for (const { calls } of runs) {
    for (const [at, call] of calls.entries()) {
      const pair = `${agentOf(calls[at - 1] ?? call)} > ${agentOf(call)}`;
      if (at > 0) recorded.set(pair, (recorded.get(pair) ?? 0) + 1);
    }
  }
  const name = (key: string): string => key.replace("ChatDev/", "");
  const edges = application?.edges.map(({ from, to, ...edge }) => ({ pair: `${name(from)} > ${name(to)}`, ...edge })) ?? [];
  expect(new Map(edges.map(({ pair, calls }) => [pair, calls]))).toEqual(recorded);
  // Strictly sequential runs have nothing side by side and nothing joined.
  expect(edges.filter(({ parallel, joins }) => parallel + joins > 0)).toEqual([]);

  const onward = [
    "DemandAnalysis:Chief-Product-Officer > LanguageChoose:Chief-Technology-Officer",
    "LanguageChoose:Chief-Technology-Officer > Coding:Programmer",
    "Coding:Programmer > CodeReviewComment:Code-Reviewer",
    "CodeReviewComment:Code-Reviewer > CodeReviewModification:Programmer",
    "CodeReviewModification:Programmer > EnvironmentDoc:Programmer",
    "EnvironmentDoc:Programmer > Reflection:Chief-Executive-Officer",
    "Reflection:Chief-Executive-Officer > Manual:Chief-Product-Officer",
  ];
  const back = [
    "DemandAnalysis:Chief-Executive-Officer > DemandAnalysis:Chief-Product-Officer",
    "CodeReviewModification:Programmer > CodeReviewComment:Code-Reviewer",
    "CodeReviewModification:Code-Reviewer > CodeReviewComment:Code-Reviewer",
    "CodeReviewHuman:Programmer > CodeReviewHuman:Programmer",
    "CodeComplete:Programmer > CodeComplete:Programmer",
    "TestModification:Programmer > TestErrorSummary:Programmer",
  ];
  const loop = new Map(edges.map((edge) => [edge.pair, edge.loop]));
  expect(onward.filter((pair) => loop.get(pair) !== false)).toEqual([]);
  expect(back.filter((pair) => loop.get(pair) !== true)).toEqual([]);
  const chain = ["DemandAnalysis:Chief-Product-Officer", ...onward.map((pair) => pair.split(" > ")[1])];
  const depths = chain.map((agent) => application?.nodes.find((node) => node.name === agent)?.depth ?? Number.NaN);
  expect(depths).toEqual(depths.toSorted((a, b) => a - b));
});

test("its calls need not name what they follow, and early phases stand further from the end than late ones", needs(...runs), async () => {
  const runs = await recordedRuns();
  const [named, leftOut] = [learnt(runs, "named"), learnt(runs, "left out")];
  const edges = (learner: WorkflowLearner) => learner.view(0).applications[0]?.edges;
  expect(edges(leftOut)).toEqual(edges(named));

  const distances = ["Coding:Programmer", "TestErrorSummary:Programmer", "EnvironmentDoc:Programmer", "Manual:Chief-Product-Officer"].map(
    (agent) => leftOut.forecast(`ChatDev/${agent}`, "recorded")?.distanceSeconds ?? Number.NaN,
  );
  expect(distances).toEqual(distances.toSorted((a, b) => b - a));
});
