import { expect, it, onTestFinished } from "vitest";
import { agentLine, type LineAgent } from "@/solver/workflow/learning/agentLine";
import { LineThread } from "./lineThread";

const agents: readonly LineAgent[] = [4, 1, 9].map((seconds) => ({
  key: `work/agent${seconds}`,
  quantilesSeconds: Array.from({ length: 33 }, (_, at) => seconds * (1 + at / 32)),
}));
/** Agents for which the thread fails. */
const uneven: readonly LineAgent[] = [...agents, { key: "work/odd", quantilesSeconds: [1] }];

function lineThread(): LineThread {
  const thread = new LineThread();
  onTestFinished(() => thread.close());
  return thread;
}

it("places agents as it is done without a thread", async () => {
  expect(await lineThread().place(agents)).toEqual(agentLine(agents));
});

it("is without a line of what it fails at, and places the next", async () => {
  const thread = lineThread();
  expect(await thread.place(uneven)).toBeNull();
  expect(await thread.place(agents)).toEqual(agentLine(agents));
  expect(await thread.place(agents.slice(1))).toEqual(agentLine(agents.slice(1)));
});

it("places nothing once it is closed, in the middle of it either", async () => {
  const thread = new LineThread();
  const placing = thread.place(agents);
  thread.close();
  expect(await placing).toBeNull();
  expect(await thread.place(agents)).toBeNull();
});
