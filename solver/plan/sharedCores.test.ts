import fc from "fast-check";
import { expect, test } from "vitest";
import { crowdedHosts, crowdedHostText } from "./sharedCores";

const host = (cores: number, programs = 0) => ({ gpu: "my-core", nodes: [{ name: "host", gpus: cores, processor: { programs } }] });
const engine = (...cores: number[]) => ({
  replicas: [{ tp: cores.length, pp: 1, count: 1, shareEach: 1, placements: [[{ node: "host", gpus: cores }]] }],
});

test("two engines on both cores of a host leave none for HTTP servers and gateway", () => {
  const [found] = crowdedHosts(host(2), [engine(0), engine(1)]);
  expect(found).toEqual({ node: "host", engines: 2, programs: 0, cores: 2 });
  expect(crowdedHostText(found ?? expect.fail())).toMatch(/^2 engines on host take all 2 cores:/);
});

test("a free core is enough, and GPUs are no cores", () => {
  expect(crowdedHosts(host(3), [engine(0), engine(1)])).toEqual([]);
  expect(crowdedHosts({ gpu: "l40s", nodes: [{ name: "host", gpus: 2 }] }, [engine(0), engine(1)])).toEqual([]);
  expect(crowdedHosts({ gpu: "cpu-core", nodes: [{ name: "host", gpus: 2 }] }, [engine(0), engine(1)])).toHaveLength(1);
});

test("only the host that has no core left is named", () => {
  const cluster = { gpu: "my-core", nodes: [...host(1).nodes, { name: "other", gpus: 4, processor: { programs: 0 } }] };
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

test("a program beside the engines takes a core too, and none where no engine runs", () => {
  const [found] = crowdedHosts(host(4, 2), [engine(0), engine(1)]);
  expect(crowdedHostText(found ?? expect.fail())).toMatch(/^2 engines and 2 programs beside them on host take all 4 cores:/);
  expect(crowdedHosts(host(5, 2), [engine(0), engine(1)])).toEqual([]);
  expect(crowdedHosts(host(2, 2), [])).toEqual([]);
});
