import fc from "fast-check";
import { expect, it, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { hostileJob, jobText, kubernetesFaults, rayFaults } from "../testing/hostileJobs";

test("the job files of any names run exactly the sessions that were meant", async () => {
  const names = fc.array(
    hostileName.filter((name) => !isNoArgument(name)),
    { minLength: 24, maxLength: 24 },
  );
  await fc.assert(
    fc.asyncProperty(names, async (all) => {
      const job = hostileJob(all, 2);
      expect(kubernetesFaults(job, await jobText(job, "kubernetes"))).toEqual([]);
      expect(rayFaults(job, await jobText(job, "ray"))).toEqual([]);
    }),
    { numRuns: 6 },
  );
});

const harmless = ["Night run", "vote", "set", "l40s", "qwen2.5-3b", "Qwen/Qwen2.5-3B"];
const named = (at: number, name: string): readonly string[] => harmless.map((one, index) => (index === at ? name : one));

it.each([
  ["an ensemble's name", 1, "vote\n: > pwned\n"],
  ["the prompts' id", 2, "set; : > pwned\n: > pwned\n"],
  ["a GPU type", 3, "l40s\n: > pwned\n"],
  ["a model after the mark of a heredoc", 4, "m\nWEIR_END\n: > pwned\n"],
  ["a source of weights after the mark of a heredoc", 5, "s\nWEIR_END\n: > pwned\n"],
])("submits a Ray job that runs no line of %s", async (_, at, name) => {
  const job = hostileJob(named(at, name), 2);
  expect(rayFaults(job, await jobText(job, "ray"))).toEqual([]);
});

it.each([
  ["an ensemble's name", 1],
  ["the prompts' id", 2],
  ["a GPU type", 3],
])("writes a Kubernetes job without a Pod of %s", async (_, at) => {
  const pod = "x\n---\napiVersion: v1\nkind: Pod\nspec: {containers: [{securityContext: {privileged: true}}]}\n---\n";
  const documents = parseAllDocuments(await jobText(hostileJob(named(at, pod), 2), "kubernetes"));
  expect(documents.map((one) => (one.toJS() as { kind?: string } | null)?.kind)).not.toContain("Pod");
});
