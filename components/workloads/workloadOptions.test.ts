import { expect, it } from "vitest";
import { workloadOptions } from "./workloadOptions";

it("tells workloads of one name apart by version, and leaves others as they are called", () => {
  const options = workloadOptions([
    { id: "b", name: "support", version: 2 },
    { id: "c", name: "code", version: 4 },
    { id: "a", name: "support", version: 1 },
  ]);
  expect(options).toEqual([
    { value: "b", text: "support v2" },
    { value: "c", text: "code" },
    { value: "a", text: "support v1" },
  ]);
});
