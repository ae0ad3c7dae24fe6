import { expect, it } from "vitest";
import { writeView } from "../url/useUrlView";
import { trainCodec, trainPath } from "./trainCodec";

it("opens the form with the workflow and the models of the plan that it is to be trained for", () => {
  const { searchParams, pathname } = new URL(trainPath("voting", { workloadId: "w 1", models: ["a-8b", "b-70b"] }), "http://studio");
  expect(pathname).toBe("/lab");
  expect(searchParams.get("tab")).toBe("predictors");
  expect(searchParams.get("workload")).toBe("w 1");
  expect(trainCodec.parse(searchParams)).toEqual({ train: "configurations", workflow: "voting", models: ["a-8b", "b-70b"] });
  expect(trainCodec.parse(new URL(trainPath("voting", null), "http://studio").searchParams).models).toBeNull();
});

it("brings what it says back from the address, and reads what nobody can mean as the form's own", () => {
  for (const view of [{ train: null, workflow: null, models: null }, { train: "configurations", workflow: "a b", models: ["x"] } as const])
    expect(trainCodec.parse(writeView(trainCodec, new URLSearchParams("cluster=c"), view))).toEqual(view);
  expect(trainCodec.parse(new URLSearchParams("train=hearts&workflow=&models="))).toEqual({ train: null, workflow: null, models: null });
});
