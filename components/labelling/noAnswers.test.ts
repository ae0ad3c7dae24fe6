import { expect, it } from "vitest";
import type { ProfileJob } from "@/server/contracts/studio";
import { noAnswers } from "./noAnswers";

const job = (keepAnswers: boolean, hasAnswers: boolean, done: number) =>
  ({
    request: { keepAnswers },
    hasAnswers,
    total: { planned: 9, done, failed: 0, inFlight: 0 },
    state: "running",
  }) as unknown as ProfileJob;

it("says whether answers were never kept, are gone, or are still to come", () => {
  expect(noAnswers(job(false, false, 5))).toMatchObject({ title: "This profile stored no answers" });
  expect(noAnswers(job(true, false, 5))).toMatchObject({ title: "The answers are deleted" });
  expect(noAnswers(job(true, false, 0))).toMatchObject({ title: "No answers yet" });
  expect(noAnswers(job(true, true, 5))).toBe(false);
});
