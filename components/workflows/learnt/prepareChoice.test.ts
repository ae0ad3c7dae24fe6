import { expect, it } from "vitest";
import { testAgent, testApplication, testNode } from "../testing/testWorkflows";
import { chosenAgent, chosenApplication } from "./prepareChoice";

it("opens with the first application and its most called agent, and follows the agent of the address to its application", () => {
  const one = testApplication({ name: "one", nodes: [testNode("one/a", { calls: 1 }), testNode("one/b", { calls: 5 })] });
  const two = testApplication({ name: "two", nodes: [testNode("two/c")] });
  const agents = ["one/a", "one/b", "two/c"].map((key) => testAgent(key));
  expect(chosenApplication([one, two], { app: null, agent: null })).toBe(one);
  expect(chosenAgent(agents, one, null)?.key).toBe("one/b");
  expect(chosenApplication([one, two], { app: null, agent: "two/c" })).toBe(two);
  expect(chosenApplication([one, two], { app: "gone", agent: "two/c" })).toBe(one);
  expect(chosenAgent(agents, one, "two/c")?.key).toBe("two/c");
  expect(chosenAgent(agents, one, "two/gone")?.key).toBe("one/b");
});

it("chooses an agent whose calls are known already while no program has ended, so that there is no application yet", () => {
  const agents = ["one/a", "two/c"].map((key) => testAgent(key));
  expect(chosenApplication([], { app: null, agent: "two/c" })).toBeNull();
  expect(chosenAgent(agents, null, "two/c")?.key).toBe("two/c");
  expect(chosenAgent(agents, null, null)?.key).toBe("one/a");
  expect(chosenAgent([], null, null)).toBeNull();
});
