import fc from "fast-check";
import { expect, test } from "vitest";
import { hostileName, isNoArgument } from "@/server/testing/hostileNames";
import { bareJobText, hostileJob, kubernetesFaults, rayFaults } from "../testing/hostileJobs";

const jobs = 50;
const namesPerJob = 2000;

test("a hundred thousand hostile names go through the job files, and none escapes", () => {
  const counts = { names: 0, sessions: 0, escapes: 0 };
  const names = fc.array(
    hostileName.filter((name) => !isNoArgument(name)),
    { minLength: namesPerJob, maxLength: namesPerJob },
  );
  fc.assert(
    fc.property(names, (all) => {
      const job = hostileJob(all, 20);
      const faults = [...kubernetesFaults(job, bareJobText(job, "kubernetes")), ...rayFaults(job, bareJobText(job, "ray"))];
      counts.names += all.length;
      counts.sessions += 2 * job.loaded.size;
      counts.escapes += faults.length;
      expect(faults).toEqual([]);
    }),
    { numRuns: jobs, endOnFailure: true },
  );
  console.log(`Hostile names in job files: ${JSON.stringify(counts)}`);
  expect(counts).toMatchObject({ names: jobs * namesPerJob, escapes: 0 });
}, 900_000);
