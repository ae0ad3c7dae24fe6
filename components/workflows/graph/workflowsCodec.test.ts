import { expect, it } from "vitest";
import { writeView } from "@/components/url/useUrlView";
import { type WorkflowsView, withPart, workflowsCodec } from "./workflowsCodec";

const first: WorkflowsView = {
  ...{ tab: "learnt", app: null, agent: null, replica: null, all: [], snippet: "typescript" },
  ...{ workflow: null, plan: null, open: null, program: null },
};

it("brings every choice back from the address, and says nothing of a page as it opens", () => {
  const chosen: WorkflowsView = {
    ...{ tab: "declared", app: "qa & co", agent: "qa/math expert", replica: "node1/0", all: ["graph", "pairs"], snippet: "python" },
    ...{ workflow: "voting", plan: "a".repeat(64), open: "import", program: "run 7/b" },
  };
  const rounds: WorkflowsView = { ...first, tab: "just-in-time", open: "plan" };
  for (const view of [first, chosen, rounds])
    expect(workflowsCodec.parse(writeView(workflowsCodec, new URLSearchParams(), view))).toEqual(view);
  expect(writeView(workflowsCodec, new URLSearchParams("cluster=a&app=b&all=graph&tab=declared&open=plan"), first).toString()).toBe(
    "cluster=a",
  );
});

it("reads what nobody can mean as the default", () => {
  expect(
    workflowsCodec.parse(new URLSearchParams(`app=&agent=${"x".repeat(400)}&all=yes,1&snippet=cobol&tab=none&open=door&program=`)),
  ).toEqual(first);
});

it("unfolds and folds each part by itself", () => {
  expect(withPart([], "pairs", true)).toEqual(["pairs"]);
  expect(withPart(["pairs"], "graph", true)).toEqual(["graph", "pairs"]);
  expect(withPart(["graph", "pairs"], "pairs", false)).toEqual(["graph"]);
});
