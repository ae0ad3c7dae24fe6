import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { chooseMapping } from "./chooseMapping";
import { loadMappings } from "./mappingsInForce";
import { parsePromText } from "./promText";
import { readCanonicalMetrics } from "./readCanonicalMetrics";

const folder = mkdtempSync(join(tmpdir(), "weir-mappings-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "mappings.yaml");

const load = (text: string) => {
  writeFileSync(file, text);
  return loadMappings(file);
};

const lmdeploy = `
mappings:
  - engine: lmdeploy
    prefixes: ["lmdeploy:"]
    versions: { from: "0.9" }
    series: { lowestOf: [rank] }
    canonicalMetrics:
      running: [{ name: num_requests_running }]
      kvUse:
        - { name: gpu_cache_usage_perc }
        - { name: blocks, only: { state: [used] }, of: { name: blocks, only: { state: [max] } } }
      sleepState: [{ name: sleep_state, label: state }]
      preemptions: null
`;

describe("mappings of an operator's own", () => {
  it("read an engine that Weir does not know, what they leave out being not applicable", () => {
    const mappings = load(lmdeploy);
    expect(mappings.problem).toBeNull();
    const metrics = parsePromText(
      [
        'lmdeploy:num_requests_running{rank="0"} 4',
        'lmdeploy:num_requests_running{rank="1"} 4',
        'lmdeploy:blocks{state="used"} 1',
        'lmdeploy:blocks{state="max"} 4',
      ].join("\n"),
    );
    const mapping = chooseMapping(metrics, null, mappings);
    expect(mapping?.engine).toBe("lmdeploy");
    expect(mapping && readCanonicalMetrics(metrics, mapping)).toMatchObject({
      running: { state: "value", value: 4 },
      kvUse: { state: "value", value: { max: 0.25, mean: 0.25 } },
      sleepState: { state: "absent", lookedFor: "lmdeploy:sleep_state" },
      preemptions: { state: "not-applicable" },
      ttftSeconds: { state: "not-applicable" },
    });
    expect(chooseMapping(metrics, "0.8.1", mappings)).toBeUndefined();
  });

  it("are read under the field's earlier name, too", () => {
    const mappings = load(lmdeploy.replace("canonicalMetrics:", "notions:"));
    expect(mappings.problem).toBeNull();
    expect(mappings.own).toEqual(load(lmdeploy).own);
  });

  it("come before the built-in ones, which stay for what they do not name", () => {
    const mappings = load(
      '{"mappings":[{"engine":"my-vllm","prefixes":["vllm:"],"canonicalMetrics":{"running":[{"name":"my_running"}]}}]}',
    );
    expect(chooseMapping(parsePromText("vllm:kv_cache_usage_perc 1\n"), null, mappings)?.engine).toBe("my-vllm");
    expect(chooseMapping(parsePromText("sglang:num_running_reqs 1\n"), null, mappings)?.engine).toBe("sglang");
  });

  it.each([
    ["mappings:\n  - engine: a\n    prefixes: [b", /is no YAML in line \d: /],
    [lmdeploy.replace("num_requests_running", "5"), "is wrong in line 8, mappings.0.canonicalMetrics.running.0.name: "],
    [
      lmdeploy.replace("      preemptions", "      preemptoins"),
      /is wrong in line 8, mappings.0.canonicalMetrics: Unrecognized key: "preemptoins"/,
    ],
    [lmdeploy.replace("label: state", "lable: state"), "is wrong in line 12, mappings.0.canonicalMetrics.sleepState.0"],
    [lmdeploy.replace('"0.9"', '"new"'), "is wrong in line 5, mappings.0.versions.from: a version is numbers and points, as 0.9.2;"],
    [lmdeploy.replace('prefixes: ["lmdeploy:"]', "prefixes: []"), "is wrong in line 4, mappings.0.prefixes: "],
    ["engines: []\n", "is wrong in line 1"],
    ["", "is empty"],
  ])("are not used, and the built-in ones are, where the file says %j", (text, sentence) => {
    const mappings = load(text);
    expect(mappings.own).toEqual([]);
    expect(mappings.builtIn.length).toBeGreaterThan(10);
    expect(mappings.problem).toMatch(sentence);
    expect(mappings.problem?.split("\n")).toHaveLength(1);
    expect(mappings.problem).toContain(`${file} `);
  });

  it("are missed where the file is not there, and not where none is named", () => {
    expect(loadMappings(join(folder, "none.yaml")).problem).toBe(
      `${join(folder, "none.yaml")} cannot be read (ENOENT); engines are read by the built-in mappings alone.`,
    );
    expect(loadMappings("").problem).toBeNull();
    expect(loadMappings(undefined)).toMatchObject({ own: [], problem: null });
  });
});
