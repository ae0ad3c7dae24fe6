import fc from "fast-check";
import { expect, test } from "vitest";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { hostileJob, kubernetesFaults, rayFaults } from "../testing/hostileJobs";

const jobs = 50;
const namesPerJob = 2000;

test("a hundred thousand hostile names go through the job files, and none escapes", async () => {
  const counts = { names: 0, sessions: 0, escapes: 0 };
  const names = fc.array(
    hostileName.filter((name) => !isNoArgument(name)),
    { minLength: namesPerJob, maxLength: namesPerJob },
  );
  await fc.assert(
    fc.asyncProperty(names, async (all) => {
      const job = hostileJob(all);
      const faults = [...(await kubernetesFaults(job)), ...(await rayFaults(job))];
      counts.names += all.length;
      counts.sessions += 2 * job.sources.size;
      counts.escapes += faults.length;
      expect(faults).toEqual([]);
    }),
    { numRuns: jobs, endOnFailure: true },
  );
  console.log(`Hostile names in job files: ${JSON.stringify(counts)}`);
  expect(counts).toMatchObject({ names: jobs * namesPerJob, escapes: 0 });
}, 900_000);
