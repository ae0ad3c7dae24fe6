import fc from "fast-check";
import { expect, test } from "vitest";
import { PROCESSOR_CARD } from "@/solver/hardware/processorCard";
import { crowdedHosts, crowdedHostText } from "./sharedCores";

const host = (cores: number, gpu = PROCESSOR_CARD) => ({ gpu, nodes: [{ name: "host", gpus: cores }] });
const engine = (...cores: number[]) => ({
  replicas: [{ tp: cores.length, pp: 1, count: 1, shareEach: 1, placements: [[{ node: "host", gpus: cores }]] }],
});

test("two engines on both cores of a host leave none for HTTP servers and gateway", () => {
  const [found] = crowdedHosts(host(2), [engine(0), engine(1)]);
  expect(found).toEqual({ node: "host", engines: 2, cores: 2 });
  expect(crowdedHostText(found ?? expect.fail())).toMatch(/^2 engines on host compute on all 2 cores:/);
});

test("a free core is enough, and GPUs are no cores", () => {
  expect(crowdedHosts(host(3), [engine(0), engine(1)])).toEqual([]);
  expect(crowdedHosts(host(2, "l40s"), [engine(0), engine(1)])).toEqual([]);
});

test("only the host that has no core left is named", () => {
  const cluster = { gpu: PROCESSOR_CARD, nodes: [...host(1).nodes, { name: "other", gpus: 4 }] };
  expect(crowdedHosts(cluster, [engine(0)]).map(({ node }) => node)).toEqual(["host"]);
});

test("a host with more cores than its engines compute on is never named", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(15), { minLength: 1, maxLength: 8 }), fc.integer({ min: 1, max: 8 }), (cores, more) => {
      const engines = cores.map((core) => engine(core));
      expect(crowdedHosts(host(cores.length + more), engines)).toEqual([]);
      expect(crowdedHosts(host(cores.length), engines)).toHaveLength(1);
    }),
  );
});
