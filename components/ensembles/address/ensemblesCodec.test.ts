import { expect, it } from "vitest";
import { writeView } from "@/components/url/useUrlView";
import { type EnsemblesView, ensemblesCodec } from "./ensemblesCodec";

const first: EnsemblesView = {
  ...{ tab: "place", ensemble: null, open: null, schedule: null, gpu: null, workers: null, perWorker: null, k: null },
  ...{
    questions: null,
    lengths: null,
    storage: "local-nvme",
    single: false,
    assigned: null,
    sample: null,
    experts: null,
    asked: null,
    aggregator: null,
  },
  ...{ confidence: null, tau: null, allowed: null, snippet: "curl", batch: null, prompts: null },
};

it("brings every choice back from the address, and says nothing of a page as it opens", () => {
  const placed: EnsemblesView = {
    ...first,
    ...{ ensemble: "maths", schedule: "list-scheduling", gpu: "h100-sxm", workers: 64, perWorker: 2, k: 4, questions: 12_000 },
    ...{ lengths: "workload:4f", storage: "object-store", single: true, assigned: "who, 2.csv", open: "edit" },
  };
  const gated: EnsemblesView = {
    ...first,
    ...{ tab: "gate", sample: "9a", experts: ["Qwen/Qwen2.5-7B", "b", "c"], asked: 2, aggregator: "d & e" },
    ...{ confidence: "length-aware", tau: 2 / 3, allowed: 0, snippet: "python" },
  };
  const batch: EnsemblesView = { ...first, tab: "batches", batch: "17", prompts: "set 3", open: "start" };
  for (const view of [first, placed, gated, batch])
    expect(ensemblesCodec.parse(writeView(ensemblesCodec, new URLSearchParams(), view))).toEqual(view);
  expect(writeView(ensemblesCodec, new URLSearchParams("cluster=a&tab=gate&k=3&experts=a,b&open=new"), first).toString()).toBe("cluster=a");
});

it("reads what nobody can mean as the default", () => {
  const typed = new URLSearchParams(
    `tab=door&ensemble=${"x".repeat(400)}&k=17&workers=2.5&perWorker=0&questions=-4&storage=tape&single=1&experts=,,&tau=half&allowed=50&open=x`,
  );
  expect(ensemblesCodec.parse(typed)).toEqual(first);
});

it("takes a model that is named twice once, and no more experts than an ensemble may have", () => {
  const many = Array.from({ length: 20 }, (_, at) => `m${at}`).join(",");
  expect(ensemblesCodec.parse(new URLSearchParams("experts=a,b,a")).experts).toEqual(["a", "b"]);
  expect(ensemblesCodec.parse(new URLSearchParams(`experts=${many}`)).experts).toHaveLength(16);
});
