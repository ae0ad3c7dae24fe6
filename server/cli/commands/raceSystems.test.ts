import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { testSpec } from "@/server/lab/testing/testLab";
import { readLabSpec } from "./raceSystems";

const folder = mkdtempSync(join(tmpdir(), "weir-lab-spec-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const spec = testSpec(["vLLM balancing"]);
function fileOf(name: string, content: object): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify(content, null, 2));
  return file;
}
/** As the Lab page exports it. */
const exported = { id: "a".repeat(64), actor: "ada", spec, workloadName: "tickets", state: "done", cells: [], notes: [] };

test("a run that was exported is read as its description is by itself", () => {
  const alone = readLabSpec(fileOf("spec.json", spec), spec.workloadId);
  expect(alone).toEqual({ ok: true, spec });
  expect(readLabSpec(fileOf("run.json", exported), spec.workloadId)).toEqual(alone);
});

test("what is wrong with the description of a run is said with its place in the file", () => {
  const read = readLabSpec(fileOf("broken.json", { ...exported, spec: { ...spec, rates: [] } }), spec.workloadId);
  expect(read).toMatchObject({ ok: false, message: expect.stringMatching(/^broken\.json line \d+: spec\.rates: /) });
  expect(readLabSpec(fileOf("none.json", { rates: [1] }), spec.workloadId)).toMatchObject({
    ...{ ok: false, message: expect.stringMatching(/^none\.json line 1: mix: it is missing\.$/) },
  });
});

test("a run of another workload is refused by the name and the id of its own", () => {
  expect(readLabSpec(fileOf("other.json", exported), "another")).toMatchObject({
    ...{ ok: false, message: expect.stringContaining(`names ${spec.workloadId} (tickets), and the files make another`) },
  });
});
