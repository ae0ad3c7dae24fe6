import { expect, it } from "vitest";
import { createScrapeLane } from "./scrapeLane";

it("lets so many run at once and the others in their order, whether they succeed or fail", async () => {
  const lane = createScrapeLane(2);
  let [underWay, most] = [0, 0];
  const ran: number[] = [];
  const work = Array.from({ length: 7 }, (_, at) =>
    lane(async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      ran.push(at);
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay -= 1;
      if (at === 1) throw new Error("one that fails");
    }),
  );
  const outcomes = await Promise.allSettled(work);
  expect(outcomes.map(({ status }) => status).filter((status) => status === "rejected")).toHaveLength(1);
  expect([most, ran]).toEqual([2, [0, 1, 2, 3, 4, 5, 6]]);
  await lane(async () => undefined);
});
