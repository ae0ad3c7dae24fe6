import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import type { BatchPreview } from "@/server/contracts/studio";
import { testPlacement } from "../testing/testEnsembles";
import { prepareBatchPreview } from "./prepareBatchPreview";

const identities = identifyModels(["gemma-2-9b", "qwen2.5-7b", "llama-3.1-70b"]);
const gpus = [
  { node: "node1", gpus: [0, 1] },
  { node: "node2", gpus: [7] },
];

const aggregator = { model: "llama-3.1-70b", tp: 1, copies: 2, loadSeconds: 60, allSeconds: 400 };
const preview = (expected: BatchPreview["aggregator"]["expected"]): BatchPreview => ({
  ...{ schedules: testPlacement().schedules, gpus, questions: 2000, aggregator: { ...aggregator, expected }, notes: [] },
});
const plain = (text: string | undefined): string | undefined => text?.replaceAll("\u00a0", " ");

it("says which GPUs are taken, when experts would be done, and what the best of the others takes", () => {
  const { says, gantt } = prepareBatchPreview(preview(null), identities);
  expect(plain(says)).toContain(
    "2,000 questions. It takes 3 free GPUs (node1 0, 1; node2 7) until the last answer. Experts would be done after 500 s, 480 s by list scheduling, the best of the others. ",
  );
  expect(gantt?.drawings).toHaveLength(1);
});

it("tells what is taken where nothing was timed", () => {
  const { says, gantt } = prepareBatchPreview({ ...preview(null), schedules: [], gpus: gpus.slice(1), questions: 1 }, identities);
  expect(says).toBe("1 question. It takes 1 free GPU (node2 7) until the last answer.");
  expect(gantt).toBeNull();
});

describe("the aggregator of a preview", () => {
  it("is drawn after the last expert and counted in when all would be done, at the share that a sample tells", () => {
    const { says, gantt } = prepareBatchPreview(preview({ share: 0.4, seconds: 200, source: "the sample quiz" }), identities);
    expect(plain(says)).toContain(
      "The aggregator would be done after 760 s if 40 % of questions reach it, as in the sample quiz; after 960 s if all do.",
    );
    const drawing = gantt?.drawings[0];
    expect(plain(drawing?.end.text)).toBe("done after 760 s");
    expect(drawing?.rows.slice(-2).map(({ key, bars }) => [key, plain(bars[0]?.text)])).toEqual([
      ["aggregator 1", "aggregator 1, llama-3.1-70b, 400 questions: loads from 500 s to 560 s, answers until 760 s"],
      ["aggregator 2", "aggregator 2, llama-3.1-70b, 400 questions: loads from 500 s to 560 s, answers until 760 s"],
    ]);
    expect(drawing?.rows.flatMap(({ idle }) => idle)).toEqual([]);
  });

  it("is drawn as if all questions reached it where no sample tells, and said to be", () => {
    const { says, gantt } = prepareBatchPreview(preview(null), identities);
    expect(plain(says)).toContain("With all questions sent to it, the aggregator would be done after 960 s.");
    expect(plain(gantt?.drawings[0]?.end.text)).toBe("done after 960 s");
  });

  it("is loaded for no question", () => {
    const { says, gantt } = prepareBatchPreview(preview({ share: 0, seconds: 0, source: "a sample" }), identities);
    expect(plain(says)).toContain("The aggregator would be done after 500 s if 0 % of questions reach it");
    expect(gantt?.drawings[0]).toMatchObject({ title: "Experts as placed", rows: [{}, {}] });
  });
});
