import { expect, it } from "vitest";
import { mayBiasLabels } from "./TrustDisclosure";

const task = { index: 0, messages: [], reference: null, answers: ["!"] };
const progress = { task, after: null, labelled: 49, skipped: 0, advised: 50 };

it("keeps figures from whoever labels until the advised number is reached or nothing is left", () => {
  expect(mayBiasLabels(progress)).toBe(true);
  expect(mayBiasLabels({ ...progress, labelled: 50 })).toBe(false);
  expect(mayBiasLabels({ ...progress, task: null })).toBe(false);
});
